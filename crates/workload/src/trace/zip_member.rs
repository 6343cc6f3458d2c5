//! Reads the one file of a zip archive as a stream.

use flate2::bufread::DeflateDecoder;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use zip::{CompressionMethod, ZipArchive};

/// Bytes read at a time.
const BUFFER: usize = 1 << 17;

/// The compressed bytes of the member.
type ZippedBytes<R> = BufReader<Take<R>>;

/// The method of the member.
enum ZipDecoder<R: Read> {
    Stored(ZippedBytes<R>),
    Deflate(DeflateDecoder<ZippedBytes<R>>),
}

/// The decompressed bytes of the one file of an archive, whose checksum and length are compared at the end.
pub(crate) struct ZipMember<R: Read> {
    decoder: ZipDecoder<R>,
    checksum: crc32fast::Hasher,
    /// Bytes decompressed so far.
    read: u64,
    /// What the archive says of checksum and length.
    expected_checksum: u32,
    expected_length: u64,
}

/// An error about an archive.
fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl<R: Read + Seek> ZipMember<R> {
    /// Finds the one file in `archive`: folders do not count, nor do the files that macOS adds for its own use.
    ///
    /// # Errors
    /// Those of reading; none or several files, a method that is not read, and encryption.
    pub(crate) fn open(archive: R) -> io::Result<Self> {
        let of_zip =
            |error: zip::result::ZipError| refused(format!("not a zip archive that can be read: {error}"));
        let mut zip = ZipArchive::new(BufReader::new(archive)).map_err(of_zip)?;
        let is_file = |name: &[u8]| !name.ends_with(b"/") && !name.starts_with(b"__MACOSX/");
        let files: Vec<usize> = zip
            .file_names_raw()
            .enumerate()
            .filter(|(_, name)| is_file(name))
            .map(|(index, _)| index)
            .collect();
        let [only] = *files else {
            let count = files.len();
            return Err(refused(format!("a zip archive of {count} files; unzip it and name one of them")));
        };
        let member = zip.by_index_raw(only).map_err(of_zip)?;
        if member.encrypted() {
            return Err(refused("a zip archive with a password; unzip it first".into()));
        }
        let (method, size) = (member.compression(), member.compressed_size());
        let (expected_checksum, expected_length) = (member.crc32(), member.size());
        let start = member.data_start().ok_or_else(|| refused("a zip archive without its data".into()))?;
        drop(member);
        let mut bytes = zip.into_inner().into_inner();
        bytes.seek(SeekFrom::Start(start))?;
        let stored = BufReader::with_capacity(BUFFER, bytes.take(size));
        let decoder = match method {
            CompressionMethod::Stored => ZipDecoder::Stored(stored),
            CompressionMethod::DEFLATE => ZipDecoder::Deflate(DeflateDecoder::new(stored)),
            other => {
                return Err(refused(format!(
                    "a zip archive packed by {other}, and not by deflate; unzip it first"
                )));
            }
        };
        Ok(Self { decoder, checksum: crc32fast::Hasher::new(), read: 0, expected_checksum, expected_length })
    }
}

impl<R: Read> Read for ZipMember<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.decoder {
            ZipDecoder::Stored(stored) => stored.read(buffer)?,
            ZipDecoder::Deflate(deflate) => deflate.read(buffer)?,
        };
        self.checksum.update(&buffer[..count]);
        self.read += count as u64;
        let is_end = count == 0 && !buffer.is_empty();
        if self.read > self.expected_length || (is_end && self.read < self.expected_length) {
            return Err(refused(format!("{} bytes instead of {}", self.read, self.expected_length)));
        }
        if is_end && self.checksum.clone().finalize() != self.expected_checksum {
            return Err(refused("its checksum is wrong".into()));
        }
        Ok(count)
    }
}
