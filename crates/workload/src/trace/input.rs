//! Reading a file that may be compressed, with a count of what has been consumed.

use crate::{Position, WorkloadError};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Buffer before and after decompression.
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

/// The decompressed bytes of a trace.
pub(crate) struct Input {
    reader: Box<dyn BufRead + Send>,
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
        let mut raw = BufReader::with_capacity(BUFFER, Counting { inner: raw, count: consumed.clone() });
        let start = raw.fill_buf().map_err(failed)?;
        let (compression, reader): (_, Box<dyn BufRead + Send>) = if start.starts_with(&[0x1f, 0x8b]) {
            ("gzip", Box::new(BufReader::with_capacity(BUFFER, flate2::bufread::MultiGzDecoder::new(raw))))
        } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            let decoder = zstd::stream::read::Decoder::with_buffer(raw).map_err(failed)?;
            ("zstd", Box::new(BufReader::with_capacity(BUFFER, decoder)))
        } else {
            ("none", Box::new(raw))
        };
        Ok(Self { reader, file, compression, consumed, size })
    }

    /// Fraction of the (compressed) file that has been read.
    pub(crate) fn progress(&self) -> f64 {
        if self.size == 0 {
            return 1.0;
        }
        (self.consumed.load(Ordering::Relaxed) as f64 / self.size as f64).min(1.0)
    }

    fn failed(&self, at: Position, source: io::Error) -> WorkloadError {
        let file = self.file.clone();
        match self.compression {
            "none" => WorkloadError::Read { file, at, source },
            compression => WorkloadError::Compressed { file, at, compression, source },
        }
    }

    /// Reads the next line into `line`, without its end; false at the end of the file.
    pub(crate) fn line(&mut self, line: &mut Vec<u8>, number: u64) -> Result<bool, WorkloadError> {
        line.clear();
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.failed(Position::Line(number), error)),
            };
            if available.is_empty() {
                return Ok(!line.is_empty());
            }
            let end = memchr::memchr(b'\n', available);
            let part = &available[..end.unwrap_or(available.len())];
            if line.len() + part.len() > LONGEST_LINE {
                let value = super::fields::shown(if line.is_empty() { part } else { line });
                let (file, at) = (self.file.clone(), Position::Line(number));
                let expected = format!("at most {LONGEST_LINE} bytes in a line");
                return Err(WorkloadError::Record { file, at, field: "line", value, expected });
            }
            line.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(true);
            }
        }
    }

    /// Reads up to `bytes.len()` bytes; fewer only at the end of the file.
    pub(crate) fn record(&mut self, bytes: &mut [u8], at: Position) -> Result<usize, WorkloadError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.reader.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(at, error)),
            }
        }
        Ok(filled)
    }
}
