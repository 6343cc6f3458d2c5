//! A drive or an array in service.

mod answers;
mod commands;
mod contents;
mod events;
mod flight;
mod health;
mod members;
mod memo;
mod power;
mod refused;
mod snapshot;
mod state;

pub use events::Event;
pub(crate) use events::fault_in_words;
pub use refused::Refused;
pub use state::{ArrayState, DriveState, Kind, MemberState, PassState, RepairState, State};

use crate::input::Input;
use crate::store::FileStore;
use events::Events;
use flight::Flight;
use memo::Memo;
use outlast_device::{Completion, Device, Extent, Identity, Peek, Smart, Tag};
use outlast_engine::{EngineError, InService, OnProgress, Scenario};
use outlast_units::{Lba, Nanos};
use std::sync::Arc;

/// Tags are below this.
pub const TAGS: u32 = 1 << 20;

/// A drive or an array in service: prepared, its time begun, fed by [`Machine::apply`] and by nothing else; of forks one can ask more.
///
/// What it is after some inputs depends on them and their times alone, not on when [`Machine::advance`] was called in between: before an
/// input everything is done that was due by then. So the same inputs at the same times give the same machine.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(check)]
pub struct Machine {
    service: InService,
    /// The latest time that it has been given.
    now: Nanos,
    /// Completions that have not been handed out.
    ready: Vec<Completion>,
    flight: Flight,
    /// What reads returned that completed before power was lost and have not been handed out.
    answers: Vec<(Tag, Vec<u8>)>,
    /// Since when there is no power.
    off: Option<Nanos>,
    /// How long there was none before.
    dark: Nanos,
    events: Events,
    /// Where its bytes are, if not in memory.
    #[persist(skip)]
    store: Option<Arc<FileStore>>,
    #[persist(skip)]
    memo: Memo,
}

impl Machine {
    /// Builds what `scenario` describes, with its bytes, prepares it, and begins its time.
    ///
    /// # Errors
    /// The first setting that cannot work, or a drive that wears out while it is being prepared; `None` where `progress` stopped it.
    pub fn prepare(scenario: &Scenario, progress: OnProgress<'_>) -> Result<Option<Self>, EngineError> {
        let mut scenario = scenario.clone();
        scenario.device.bytes = true;
        Ok(InService::new(scenario, progress)?.map(Self::of))
    }

    /// As [`Machine::prepare`], which nobody stops.
    ///
    /// # Errors
    /// Those of [`Machine::prepare`].
    ///
    /// # Panics
    /// Never.
    pub fn new(scenario: &Scenario) -> Result<Self, EngineError> {
        let made = Self::prepare(scenario, &mut |_| outlast_engine::RunControl::Continue)?;
        Ok(made.expect("preparing ends where nobody stops it"))
    }

    fn of(service: InService) -> Self {
        Self {
            service,
            now: Nanos::ZERO,
            ready: Vec::new(),
            flight: Flight::default(),
            answers: Vec::new(),
            off: None,
            dark: Nanos::ZERO,
            events: Events::default(),
            store: None,
            memo: Memo::default(),
        }
    }

    /// Gives it an input at `now`, with all done before that was due by then. An input that comes at a time before that of the last one comes
    /// at that.
    ///
    /// # Errors
    /// What the machine refuses. The refusal is as repeatable as all else.
    pub fn apply(&mut self, now: Nanos, input: &Input<'_>) -> Result<(), Refused> {
        let now = self.come_to(now)?;
        let done = match *input {
            Input::Command { tag, command, data } => return self.submit(now, tag, command, data),
            Input::ReadMember { tag, member, lba, sectors } => {
                return self.read_member(now, tag, member.into(), lba, sectors);
            }
            Input::Advance => return Ok(()),
            Input::Mark(text) => {
                self.events.note(now, "mark", text.to_owned());
                Ok(())
            }
            Input::Power(power) => self.switch(now, power),
            Input::Tear(tear) => {
                self.service.tear_next(tear);
                Ok(())
            }
            Input::Fault(fault) => self.need_power().and_then(|()| {
                self.service.strike(now, fault)?;
                self.events.note(now, "fault", events::fault_in_words(fault));
                Ok(())
            }),
            Input::Replace { member, force } => self.need_power().and_then(|()| {
                self.service.replace(now, member, force)?;
                self.events.note(now, "replace", format!("member {member} is exchanged for a new drive"));
                Ok(())
            }),
            Input::Repair => self.need_power().and_then(|()| {
                self.service.repair(now)?;
                self.events.note(
                    now,
                    "repair",
                    "the array is scrubbed: all of it is read, and redundancy is repaired".to_owned(),
                );
                Ok(())
            }),
        };
        self.events.collect(&mut self.service);
        done
    }

    /// Does everything that is due up to and including `now`, and appends what has completed, in order of time.
    pub fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        if self.come_to(now).is_err() {
            return;
        }
        completions.append(&mut self.ready);
        self.events.collect(&mut self.service);
    }

    /// When something will next happen by itself; `None` when it is idle or without power.
    pub fn next_deadline(&self) -> Option<Nanos> {
        if !self.ready.is_empty() {
            return Some(self.now);
        }
        if self.off.is_some() { None } else { self.service.next_deadline() }
    }

    /// The latest time that it has been given.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The latest time that it can be given.
    pub fn latest(&self) -> Nanos {
        self.service.latest()
    }

    /// A copy that goes its own way, with the commands that are under way: a few microseconds for its contents, which the two share, and
    /// the time of copying its tables.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// What it says of `sectors` sectors from `lba` on, as far as they are within its capacity: runs in order that cover all of them.
    pub fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.service.extents(lba, sectors)
    }

    /// What reading `sectors` sectors from `lba` on would give, appended to `to`: see [`Device::peek`].
    pub fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        self.service.peek(lba, sectors, to);
    }

    /// What it is.
    pub fn identify(&self) -> Identity {
        self.service.identify()
    }

    /// What it tells about its health.
    pub fn smart(&self) -> Smart {
        self.service.smart()
    }

    /// What it was made from, with bytes.
    pub fn scenario(&self) -> &Scenario {
        self.service.scenario()
    }

    /// Commands that have not completed.
    pub fn in_flight(&self) -> u32 {
        self.flight.len()
    }

    /// The tags of the commands that have not completed, in order.
    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        self.flight.tags()
    }

    /// Whether its power is off.
    pub fn is_off(&self) -> bool {
        self.off.is_some()
    }

    /// Whether it takes commands.
    pub fn is_up(&self) -> bool {
        self.off.is_none() && self.service.is_up()
    }

    /// How it is, for people; cumulative figures only, so that any number of readers can take differences. At a cost proportional to its
    /// blocks.
    pub fn state(&self) -> State {
        State::of(&self.service, self.now, self.off.is_none(), &self.memo)
    }

    /// What has happened lately, oldest first.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// Checks every invariant, at a cost proportional to its size. For tests.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub fn self_check(&self) -> Result<(), String> {
        self.service.self_check()
    }

    /// Does what is due by `now`; returns the time that it has come to.
    fn come_to(&mut self, now: Nanos) -> Result<Nanos, Refused> {
        let latest = self.service.latest();
        if now > latest {
            return Err(Refused::BeyondHorizon { now, latest });
        }
        self.now = self.now.max(now);
        if self.off.is_none() {
            let heard = self.ready.len();
            self.service.advance(self.now, &mut self.ready);
            // Here and not when they are handed out: whether a tag is free must not depend on who asks when. What an array tells of commands
            // that a loss of power has ended is known.
            let (flight, mut new) = (&mut self.flight, 0);
            self.ready.retain(|done| {
                new += 1;
                new <= heard || flight.end(done.tag)
            });
        }
        Ok(self.now)
    }

    fn need_power(&self) -> Result<(), Refused> {
        if self.off.is_some() {
            return Err(Refused::Off);
        }
        if self.service.is_up() { Ok(()) } else { Err(Refused::NotStarted) }
    }
}
