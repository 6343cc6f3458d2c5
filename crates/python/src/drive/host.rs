//! A host in virtual time: it hands commands to a machine and waits for them. While it asks for nothing, no time passes.

use crate::errors::DeviceError;
use outlast_device::{Command, Completion, LbaRun, Op, Outcome, Tag};
use outlast_serve::{DeviceInput, RefusedInput, ServedDevice};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use pyo3::prelude::*;

/// Commands between two looks for Ctrl-C.
const BETWEEN_SIGNALS: usize = 1 << 12;
/// Most commands in flight.
const DEEPEST: usize = 1024;
/// Most bytes that one command moves: as many sectors as a command counts.
const LONGEST: u64 = (1 << 32) - SECTOR_BYTES;

/// Kind of a host's command; in Python, its place in `outlast.drive_commands.OPS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Read,
    Write,
    Trim,
    Flush,
}

impl Ask {
    /// The kind whose number is `code`.
    pub(crate) fn of(code: u8) -> Option<Self> {
        [Self::Read, Self::Write, Self::Trim, Self::Flush].get(usize::from(code)).copied()
    }

    fn command(self, offset: u64, length: u64, flags: CommandFlags) -> Command {
        let (op, lba, sectors) = match self {
            Self::Read => (Op::Read, offset / SECTOR_BYTES, length / SECTOR_BYTES),
            Self::Write => (Op::Write, offset / SECTOR_BYTES, length / SECTOR_BYTES),
            Self::Trim => (Op::Trim, offset / SECTOR_BYTES, length / SECTOR_BYTES),
            Self::Flush => (Op::Flush, 0, 0),
        };
        let (lba, sectors) = (Lba(lba), sectors as u32);
        Command {
            fua: flags.fua && op == Op::Write,
            limited_retry: flags.limited_retry && op == Op::Read,
            ..Command::new(op, lba, sectors)
        }
    }
}

/// Flags of commands: `fua` counts for writes, `limited_retry` for reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandFlags {
    pub(crate) fua: bool,
    pub(crate) limited_retry: bool,
}

/// Commands to be handed over in this order; the columns have equal lengths.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) asks: Vec<Ask>,
    /// Bytes.
    pub(crate) offsets: Vec<u64>,
    /// Bytes.
    pub(crate) lengths: Vec<u64>,
    /// What the writes bring, one after another.
    pub(crate) data: Vec<u8>,
    pub(crate) flags: CommandFlags,
    /// How many may be in flight at once; at least 1.
    pub(crate) depth: usize,
}

impl Batch {
    /// Checks what the machine itself does not judge, for a device of `capacity` bytes.
    pub(crate) fn check(&self, capacity: u64) -> PyResult<()> {
        let sector = SECTOR_BYTES;
        let mut written = 0u64;
        for ((&ask, &offset), &length) in self.asks.iter().zip(&self.offsets).zip(&self.lengths) {
            if ask == Ask::Flush {
                continue;
            }
            if !offset.is_multiple_of(sector) {
                return Err(DeviceError::new_err(format!(
                    "offset = {offset}: must be a multiple of {sector}, a sector's bytes"
                )));
            }
            if length == 0 || length > LONGEST || !length.is_multiple_of(sector) {
                let limit =
                    format!("from {sector} to {LONGEST} and a multiple of {sector}, a sector's bytes");
                return Err(DeviceError::new_err(format!("length = {length}: must be {limit}")));
            }
            if offset.checked_add(length).is_none_or(|end| end > capacity) {
                return Err(DeviceError::new_err(format!(
                    "offset = {offset}, length = {length}: reaches beyond the end of the drive, {capacity} bytes"
                )));
            }
            written += if ask == Ask::Write { length } else { 0 };
        }
        if written != self.data.len() as u64 {
            let given = self.data.len();
            return Err(DeviceError::new_err(format!("data: {given} bytes; the writes need {written}")));
        }
        if !(1..=DEEPEST).contains(&self.depth) {
            return Err(DeviceError::new_err(format!("depth = {}: must be from 1 to {DEEPEST}", self.depth)));
        }
        Ok(())
    }
}

/// What came of a batch, command by command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) submitted: Vec<u64>,
    pub(crate) completed: Vec<u64>,
    /// What the reads returned, one after another; zeroes where one failed.
    pub(crate) read: Vec<u8>,
}

/// A machine and its only host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) machine: ServedDevice,
    pub(crate) now: Nanos,
}

/// Commands in flight: the names that they have at the machine, and what they are.
struct Flight {
    free: Vec<Tag>,
    /// By name: which command of the batch, and where in the bytes read its own begin.
    at: Vec<(usize, usize)>,
}

impl Host {
    /// Carries out a batch. `interrupted` is asked now and then, and ends the batch early with its error, once all that is in
    /// flight has completed.
    ///
    /// # Errors
    /// Those of `interrupted`; a command that never completes.
    pub(crate) fn run(&mut self, batch: &Batch, interrupted: impl Fn() -> PyResult<()>) -> PyResult<Done> {
        let count = batch.asks.len();
        let reads = batch.asks.iter().zip(&batch.lengths).filter(|&(&ask, _)| ask == Ask::Read);
        let mut done = Done {
            outcomes: vec![Outcome::Aborted; count],
            submitted: vec![0; count],
            completed: vec![0; count],
            read: vec![0; reads.map(|(_, &length)| length as usize).sum()],
        };
        let mut flight =
            Flight { free: (0..batch.depth as u32).rev().map(Tag).collect(), at: vec![(0, 0); batch.depth] };
        let handed_over = self.hand_over(batch, &mut flight, &mut done, interrupted);
        // Whatever ends a batch early: the next one finds no command under way.
        while flight.free.len() < batch.depth {
            self.wait(batch, &mut flight, &mut done)?;
        }
        handed_over.map(|()| done)
    }

    /// Hands the commands of a batch to the machine, as many at once as may be in flight.
    fn hand_over(
        &mut self,
        batch: &Batch,
        flight: &mut Flight,
        done: &mut Done,
        interrupted: impl Fn() -> PyResult<()>,
    ) -> PyResult<()> {
        let (mut read, mut written) = (0, 0);
        for (index, &ask) in batch.asks.iter().enumerate() {
            if index % BETWEEN_SIGNALS == BETWEEN_SIGNALS - 1 {
                interrupted()?;
            }
            if flight.free.is_empty() {
                self.wait(batch, flight, done)?;
            }
            let Some(tag) = flight.free.pop() else { continue };
            let length = batch.lengths[index];
            flight.at[tag.0 as usize] = (index, read);
            let mut data: &[u8] = &[];
            match ask {
                Ask::Read => read += length as usize,
                Ask::Write => {
                    data = &batch.data[written..written + length as usize];
                    written += length as usize;
                }
                Ask::Trim | Ask::Flush => {}
            }
            done.submitted[index] = self.now.0;
            let command = ask.command(batch.offsets[index], length, batch.flags);
            match self.machine.apply(self.now, &DeviceInput::Command { tag, command, data }) {
                Ok(()) => {}
                // Nothing comes of it, and the next one may find the power back.
                Err(RefusedInput::Off | RefusedInput::NotStarted) => {
                    done.completed[index] = self.now.0;
                    flight.free.push(tag);
                }
                Err(refused) => {
                    flight.free.push(tag);
                    return Err(DeviceError::new_err(refused.to_string()));
                }
            }
        }
        Ok(())
    }

    /// Lets time pass until a command of the batch completes.
    fn wait(&mut self, batch: &Batch, flight: &mut Flight, done: &mut Done) -> PyResult<()> {
        for Completion { at, tag, outcome, .. } in self.completed()? {
            let (index, start) = flight.at[tag.0 as usize];
            done.outcomes[index] = outcome;
            done.completed[index] = at.0;
            if batch.asks[index] == Ask::Read
                && let Some(bytes) = self.machine.take_data(tag)
            {
                done.read[start..start + bytes.len()].copy_from_slice(&bytes);
            }
            flight.free.push(tag);
        }
        Ok(())
    }

    /// Lets time pass until something completes, and returns what did.
    fn completed(&mut self) -> PyResult<Vec<Completion>> {
        let mut completions: Vec<Completion> = Vec::new();
        while completions.is_empty() {
            let Some(next) = self.machine.next_deadline() else {
                return Err(DeviceError::new_err("a command will never complete: nothing more happens"));
            };
            self.now = self.now.max(next);
            self.machine.advance(self.now, &mut completions);
        }
        Ok(completions)
    }

    /// Asks the machine which of `sectors` sectors from `lba` on are to be written again, and waits for the answer.
    ///
    /// # Errors
    /// No power; a query that never completes.
    pub(crate) fn lba_status(&mut self, lba: Lba, sectors: u64) -> PyResult<Vec<LbaRun>> {
        let (mut runs, mut from, mut left) = (Vec::new(), lba, sectors);
        while left > 0 {
            let count = u32::try_from(left).unwrap_or(u32::MAX);
            let command = Command::new(Op::LbaStatus, from, count);
            self.give(&DeviceInput::Command { tag: Tag(0), command, data: &[] })?;
            for done in self.completed()? {
                if done.outcome != Outcome::Ok {
                    return Err(DeviceError::new_err(format!("query for LBA status: {:?}", done.outcome)));
                }
            }
            runs.extend(self.machine.take_lba_status(Tag(0)).unwrap_or_default());
            from.0 += u64::from(count);
            left -= u64::from(count);
        }
        Ok(runs)
    }

    /// Something comes to the machine now.
    pub(crate) fn give(&mut self, input: &DeviceInput<'_>) -> PyResult<()> {
        self.machine.apply(self.now, input).map_err(|refused| DeviceError::new_err(refused.to_string()))
    }

    /// Lets time pass.
    pub(crate) fn advance(&mut self, by: Nanos) -> PyResult<()> {
        let then = Nanos(self.now.0.saturating_add(by.0));
        self.machine
            .apply(then, &DeviceInput::Advance)
            .map_err(|refused| DeviceError::new_err(refused.to_string()))?;
        self.now = then;
        Ok(())
    }
}
