//! The compressions in which traces are published, told by their first bytes, and their decoders. Each has bounded memory, whatever the file says.

use super::zip_member::ZipMember;
use std::fs::File;
use std::io::{self, BufRead, Cursor, Read, Seek};
use std::sync::Arc;

/// Most memory of the decoder of xz, in KiB: four times what `xz -9` needs.
const XZ_MEMORY: u32 = 256 << 10;
/// Largest window of zstd, as a power of two: 128 MiB, what the program zstd takes without being told.
const ZSTD_WINDOW: u32 = 27;

/// The compression of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Compression {
    #[default]
    None,
    /// RFC 1952, one or more members.
    Gzip,
    /// RFC 8878.
    Zstd,
    Bzip2,
    /// The .xz file format, one or more streams.
    Xz,
    /// An archive of one file.
    Zip,
}

impl Compression {
    /// Bytes by which all of them are told apart.
    pub(crate) const MAGIC_BYTES: usize = 6;

    /// The compression of a file that begins with `start`.
    pub(crate) fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // The level of bzip2 is a digit and keeps a text that begins with the letters from being taken for it.
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [b'P', b'K', 3, 4, ..] => Self::Zip,
            _ => Self::None,
        }
    }

    /// The name for messages and results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zip => "zip",
        }
    }

    /// The decompressed bytes of `packed`; of a zip archive, which must be searched, those of its one file in `archive`.
    ///
    /// # Errors
    /// Those of reading, and an archive of none or of several files.
    pub(crate) fn decoder<A: Read + Seek + Send + 'static>(
        self,
        packed: impl BufRead + Send + 'static,
        archive: impl FnOnce() -> io::Result<A>,
    ) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::None => Box::new(packed),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                Box::new(decoder)
            }
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, XZ_MEMORY)),
            Self::Zip => Box::new(ZipMember::open(archive()?)?),
        })
    }
}

/// The bytes of a trace as stored, from any place on.
#[derive(Debug)]
pub(crate) enum TraceBytes {
    File(File),
    Memory(Cursor<Arc<[u8]>>),
}

impl Read for TraceBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for TraceBytes {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Memory(bytes) => bytes.seek(to),
        }
    }
}
