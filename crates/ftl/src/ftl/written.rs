//! Why units are written, and how many have been.

/// Why a unit was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The host wrote it.
    Host,
    /// Garbage collection moved it.
    Gc,
    /// Static wear levelling moved it.
    WearLeveling,
    /// Scrubbing moved it.
    Scrub,
    /// It was moved because its code, or the dies that it lies on, are no longer those of new data.
    Reencode,
    /// It is parity of a stripe that is not full.
    Partial,
}

/// Mapping units written so far, by cause. Their sum is what the flash programmed, or still will from the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitsWritten {
    /// By the host.
    pub host: u64,
    /// Moved by garbage collection.
    pub gc: u64,
    /// Moved by wear levelling.
    pub wear_leveling: u64,
    /// Moved by scrubbing.
    pub scrub: u64,
    /// Moved to get another code, or to lie on other dies.
    pub reencode: u64,
    /// Handed over by another core, one of whose dies has failed.
    pub migrated: u64,
    /// Written again because their program operation failed.
    pub rewritten: u64,
    /// Empty, to fill a program unit that could not wait.
    pub padding: u64,
    /// Parity of stripes of host data.
    pub host_parity: u64,
    /// Parity of stripes that garbage collection wrote.
    pub gc_parity: u64,
    /// Parity of stripes that wear levelling wrote.
    pub wear_leveling_parity: u64,
    /// Parity of stripes that scrubbing wrote.
    pub scrub_parity: u64,
    /// Parity of stripes that were not full.
    pub partial_parity: u64,
    /// Lists of the owners of other blocks' units.
    pub lists: u64,
}

impl UnitsWritten {
    fn combine(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            host: f(self.host, other.host),
            gc: f(self.gc, other.gc),
            wear_leveling: f(self.wear_leveling, other.wear_leveling),
            scrub: f(self.scrub, other.scrub),
            reencode: f(self.reencode, other.reencode),
            migrated: f(self.migrated, other.migrated),
            rewritten: f(self.rewritten, other.rewritten),
            padding: f(self.padding, other.padding),
            host_parity: f(self.host_parity, other.host_parity),
            gc_parity: f(self.gc_parity, other.gc_parity),
            wear_leveling_parity: f(self.wear_leveling_parity, other.wear_leveling_parity),
            scrub_parity: f(self.scrub_parity, other.scrub_parity),
            partial_parity: f(self.partial_parity, other.partial_parity),
            lists: f(self.lists, other.lists),
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        let moved = self.gc + self.wear_leveling + self.scrub + self.reencode + self.migrated;
        self.host + moved + self.rewritten + self.padding + self.parity() + self.partial_parity + self.lists
    }

    /// All parity of full stripes.
    pub fn parity(&self) -> u64 {
        self.host_parity + self.gc_parity + self.wear_leveling_parity + self.scrub_parity
    }

    /// What was written since `base`.
    #[must_use]
    pub fn since(&self, base: &Self) -> Self {
        self.combine(base, |now, then| now - then)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a + b)
    }
}

/// Pages read so far by relocation without time, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntimedReads {
    /// By garbage collection.
    pub gc: u64,
    /// By wear levelling.
    pub wear_leveling: u64,
    /// By scrubbing.
    pub scrub: u64,
}
