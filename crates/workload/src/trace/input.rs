//! Reading a file that may be compressed, with a count of what has been consumed.

use super::records::Failed;
use crate::{Position, WorkloadError};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes read at a time, before and after decompression.
const BUFFER: usize = 1 << 17;
/// The longest line that is accepted: the longest of any format (a blkparse message) is far below.
const LONGEST_LINE: usize = 1 << 16;

/// What editors and spreadsheets of one system put before the first line of a text: the byte order mark, in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text without a byte order mark.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Whether a line of a text says nothing about requests: it is blank, or a comment from `#` on.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [] | [b'#', ..])
}

/// Where the bytes of a trace are. Opened anew for each pass.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A file.
    File(String),
    /// Bytes in memory, for tests and fuzzing.
    Memory(Arc<[u8]>),
}

impl Origin {
    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Memory(_) => "(memory)".into(),
        }
    }
}

/// Opens a file that can be read more than once.
///
/// # Errors
/// The system's, and what else there may be under a path: a pipe would give its bytes only once, and opening one that
/// nobody writes to would wait for ever.
fn open_file(path: &str) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    if !kind.is_file() {
        let why = "a trace is read more than once and must be a regular file, not a pipe or device; write it to a file first";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    #[allow(clippy::disallowed_methods, reason = "the trace reader is the edge that opens trace files")]
    File::open(path)
}

/// Counts the bytes read through it.
struct Counting<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        // Only this thread's own progress figure: no ordering with anything else is needed.
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The decompressed bytes of a trace. Lines and records are handed out where they lie in the buffer.
pub(crate) struct Input {
    reader: Box<dyn Read + Send>,
    /// What has been read; `unread` of it has not been handed out.
    buffer: Vec<u8>,
    unread: Range<usize>,
    /// Name for messages.
    pub(crate) file: String,
    /// "none", "gzip" or "zstd".
    pub(crate) compression: &'static str,
    consumed: Arc<AtomicU64>,
    size: u64,
}

impl Input {
    /// Opens `origin` and looks at its first bytes for the magic numbers of gzip (RFC 1952) and zstd (RFC 8878).
    pub(crate) fn open(origin: &Origin) -> Result<Self, WorkloadError> {
        let file = origin.name();
        let failed = |source| WorkloadError::Open { file: file.clone(), source };
        let (raw, size): (Box<dyn Read + Send>, u64) = match origin {
            Origin::File(path) => {
                let opened = open_file(path).map_err(failed)?;
                let meta = opened.metadata().map_err(failed)?;
                (Box::new(opened), meta.len())
            }
            Origin::Memory(bytes) => (Box::new(Cursor::new(bytes.clone())), bytes.len() as u64),
        };
        let consumed = Arc::new(AtomicU64::new(0));
        let raw = Counting { inner: raw, count: consumed.clone() };
        let mut input = Self {
            reader: Box::new(raw),
            buffer: Vec::new(),
            unread: 0..0,
            file: file.clone(),
            compression: "none",
            consumed,
            size,
        };
        // The longest magic number has four bytes.
        while input.unread.len() < 4 && input.refill().map_err(failed)? {}
        input.decompress().map_err(failed)?;
        Ok(input)
    }

    /// Puts a decompressor in between where the bytes read so far begin as compressed ones do.
    fn decompress(&mut self) -> io::Result<()> {
        let start = &self.buffer[self.unread.clone()];
        let gzip = start.starts_with(&[0x1f, 0x8b]);
        let zstd = start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
        if !gzip && !zstd {
            return Ok(());
        }
        let start = Cursor::new(start.to_vec());
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let raw = BufReader::with_capacity(BUFFER, start.chain(rest));
        self.unread = 0..0;
        if gzip {
            self.compression = "gzip";
            self.reader = Box::new(flate2::bufread::MultiGzDecoder::new(raw));
        } else {
            self.compression = "zstd";
            self.reader = Box::new(zstd::stream::read::Decoder::with_buffer(raw)?);
        }
        Ok(())
    }

    /// Reads more behind what is unread, which moves to the front; false at the end of the file.
    fn refill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.buffer.len() < self.unread.end + BUFFER {
            self.buffer.resize(self.unread.end + BUFFER, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.unread.end..]) {
                Ok(count) => {
                    self.unread.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Fraction of the (compressed) file that has been read.
    pub(crate) fn progress(&self) -> f64 {
        if self.size == 0 {
            return 1.0;
        }
        (self.consumed.load(Ordering::Relaxed) as f64 / self.size as f64).min(1.0)
    }

    #[cold]
    fn failed(&self, at: Position, source: io::Error) -> WorkloadError {
        let file = self.file.clone();
        match self.compression {
            "none" => WorkloadError::Read { file, at, source },
            compression => WorkloadError::Compressed { file, at, compression, source },
        }
    }

    /// The next line without its end, line `number`; `None` at the end of the file.
    #[inline]
    pub(crate) fn line(&mut self, number: u64) -> Result<Option<&[u8]>, Failed> {
        match memchr::memchr(b'\n', &self.buffer[self.unread.clone()]) {
            Some(length) if length <= LONGEST_LINE => Ok(Some(self.cut(length))),
            _ => self.broken_line(number),
        }
    }

    /// Hands out the line of `length` bytes before the next end of a line.
    #[inline]
    fn cut(&mut self, length: usize) -> &[u8] {
        let start = self.unread.start;
        self.unread.start += length + 1;
        let line = &self.buffer[start..start + length];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The same where the end of the line is not in the buffer yet, or too far.
    #[cold]
    fn broken_line(&mut self, number: u64) -> Result<Option<&[u8]>, Failed> {
        loop {
            let unread = &self.buffer[self.unread.clone()];
            let end = memchr::memchr(b'\n', unread);
            if end.unwrap_or(unread.len()) > LONGEST_LINE {
                let value = super::fields::shown(&unread[..end.unwrap_or(unread.len())]);
                let (file, at) = (self.file.clone(), Position::Line(number));
                let expected = format!("at most {LONGEST_LINE} bytes in a line");
                return Err(Box::new(WorkloadError::Record { file, at, field: "line", value, expected }));
            }
            if let Some(length) = end {
                return Ok(Some(self.cut(length)));
            }
            match self.refill() {
                Ok(true) => {}
                Ok(false) => {
                    let last = std::mem::replace(&mut self.unread, 0..0);
                    return Ok((!last.is_empty()).then(|| &self.buffer[last]));
                }
                Err(error) => return Err(self.failed(Position::Line(number), error).into()),
            }
        }
    }

    /// The next `size` bytes; fewer only at the end of the file.
    pub(crate) fn record(&mut self, size: usize, at: Position) -> Result<&[u8], WorkloadError> {
        while self.unread.len() < size {
            match self.refill() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(self.failed(at, error)),
            }
        }
        let start = self.unread.start;
        self.unread.start += size.min(self.unread.len());
        Ok(&self.buffer[start..self.unread.start])
    }
}
