//! An image: a folder with everything needed to build a device again.
//!
//! | file | what |
//! |---|---|
//! | `image` | version, number of the image, checksum of the scenario; `image.new` until all else is there |
//! | `scenario.toml` | scenario of the device, complete in itself |
//! | `log/00000001` … | segments of the log of inputs |
//! | `checkpoints/00000007` | the device as it was at the beginning of that segment; older segments may be gone |
//! | `clock` | simulated time and length of the log when the last reply left |
//! | `lock` | locked by the server that uses the image |
//! | `clean` | present after a regular shutdown |

mod checkpoints;
mod creation;
mod error;
mod files;
mod folder;
mod line;
mod make;
mod options;
mod past;
mod records;
mod replay;
mod trace;

pub use error::ImageError;
pub(crate) use folder::ImageFolder;
pub use options::{ImageOptions, OpeningReport};
pub use records::{LogRecords, PayloadPlace};
pub use trace::LogTraceSummary;

use crate::device::ServedDevice;
use crate::input::{DeviceInput, PowerChange};
use crate::log::{AcknowledgedPoint, InputLog, LogOptions, RecordPlace};
use crate::recorder::InputRecorder;
use checkpoints::ImageCheckpoints;
use files::{ImageFiles, io_error};
use make::NewImage;
use outlast_device::{Command, Tag};
use outlast_engine::{EngineError, OnProgress, Scenario};
use outlast_media::ConfigError;
use outlast_units::Nanos;
use std::fs::File;
use std::io;
use std::path::Path;

/// An image in use, which records every input of its device.
///
/// If the process is killed, the device loses power at the time of the last reply: everything that replies have promised is there.
#[derive(Debug)]
pub struct DeviceImage {
    files: ImageFiles,
    log: InputLog,
    checkpoints: ImageCheckpoints,
    options: ImageOptions,
    /// Bytes of log since the newest checkpoint when the image was opened; 0 once another has begun.
    log_at_opening: u64,
    /// Bytes written when the latest checkpoint was begun.
    checkpoint_at: u64,
    opening: OpeningReport,
    /// Locked as long as the image is in use.
    _lock: File,
}

impl DeviceImage {
    /// Opens the image in `folder`, or creates one of `scenario`, and builds its device: prepared, given all inputs of the log, advanced to the time
    /// of the last reply, and, unless the last server was shut down regularly, without power for a moment. `None` if `progress` stopped the
    /// preparation.
    ///
    /// # Errors
    /// The image is missing, in use, of another version or scenario, or its log is damaged before the point on which replies depend.
    pub fn open(
        folder: &Path,
        scenario: Option<&Scenario>,
        options: ImageOptions,
        progress: OnProgress<'_>,
    ) -> Result<Option<(Self, ServedDevice)>, ImageError> {
        options.check().map_err(EngineError::from)?;
        let (files, lock, prepared) = if let Some(files) = ImageFiles::find(folder)? {
            let lock = files.lock()?;
            (files, lock, None)
        } else {
            let Some(scenario) = scenario else { return Err(files::no_image(folder)) };
            check(scenario)?;
            let new_image = NewImage::new(folder, scenario, options.sync)?;
            let Some(made) = new_image.make(scenario, progress)? else { return Ok(None) };
            made
        };
        let is_made = prepared.is_some();
        let (image, kept_scenario) = files.read()?;
        if scenario.is_some_and(|scenario| with_bytes(scenario) != with_bytes(&kept_scenario)) {
            let why = "the image was made from another scenario: name that one, or none".to_owned();
            return Err(ImageError::Foreign { path: files.scenario(), why });
        }
        let acknowledged = files.clock(image)?;
        let is_clean = files.is_clean();
        let store = options.contents.store(folder).map_err(|source| io_error(folder.to_owned(), source))?;
        let start = match prepared {
            Some(device) => Some(past::with_log_start(device, image, store.as_ref())),
            None => {
                past::find_start(&files, &kept_scenario, image, Nanos(u64::MAX), store.as_ref(), progress)?
            }
        };
        let Some((mut device, first)) = start else { return Ok(None) };
        let replayed = replay::replay(&mut device, &files, first, acknowledged, options.salvage, None)?;
        // Segments behind the end of the replay were begun, but no reply depends on them.
        files.keep_segments(0..=replayed.place.segment)?;
        // A process that was killed during a checkpoint may have left files that nobody needs.
        checkpoints::remove_before(&files, first.segment, options.keep_log)?;
        let (clock, sync) = (files.open_clock()?, options.sync);
        let log = InputLog::open(files.open_log()?, clock, replayed.place, acknowledged, LogOptions { sync })
            .map_err(|source| io_error(files.log(), source))?;
        let opening = OpeningReport {
            made: is_made,
            clean: is_clean || is_made,
            inputs: replayed.inputs,
            torn: replayed.torn,
        };
        let checkpoints = ImageCheckpoints::new(files.clone(), options.keep_log)?;
        let log_at_opening = files.log_bytes(first.segment)?;
        let mut opened =
            Self { files, log, checkpoints, options, log_at_opening, checkpoint_at: 0, opening, _lock: lock };
        opened.power_up(&mut device, acknowledged).map_err(|source| io_error(opened.files.log(), source))?;
        // From here on, an end without shutdown counts as a loss of power.
        opened.files.remove_clean_mark()?;
        Ok(Some((opened, device)))
    }

    /// Facts found when the image was opened.
    pub fn opening_report(&self) -> OpeningReport {
        self.opening
    }

    /// Place of the next record.
    pub fn place(&self) -> RecordPlace {
        self.log.place()
    }

    /// Bytes of log written by this process.
    pub fn written(&self) -> u64 {
        self.log.written()
    }

    /// Scenario of the image in `folder`.
    ///
    /// # Errors
    /// The image is missing or of another version.
    pub fn scenario(folder: &Path) -> Result<Scenario, ImageError> {
        Ok(ImageFiles::open(folder)?.read()?.1)
    }

    /// Advances to the time of the last reply. If the last server was not shut down regularly, power then fails and returns.
    fn power_up(&mut self, device: &mut ServedDevice, acknowledged: AcknowledgedPoint) -> io::Result<()> {
        let now = acknowledged.now.max(device.now());
        replay::catch_up(device, now);
        let power = if device.is_off() {
            PowerChange::On { force: false }
        } else if self.opening.clean && device.in_flight() == 0 {
            return Ok(());
        } else {
            PowerChange::Cut { force: false }
        };
        self.record(now, &DeviceInput::Power(power));
        self.commit()?;
        // An array may refuse to start; it is then served as such.
        let _refused = device.apply(now, &DeviceInput::Power(power));
        replay::catch_up(device, now);
        self.acknowledge(now, true)
    }

    /// Shuts down at `now`: commands under way end, the device is flushed, and the image is marked as clean. Called when no client is left.
    ///
    /// # Errors
    /// The log cannot be written, and the next server will find a device that has lost its power; or a checkpoint could not be written, which loses
    /// nothing.
    pub fn shut_down(mut self, device: &mut ServedDevice, now: Nanos) -> io::Result<()> {
        let mut now = finish(device, now);
        device.check_contents()?;
        if device.is_up() && device.in_flight() == 0 {
            // No command is under way, so tag 0 is free.
            let command = Command::FLUSH;
            let flush = DeviceInput::Command { tag: Tag(0), command, data: &[] };
            self.record(now, &flush);
            self.commit()?;
            let _refused = device.apply(now, &flush);
            now = finish(device, now);
        }
        // Keeps the time of the shutdown, which no other input may have.
        self.record(now, &DeviceInput::Advance);
        self.acknowledge(now, true)?;
        self.files.mark_clean(self.log.syncs())?;
        self.checkpoints.wait()
    }
}

impl InputRecorder for DeviceImage {
    fn record(&mut self, at: Nanos, input: &DeviceInput<'_>) {
        self.log.record(at, input);
    }

    fn commit(&mut self) -> io::Result<()> {
        self.log.commit()
    }

    fn acknowledge(&mut self, now: Nanos, durable: bool) -> io::Result<()> {
        self.log.acknowledge(now, durable)
    }

    /// Begins a checkpoint if the log since the last one is long enough.
    fn checkpoint_if_due(&mut self, device: &ServedDevice) -> io::Result<()> {
        if self.checkpoints.is_under_way()? {
            return Ok(());
        }
        let log = self.log_at_opening + self.log.written() - self.checkpoint_at;
        if log < self.options.limit(self.checkpoints.bytes()) {
            return Ok(());
        }
        // Counted from now even if the checkpoint fails, so that the next attempt is not made in the next turn.
        (self.log_at_opening, self.checkpoint_at) = (0, self.log.written());
        self.log.begin_next_segment()?;
        self.checkpoints.begin(device.fork(), self.log.place().segment)
    }
}

/// Lets all commands under way end; returns the time at which they have.
fn finish(device: &mut ServedDevice, now: Nanos) -> Nanos {
    replay::catch_up(device, now);
    while device.in_flight() > 0
        && let Some(at) = device.next_deadline().filter(|&at| at <= device.standstill())
    {
        replay::catch_up(device, at);
    }
    device.now()
}

/// The scenario as an image has it: with `device.bytes`, since served devices keep bytes, and without sentences for the user.
fn with_bytes(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.device.bytes = true;
    // Sentences about settings that do not count name their lines, which are others in the image's own file.
    scenario.void = Vec::new();
    scenario
}

/// Refuses scenarios that need other files, since an image has none.
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
