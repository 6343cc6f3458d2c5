//! An image: a folder that holds all that is needed to have a machine again.
//!
//! | file | what |
//! |---|---|
//! | `image` | version, number of the image, checksum of the scenario |
//! | `scenario.toml` | what the machine is made from, complete in itself |
//! | `log/00000001` … | segments of the log of inputs |
//! | `checkpoints/00000007` | the machine as it was when that segment began; older segments are gone |
//! | `clock` | how far time and log had come when the last reply left |
//! | `lock` | held by the server that has the image |
//! | `clean` | there after a shutdown that was announced |

mod checkpoints;
mod error;
mod files;
mod replay;

pub use error::ImageError;

use crate::input::{Input, Power};
use crate::log::{Acknowledged, Log, LogOptions, Place};
use crate::machine::Machine;
use crate::recorder::Recorder;
use checkpoints::Checkpoints;
use files::{Files, io_error};
use outlast_device::{Command, Op, StreamId, Tag};
use outlast_engine::{EngineError, OnProgress, Scenario};
use outlast_media::ConfigError;
use outlast_units::{Lba, Nanos};
use std::fs::File;
use std::io;
use std::path::Path;

/// How an image is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageOptions {
    /// Whether it survives the host's own crash; see [`LogOptions`].
    pub sync: bool,
    /// Whether a log that the host's crash has damaged is used up to the damage, though replies have left that later parts decided.
    pub salvage: bool,
    /// Bytes of log after which a checkpoint is made, and the log before it goes. Default: four times the capacity.
    pub compact: Option<u64>,
}

/// What was found when an image was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether there was none, so that it was made.
    pub made: bool,
    /// Whether the last server had announced its end. Otherwise the machine has lost its power when that server ended.
    pub clean: bool,
    /// Inputs that have been repeated.
    pub inputs: u64,
    /// Whether the log ended within a record, which was taken away.
    pub torn: bool,
}

/// An image in use: the log of its machine, to be told every input.
///
/// A process that is killed leaves a machine that loses its power at the time when the last reply left: what was promised is there.
#[derive(Debug)]
pub struct Image {
    files: Files,
    log: Log,
    checkpoints: Checkpoints,
    compact: u64,
    /// Bytes of log that were there when it was opened, until a checkpoint is begun.
    since: u64,
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
        let files = Files::new(folder);
        if !files.exists() {
            let Some(scenario) = scenario else { return Err(files.is_none()) };
            check(scenario)?;
            files.prepare(scenario)?;
        }
        let lock = files.lock()?;
        let made = !files.exists();
        if let Some(scenario) = scenario.filter(|_| made) {
            files.make(scenario, options.sync)?;
        }
        let (image, own) = files.read()?;
        if scenario.is_some_and(|asked| with_bytes(asked) != own) {
            let why = "the image was made from another scenario: name that one, or none".to_owned();
            return Err(ImageError::Foreign { path: files.scenario(), why });
        }
        let acknowledged = files.clock(image)?;
        let clean = files.is_clean();
        let Some((mut machine, first)) = begin(&files, &own, image, progress)? else { return Ok(None) };
        let replayed = replay::replay(&mut machine, &files, first, acknowledged, options.salvage, None)?;
        let clock = files.open_clock()?;
        let log_options = LogOptions { sync: options.sync };
        files.keep_segments(first.segment..=replayed.place.segment)?;
        checkpoints::remove_before(&files.checkpoints(), first.segment)?;
        let log = Log::open(&files.log(), clock, replayed.place, acknowledged, log_options)
            .map_err(|source| io_error(files.log(), source))?;
        let found = Found { made, clean: clean || made, inputs: replayed.inputs, torn: replayed.torn };
        let checkpoints = Checkpoints::new(files.checkpoints(), options.sync);
        let compact = options.compact.unwrap_or(machine.identify().capacity.0 * 4);
        let mut opened = Self { files, log, checkpoints, compact, since: 0, found, _lock: lock };
        opened.since = opened.files.log_bytes()?;
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
        let files = Files::new(folder);
        if files.exists() { Ok(files.read()?.1) } else { Err(files.is_none()) }
    }

    /// The machine as it was at `at`, before whatever came later; the image stays as it is, and may be in use.
    ///
    /// # Errors
    /// Those of [`Image::open`].
    pub fn as_it_was(
        folder: &Path,
        at: Nanos,
        progress: OnProgress<'_>,
    ) -> Result<Option<Machine>, ImageError> {
        let files = Files::new(folder);
        if !files.exists() {
            return Err(files.is_none());
        }
        let (image, own) = files.read()?;
        let acknowledged = files.clock(image)?;
        let Some((mut machine, first)) = begin(&files, &own, image, progress)? else { return Ok(None) };
        if machine.now() > at {
            let why = format!("its log goes back to {}, not to {at}", machine.now());
            return Err(ImageError::Foreign { path: folder.to_owned(), why });
        }
        replay::replay(&mut machine, &files, first, acknowledged, true, Some(at))?;
        Ok(Some(machine))
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
    /// The log cannot be written; then the next server finds a machine that has lost its power.
    pub fn shut_down(mut self, machine: &mut Machine, now: Nanos) -> io::Result<()> {
        let mut now = finish(machine, now);
        if machine.is_up() && machine.in_flight() == 0 {
            let command = Command { lba: Lba(0), sectors: 0, op: Op::Flush, stream: StreamId(0), fua: false };
            let flush = Input::Command { tag: Tag(0), command, data: &[] };
            self.record(now, &flush);
            self.commit()?;
            let _refused = machine.apply(now, &flush);
            now = finish(machine, now);
        }
        self.record(now, &Input::Advance);
        self.acknowledge(now, true)?;
        self.end_checkpoint(true)?;
        self.files.mark_clean(self.log.syncs())
    }
}

impl Image {
    /// Takes note of a checkpoint that has been written: the log before it goes.
    fn end_checkpoint(&mut self, wait: bool) -> io::Result<()> {
        let Some(segment) = self.checkpoints.finished(wait)? else { return Ok(()) };
        // The clock has to name a segment that stays.
        self.log.acknowledge(Nanos::ZERO, true)?;
        let last = self.log.place().segment;
        let kept = self.files.keep_segments(segment..=last);
        kept.and_then(|()| checkpoints::remove_before(&self.files.checkpoints(), segment))
            .map_err(io::Error::other)
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

    /// Bounds the log: when it has grown long, the machine is written as it is, beside the service.
    fn tend(&mut self, machine: &Machine) -> io::Result<()> {
        if self.checkpoints.is_under_way() {
            return self.end_checkpoint(false);
        }
        if self.since + self.log.since() < self.compact {
            return Ok(());
        }
        self.log.commit()?;
        self.log.roll()?;
        self.since = 0;
        self.log.count_anew();
        self.checkpoints.begin(machine.fork(), self.log.place().segment)
    }
}

/// The machine with which the log that there is begins, and where that is.
fn begin(
    files: &Files,
    scenario: &Scenario,
    image: u64,
    progress: OnProgress<'_>,
) -> Result<Option<(Machine, Place)>, ImageError> {
    let place = |segment| Place { image, segment, offset: 0 };
    if let Some((machine, segment)) = checkpoints::newest(&files.checkpoints(), scenario)? {
        return Ok(Some((machine, place(segment))));
    }
    Ok(Machine::prepare(scenario, progress)?.map(|machine| (machine, place(1))))
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
    let overwrites = scenario.precondition.overwrite == outlast_engine::Overwrite::Workload;
    match scenario.input_files().first() {
        Some(_) if overwrites => {
            let limit = "cannot be in an image, which has no files but its own: the workload reads one";
            Err(EngineError::from(ConfigError::new("precondition.overwrite", "workload", limit)).into())
        }
        _ => Ok(()),
    }
}
