//! Placement by a user's code: it gives each write the stream hint by which the drive keeps kinds of data apart.

use crate::{RequestSource, WorkloadError, WorkloadRequest, error::bad_setting};
use outlast_device::{Heat, Op, PlacementId};
use outlast_units::SECTOR_BYTES;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Requests that are read ahead of the run and placed in one call, which spreads the cost of calling Python.
const BATCH: usize = 4096;

/// Consecutive writes, column by column: the facts that are known before a drive receives them.
#[derive(Clone, Debug, Default)]
pub struct WriteBatch {
    /// First byte.
    pub offset: Vec<u64>,
    /// Length in bytes.
    pub bytes: Vec<u64>,
    /// Arrival in nanoseconds from the start of the workload; 0 in a closed loop, where completions decide.
    pub at_ns: Vec<u64>,
    /// Stream hint from the workload itself.
    pub hint: Vec<u16>,
    /// Recent writes to the megabyte in which it begins, relative to the mean megabyte; 1 is average.
    pub heat: Vec<f32>,
    /// Bytes that the host wrote before it.
    pub written: Vec<u64>,
}

/// Chooses stream hints for many writes at once.
pub trait WritePlacer: Send {
    /// A stream hint for each of `writes`, in their order.
    ///
    /// # Errors
    /// A one-line description of the failure, which ends the run.
    fn place(&mut self, writes: &WriteBatch) -> Result<Vec<u16>, String>;
}

/// Makes a [`WritePlacer`] for each run.
pub trait PlacerFactory: Send + Sync {
    /// Name of the user's code in messages.
    fn name(&self) -> &str;

    /// A placer without memory of earlier runs.
    ///
    /// # Errors
    /// A one-line description of the failure.
    fn make(&self) -> Result<Box<dyn WritePlacer>, String>;
}

/// A placer and the figures of past writes that it is shown.
struct PlacerState {
    placer: Box<dyn WritePlacer>,
    heat: Heat,
    written: u64,
}

/// A user's code that places writes. Its memory lasts from preconditioning through the run; a clone starts without any.
pub struct UserPlacement {
    factory: Arc<dyn PlacerFactory>,
    state: Arc<Mutex<Option<PlacerState>>>,
}

impl UserPlacement {
    /// A placement whose placers `factory` makes.
    pub fn new(factory: impl PlacerFactory + 'static) -> Self {
        Self { factory: Arc::new(factory), state: Arc::default() }
    }

    /// Name of the user's code in messages.
    pub(crate) fn name(&self) -> &str {
        self.factory.name()
    }

    /// `source` with stream hints from the placer, on a device of `sectors` sectors.
    pub(crate) fn wrap_source(&self, source: Box<dyn RequestSource>, sectors: u64) -> Box<dyn RequestSource> {
        Box::new(PlacedSource {
            source,
            factory: Arc::clone(&self.factory),
            state: Arc::clone(&self.state),
            sectors,
            batch: Vec::new(),
            handed_out: 0,
            writes: WriteBatch::default(),
        })
    }
}

impl Clone for UserPlacement {
    fn clone(&self) -> Self {
        Self { factory: Arc::clone(&self.factory), state: Arc::default() }
    }
}

impl PartialEq for UserPlacement {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.factory, &other.factory)
    }
}

impl fmt::Debug for UserPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UserPlacement").field(&self.factory.name()).finish()
    }
}

/// A source that reads ahead in another and gives each write its stream hint.
struct PlacedSource {
    source: Box<dyn RequestSource>,
    factory: Arc<dyn PlacerFactory>,
    state: Arc<Mutex<Option<PlacerState>>>,
    sectors: u64,
    /// Requests of the last batch, with their hints, and the number of them that `fill` has handed out.
    batch: Vec<WorkloadRequest>,
    handed_out: usize,
    writes: WriteBatch,
}

impl PlacedSource {
    /// Reads the next batch of the source and places its writes.
    fn read_batch(&mut self) -> Result<(), WorkloadError> {
        self.batch.clear();
        self.handed_out = 0;
        if self.source.fill(&mut self.batch, BATCH)? == 0 {
            return Ok(());
        }
        self.place_batch().map_err(|error| {
            self.batch.clear();
            bad_setting("policies.placement", self.factory.name(), error)
        })
    }

    fn place_batch(&mut self) -> Result<(), String> {
        // The first batch of the first pass makes the placer; the passes that follow share it.
        let mut shared = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.is_none() {
            *shared =
                Some(PlacerState { placer: self.factory.make()?, heat: Heat::new(self.sectors), written: 0 });
        }
        let Some(PlacerState { placer, heat, written }) = &mut *shared else { return Ok(()) };
        let writes = &mut self.writes;
        writes.clear();
        for request in self.batch.iter().filter(|request| request.command.op == Op::Write) {
            let command = &request.command;
            let bytes = u64::from(command.sectors) * SECTOR_BYTES;
            writes.offset.push(command.lba.0 * SECTOR_BYTES);
            writes.bytes.push(bytes);
            writes.at_ns.push(request.at.0);
            writes.hint.push(command.placement.0);
            // Heat and bytes before this write: they must not count it.
            writes.heat.push(heat.of(command.lba.0) as f32);
            writes.written.push(*written);
            heat.note(command.lba.0);
            *written += bytes;
        }
        if writes.offset.is_empty() {
            return Ok(());
        }
        // One call for the whole batch: a call into Python costs more than the placement of a write.
        let hints = placer.place(writes)?;
        if hints.len() != writes.offset.len() {
            return Err(format!("returned {} hints for {} writes", hints.len(), writes.offset.len()));
        }
        let placed = self.batch.iter_mut().filter(|request| request.command.op == Op::Write);
        for (request, hint) in placed.zip(hints) {
            request.command.placement = PlacementId(hint);
        }
        Ok(())
    }
}

impl WriteBatch {
    fn clear(&mut self) {
        let Self { offset, bytes, at_ns, hint, heat, written } = self;
        offset.clear();
        bytes.clear();
        at_ns.clear();
        hint.clear();
        heat.clear();
        written.clear();
    }
}

impl RequestSource for PlacedSource {
    fn fill(&mut self, out: &mut Vec<WorkloadRequest>, max: usize) -> Result<usize, WorkloadError> {
        if self.handed_out == self.batch.len() {
            self.read_batch()?;
        }
        let end = self.batch.len().min(self.handed_out + max);
        out.extend_from_slice(&self.batch[self.handed_out..end]);
        let count = end - self.handed_out;
        self.handed_out = end;
        Ok(count)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.batch.clear();
        self.handed_out = 0;
        self.source.rewind()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }

    fn is_in_last_phase(&self) -> bool {
        self.source.is_in_last_phase()
    }

    fn notes(&self) -> Vec<String> {
        self.source.notes()
    }
}
