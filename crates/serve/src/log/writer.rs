//! Writing of the log.

use super::clock::AcknowledgedPoint;
use super::record::encode;
use super::{RecordPlace, SEGMENT_HEADER, segment_header, segment_name};
use crate::image::ImageFolder;
use crate::input::DeviceInput;
use crate::recorder::InputRecorder;
use outlast_units::Nanos;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// Length at which a segment ends and the next begins, in bytes.
const SEGMENT_BYTES: u64 = 64 << 20;
/// Capacity of the buffer that is kept from turn to turn, in bytes; a larger one is freed.
const KEPT_BUFFER: usize = 1 << 20;

/// Options of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// Writes a flush, or a write with forced unit access, to the host's disk before it is acknowledged, so that it survives a crash of the host.
    /// Without this option only the process may be killed at any time.
    pub sync: bool,
}

/// Log of a server. Inputs of a turn are buffered and written with one call; see [`InputRecorder`].
#[derive(Debug)]
pub struct InputLog {
    folder: ImageFolder,
    options: LogOptions,
    file: File,
    clock: File,
    /// Place of the next record, behind those in the buffer.
    place: RecordPlace,
    buffered: Vec<u8>,
    acknowledged: AcknowledgedPoint,
    /// Bytes written to all segments by this process.
    written: u64,
    /// Set after a failed write: nothing can be written any more.
    failed: bool,
}

impl InputLog {
    /// Opens the log to continue at `place`, in a new segment if that has no byte yet.
    pub(crate) fn open(
        folder: ImageFolder,
        clock: File,
        place: RecordPlace,
        acknowledged: AcknowledgedPoint,
        options: LogOptions,
    ) -> io::Result<Self> {
        // A segment whose header is incomplete has no record, and is begun anew.
        let is_new = place.offset < SEGMENT_HEADER as u64;
        let (file, place) = if is_new {
            begin_segment(&folder, place.image, place.segment)?
        } else {
            let file = folder.append(&segment_name(place.segment))?;
            // A record that was not written completely is cut off.
            file.set_len(place.offset)?;
            (file, place)
        };
        let buffered = Vec::new();
        Ok(Self { folder, options, file, clock, place, buffered, acknowledged, written: 0, failed: false })
    }

    /// True if the log survives a crash of the host.
    pub(crate) fn syncs(&self) -> bool {
        self.options.sync
    }

    /// Bytes written by this process.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Place of the next record.
    pub fn place(&self) -> RecordPlace {
        self.place
    }

    /// Writes buffered inputs, and begins the next segment.
    pub(crate) fn begin_next_segment(&mut self) -> io::Result<()> {
        self.commit()?;
        if self.options.sync {
            self.file.sync_data().map_err(|error| self.file_error(&error))?;
        }
        let (file, place) = begin_segment(&self.folder, self.place.image, self.place.segment + 1)?;
        if self.options.sync {
            self.folder.sync()?;
        }
        (self.file, self.place) = (file, place);
        Ok(())
    }

    /// Error of the current segment.
    fn file_error(&self, error: &io::Error) -> io::Error {
        log_file_error(&self.folder, &segment_name(self.place.segment), error)
    }

    fn write(&mut self) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("the log could not be written before"));
        }
        // If only a part is written, further records would lie behind a torn one.
        self.failed = true;
        self.file.write_all(&self.buffered).map_err(|error| self.file_error(&error))?;
        self.failed = false;
        self.written += self.buffered.len() as u64;
        self.buffered.clear();
        // One long write must not keep its memory for the life of the server.
        self.buffered.shrink_to(KEPT_BUFFER);
        if self.place.offset >= SEGMENT_BYTES { self.begin_next_segment() } else { Ok(()) }
    }
}

fn begin_segment(folder: &ImageFolder, image: u64, segment: u32) -> io::Result<(File, RecordPlace)> {
    let name = segment_name(segment);
    let made = folder.create(&name).and_then(|mut file| {
        file.write_all(&segment_header(image, segment))?;
        Ok(file)
    });
    let file = made.map_err(|error| log_file_error(folder, &name, &error))?;
    Ok((file, RecordPlace { image, segment, offset: SEGMENT_HEADER as u64 }))
}

/// Error of a file of the log, with advice if the disk is full.
fn log_file_error(folder: &ImageFolder, name: &str, error: &io::Error) -> io::Error {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded].contains(&error.kind());
    let advice = if full {
        "; make room on that disk and serve the image again: no reply has left that depends on what is missing"
    } else {
        ""
    };
    io::Error::new(error.kind(), format!("{}: {error}{advice}", folder.path_of(name).display()))
}

impl InputRecorder for InputLog {
    fn record(&mut self, at: Nanos, input: &DeviceInput<'_>) {
        let before = self.buffered.len();
        encode(&mut self.buffered, &self.place, at, input);
        self.place.offset += (self.buffered.len() - before) as u64;
    }

    fn commit(&mut self) -> io::Result<()> {
        if self.buffered.is_empty() { Ok(()) } else { self.write() }
    }

    fn acknowledge(&mut self, now: Nanos, durable: bool) -> io::Result<()> {
        self.commit()?;
        let syncs = durable && self.options.sync;
        if syncs {
            self.file.sync_data().map_err(|error| self.file_error(&error))?;
        }
        // Acknowledged time never goes back.
        let now = self.acknowledged.now.max(now);
        let acknowledged = AcknowledgedPoint { now, segment: self.place.segment, offset: self.place.offset };
        if acknowledged != self.acknowledged {
            self.clock.write_all_at(&acknowledged.to_bytes(self.place.image), 0)?;
            self.acknowledged = acknowledged;
        }
        if syncs { self.clock.sync_data() } else { Ok(()) }
    }
}
