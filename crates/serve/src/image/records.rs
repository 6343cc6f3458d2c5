//! The records of an image's whole log, one after another, and the machine that they are given to.

use super::files::{Files, io_error};
use super::{Image, ImageError};
use crate::log::{Acknowledged, Damage, PAYLOAD, Reader, Record};
use crate::machine::Machine;
use outlast_engine::{OnProgress, Scenario};
use outlast_units::Nanos;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Bytes of a segment read at once.
const BUFFER: usize = 1 << 20;

/// Where the bytes of a write are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payload {
    /// The segment of the log.
    pub segment: u32,
    /// The byte of its file.
    pub offset: u64,
}

/// The records of a log from its beginning to its end: to what had been promised at least, and no record that is torn.
#[derive(Debug)]
pub struct Records {
    files: Files,
    image: u64,
    acknowledged: Acknowledged,
    /// Segments that are still to be read, last first.
    segments: Vec<u32>,
    reader: Option<Reader<BufReader<File>>>,
    /// The segment and the byte of it to which it has been read.
    come_to: (u32, u64),
}

impl Image {
    /// What the image in `folder` was made from, as it was made except for what `change` changes, and all that it was given since. The image
    /// stays as it is, and may be in use.
    ///
    /// # Errors
    /// No image, one of another version, a log that does not go back to the beginning, or a setting that cannot work. `None` where `progress`
    /// stopped it.
    pub fn from_the_start(
        folder: &Path,
        change: impl FnOnce(&mut Scenario),
        progress: OnProgress<'_>,
    ) -> Result<Option<(Machine, Records)>, ImageError> {
        let records = Records::of(folder)?;
        let mut scenario = records.files.read()?.1;
        change(&mut scenario);
        Ok(Machine::prepare(&scenario, progress)?.map(|machine| (machine, records)))
    }
}

impl Records {
    /// Those of the image in `folder`, which may be in use.
    ///
    /// # Errors
    /// No image, one of another version, or a log that does not go back to the beginning.
    pub fn of(folder: &Path) -> Result<Self, ImageError> {
        let files = Files::of(folder)?;
        let image = files.read()?.0;
        let acknowledged = files.clock(image)?;
        let mut segments = files.segments()?;
        if segments.first() != Some(&1) {
            let why = "does not go back to the beginning, which serving with keep-log prevents".to_owned();
            return Err(ImageError::Foreign { path: files.log(), why });
        }
        segments.reverse();
        Ok(Self { files, image, acknowledged, segments, reader: None, come_to: (0, 0) })
    }

    /// The next one, and where its bytes are; `None` at the end.
    ///
    /// # Errors
    /// Damage before what replies have promised, or a segment is missing.
    #[allow(clippy::should_implement_trait, reason = "a record borrows from its reader")]
    pub fn next(&mut self) -> Result<Option<(Record<'_>, Payload)>, ImageError> {
        loop {
            let Some(reader) = self.reader.as_mut() else {
                let Some(segment) = self.segments.pop() else { return self.whole() };
                if segment != self.come_to.0 + 1 {
                    let why = format!("segment {} of the log is missing", self.come_to.0 + 1);
                    return Err(ImageError::Foreign { path: self.files.log(), why });
                }
                let file = BufReader::with_capacity(BUFFER, self.files.open_segment(segment)?);
                match Reader::new(file, self.image, segment) {
                    Ok(reader) => self.reader = Some(reader),
                    Err(damage) => return self.ended(segment, 0, damage),
                }
                continue;
            };
            let place = reader.place();
            match reader.read() {
                Ok(true) => break,
                Ok(false) => {
                    self.come_to = (place.segment, place.offset);
                    self.reader = None;
                }
                Err(damage) => return self.ended(place.segment, place.offset, damage),
            }
        }
        let Some(reader) = &self.reader else { return Ok(None) };
        let (place, record) = reader.record();
        Ok(record.map(|record| (record, Payload { segment: place.segment, offset: place.offset + PAYLOAD })))
    }

    /// How far time had come when the last reply left.
    pub fn end(&self) -> Nanos {
        self.acknowledged.now
    }

    /// The files of all segments, in order.
    ///
    /// # Errors
    /// One cannot be opened, or is none.
    pub fn open_segments(&self) -> Result<Vec<File>, ImageError> {
        self.files.segments()?.into_iter().map(|segment| self.files.open_segment(segment)).collect()
    }

    /// A torn end is none: nobody has heard of what it says.
    fn ended(
        &mut self,
        segment: u32,
        offset: u64,
        damage: Damage,
    ) -> Result<Option<(Record<'_>, Payload)>, ImageError> {
        let is_end = self.segments.is_empty();
        (self.reader, self.come_to) = (None, (segment, offset));
        match damage {
            Damage::Record { .. } if is_end => self.whole(),
            Damage::Io(source) => Err(io_error(self.files.segment_path(segment), source)),
            damage => Err(ImageError::Log { path: self.files.segment_path(segment), damage }),
        }
    }

    /// The end: that there is as much as replies have promised.
    fn whole(&self) -> Result<Option<(Record<'_>, Payload)>, ImageError> {
        let Acknowledged { segment, offset: promised, .. } = self.acknowledged;
        let (last, found) = self.come_to;
        if (last, found) >= (segment, promised) {
            return Ok(None);
        }
        Err(ImageError::Short { path: self.files.segment_path(last), found, segment, promised })
    }
}
