//! Writes whose stream hints code of the user's gives: which class or stream of the drive data belongs to.

use crate::{Request, Source, WorkloadError, error::bad};
use outlast_device::{Heat, Op, StreamId};
use outlast_units::SECTOR_BYTES;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Requests that are looked at together.
const AHEAD: usize = 4096;

/// Writes that follow each other, a column for each thing that is known of them before the drive has them.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    /// First byte.
    pub offset: Vec<u64>,
    /// Length in bytes.
    pub bytes: Vec<u64>,
    /// When it arrives, from the start of the workload; 0 in a closed loop, where the drive decides.
    pub at_ns: Vec<u64>,
    /// The stream hint that it has.
    pub hint: Vec<u8>,
    /// How many times as often as the mean one the megabyte in which it begins has been written lately.
    pub heat: Vec<f32>,
    /// Bytes that the host wrote before it.
    pub written: Vec<u64>,
}

/// Which stream hint each write gets: a decision about many at once.
pub trait PlacesWrites: Send {
    /// A hint for each of `writes`.
    ///
    /// # Errors
    /// What went wrong, in one line: the run ends.
    fn place(&mut self, writes: &Writes) -> Result<Vec<u8>, String>;
}

/// Makes one for each run.
pub trait MakesPlacement: Send + Sync {
    /// What messages call it.
    fn name(&self) -> &str;

    /// One for another run.
    ///
    /// # Errors
    /// What went wrong, in one line.
    fn make(&self) -> Result<Box<dyn PlacesWrites>, String>;
}

/// What a placement knows: itself, and what has been written.
struct State {
    places: Box<dyn PlacesWrites>,
    heat: Heat,
    written: u64,
}

/// Code of the user's that places writes. What it remembers goes on from preconditioning to the run; a copy begins anew.
pub struct OwnPlacement {
    maker: Arc<dyn MakesPlacement>,
    state: Arc<Mutex<Option<State>>>,
}

impl OwnPlacement {
    /// Of what makes one for each run.
    pub fn new(maker: impl MakesPlacement + 'static) -> Self {
        Self { maker: Arc::new(maker), state: Arc::default() }
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> &str {
        self.maker.name()
    }

    /// `source` with the hints that it gives, on a device of `sectors` sectors.
    pub(crate) fn over(&self, source: Box<dyn Source>, sectors: u64) -> Box<dyn Source> {
        Box::new(Placed {
            source,
            maker: Arc::clone(&self.maker),
            state: Arc::clone(&self.state),
            sectors,
            ahead: Vec::new(),
            given: 0,
            writes: Writes::default(),
        })
    }
}

impl Clone for OwnPlacement {
    fn clone(&self) -> Self {
        Self { maker: Arc::clone(&self.maker), state: Arc::default() }
    }
}

impl PartialEq for OwnPlacement {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.maker, &other.maker)
    }
}

impl fmt::Debug for OwnPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnPlacement").field(&self.maker.name()).finish()
    }
}

/// A source that looks ahead and gives each write its hint.
struct Placed {
    source: Box<dyn Source>,
    maker: Arc<dyn MakesPlacement>,
    state: Arc<Mutex<Option<State>>>,
    sectors: u64,
    /// Requests with their hints, of which so many have been handed on.
    ahead: Vec<Request>,
    given: usize,
    writes: Writes,
}

impl Placed {
    /// Takes the next requests of the source, and gives them hints.
    fn look_ahead(&mut self) -> Result<(), WorkloadError> {
        self.ahead.clear();
        self.given = 0;
        if self.source.fill(&mut self.ahead, AHEAD)? == 0 {
            return Ok(());
        }
        self.place().map_err(|error| {
            self.ahead.clear();
            bad("policies.placement", self.maker.name(), error)
        })
    }

    fn place(&mut self) -> Result<(), String> {
        let mut shared = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.is_none() {
            *shared = Some(State { places: self.maker.make()?, heat: Heat::new(self.sectors), written: 0 });
        }
        let Some(State { places, heat, written }) = &mut *shared else { return Ok(()) };
        let writes = &mut self.writes;
        writes.clear();
        for request in self.ahead.iter().filter(|request| request.command.op == Op::Write) {
            let command = &request.command;
            let bytes = u64::from(command.sectors) * SECTOR_BYTES;
            writes.offset.push(command.lba.0 * SECTOR_BYTES);
            writes.bytes.push(bytes);
            writes.at_ns.push(request.at.0);
            writes.hint.push(command.stream.0);
            writes.heat.push(heat.of(command.lba.0) as f32);
            writes.written.push(*written);
            heat.note(command.lba.0);
            *written += bytes;
        }
        if writes.offset.is_empty() {
            return Ok(());
        }
        let hints = places.place(writes)?;
        if hints.len() != writes.offset.len() {
            return Err(format!("returned {} hints for {} writes", hints.len(), writes.offset.len()));
        }
        let written = self.ahead.iter_mut().filter(|request| request.command.op == Op::Write);
        for (request, hint) in written.zip(hints) {
            request.command.stream = StreamId(hint);
        }
        Ok(())
    }
}

impl Writes {
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

impl Source for Placed {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<usize, WorkloadError> {
        if self.given == self.ahead.len() {
            self.look_ahead()?;
        }
        let end = self.ahead.len().min(self.given + max);
        out.extend_from_slice(&self.ahead[self.given..end]);
        let count = end - self.given;
        self.given = end;
        Ok(count)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.ahead.clear();
        self.given = 0;
        self.source.rewind()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }

    fn notes(&self) -> Vec<String> {
        self.source.notes()
    }
}
