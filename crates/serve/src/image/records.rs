//! All records of an image's log, with the device that they are given to.

use super::files::{ImageFiles, io_error};
use super::{DeviceImage, ImageError};
use crate::device::ServedDevice;
use crate::log::{AcknowledgedPoint, LogDamage, LogRecord, PAYLOAD_OFFSET, SegmentReader};
use outlast_engine::{OnProgress, Scenario};
use outlast_units::Nanos;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Bytes read with one call.
const BUFFER: usize = 1 << 20;

/// Place of the bytes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PayloadPlace {
    /// Number of the segment.
    pub segment: u32,
    /// Offset in the segment, in bytes.
    pub offset: u64,
}

/// Records of a whole log, at least to the point on which replies depend, without an incomplete record at the end.
#[derive(Debug)]
pub struct LogRecords {
    files: ImageFiles,
    image: u64,
    acknowledged: AcknowledgedPoint,
    /// Numbers of segments to be read, last first.
    segments: Vec<u32>,
    reader: Option<SegmentReader<BufReader<File>>>,
    /// Segment and offset up to which records were read.
    read_to: (u32, u64),
}

impl DeviceImage {
    /// Prepares the device of the image in `folder`, with its scenario altered by `change`, and opens the records of its log. The image is not
    /// changed, and may be in use. `None` if `progress` stopped the preparation.
    ///
    /// # Errors
    /// The image is missing or of another version, its log does not go back to the beginning, or a setting cannot work.
    pub fn prepare_with_records(
        folder: &Path,
        change: impl FnOnce(&mut Scenario),
        progress: OnProgress<'_>,
    ) -> Result<Option<(ServedDevice, LogRecords)>, ImageError> {
        let records = LogRecords::open(folder)?;
        let mut scenario = records.files.read()?.1;
        change(&mut scenario);
        Ok(ServedDevice::prepare(&scenario, progress)?.map(|device| (device, records)))
    }
}

impl LogRecords {
    /// Opens the records of the image in `folder`, which may be in use.
    ///
    /// # Errors
    /// The image is missing or of another version, or its log does not go back to the beginning.
    pub fn open(folder: &Path) -> Result<Self, ImageError> {
        let files = ImageFiles::open(folder)?;
        let image = files.read()?.0;
        let acknowledged = files.clock(image)?;
        let mut segments = files.segments()?;
        if segments.first() != Some(&1) {
            let why = "does not go back to the beginning, which serving with keep-log prevents".to_owned();
            return Err(ImageError::Foreign { path: files.log(), why });
        }
        segments.reverse();
        Ok(Self { files, image, acknowledged, segments, reader: None, read_to: (0, 0) })
    }

    /// Next record, and the place of its payload; `None` at the end.
    ///
    /// # Errors
    /// The log is damaged before the point on which replies depend, or a segment is missing.
    #[allow(clippy::should_implement_trait, reason = "a record borrows from its reader")]
    pub fn next(&mut self) -> Result<Option<(LogRecord<'_>, PayloadPlace)>, ImageError> {
        loop {
            let Some(reader) = self.reader.as_mut() else {
                let Some(segment) = self.segments.pop() else { return self.check_promised() };
                // `read_to` begins with segment 0, so the first one must be 1.
                if segment != self.read_to.0 + 1 {
                    let why = format!("segment {} of the log is missing", self.read_to.0 + 1);
                    return Err(ImageError::Foreign { path: self.files.log(), why });
                }
                let file = BufReader::with_capacity(BUFFER, self.files.open_segment(segment)?);
                match SegmentReader::new(file, self.image, segment) {
                    Ok(reader) => self.reader = Some(reader),
                    Err(damage) => return self.end_at_damage(segment, 0, damage),
                }
                continue;
            };
            let place = reader.place();
            match reader.read() {
                Ok(true) => break,
                Ok(false) => {
                    self.read_to = (place.segment, place.offset);
                    self.reader = None;
                }
                Err(damage) => return self.end_at_damage(place.segment, place.offset, damage),
            }
        }
        let Some(reader) = &self.reader else { return Ok(None) };
        let (place, record) = reader.record();
        Ok(record.map(|record| {
            (record, PayloadPlace { segment: place.segment, offset: place.offset + PAYLOAD_OFFSET })
        }))
    }

    /// Simulated time when the last reply left.
    pub fn end(&self) -> Nanos {
        self.acknowledged.now
    }

    /// Opens all segments, in order.
    ///
    /// # Errors
    /// A segment cannot be opened.
    pub fn open_segments(&self) -> Result<Vec<File>, ImageError> {
        self.files.segments()?.into_iter().map(|segment| self.files.open_segment(segment)).collect()
    }

    /// Ends at damage. An incomplete record at the end of the last segment is no error: no reply depends on it.
    fn end_at_damage(
        &mut self,
        segment: u32,
        offset: u64,
        damage: LogDamage,
    ) -> Result<Option<(LogRecord<'_>, PayloadPlace)>, ImageError> {
        // Only the very last record may be incomplete.
        let is_end = self.segments.is_empty();
        (self.reader, self.read_to) = (None, (segment, offset));
        match damage {
            LogDamage::Record { .. } if is_end => self.check_promised(),
            LogDamage::Io(source) => Err(io_error(self.files.segment_path(segment), source)),
            damage => Err(ImageError::Log { path: self.files.segment_path(segment), damage }),
        }
    }

    /// Checks that the log reaches the point on which replies depend.
    fn check_promised(&self) -> Result<Option<(LogRecord<'_>, PayloadPlace)>, ImageError> {
        let AcknowledgedPoint { segment, offset: promised, .. } = self.acknowledged;
        let (last, length) = self.read_to;
        if (last, length) >= (segment, promised) {
            return Ok(None);
        }
        Err(ImageError::Short { path: self.files.segment_path(last), length, segment, promised })
    }
}
