//! All records of an image's log, and the device that they are given to.

use super::files::{ImageFiles, io_error};
use super::{DeviceImage, ImageError, checkpoints};
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

/// Records of a log, at least to the point on which replies depend, without an incomplete record at the end.
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
        let records = Self::opened(folder)?;
        if !records.is_whole() {
            let why = "does not go back to the beginning, which serving with keep-log prevents".to_owned();
            return Err(ImageError::Foreign { path: records.files.log(), why });
        }
        Ok(records)
    }

    /// Opens the records that the image in `folder` still has: all of them, or those that checkpoints have not made needless.
    ///
    /// # Errors
    /// The image is missing or of another version, or segments are missing that no checkpoint stands for.
    pub(super) fn from_oldest(folder: &Path) -> Result<Self, ImageError> {
        let records = Self::opened(folder)?;
        if !records.is_whole() {
            let newest = match records.files.open_checkpoints()? {
                Some(folder) => checkpoints::list(&folder)?.0.pop(),
                None => None,
            };
            let needed = newest.unwrap_or(1);
            if records.read_to.0 >= needed {
                return Err(missing(&records.files, needed));
            }
        }
        Ok(records)
    }

    fn opened(folder: &Path) -> Result<Self, ImageError> {
        let files = ImageFiles::open(folder)?;
        let image = files.read()?.0;
        // Read before the log, of which there may soon be more.
        let acknowledged = files.clock(image)?;
        let mut segments = files.segments()?;
        let first = segments.first().copied().unwrap_or(1);
        segments.reverse();
        Ok(Self { files, image, acknowledged, segments, reader: None, read_to: (first - 1, 0) })
    }

    /// True if the log goes back to the beginning. To be asked before anything is read.
    pub(super) fn is_whole(&self) -> bool {
        self.read_to.0 == 0
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
                // Each segment continues the one before.
                if segment != self.read_to.0 + 1 {
                    return Err(missing(&self.files, self.read_to.0 + 1));
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

    /// Ends at damage, which is no error behind the point on which replies depend: there it is what a crash leaves.
    fn end_at_damage(
        &mut self,
        segment: u32,
        offset: u64,
        damage: LogDamage,
    ) -> Result<Option<(LogRecord<'_>, PayloadPlace)>, ImageError> {
        (self.reader, self.read_to) = (None, (segment, offset));
        match damage {
            LogDamage::Record { .. } if self.read_to >= self.promised() => {
                self.segments.clear();
                Ok(None)
            }
            LogDamage::Io(source) => Err(io_error(self.files.segment_path(segment), source)),
            damage => Err(ImageError::Log { path: self.files.segment_path(segment), damage }),
        }
    }

    /// Segment and offset up to which replies depend on the log.
    fn promised(&self) -> (u32, u64) {
        (self.acknowledged.segment, self.acknowledged.offset)
    }

    /// Checks that the log reaches the point on which replies depend.
    fn check_promised(&self) -> Result<Option<(LogRecord<'_>, PayloadPlace)>, ImageError> {
        let ((last, length), (segment, promised)) = (self.read_to, self.promised());
        // A segment that has no byte yet need not be there.
        let is_reached = self.read_to >= (segment, promised) || promised == 0 && last + 1 == segment;
        match last {
            _ if is_reached => Ok(None),
            0 => Err(missing(&self.files, segment)),
            _ => Err(ImageError::Short { path: self.files.segment_path(last), length, segment, promised }),
        }
    }
}

fn missing(files: &ImageFiles, segment: u32) -> ImageError {
    let why = format!("segment {segment} of the log is missing");
    ImageError::Foreign { path: files.log(), why }
}
