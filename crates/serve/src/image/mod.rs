//! An image: a folder that holds all that is needed to have a machine again.
//!
//! | file | what |
//! |---|---|
//! | `image` | version, number of the image, checksum of the scenario |
//! | `scenario.toml` | what the machine is made from, complete in itself |
//! | `log/00000001` … | segments of the log of inputs |
//! | `checkpoints/00000007` | the machine as it was when that segment began; what lies before may be gone |
//! | `clock` | how far time and log had come when the last reply left |
//! | `lock` | held by the server that has the image |
//! | `clean` | there after a shutdown that was announced |
//!
//! A checkpoint is a snapshot of a fork, written by a separate thread when enough log has been written (`checkpoints.rs`); the loop calls `Recorder::tend`
//! between turns. A start reads the newest checkpoint and replays the log after it; `past.rs` replays up to an earlier moment, and `trace.rs` writes the log as
//! a trace (decisions 0041 and 0047).

mod checkpoints;
mod error;
mod files;
mod folder;
mod make;
mod options;
mod past;
mod records;
mod replay;
mod trace;

pub use error::ImageError;
pub(crate) use folder::Folder;
pub use options::{Found, ImageOptions};
pub use records::{Payload, Records};
pub use trace::Traced;

use crate::input::{Input, Power};
use crate::log::{Acknowledged, Log, LogOptions, Place};
use crate::machine::Machine;
use crate::recorder::Recorder;
use checkpoints::Checkpoints;
use files::{Files, io_error};
use make::Begun;
use outlast_device::{Command, Tag};
use outlast_engine::{EngineError, OnProgress, Scenario};
use outlast_media::ConfigError;
use outlast_units::Nanos;
use std::fs::File;
use std::io;
use std::path::Path;

/// An image in use: the log of its machine, to be told every input.
///
/// A process that is killed leaves a machine that loses its power at the time when the last reply left: what was promised is there.
#[derive(Debug)]
pub struct Image {
    files: Files,
    log: Log,
    checkpoints: Checkpoints,
    options: ImageOptions,
    /// Bytes of log behind the newest checkpoint when the image was opened; none once another has begun.
    found_log: u64,
    /// Bytes that had been written when the latest checkpoint was begun.
    checkpoint_at: u64,
    found: Found,
    /// Held while it lives.
    _lock: File,
}

impl Image {
    /// Opens the image in `folder`, or makes one of `scenario` there, and builds its machine: prepared, given all inputs of the log, advanced
    /// to the time when the last reply left, and, unless the last server had announced its end, without power for a moment then.
    ///
    /// # Errors
    /// No image, one of another version or scenario, one in use, damage before what replies have promised. `None` where `progress` stopped
    /// it.
    pub fn open(
        folder: &Path,
        scenario: Option<&Scenario>,
        options: ImageOptions,
        progress: OnProgress<'_>,
    ) -> Result<Option<(Self, Machine)>, ImageError> {
        options.check().map_err(EngineError::from)?;
        let (files, lock, prepared) = if let Some(files) = Files::find(folder)? {
            let lock = files.lock()?;
            (files, lock, None)
        } else {
            let Some(scenario) = scenario else { return Err(files::is_none(folder)) };
            check(scenario)?;
            let begun = Begun::new(folder, scenario)?;
            let Some(made) = begun.make(scenario, options, progress)? else { return Ok(None) };
            made
        };
        let made = prepared.is_some();
        let (image, own) = files.read()?;
        if scenario.is_some_and(|asked| with_bytes(asked) != own) {
            let why = "the image was made from another scenario: name that one, or none".to_owned();
            return Err(ImageError::Foreign { path: files.scenario(), why });
        }
        let acknowledged = files.clock(image)?;
        let clean = files.is_clean();
        let store = options.contents.store(folder).map_err(|source| io_error(folder.to_owned(), source))?;
        let begun = match prepared {
            Some(machine) => Some(past::at_first(machine, image, store.as_ref())),
            None => past::begin(&files, &own, image, Nanos(u64::MAX), store.as_ref(), progress)?,
        };
        let Some((mut machine, first)) = begun else { return Ok(None) };
        let replayed = replay::replay(&mut machine, &files, first, acknowledged, options.salvage, None)?;
        files.keep_segments(0..=replayed.place.segment)?;
        checkpoints::keep_from(&files, first.segment, options.keep_log)?;
        let (clock, sync) = (files.open_clock()?, options.sync);
        let log = Log::open(files.open_log()?, clock, replayed.place, acknowledged, LogOptions { sync })
            .map_err(|source| io_error(files.log(), source))?;
        let found = Found { made, clean: clean || made, inputs: replayed.inputs, torn: replayed.torn };
        let checkpoints = Checkpoints::new(files.clone(), options.keep_log)?;
        let found_log = files.log_bytes(first.segment)?;
        let mut opened =
            Self { files, log, checkpoints, options, found_log, checkpoint_at: 0, found, _lock: lock };
        opened.power_up(&mut machine, acknowledged).map_err(|source| io_error(opened.files.log(), source))?;
        opened.files.unclean()?;
        Ok(Some((opened, machine)))
    }

    /// What was found when it was opened.
    pub fn found(&self) -> Found {
        self.found
    }

    /// Where the next record of its log will lie.
    pub fn place(&self) -> Place {
        self.log.place()
    }

    /// Bytes of log that have been written since.
    pub fn written(&self) -> u64 {
        self.log.written()
    }

    /// The scenario of the image in `folder`.
    ///
    /// # Errors
    /// There is none, or one of another version.
    pub fn scenario(folder: &Path) -> Result<Scenario, ImageError> {
        Ok(Files::of(folder)?.read()?.1)
    }

    /// After the end of a server that nobody had announced, power is back after a loss at the time of the last reply.
    fn power_up(&mut self, machine: &mut Machine, acknowledged: Acknowledged) -> io::Result<()> {
        let now = acknowledged.now.max(machine.now());
        replay::catch_up(machine, now);
        let power = if machine.is_off() {
            Power::On { force: false }
        } else if self.found.clean && machine.in_flight() == 0 {
            return Ok(());
        } else {
            Power::Cut { force: false }
        };
        self.record(now, &Input::Power(power));
        self.commit()?;
        // An array may refuse to start, and is served as one that has not.
        let _refused = machine.apply(now, &Input::Power(power));
        replay::catch_up(machine, now);
        self.acknowledge(now, true)
    }

    /// A shutdown that is announced, at `now`: what is under way ends, the machine is flushed, and the next server finds it as it then is. To be
    /// called when no client is there any more.
    ///
    /// # Errors
    /// The log cannot be written; then the next server finds a machine that has lost its power. Or a checkpoint could not be, which loses
    /// nothing.
    pub fn shut_down(mut self, machine: &mut Machine, now: Nanos) -> io::Result<()> {
        let mut now = finish(machine, now);
        machine.check_contents()?;
        if machine.is_up() && machine.in_flight() == 0 {
            let command = Command::FLUSH;
            let flush = Input::Command { tag: Tag(0), command, data: &[] };
            self.record(now, &flush);
            self.commit()?;
            let _refused = machine.apply(now, &flush);
            now = finish(machine, now);
        }
        self.record(now, &Input::Advance);
        self.acknowledge(now, true)?;
        self.files.mark_clean(self.log.syncs())?;
        self.checkpoints.wait()
    }
}

impl Recorder for Image {
    fn record(&mut self, at: Nanos, input: &Input<'_>) {
        self.log.record(at, input);
    }

    fn commit(&mut self) -> io::Result<()> {
        self.log.commit()
    }

    fn acknowledge(&mut self, now: Nanos, durable: bool) -> io::Result<()> {
        self.log.acknowledge(now, durable)
    }

    /// When enough log has been written, the machine is written as it is, beside the service.
    fn tend(&mut self, machine: &Machine) -> io::Result<()> {
        if self.checkpoints.is_under_way()? {
            return Ok(());
        }
        let log = self.found_log + self.log.written() - self.checkpoint_at;
        if log < self.options.limit(self.checkpoints.bytes()) {
            return Ok(());
        }
        // If anything goes wrong, the next attempt is as far away as from a checkpoint that was written.
        (self.found_log, self.checkpoint_at) = (0, self.log.written());
        self.log.roll()?;
        self.checkpoints.begin(machine.fork(), self.log.place().segment)
    }
}

/// Lets all commands under way end; returns when they have.
fn finish(machine: &mut Machine, now: Nanos) -> Nanos {
    replay::catch_up(machine, now);
    while machine.in_flight() > 0
        && let Some(at) = machine.next_deadline().filter(|&at| at <= machine.latest())
    {
        replay::catch_up(machine, at);
    }
    machine.now()
}

/// A machine in service keeps bytes.
fn with_bytes(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.device.bytes = true;
    scenario
}

/// An image is complete in itself.
fn check(scenario: &Scenario) -> Result<(), ImageError> {
    let overwrites = scenario.precondition.overwrite == outlast_engine::OverwritePattern::Workload;
    match scenario.input_files().first() {
        Some(_) if overwrites => {
            let limit = "cannot be in an image, which has no files but its own: the workload reads one";
            Err(EngineError::from(ConfigError::new("precondition.overwrite", "workload", limit)).into())
        }
        _ => Ok(()),
    }
}
