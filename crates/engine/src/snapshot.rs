//! Prepared drives and arrays in files.
//!
//! A file begins with eight magic bytes and the version of the format. The remainder has checksums ([`outlast_persist::Writer`]): the version
//! of Outlast, the scenario, the shape of the state's types, a hash of the settings of device and array, and the state. A mismatch is refused
//! before any of the state is read.
//!
//! Types of state derive `Persist` (a value) or `Restore` (a part, built from its settings, which then takes over the state of another one). Fields that follow
//! from settings are marked `#[persist(skip)]`; one that changes nevertheless is found by tests that save and restore runs midway (decision 0043).

mod version_age;

use crate::clock::Stopwatch;
use crate::member::MemberConfigs;
use crate::precondition::PreconditionRecord;
use outlast_media::ConfigError;
use outlast_persist::{Damage, Persist, Reader, Restore, Writer, restore_foreign, shape};
use outlast_scenario::{ChangedSetting, Scenario, first_changed_setting, shape_of_machine};
use std::any::Any;
use std::io::{self, Read, Write};
use thiserror::Error;
use version_age::{VersionAge, version_age};

/// First bytes of every snapshot; the first is no ASCII, so no text file begins so.
const MAGIC: [u8; 8] = *b"\x8boutlast";
/// Version of all of the format that the shape of the types does not cover.
const FORMAT: u32 = 3;
/// Version of Outlast. State belongs to a version, since another may behave differently.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Error of a file that cannot be used as a snapshot.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The file is no snapshot.
    #[error("is not a snapshot")]
    Foreign,
    /// Another version, with another format, wrote it.
    #[error(
        "was written by Outlast {version}; this is Outlast {VERSION}, whose snapshots have another format: make the snapshot again"
    )]
    Version {
        /// The version that wrote it.
        version: String,
    },
    /// A newer version wrote it.
    #[error("was written by Outlast {version}, which is newer than this, {VERSION}")]
    Newer {
        /// The version that wrote it.
        version: String,
    },
    /// The device has other settings.
    #[error(
        "is of a drive or array with other settings: [device] and [array] must be those that it was made with"
    )]
    Settings,
    /// The device has other settings, of which one is known.
    #[error("is of a drive or array with other settings: {name} was {was} when it was made, and is {is}")]
    Setting {
        /// Dotted name of the setting.
        name: String,
        /// Value when the snapshot was made.
        was: String,
        /// Value now.
        is: String,
    },
    /// Its contents are not those that were written.
    #[error("is damaged: {0}")]
    Damaged(#[from] Damage),
    /// The operating system could not read it.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Hash of the settings of the device that `scenario` builds. Times at which members fail are left out: they lie in the future.
pub fn settings_of(scenario: &Scenario) -> u64 {
    let mut array = scenario.array.clone();
    for member in array.iter_mut().flat_map(|array| &mut array.member) {
        member.fail_at = None;
    }
    // The text of numbers is exact, and maps are in order.
    shape(&format!("{:?}", (&scenario.device, array)), &[])
}

/// Writes the state of a device that was built with these `settings`.
///
/// # Errors
/// `to` cannot be written.
pub fn write_snapshot<S: Restore>(to: &mut dyn Write, settings: u64, state: &S) -> io::Result<()> {
    write_with(to, "", settings, state)
}

/// Writes a snapshot with `scenario` as JSON, which may be empty.
fn write_with<S: Restore>(to: &mut dyn Write, scenario: &str, settings: u64, state: &S) -> io::Result<()> {
    to.write_all(&MAGIC)?;
    to.write_all(&FORMAT.to_le_bytes())?;
    let mut writer = Writer::new(to);
    (VERSION.to_owned(), scenario.to_owned()).write(&mut writer);
    (S::SHAPE, settings).write(&mut writer);
    state.save(&mut writer);
    writer.end()
}

/// Reads the state of a snapshot into `state`, a device that was built with `settings`. `context` is for the parts that need one
/// ([`Reader::context`]).
///
/// # Errors
/// The file holds no such state. `state` may be half overwritten then and must be dropped.
pub fn read_snapshot<S: Restore>(
    from: &mut dyn Read,
    settings: u64,
    context: &dyn Any,
    state: &mut S,
) -> Result<(), SnapshotError> {
    let (head, mut reader) = read_head(from, context)?;
    // A device under way must continue as it would have, which only the same version ensures.
    if head.version != VERSION || head.shape != S::SHAPE {
        return Err(SnapshotError::Version { version: head.version });
    }
    if head.settings != settings {
        return Err(SnapshotError::Settings);
    }
    restore_foreign(state, &mut reader)?;
    Ok(reader.end()?)
}

/// Everything before the state.
struct SnapshotHead {
    version: String,
    /// Scenario as JSON; empty if it is kept elsewhere.
    scenario: String,
    shape: u64,
    settings: u64,
}

/// Reads the head of a snapshot; the reader is then at the state.
fn read_head<'a>(
    from: &'a mut dyn Read,
    context: &'a dyn Any,
) -> Result<(SnapshotHead, Reader<'a>), SnapshotError> {
    let mut head = [0; MAGIC.len() + size_of::<u32>()];
    from.read_exact(&mut head).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => SnapshotError::Foreign,
        _ => SnapshotError::Read(error),
    })?;
    let (magic, format) = head.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(SnapshotError::Foreign);
    }
    if format != FORMAT.to_le_bytes() {
        return Err(SnapshotError::Version { version: "of another format".to_owned() });
    }
    let mut reader = Reader::within(from, context);
    let (version, scenario) = <(String, String)>::read(&mut reader)?;
    let (shape, settings) = <(u64, u64)>::read(&mut reader)?;
    Ok((SnapshotHead { version, scenario, shape, settings }, reader))
}

/// A prepared device with the record of its preparation.
pub(crate) struct PreparedDevice<'a, M> {
    pub(crate) prepared: &'a mut PreconditionRecord,
    pub(crate) device: &'a mut M,
}

impl<M: Restore> Restore for PreparedDevice<'_, M> {
    const SHAPE: u64 = shape("Prepared", &[("", <PreconditionRecord as Persist>::SHAPE), ("", M::SHAPE)]);

    fn save(&self, to: &mut Writer<'_>) {
        self.prepared.write(to);
        self.device.save(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        *self.prepared = Persist::read(from)?;
        self.device.restore(from)
    }
}

/// The snapshot that `precondition.from` names.
fn open_file(path: &str) -> Result<impl Read + use<>, ConfigError> {
    let refused = |error: io::Error| refusal(path, &SnapshotError::Read(error));
    // Opening a pipe without a writer would block for ever.
    let kind = std::fs::metadata(path).map_err(refused)?.file_type();
    if !kind.is_file() {
        return Err(refusal(path, &SnapshotError::Foreign));
    }
    #[allow(clippy::disallowed_methods, reason = "the one place where snapshots are opened")]
    let file = std::fs::File::open(path).map_err(refused)?;
    Ok(io::BufReader::new(file))
}

/// Checks that `head` belongs to a prepared device of type `M` that `scenario` can use.
fn check_head<M: Restore>(scenario: &Scenario, head: SnapshotHead) -> Result<(), SnapshotError> {
    match version_age(&head.version, VERSION) {
        VersionAge::Readable if head.shape == <PreparedDevice<'_, M> as Restore>::SHAPE => {}
        VersionAge::Newer => return Err(SnapshotError::Newer { version: head.version }),
        VersionAge::Readable | VersionAge::Older => {
            return Err(SnapshotError::Version { version: head.version });
        }
    }
    if head.settings == shape_of_machine(scenario) {
        return Ok(());
    }
    Err(match first_changed_setting(&head.scenario, scenario) {
        Some(ChangedSetting { name, was, is }) => SnapshotError::Setting { name, was, is },
        None => SnapshotError::Settings,
    })
}

/// Writes a prepared device of `scenario`, whose JSON lets a reader name the setting that differs.
pub(crate) fn write_prepared<M: Restore>(
    to: &mut dyn Write,
    scenario: &Scenario,
    state: &PreparedDevice<'_, M>,
) -> io::Result<()> {
    let mut made = scenario.clone();
    made.precondition.from = None; // irrelevant to the state, and paths differ
    write_with(to, &made.to_json()?, shape_of_machine(scenario), state)
}

/// The scenario of the snapshot `path`, as JSON.
///
/// # Errors
/// The file cannot be read, or is no snapshot.
pub fn scenario_of(path: &str) -> Result<String, ConfigError> {
    let mut file = open_file(path)?;
    let head = read_head(&mut file, &()).map(|(head, _)| head).map_err(|error| refusal(path, &error))?;
    Ok(head.scenario)
}

/// Checks that the file is a snapshot of the device that `scenario` builds, as far as its head shows.
pub(crate) fn check<M: Restore>(scenario: &Scenario, path: &str) -> Result<(), ConfigError> {
    let mut file = open_file(path)?;
    let begun = read_head(&mut file, &()).and_then(|(head, _)| check_head::<M>(scenario, head));
    begun.map_err(|error| refusal(path, &error))
}

/// Reads the state of the snapshot `path` into `device`, which `scenario` built; returns the record of its preparation.
pub(crate) fn prepare_from<M: Restore>(
    device: &mut M,
    scenario: &Scenario,
    path: &str,
) -> Result<PreconditionRecord, ConfigError> {
    let watch = Stopwatch::start();
    let mut prepared = PreconditionRecord::default();
    let context = MemberConfigs::of(scenario, None);
    let mut file = open_file(path)?;
    let read = read_head(&mut file, &context).and_then(|(head, mut reader)| {
        check_head::<M>(scenario, head)?;
        restore_foreign(&mut PreparedDevice { prepared: &mut prepared, device }, &mut reader)?;
        Ok(reader.end()?)
    });
    read.map_err(|error| refusal(path, &error))?;
    (prepared.cpu_s, prepared.wall_s) = (watch.cpu_s(), watch.wall_s());
    Ok(prepared)
}

fn refusal(path: &str, error: &SnapshotError) -> ConfigError {
    ConfigError::new("precondition.from", path, error.to_string())
}
