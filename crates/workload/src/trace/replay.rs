//! The source of a trace: selects, orders, places and paces its records.

use super::address_placement::{AddressPlacement, PlacementCounts};
use super::detect::DetectedFormat;
use super::device_streams::DeviceStreams;
use super::formats::TraceRecord;
use super::input::BoxedError;
use super::input::TraceOrigin;
use super::open::TraceTarget;
use super::records::RecordReader;
use super::{DeviceName, TraceSpec, UnorderedRecords};
use crate::{RequestSource, TracePosition, WorkloadError, WorkloadRequest};
use outlast_device::{Command, Op, PlacementId};
use outlast_units::{Lba, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The records of one pass after selection of the device, ordering, skip and head.
pub(crate) struct TracePass {
    pub(crate) records: RecordReader,
    device: Option<String>,
    unordered: UnorderedRecords,
    window: usize,
    /// Records held back for sorting, the earliest on top: time, number and record. The number keeps equal times in the order of the file.
    held: BinaryHeap<Reverse<(u64, u64, TraceRecord)>>,
    numbered: u64,
    previous: Option<u64>,
    /// Records still to be left out, and then those still to be given.
    skip: u64,
    head: u64,
}

impl TracePass {
    pub(crate) fn open(
        origin: &TraceOrigin,
        detected: &DetectedFormat,
        spec: &TraceSpec,
    ) -> Result<Self, WorkloadError> {
        Ok(Self {
            records: RecordReader::open(origin, detected)?,
            device: spec.device.as_ref().map(DeviceName::to_string),
            unordered: spec.unordered,
            window: TraceSpec::SORT_WINDOW,
            held: BinaryHeap::new(),
            numbered: 0,
            previous: None,
            skip: spec.skip,
            head: spec.head.unwrap_or(u64::MAX),
        })
    }

    /// The next record; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<TraceRecord>, BoxedError> {
        if self.head == 0 {
            return Ok(None);
        }
        while let Some(record) = self.next_in_order()? {
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
    fn next_of_device(&mut self) -> Result<Option<TraceRecord>, BoxedError> {
        while let Some(record) = self.records.next()? {
            let Some(device) = &self.device else { return Ok(Some(record)) };
            let name = self.records.devices().get(record.device as usize);
            if name.is_some_and(|name| **name == *device.as_bytes()) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// The next record of the device in the order that `unordered` demands.
    #[inline]
    fn next_in_order(&mut self) -> Result<Option<TraceRecord>, BoxedError> {
        let mut record = if self.unordered == UnorderedRecords::Sort {
            // With one record more than the window, the earliest of them is the next.
            while self.held.len() <= self.window {
                let Some(record) = self.next_of_device()? else { break };
                // The number keeps records of one time in the order of the file.
                self.numbered += 1;
                self.held.push(Reverse((record.time, self.numbered, record)));
            }
            match self.held.pop() {
                Some(Reverse((_, _, record))) => record,
                None => return Ok(None),
            }
        } else {
            match self.next_of_device()? {
                Some(record) => record,
                None => return Ok(None),
            }
        };
        if let Some(previous) = self.previous.filter(|&previous| record.time < previous) {
            if self.unordered != UnorderedRecords::Clamp {
                return Err(self.time_error(previous, record.time).into());
            }
            record.time = previous;
        }
        self.previous = Some(record.time);
        Ok(Some(record))
    }

    /// The error about a record at `time` that is earlier than the `previous` one.
    #[cold]
    fn time_error(&self, previous: u64, time: u64) -> WorkloadError {
        let (file, at) = (self.records.file().to_owned(), self.records.position());
        if self.unordered == UnorderedRecords::Sort {
            let expected = format!(
                "not more than {} records out of order; sort the file or set unordered = \"clamp\"",
                self.window
            );
            let value = format!("{time} ns");
            return WorkloadError::Record { file, at, field: "time", value, expected };
        }
        WorkloadError::TimeBackwards { file, at, previous, time }
    }
}

/// Replays a trace.
pub(crate) struct TraceReplay {
    origin: TraceOrigin,
    detected: DetectedFormat,
    spec: TraceSpec,
    placement: AddressPlacement,
    /// Stream hints of writes; absent where the settings name none.
    streams: Option<Box<DeviceStreams>>,
    target: TraceTarget,
    pass: TracePass,
    /// Passes completed.
    passes: u32,
    /// Start of this pass in nanoseconds, the recorded time of its first record, and the arrival of its last request.
    base: u64,
    first: Option<u64>,
    last: u64,
    /// Requests of this pass so far.
    count: u64,
    done: bool,
}

impl TraceReplay {
    pub(crate) fn open(
        origin: TraceOrigin,
        detected: DetectedFormat,
        spec: TraceSpec,
        placement: AddressPlacement,
        target: TraceTarget,
    ) -> Result<Self, WorkloadError> {
        let pass = TracePass::open(&origin, &detected, &spec)?;
        let streams = DeviceStreams::new(&spec.streams);
        Ok(Self {
            origin,
            detected,
            spec,
            placement,
            streams,
            target,
            pass,
            passes: 0,
            base: 0,
            first: None,
            last: 0,
            count: 0,
            done: false,
        })
    }

    /// The reader of this pass, for figures and positions.
    pub(crate) fn records(&self) -> &RecordReader {
        &self.pass.records
    }

    /// Format and units of the trace.
    pub(crate) fn detected(&self) -> &DetectedFormat {
        &self.detected
    }

    /// The next request; `None` after the last pass.
    pub(crate) fn next(&mut self) -> Result<Option<WorkloadRequest>, BoxedError> {
        while !self.done {
            if let Some(record) = self.pass.next()? {
                let mut request = self.make_request(&record)?;
                if record.handle != 0 {
                    self.check_handle(record.handle)?;
                    request.command.placement = PlacementId(record.handle);
                } else if let Some(streams) = &mut self.streams {
                    request.command.placement = streams.hint(&record, self.pass.records.devices());
                }
                return Ok(Some(request));
            }
            self.passes += 1;
            if self.passes >= self.spec.repeat || self.count == 0 {
                self.done = true;
                break;
            }
            // The next pass follows after the mean gap of this one, which keeps the mean rate.
            // `count` requests have one gap less between them; a single request repeats at once.
            let span = self.last - self.base;
            self.base = self.last.saturating_add(span / self.count.saturating_sub(1).max(1));
            (self.first, self.count) = (None, 0);
            self.pass = TracePass::open(&self.origin, &self.detected, &self.spec)?;
        }
        Ok(None)
    }

    /// The request of a record, with its time and address on the device.
    fn make_request(&mut self, record: &TraceRecord) -> Result<WorkloadRequest, BoxedError> {
        let first = *self.first.get_or_insert(record.time);
        let since = record.time - first;
        // Without scaling the time stays exact; with it, to the 2^-53 of a float. The cast saturates.
        let since = if self.spec.is_time_scaled() {
            (since as f64 * self.spec.time_scale).round() as u64
        } else {
            since
        };
        let at = if self.spec.queue_depth.is_some() { 0 } else { self.base.saturating_add(since) };
        self.last = at;
        self.count += 1;
        if record.op > Op::LbaStatus && self.target.lacks_zones() {
            return Err(self
                .refused(
                    "command",
                    "for zones".to_owned(),
                    "no command to zones: the drive has none".to_owned(),
                )
                .into());
        }
        let (lba, sectors) = if record.op == Op::ManageZone {
            let end = self.placement.capacity.unwrap_or(u64::MAX);
            if record.lba >= end {
                return Err(self.capacity_error(record.lba, 1).into());
            }
            (record.lba, 0)
        } else if record.sectors == 0 {
            (0, 0)
        } else {
            self.placement
                .place(record.device, record.lba, record.sectors)
                .map_err(|(lba, sectors)| self.capacity_error(lba, sectors))?
        };
        let command = Command {
            fua: record.fua,
            zone_action: record.action,
            ..Command::new(record.op, Lba(lba), sectors)
        };
        Ok(WorkloadRequest { at: Nanos(at), command })
    }

    /// Checks that the device has handle `handle`, where it has handles.
    fn check_handle(&self, handle: u16) -> Result<(), BoxedError> {
        match self.target.handles() {
            Some(handles) if handle >= handles => {
                let expected = format!("at most {}: the host may use {handles} handles", handles - 1);
                Err(self.refused("handle", handle.to_string(), expected).into())
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn refused(&self, field: &'static str, value: String, expected: String) -> WorkloadError {
        let (file, at) = (self.pass.records.file().to_owned(), self.position());
        WorkloadError::Record { file, at, field, value, expected }
    }

    /// The error about a request beyond the capacity.
    #[cold]
    fn capacity_error(&self, lba: u64, sectors: u64) -> WorkloadError {
        let (file, at) = (self.pass.records.file().to_owned(), self.position());
        let capacity = self.placement.capacity.unwrap_or(0);
        WorkloadError::BeyondCapacity { file, at, lba, sectors, capacity }
    }

    fn position(&self) -> TracePosition {
        self.pass.records.position()
    }
}

impl RequestSource for TraceReplay {
    fn fill(&mut self, out: &mut Vec<WorkloadRequest>, max: usize) -> Result<usize, WorkloadError> {
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
        let AddressPlacement { capacity, addresses, pieces, counts, .. } = &self.placement;
        let beyond = capacity.and_then(|capacity| counts.note(*addresses, capacity, pieces.len()));
        let has_begun = self.count > 0 || self.passes > 0;
        let absent = || self.streams.as_ref()?.note_absent(self.pass.records.devices());
        beyond.into_iter().chain(has_begun.then(absent).flatten()).collect()
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.placement.counts = PlacementCounts::default();
        self.pass = TracePass::open(&self.origin, &self.detected, &self.spec)?;
        (self.passes, self.base, self.first, self.last, self.count, self.done) = (0, 0, None, 0, 0, false);
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        if self.done {
            return Some(1.0);
        }
        // With a head the pass ends before the file does.
        let pass = match self.spec.head {
            Some(head) if head > 0 => (self.count as f64 / head as f64).min(1.0),
            _ => self.pass.records.progress(),
        };
        Some((f64::from(self.passes) + pass) / f64::from(self.spec.repeat.max(1)))
    }
}
