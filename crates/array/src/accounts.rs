//! Where the time of the host's commands goes: an account of each of them, kept where somebody asks for it.
//!
//! A command is a few chains side by side: commands to members that are parts of it by themselves, and operations on groups, which are
//! phases of commands to members with waits between them. Its story is that of the chain that ends last; a phase's that of the command to
//! a member that ends last, as the member tells it. The array takes no time, so a phase begins where the one before it ends: a command to a
//! member follows what had been told of its operation when it went out.
//!
//! `machine/follow.rs` fills the accounts; those of members are chained, phase by phase, with the waits between them (decision 0069).

use outlast_device::{Completion, LatencyCause as Cause, LatencyParts, Tag};
use outlast_units::Nanos;
use std::collections::BTreeMap;

/// Where the time went until `until`.
#[derive(Clone, Copy, Debug)]
struct Story {
    until: Nanos,
    parts: LatencyParts,
}

impl Story {
    /// All since the last word, until `now`, went into `cause`.
    fn spend(&mut self, now: Nanos, cause: Cause) {
        debug_assert!(now >= self.until, "{cause:?} until {now}, after something until {}", self.until);
        self.parts[cause] += (now - self.until).0;
        self.until = now;
    }

    /// A command to a member has ended now, which took `told`; what lies before it nobody has laid claim to.
    fn follow(&mut self, now: Nanos, told: &LatencyParts, all: Option<Cause>) {
        let total = told.total();
        self.spend(Nanos(now.0 - total), Cause::Firmware);
        match all {
            Some(cause) => self.parts[cause] += total,
            None => Cause::ALL.iter().for_each(|&cause| self.parts[cause] += told[cause]),
        }
        self.until = now;
    }
}

/// An operation of a command.
#[derive(Clone, Debug)]
struct Chain {
    op: u32,
    /// What was told of it, in order of time; the first is what was before it began.
    told: Vec<Story>,
}

impl Chain {
    /// A command to a member has ended now, which took `told`, if it is known.
    fn follow(&mut self, now: Nanos, told: Option<&LatencyParts>, all: Option<Cause>) -> Story {
        let Some(told) = told else { return self.wait(now, all.unwrap_or(Cause::Link)) };
        let out = Nanos(now.0 - told.total());
        let before = self.told.iter().rposition(|story| story.until <= out);
        let mut story = self.told[before.unwrap_or(0)];
        story.follow(now, told, all);
        self.told.push(story);
        story
    }

    /// `cause` has kept the operation until now.
    fn wait(&mut self, now: Nanos, cause: Cause) -> Story {
        let mut story = self.told[self.told.len() - 1];
        story.spend(now, cause);
        self.told.push(story);
        story
    }
}

/// A command that has been submitted.
#[derive(Clone, Debug)]
struct Account {
    /// Until it was taken up.
    begun: Story,
    /// That of its part that ended last.
    current: Story,
    chains: Vec<Chain>,
    /// Whether its completion has been handed out: the host may ask for it, now or later.
    is_handed_out: bool,
}

/// A part of a command of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The host's name of the command.
    pub(crate) tag: Tag,
    /// The operation; none for a command to a member that is a part by itself.
    pub(crate) op: Option<u32>,
}

/// The accounts of all commands of the host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accounts {
    open: BTreeMap<Tag, Account>,
    /// Operations that have just got a lock that work of the array's own had held.
    kept_by_array: Vec<u32>,
}

impl Accounts {
    /// Command `tag` has been submitted.
    pub(crate) fn submitted(&mut self, now: Nanos, tag: Tag) {
        let story = Story { until: now, parts: LatencyParts::default() };
        self.open
            .insert(tag, Account { begun: story, current: story, chains: Vec::new(), is_handed_out: false });
    }

    /// Command `tag` was not taken up until now, which `cause` is to blame for.
    pub(crate) fn kept_out(&mut self, now: Nanos, tag: Tag, cause: Cause) {
        if let Some(own) = self.open.get_mut(&tag) {
            own.begun.spend(now, cause);
            own.current = own.begun;
        }
    }

    /// A member has ended a command for `part`, and tells where its time went, if it can; `all`: what all of it counts for.
    pub(crate) fn ended(&mut self, now: Nanos, part: Part, told: Option<&LatencyParts>, all: Option<Cause>) {
        let Some(own) = self.open.get_mut(&part.tag) else { return };
        own.current = match part.op {
            None => {
                let mut story = own.begun;
                match told {
                    Some(told) => story.follow(now, told, all),
                    None => story.spend(now, all.unwrap_or(Cause::Link)),
                }
                story
            }
            Some(op) => own.chain(op).follow(now, told, all),
        };
    }

    /// What was told last of `part`, which took `told`, counts for `cause` altogether.
    pub(crate) fn recast(&mut self, now: Nanos, part: Part, told: &LatencyParts, cause: Cause) {
        let (Some(own), Some(op)) = (self.open.get_mut(&part.tag), part.op) else { return };
        let chain = own.chain(op);
        chain.told.pop();
        own.current = chain.follow(now, Some(told), Some(cause));
    }

    /// `part` has waited for `cause` until now.
    pub(crate) fn waited(&mut self, now: Nanos, part: Part, cause: Cause) {
        let (Some(own), Some(op)) = (self.open.get_mut(&part.tag), part.op) else { return };
        own.current = own.chain(op).wait(now, cause);
    }

    /// Operation `op` of command `tag` goes on where the part that ended last has stopped.
    pub(crate) fn goes_on(&mut self, tag: Tag, op: u32) {
        let Some(own) = self.open.get_mut(&tag) else { return };
        let story = own.current;
        own.chain(op).told = vec![story];
    }

    /// Operation `op` has got its lock from work of the array's own.
    pub(crate) fn released_by_array(&mut self, op: u32) {
        self.kept_by_array.push(op);
    }

    /// Operation `op`, which has its lock, had waited for work of the array's own; asked once.
    pub(crate) fn was_kept_by_array(&mut self, op: u32) -> bool {
        let place = self.kept_by_array.iter().position(|&kept| kept == op);
        place.map(|place| self.kept_by_array.swap_remove(place)).is_some()
    }

    /// Completions `ended` go out to the host.
    pub(crate) fn hand_out(&mut self, ended: &[Completion]) {
        for completion in ended {
            if let Some(own) = self.open.get_mut(&completion.tag) {
                own.is_handed_out = true;
            }
        }
    }

    /// Where the time of command `tag` went, once.
    pub(crate) fn take(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.open.remove(&tag).map(|own| own.current.parts)
    }

    /// Power has failed: commands `tags` are aborted now.
    pub(crate) fn abort(&mut self, now: Nanos, tags: &[Tag]) {
        for tag in tags {
            if let Some(own) = self.open.get_mut(tag) {
                own.current.spend(now, Cause::Aborted);
            }
        }
        self.kept_by_array.clear();
    }

    /// Power has failed, and the host takes nothing any more.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Checks that there is an account of each of the commands `open`, and none that nobody will ask for: `ready` completions are still to be
    /// handed out, and a host may ask for one that has been handed out whenever it likes.
    ///
    /// # Errors
    /// What is missing or left, in words.
    pub(crate) fn self_check(&self, open: &[Tag], ready: usize) -> Result<(), String> {
        if let Some(tag) = open.iter().find(|tag| !self.open.contains_key(tag)) {
            return Err(format!("no account is kept of command {}", tag.0));
        }
        let within = self.open.iter().filter(|(_, own)| !own.is_handed_out).count();
        let kept = self.kept_by_array.len();
        if within > open.len() + ready || kept > 0 {
            let asked = open.len();
            return Err(format!(
                "{within} accounts for {asked} commands under way and {ready} completions; {kept} locks"
            ));
        }
        Ok(())
    }
}

impl Account {
    /// What is known of operation `op`, which begins where the command was taken up.
    fn chain(&mut self, op: u32) -> &mut Chain {
        let place = self.chains.iter().position(|chain| chain.op == op);
        let place = place.unwrap_or_else(|| {
            self.chains.push(Chain { op, told: vec![self.begun] });
            self.chains.len() - 1
        });
        &mut self.chains[place]
    }
}
