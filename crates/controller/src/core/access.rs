//! The parts of a flash core that the drive looks at, and its translation layer, which the drive also sets up and writes without time.

use crate::core::{Buffer, FlashCore, Tasks};
use crate::health::Scrub;
use crate::read::CoreCells;
use outlast_ftl::Ftl;
use outlast_media::DieFaults;
use outlast_units::{DieId, IndexVec, LocalDie, Nanos};

impl FlashCore {
    /// The translation layer.
    #[inline]
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The translation layer, to change what no handler of the core does: its size, its codes, its dies, and data that is written without time.
    #[inline]
    pub fn ftl_mut(&mut self) -> &mut Ftl {
        &mut self.ftl
    }

    /// The write buffer.
    #[inline]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Internal tasks under way.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Absent where the core does not scrub.
    pub fn scrub(&self) -> Option<&Scrub> {
        self.scrub.as_ref()
    }

    /// Absent where the flash never errs.
    pub fn cells(&self) -> Option<&CoreCells> {
        self.cells.as_ref()
    }

    /// Absent where nothing ever is broken.
    pub fn faults(&self) -> Option<&DieFaults> {
        self.faults.as_ref()
    }

    /// The die, numbered over the drive, of each of the core's.
    pub fn dies(&self) -> &IndexVec<LocalDie, DieId> {
        &self.dies
    }

    /// Until when the core's processor is busy.
    pub fn busy_until(&self, now: Nanos) -> Nanos {
        self.cpu.busy_until(now)
    }

    /// Counts the time for which the processor is busy anew.
    pub fn reset_busy(&mut self, now: Nanos) {
        self.cpu.reset_busy(now);
    }

    /// Counts what scrubbing and covers do anew.
    pub fn reset_counters(&mut self, now: Nanos) {
        if let Some(scrub) = &mut self.scrub {
            scrub.reset();
        }
        self.covers.reset(now);
    }
}
