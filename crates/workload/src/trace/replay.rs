//! A trace as a source: selects, orders, places and paces its records.

use super::detect::Detected;
use super::formats::Record;
use super::input::Failed;
use super::input::Origin;
use super::place::{Placed, Placement};
use super::records::Records;
use super::{DeviceName, TraceSpec, Unordered};
use crate::{Position, Request, Source, WorkloadError};
use outlast_device::Command;
use outlast_units::{Lba, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The records of one pass after selection of the device, ordering, skip and head.
pub(crate) struct Pass {
    pub(crate) records: Records,
    device: Option<String>,
    unordered: Unordered,
    window: usize,
    /// Held back for sorting, the earliest on top; the number keeps equal times in the order of the file.
    held: BinaryHeap<Reverse<(u64, u64, Record)>>,
    positions: u64,
    previous: Option<u64>,
    skip: u64,
    head: u64,
}

impl Pass {
    pub(crate) fn open(
        origin: &Origin,
        detected: &Detected,
        spec: &TraceSpec,
    ) -> Result<Self, WorkloadError> {
        Ok(Self {
            records: Records::open(origin, detected, spec.event)?,
            device: spec.device.as_ref().map(DeviceName::to_string),
            unordered: spec.unordered,
            window: spec.window as usize,
            held: BinaryHeap::new(),
            positions: 0,
            previous: None,
            skip: spec.skip,
            head: spec.head.unwrap_or(u64::MAX),
        })
    }

    /// The next record; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, Failed> {
        if self.head == 0 {
            return Ok(None);
        }
        while let Some(record) = self.ordered()? {
            if self.skip == 0 {
                self.head -= 1;
                return Ok(Some(record));
            }
            self.skip -= 1;
        }
        Ok(None)
    }

    /// The next record of the device.
    #[inline]
    fn selected(&mut self) -> Result<Option<Record>, Failed> {
        while let Some(record) = self.records.next()? {
            let Some(wanted) = &self.device else { return Ok(Some(record)) };
            let name = self.records.devices().get(record.device as usize);
            if name.is_some_and(|name| **name == *wanted.as_bytes()) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    #[inline]
    fn ordered(&mut self) -> Result<Option<Record>, Failed> {
        let mut record = if self.unordered == Unordered::Sort {
            while self.held.len() <= self.window {
                let Some(record) = self.selected()? else { break };
                self.positions += 1;
                self.held.push(Reverse((record.time, self.positions, record)));
            }
            match self.held.pop() {
                Some(Reverse((_, _, record))) => record,
                None => return Ok(None),
            }
        } else {
            match self.selected()? {
                Some(record) => record,
                None => return Ok(None),
            }
        };
        if let Some(previous) = self.previous.filter(|&previous| record.time < previous) {
            if self.unordered != Unordered::Clamp {
                return Err(self.backwards(previous, record.time).into());
            }
            record.time = previous;
        }
        self.previous = Some(record.time);
        Ok(Some(record))
    }

    #[cold]
    fn backwards(&self, previous: u64, found: u64) -> WorkloadError {
        let (file, at) = (self.records.file().to_owned(), self.records.position());
        if self.unordered == Unordered::Sort {
            let expected = format!(
                "not more than {} records out of order; enlarge window or set unordered = \"clamp\"",
                self.window
            );
            let value = format!("{found} ns");
            return WorkloadError::Record { file, at, field: "time", value, expected };
        }
        WorkloadError::TimeBackwards { file, at, previous, found }
    }
}

/// Replays a trace.
pub(crate) struct Replay {
    origin: Origin,
    detected: Detected,
    spec: TraceSpec,
    placement: Placement,
    pass: Pass,
    passes: u32,
    /// Time at which this pass starts, of its first record in the trace's time, and of its last request.
    base: u64,
    first: Option<u64>,
    last: u64,
    count: u64,
    done: bool,
}

impl Replay {
    pub(crate) fn open(
        origin: Origin,
        detected: Detected,
        spec: TraceSpec,
        placement: Placement,
    ) -> Result<Self, WorkloadError> {
        let pass = Pass::open(&origin, &detected, &spec)?;
        Ok(Self {
            origin,
            detected,
            spec,
            placement,
            pass,
            passes: 0,
            base: 0,
            first: None,
            last: 0,
            count: 0,
            done: false,
        })
    }

    /// Records of this pass so far, for figures and positions.
    pub(crate) fn records(&self) -> &Records {
        &self.pass.records
    }

    /// What the beginning of the trace told.
    pub(crate) fn detected(&self) -> &Detected {
        &self.detected
    }

    /// The next request.
    pub(crate) fn next(&mut self) -> Result<Option<Request>, Failed> {
        while !self.done {
            if let Some(record) = self.pass.next()? {
                return self.request(&record).map(Some);
            }
            self.passes += 1;
            if self.passes >= self.spec.repeat || self.count == 0 {
                self.done = true;
                break;
            }
            // The next pass follows after the mean gap of this one, so that the rate stays.
            let span = self.last - self.base;
            self.base = self.last.saturating_add(span / self.count.saturating_sub(1).max(1));
            (self.first, self.count) = (None, 0);
            self.pass = Pass::open(&self.origin, &self.detected, &self.spec)?;
        }
        Ok(None)
    }

    fn request(&mut self, record: &Record) -> Result<Request, Failed> {
        let first = *self.first.get_or_insert(record.time);
        let since = record.time - first;
        // Without scaling the time stays exact; with it, to the 2^-53 of a float. The cast saturates.
        let since =
            if self.spec.scaled() { (since as f64 * self.spec.time_scale).round() as u64 } else { since };
        let at = if self.spec.queue_depth.is_some() { 0 } else { self.base.saturating_add(since) };
        self.last = at;
        self.count += 1;
        let (lba, sectors) = if record.sectors == 0 {
            (0, 0)
        } else {
            self.placement
                .place(record.device, record.lba, record.sectors)
                .map_err(|(lba, sectors)| self.beyond(lba, sectors))?
        };
        let command = Command { fua: record.fua, ..Command::new(record.op, Lba(lba), sectors) };
        Ok(Request { at: Nanos(at), command })
    }

    #[cold]
    fn beyond(&self, lba: u64, sectors: u64) -> WorkloadError {
        let (file, at) = (self.pass.records.file().to_owned(), self.position());
        let capacity = self.placement.capacity.unwrap_or(0);
        WorkloadError::BeyondCapacity { file, at, lba, sectors, capacity }
    }

    fn position(&self) -> Position {
        self.pass.records.position()
    }
}

impl Source for Replay {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<usize, WorkloadError> {
        for count in 0..max {
            match self.next() {
                Ok(Some(request)) => out.push(request),
                Ok(None) => return Ok(count),
                Err(error) => {
                    self.done = true;
                    return Err(*error);
                }
            }
        }
        Ok(max)
    }

    fn notes(&self) -> Vec<String> {
        let Placement { capacity, addresses, pieces, placed, .. } = &self.placement;
        capacity.and_then(|capacity| placed.note(*addresses, capacity, pieces.len())).into_iter().collect()
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.placement.placed = Placed::default();
        self.pass = Pass::open(&self.origin, &self.detected, &self.spec)?;
        (self.passes, self.base, self.first, self.last, self.count, self.done) = (0, 0, None, 0, 0, false);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        if self.done {
            return Some(1.0);
        }
        // With a head the bytes tell nothing about how near the end is.
        let pass = match self.spec.head {
            Some(head) if head > 0 => (self.count as f64 / head as f64).min(1.0),
            _ => self.pass.records.progress(),
        };
        Some((f64::from(self.passes) + pass) / f64::from(self.spec.repeat.max(1)))
    }
}
