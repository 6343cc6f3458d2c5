//! Pending events of a drive outside its flash: of its processors, its link, and housekeeping. Flash has a tree of its own.

use crate::op::Purpose;
use outlast_flash::{Flash, FlashSource};
use outlast_units::event_tree::EventTree;
use outlast_units::{CoreId, DieId, Nanos};

/// Source of an event outside flash. Of events at one time the source that is listed first comes first, the flash core with the lowest number
/// before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveSource {
    /// The processor of a flash core.
    Core(CoreId),
    /// The master core.
    Master,
    /// The host's link.
    Link,
    /// Everything that happens at times of its own: faults, scrubbing, covers, pacing.
    Housekeeping,
}

/// The event tree of a drive outside its flash.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct DriveEvents {
    tree: EventTree,
    #[persist(skip)]
    cores: u32,
    /// The latest time that an event of the drive or of its flash can have.
    #[persist(skip)]
    horizon: Nanos,
}

/// An event that is due, with its source.
#[derive(Clone, Copy, Debug)]
pub enum DueEvent {
    /// An operation of a die goes on or ends.
    Die(DieId),
    /// A source outside flash.
    Drive(DriveSource),
    /// A slot of an internal operation has thought.
    Thinking,
}

impl DriveEvents {
    /// Events of a drive with `cores` flash cores, whose flash has none after `horizon_of_flash`.
    pub fn new(cores: usize, horizon_of_flash: Nanos) -> Self {
        let tree = EventTree::new(cores + 3);
        let horizon = tree.horizon().min(horizon_of_flash);
        Self { tree, cores: cores as u32, horizon }
    }

    /// The latest time that an event of the drive or of its flash can have.
    pub fn horizon(&self) -> Nanos {
        self.horizon
    }

    /// Sets when `source` is due; [`Nanos::MAX`] for never.
    #[inline]
    pub fn set(&mut self, source: DriveSource, at: Nanos) {
        self.tree.set(self.number(source), at);
    }

    /// When the earliest event is due; [`Nanos::MAX`] when there is none.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.tree.next()
    }

    /// Forgets all events but that of housekeeping: power has failed.
    pub fn cut(&mut self) {
        let housekeeping = self.number(DriveSource::Housekeeping);
        (0..housekeeping).for_each(|source| self.tree.set(source, Nanos::MAX));
    }

    /// Checks a tree that was read.
    ///
    /// # Errors
    /// A group of the tree whose first event is not its earliest.
    pub fn check(&self) -> Result<(), String> {
        self.tree.check()
    }

    #[inline]
    fn number(&self, source: DriveSource) -> u32 {
        match source {
            DriveSource::Core(core) => u32::from(core.0),
            DriveSource::Master => self.cores,
            DriveSource::Link => self.cores + 1,
            DriveSource::Housekeeping => self.cores + 2,
        }
    }

    /// The earliest event of the drive and of `flash`. At one time dies come before the drive's own sources, and slots that have thought after them.
    #[inline]
    pub fn earliest(&self, flash: &Flash<Purpose>) -> DueEvent {
        let (of_flash, of_drive) = (flash.next_event(), self.next());
        if of_flash <= of_drive {
            match flash.next_source() {
                FlashSource::Die(die) => return DueEvent::Die(die),
                FlashSource::Thinking if of_flash < of_drive => return DueEvent::Thinking,
                FlashSource::Thinking => {}
            }
        }
        DueEvent::Drive(self.next_source())
    }

    #[inline]
    fn next_source(&self) -> DriveSource {
        let number = self.tree.next_source();
        match number.checked_sub(self.cores) {
            None => DriveSource::Core(CoreId(number as u16)),
            Some(0) => DriveSource::Master,
            Some(1) => DriveSource::Link,
            Some(_) => DriveSource::Housekeeping,
        }
    }
}
