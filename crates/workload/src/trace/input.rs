//! Reads lines and records from a file that may be compressed, and counts the bytes consumed.

use super::compression::{Compression, TraceBytes};
use super::utf16::{Utf16Order, Utf16Reader};
use crate::{TracePosition, WorkloadError};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An error in place of a record, boxed so that the result of a call is not larger than a record.
pub(crate) type BoxedError = Box<WorkloadError>;

/// Bytes read at a time, before and after decompression.
const BUFFER: usize = 1 << 17;
/// The longest line that is accepted: the longest of any format (a blkparse message) is far below.
const LONGEST_LINE: usize = 1 << 16;

/// The byte order mark in UTF-8, which editors and spreadsheets on Windows put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text without a byte order mark.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// True if a line of a text is blank or a comment, which begins with `#`.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [] | [b'#', ..])
}

/// The place of the bytes of a trace, which is opened once for each pass.
#[derive(Clone, Debug)]
pub(crate) enum TraceOrigin {
    /// A file.
    File(String),
    /// Bytes in memory, for tests and fuzzing.
    Memory(Arc<[u8]>),
}

impl TraceOrigin {
    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Memory(_) => "(memory)".into(),
        }
    }

    /// The bytes as stored, from the beginning.
    fn bytes(&self) -> io::Result<TraceBytes> {
        Ok(match self {
            Self::File(path) => TraceBytes::File(open_file(path)?),
            Self::Memory(bytes) => TraceBytes::Memory(Cursor::new(bytes.clone())),
        })
    }
}

/// Opens a file that can be read more than once.
///
/// # Errors
/// Those of the operating system, and any path that is not a regular file: a pipe gives its bytes only once, and opening one that
/// has no writer would wait for ever.
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
struct CountingReader<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        // Only this thread's own progress figure: no ordering with anything else is needed.
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: Seek> Seek for CountingReader<R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// The decompressed bytes of a trace. Lines and records are slices of its buffer.
pub(crate) struct TraceInput {
    reader: Box<dyn Read + Send>,
    /// Bytes read from `reader`, of which those in the range `unread` have not been handed out.
    buffer: Vec<u8>,
    unread: Range<usize>,
    /// Name for messages.
    pub(crate) file: String,
    pub(crate) compression: Compression,
    /// True if the text is in UTF-16.
    pub(crate) is_utf16: bool,
    consumed: Arc<AtomicU64>,
    size: u64,
}

impl TraceInput {
    /// Opens `origin` and undoes the compression and the encoding that its first bytes name.
    pub(crate) fn open(origin: &TraceOrigin) -> Result<Self, WorkloadError> {
        let file = origin.name();
        let failed = |source| WorkloadError::Open { file: file.clone(), source };
        let mut raw = origin.bytes().map_err(failed)?;
        let size = raw.seek(io::SeekFrom::End(0)).map_err(failed)?;
        raw.rewind().map_err(failed)?;
        let consumed = Arc::new(AtomicU64::new(0));
        let raw = CountingReader { inner: raw, count: consumed.clone() };
        let mut input = Self {
            reader: Box::new(raw),
            buffer: Vec::new(),
            unread: 0..0,
            file: file.clone(),
            compression: Compression::None,
            is_utf16: false,
            consumed,
            size,
        };
        input.fill_start().map_err(failed)?;
        input.decompress(origin).map_err(failed)?;
        let first = TracePosition::Line(1);
        input.fill_start().map_err(|error| input.read_error(first, error))?;
        if let Some(order) = Utf16Order::of(&input.buffer[input.unread.clone()]) {
            input.is_utf16 = true;
            let start = input.take_start();
            input.reader = Box::new(Utf16Reader::new(start, order));
        }
        Ok(input)
    }

    /// Reads until the buffer holds the longest magic number, or the whole file.
    fn fill_start(&mut self) -> io::Result<()> {
        while self.unread.len() < Compression::MAGIC_BYTES && self.refill()? {}
        Ok(())
    }

    /// All bytes from what is unread on.
    fn take_start(&mut self) -> BufReader<impl Read + Send + use<>> {
        let start = Cursor::new(self.buffer[self.unread.clone()].to_vec());
        let unread_file = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.unread = 0..0;
        BufReader::with_capacity(BUFFER, start.chain(unread_file))
    }

    /// Puts a decompressor before the reader if the bytes read so far begin with a magic number.
    fn decompress(&mut self, origin: &TraceOrigin) -> io::Result<()> {
        self.compression = Compression::of(&self.buffer[self.unread.clone()]);
        if self.compression != Compression::None {
            let packed = self.take_start();
            self.reader = self.compression.decoder(packed, || {
                // The directory of an archive is at its end, so it is read from a place of its own.
                let count = self.consumed.clone();
                Ok(CountingReader { inner: origin.bytes()?, count })
            })?;
        }
        Ok(())
    }

    /// Reads more behind what is unread, which moves to the front; false at the end of the file.
    fn refill(&mut self) -> io::Result<bool> {
        // The unread bytes move to the front, so that a line or record is always one slice.
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

    /// Fraction of the file, as stored and so possibly compressed, that has been read.
    pub(crate) fn progress(&self) -> f64 {
        if self.size == 0 {
            return 1.0;
        }
        (self.consumed.load(Ordering::Relaxed) as f64 / self.size as f64).min(1.0)
    }

    #[cold]
    fn read_error(&self, at: TracePosition, source: io::Error) -> WorkloadError {
        let file = self.file.clone();
        match self.compression {
            Compression::None => WorkloadError::Read { file, at, source },
            compression => WorkloadError::Compressed { file, at, compression: compression.name(), source },
        }
    }

    /// The next line without its line end; `None` at the end of the file. `number` is for messages.
    #[inline]
    pub(crate) fn line(&mut self, number: u64) -> Result<Option<&[u8]>, BoxedError> {
        match memchr::memchr(b'\n', &self.buffer[self.unread.clone()]) {
            Some(length) if length <= LONGEST_LINE => Ok(Some(self.take_line(length))),
            _ => self.line_across_buffers(number),
        }
    }

    /// Hands out the line of `length` bytes before the next end of a line.
    #[inline]
    fn take_line(&mut self, length: usize) -> &[u8] {
        let start = self.unread.start;
        self.unread.start += length + 1;
        let line = &self.buffer[start..start + length];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The next line if its end is not in the buffer yet, or beyond the longest line.
    #[cold]
    fn line_across_buffers(&mut self, number: u64) -> Result<Option<&[u8]>, BoxedError> {
        loop {
            let unread = &self.buffer[self.unread.clone()];
            let end = memchr::memchr(b'\n', unread);
            if end.unwrap_or(unread.len()) > LONGEST_LINE {
                let value = super::fields::shown(&unread[..end.unwrap_or(unread.len())]);
                let (file, at) = (self.file.clone(), TracePosition::Line(number));
                let expected = format!("at most {LONGEST_LINE} bytes in a line");
                return Err(Box::new(WorkloadError::Record { file, at, field: "line", value, expected }));
            }
            if let Some(length) = end {
                return Ok(Some(self.take_line(length)));
            }
            match self.refill() {
                Ok(true) => {}
                Ok(false) => {
                    let last = std::mem::replace(&mut self.unread, 0..0);
                    return Ok((!last.is_empty()).then(|| &self.buffer[last]));
                }
                Err(error) => return Err(self.read_error(TracePosition::Line(number), error).into()),
            }
        }
    }

    /// The next `size` bytes; fewer only at the end of the file.
    pub(crate) fn record(&mut self, size: usize, at: TracePosition) -> Result<&[u8], WorkloadError> {
        while self.unread.len() < size {
            match self.refill() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(self.read_error(at, error)),
            }
        }
        let start = self.unread.start;
        self.unread.start += size.min(self.unread.len());
        Ok(&self.buffer[start..self.unread.start])
    }
}
