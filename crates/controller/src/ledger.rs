//! Accounts of the time of the host's commands: one of each of them, kept where somebody asks for it.
//!
//! A command's story is that of its part that ends last. A [`Story`] is a chain without a gap: whoever has kept a command, or one of its
//! units, until now says so with a cause, and everything since the last such word counts for it. So the parts sum to the latency, whatever
//! is said.
//!
//! A command has one story until it is split into its units. From then on each unit has one that begins where the command's stands; that
//! of the unit which is being dealt with is the *current* one, and when the last unit has ended it is the command's. What a unit
//! that waits outside the flash room has gone through is *set apart* until it goes on. A read in the flash room needs nothing of the
//! kind: the room tells its [`ReadAccount`] when it ends.
//!
//! Accounts are kept with `run.causes`; the flash crate then has an account of each die by activity (`flash/src/accounts.rs`). None of this is state, and
//! switched off it costs a branch that is not taken. The engine takes the parts with each completion (`engine/src/requests.rs`), sums them by latency
//! (`splits.rs`), and passes rows of the log to Python in pieces (decision 0062).

mod story;

use crate::commands::HostRequestId;
use crate::op::UnitWork;
use outlast_device::{LatencyCause as Cause, LatencyParts, Tag};
use outlast_flash::ReadAccount;
use outlast_units::slab::{NIL, Slab};
use outlast_units::{ListMap, Nanos};
use std::collections::BTreeMap;
use story::Story;

/// A command that is worked on.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    tag: Tag,
    /// What holds for all of its units: until it was split, or until all of it was in the buffer.
    common: Story,
    current: Story,
    /// Until when data is rebuilt that has been read.
    decoded: Nanos,
    /// Time in the decoder of the data that leaves it last.
    decoding: Nanos,
    /// Moment at which that data leaves it.
    ready: Nanos,
    is_open: bool,
    /// Since when and until when the unit that went on last waited for its entry of the mapping table.
    mapped: Option<(Nanos, Nanos)>,
}

/// What a unit has gone through that waits outside the flash room, and how long its core had been short of space by then.
#[derive(Clone, Copy, Debug)]
struct Apart {
    story: Story,
    short: Nanos,
}

/// The accounts of all commands.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Of commands that are outside, which may be any number.
    outside: BTreeMap<Tag, Story>,
    /// Of commands that are worked on, by request.
    accounts: Vec<Account>,
    apart: Slab<Apart>,
    /// Of commands that are done, until their completion is handed out; until when of that something is rebuilt, and how long decoded.
    done: ListMap<Tag, (Story, Nanos, Nanos)>,
    /// Of commands that have completed, until the host takes them.
    completed: ListMap<Tag, LatencyParts>,
}

impl Ledger {
    /// Command `tag` has been submitted.
    pub fn submitted(&mut self, now: Nanos, tag: Tag) {
        self.outside.insert(tag, Story::begun(now));
    }

    /// Command `tag`, which is outside, was kept there by `cause` until now.
    pub fn kept_out(&mut self, now: Nanos, tag: Tag, cause: Cause) {
        if let Some(story) = self.outside.get_mut(&tag) {
            story.spend(now, cause);
        }
    }

    /// Command `tag` is worked on, as request `request`.
    pub fn accepted(&mut self, now: Nanos, request: HostRequestId, tag: Tag) {
        let mut story = self.outside.remove(&tag).unwrap_or(Story::begun(now));
        story.spend(now, Cause::Queue);
        let index = request.0 as usize;
        if index >= self.accounts.len() {
            self.accounts.resize(index + 1, Account::default());
        }
        self.accounts[index] =
            Account { tag, common: story, current: story, is_open: true, ..Account::default() };
    }

    /// The account of a request of the host; the drive's own have none.
    fn account(&mut self, request: HostRequestId) -> Option<&mut Account> {
        self.accounts.get_mut(request.0 as usize).filter(|own| own.is_open)
    }

    /// `cause` has kept all of `request` until now.
    pub fn spent(&mut self, now: Nanos, request: HostRequestId, cause: Cause) {
        if let Some(own) = self.account(request) {
            own.common.spend(now, cause);
            own.current = own.common;
        }
    }

    /// A flash core acts on a unit of `request`.
    pub fn acts(&mut self, now: Nanos, request: HostRequestId) {
        if let Some(own) = self.account(request) {
            own.current = own.common;
            own.current.spend(now, Cause::Firmware);
        }
    }

    /// A unit of `request` goes on that has waited since `since` for its entry of the mapping table.
    pub(crate) fn mapped(&mut self, since: Nanos, now: Nanos, request: HostRequestId) {
        if let Some(own) = self.account(request) {
            own.mapped = Some((since, now));
            own.current = own.common;
            own.current.waits_for_map(since, now);
        }
    }

    /// A read for `work` has ended, of which `way` tells; `is_over` says whether it has given all that was wanted.
    pub(crate) fn has_read(&mut self, now: Nanos, work: &mut UnitWork, way: &ReadAccount, is_over: bool) {
        if work.story != NIL {
            let own = &mut self.apart[work.story].story;
            own.read(now, way, Cause::Rebuild);
            let story = *own;
            if is_over {
                self.apart.remove(work.story);
                work.story = NIL;
            }
            if let Some(account) = self.account(work.request) {
                account.current = story;
            }
        } else if let Some(own) = self.account(work.request) {
            own.current = own.common;
            // Of units that waited for different pages of the table, each has the wait of that which went on last before it was read.
            if let Some((since, until)) = own.mapped.filter(|&(_, until)| until <= now - way.total()) {
                own.current.waits_for_map(since, until);
            }
            own.current.read(now, way, Cause::Firmware);
        }
    }

    /// The unit that is being dealt with, `work`, waits outside the flash room; its core has been short of space for `short` so far.
    pub(crate) fn set_apart(&mut self, work: &mut UnitWork, short: Nanos) {
        if work.story == NIL
            && let Some(own) = self.account(work.request)
        {
            let story = own.current;
            work.story = self.apart.insert(Apart { story, short });
        }
    }

    /// `work` gets a story of its own beside that of the unit that it is made from.
    pub(crate) fn copy_apart(&mut self, work: &mut UnitWork) {
        if work.story != NIL {
            let story = self.apart[work.story];
            work.story = self.apart.insert(story);
        }
    }

    /// A unit that was set apart is dealt with again, `cause` has kept it.
    pub(crate) fn resumes(&mut self, now: Nanos, work: &UnitWork, cause: Cause) {
        self.goes_on(work, |own| own.story.spend(now, cause));
    }

    /// A write that was set apart has waited for room; its core has been short of space for `short` so far.
    pub(crate) fn has_waited(&mut self, now: Nanos, work: &UnitWork, short: Nanos) {
        self.goes_on(work, |own| {
            let short = (short - own.short).min(now - own.story.until);
            own.story.spend(own.story.until + short, Cause::Collection);
            own.story.spend(now, Cause::Buffer);
        });
    }

    fn goes_on(&mut self, work: &UnitWork, spend: impl FnOnce(&mut Apart)) {
        if work.story == NIL {
            return;
        }
        let mut own = self.apart[work.story];
        self.apart.remove(work.story);
        spend(&mut own);
        if let Some(account) = self.account(work.request) {
            account.current = own.story;
        }
    }

    /// Data of `request` is not rebuilt before `at`.
    pub(crate) fn not_before(&mut self, request: HostRequestId, at: Nanos) {
        if let Some(own) = self.account(request) {
            own.decoded = own.decoded.max(at);
        }
    }

    /// Data of `request` leaves the decoder at `ready`, after `time` in it. The data that is ready last counts: a re-read decodes longer, and may
    /// have entered the decoder before the last read of the command.
    pub(crate) fn decodes(&mut self, request: HostRequestId, ready: Nanos, time: Nanos) {
        if let Some(own) = self.account(request)
            && ready >= own.ready
        {
            (own.ready, own.decoding) = (ready, time);
        }
    }

    /// All of `request` is in the buffer and must reach flash.
    pub(crate) fn is_buffered(&mut self, now: Nanos, request: HostRequestId) {
        if let Some(own) = self.account(request) {
            own.current.spend(now, Cause::Firmware);
            own.common = own.current;
        }
    }

    /// The last part of `request` has ended.
    pub(crate) fn is_done(&mut self, now: Nanos, request: HostRequestId) {
        if let Some(own) = self.account(request) {
            own.is_open = false;
            own.current.spend(now, Cause::Firmware);
            let (tag, ended) = (own.tag, (own.current, own.decoded, own.decoding));
            self.done.insert(tag, ended);
        }
    }

    /// The completion of `tag` is handed out.
    pub fn completes(&mut self, at: Nanos, tag: Tag) {
        if let Some((mut story, decoded, decoding)) = self.done.remove(tag) {
            let rebuilt = decoded.clamp(story.until, at);
            story.spend(rebuilt, Cause::Rebuild);
            story.spend((rebuilt + decoding).min(at), Cause::Decode);
            story.spend(at, Cause::Link);
            self.completed.insert(tag, story.parts);
        }
    }

    /// Where the time of command `tag` went, once.
    pub fn take(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.completed.remove(tag)
    }

    /// Power has failed: commands `tags` are aborted now, and all others that were worked on are forgotten.
    pub fn abort(&mut self, now: Nanos, tags: &[Tag]) {
        for &tag in tags {
            let open = self.accounts.iter().find(|own| own.is_open && own.tag == tag).map(|own| own.current);
            let done = self.done.remove(tag).map(|(story, ..)| story);
            if let Some(mut story) = open.or(done).or(self.outside.remove(&tag)) {
                story.spend(now, Cause::Aborted);
                self.done.insert(tag, (story, now, Nanos::ZERO));
            }
        }
        self.accounts.clear();
        self.apart.clear();
    }

    /// Power has failed, and the host takes nothing any more.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Checks that nothing is kept that nobody will ask for: `open` requests of the host are worked on, `apart` units with a story wait.
    ///
    /// # Errors
    /// An account that belongs to no command.
    pub fn self_check(&self, open: usize) -> Result<(), String> {
        let own = self.accounts.iter().filter(|own| own.is_open).count();
        if own != open {
            return Err(format!("{own} accounts are kept of {open} commands that are worked on"));
        }
        if open == 0 && self.apart.used() != 0 {
            return Err(format!("{} units are set apart of no command", self.apart.used()));
        }
        Ok(())
    }
}
