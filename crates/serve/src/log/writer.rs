//! Writing the log.

use super::clock::Acknowledged;
use super::record::encode;
use super::{Place, SEGMENT_HEADER, segment_header, segment_name};
use crate::image::Folder;
use crate::input::Input;
use crate::recorder::Recorder;
use outlast_units::Nanos;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// Bytes of a segment, after which the next one begins.
const SEGMENT: u64 = 64 << 20;
/// Bytes of a buffer that is kept for the next turn.
const KEPT: usize = 1 << 20;

/// How a log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// Whether what a flush or a write with forced unit access promises is on the host's disk before it is acknowledged, so that the host may
    /// crash, too. Without it the process may be killed at any time, which loses nothing.
    pub sync: bool,
}

/// The log that a server writes. What is recorded is gathered and written with one call; see [`Recorder`].
#[derive(Debug)]
pub struct Log {
    folder: Folder,
    options: LogOptions,
    file: File,
    clock: File,
    /// Where the next record will lie, once what is gathered is written.
    place: Place,
    gathered: Vec<u8>,
    acknowledged: Acknowledged,
    /// Bytes of all segments written by this process.
    written: u64,
    /// Why nothing can be written any more.
    failed: bool,
}

impl Log {
    /// Goes on behind `place`, or with a new segment where that has no byte yet.
    pub(crate) fn open(
        folder: Folder,
        clock: File,
        place: Place,
        acknowledged: Acknowledged,
        options: LogOptions,
    ) -> io::Result<Self> {
        let begins = place.offset < SEGMENT_HEADER as u64;
        let (file, place) = if begins {
            begin_segment(&folder, place.image, place.segment)?
        } else {
            let file = folder.append(&segment_name(place.segment))?;
            // What was never whole is no part of the log.
            file.set_len(place.offset)?;
            (file, place)
        };
        let gathered = Vec::new();
        Ok(Self { folder, options, file, clock, place, gathered, acknowledged, written: 0, failed: false })
    }

    /// Whether it survives the host's own crash.
    pub(crate) fn syncs(&self) -> bool {
        self.options.sync
    }

    /// Bytes that this process has written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Where the next record will lie.
    pub fn place(&self) -> Place {
        self.place
    }

    /// What has been recorded is written, and the next segment begins.
    pub(crate) fn roll(&mut self) -> io::Result<()> {
        self.commit()?;
        if self.options.sync {
            self.file.sync_data().map_err(|error| self.told(&error))?;
        }
        let (file, place) = begin_segment(&self.folder, self.place.image, self.place.segment + 1)?;
        if self.options.sync {
            self.folder.sync()?;
        }
        (self.file, self.place) = (file, place);
        Ok(())
    }

    /// What went wrong with the segment that is written.
    fn told(&self, error: &io::Error) -> io::Error {
        told(&self.folder, &segment_name(self.place.segment), error)
    }

    fn write(&mut self) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("the log could not be written before"));
        }
        // After a part has been written, what follows would lie behind a torn record.
        self.failed = true;
        self.file.write_all(&self.gathered).map_err(|error| self.told(&error))?;
        self.failed = false;
        self.written += self.gathered.len() as u64;
        self.gathered.clear();
        self.gathered.shrink_to(KEPT);
        if self.place.offset >= SEGMENT { self.roll() } else { Ok(()) }
    }
}

fn begin_segment(folder: &Folder, image: u64, segment: u32) -> io::Result<(File, Place)> {
    let name = segment_name(segment);
    let made = folder.create(&name).and_then(|mut file| {
        file.write_all(&segment_header(image, segment))?;
        Ok(file)
    });
    let file = made.map_err(|error| told(folder, &name, &error))?;
    Ok((file, Place { image, segment, offset: SEGMENT_HEADER as u64 }))
}

/// What went wrong with a file of the log, and what to do: nothing that was answered is lost.
fn told(folder: &Folder, name: &str, error: &io::Error) -> io::Error {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded].contains(&error.kind());
    let advice = if full {
        "; make room on that disk and serve the image again: no reply has left that depends on what is missing"
    } else {
        ""
    };
    io::Error::new(error.kind(), format!("{}: {error}{advice}", folder.path_of(name).display()))
}

impl Recorder for Log {
    fn record(&mut self, at: Nanos, input: &Input<'_>) {
        let before = self.gathered.len();
        encode(&mut self.gathered, &self.place, at, input);
        self.place.offset += (self.gathered.len() - before) as u64;
    }

    fn commit(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() { Ok(()) } else { self.write() }
    }

    fn acknowledge(&mut self, now: Nanos, durable: bool) -> io::Result<()> {
        self.commit()?;
        let syncs = durable && self.options.sync;
        if syncs {
            self.file.sync_data().map_err(|error| self.told(&error))?;
        }
        let now = self.acknowledged.now.max(now);
        let acknowledged = Acknowledged { now, segment: self.place.segment, offset: self.place.offset };
        if acknowledged != self.acknowledged {
            self.clock.write_all_at(&acknowledged.to_bytes(self.place.image), 0)?;
            self.acknowledged = acknowledged;
        }
        if syncs { self.clock.sync_data() } else { Ok(()) }
    }
}
