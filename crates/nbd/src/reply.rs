//! Replies of the transmission phase as bytes: the sections "Simple reply message", "Structured reply chunk message", "Structured
//! reply types" and, of the extension, "Extended reply chunk message".

use crate::context::{Context, Extent};
use crate::error::{ErrorCode, Failure};
use crate::outbox::Outbox;
use crate::wire::{chunk, magic};

/// Bytes of an error's text that are sent; the specification would allow 4,096.
pub(crate) const TEXT_MAX: usize = 200;

/// The form of requests and replies that was negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Compact requests, simple replies.
    #[default]
    Simple,
    /// Compact requests, structured replies.
    Structured,
    /// Extended requests and replies.
    Extended,
}

impl Mode {
    /// Bytes of a request without its payload.
    #[inline]
    pub(crate) fn request_bytes(self) -> usize {
        if self == Self::Extended { 32 } else { 28 }
    }
}

/// The writer of the reply to one request.
pub(crate) struct Reply<'a> {
    pub(crate) out: &'a mut Outbox,
    pub(crate) mode: Mode,
    pub(crate) cookie: u64,
    /// The request's.
    pub(crate) offset: u64,
}

impl Reply<'_> {
    #[inline]
    fn simple(&mut self, error: u32) {
        let mut head = [0; 16];
        head[..4].copy_from_slice(&magic::SIMPLE_REPLY.to_be_bytes());
        head[4..8].copy_from_slice(&error.to_be_bytes());
        head[8..].copy_from_slice(&self.cookie.to_be_bytes());
        self.out.put(&head);
    }

    /// The head of a chunk with `length` bytes of payload.
    #[inline]
    fn chunk(&mut self, kind: u16, is_last: bool, length: u32) {
        debug_assert_ne!(self.mode, Mode::Simple, "chunks were negotiated");
        let flags = if is_last { chunk::FLAG_DONE } else { 0 };
        let is_extended = self.mode == Mode::Extended;
        let magic = if is_extended { magic::EXTENDED_REPLY } else { magic::STRUCTURED_REPLY };
        let mut head = [0; 32];
        head[..4].copy_from_slice(&magic.to_be_bytes());
        head[4..6].copy_from_slice(&flags.to_be_bytes());
        head[6..8].copy_from_slice(&kind.to_be_bytes());
        head[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        if is_extended {
            head[16..24].copy_from_slice(&self.offset.to_be_bytes());
            head[24..].copy_from_slice(&u64::from(length).to_be_bytes());
            self.out.put(&head);
        } else {
            head[16..20].copy_from_slice(&length.to_be_bytes());
            self.out.put(&head[..20]);
        }
    }

    /// Success of a request that has no data to return.
    #[inline]
    pub(crate) fn success(&mut self) {
        match self.mode {
            Mode::Simple | Mode::Structured => self.simple(0),
            Mode::Extended => self.chunk(chunk::NONE, true, 0),
        }
    }

    /// Failure of the whole request.
    pub(crate) fn failure(&mut self, failure: Failure<'_>) {
        match self.mode {
            Mode::Simple => self.simple(failure.code as u32),
            Mode::Structured | Mode::Extended => self.error(failure, true),
        }
    }

    /// An error chunk.
    pub(crate) fn error(&mut self, Failure { code, at, text }: Failure<'_>, is_last: bool) {
        let text = &text.as_bytes()[..text.floor_char_boundary(TEXT_MAX)];
        let (kind, fixed) = if at.is_some() { (chunk::ERROR_OFFSET, 14) } else { (chunk::ERROR, 6) };
        self.chunk(kind, is_last, fixed + text.len() as u32);
        self.out.put(&(code as u32).to_be_bytes());
        self.out.put(&(text.len() as u16).to_be_bytes());
        self.out.put(text);
        if let Some(at) = at {
            self.out.put(&at.to_be_bytes());
        }
    }

    /// What goes before `length` bytes that were read: to be followed by the bytes.
    #[inline]
    pub(crate) fn data_head(&mut self, offset: u64, length: u32, is_last: bool) {
        debug_assert!(length > 0, "a chunk describes at least one byte");
        if self.mode == Mode::Simple {
            debug_assert!(is_last, "a simple reply has no parts");
            self.simple(0);
        } else {
            self.chunk(chunk::OFFSET_DATA, is_last, 8 + length);
            self.out.put(&offset.to_be_bytes());
        }
    }

    /// `length` bytes that read as zeroes.
    pub(crate) fn hole(&mut self, offset: u64, length: u32, is_last: bool) {
        self.chunk(chunk::OFFSET_HOLE, is_last, 12);
        self.out.put(&offset.to_be_bytes());
        self.out.put(&length.to_be_bytes());
    }

    /// The extents of one context.
    pub(crate) fn extents(&mut self, context: Context, extents: &[Extent], is_last: bool) {
        assert!(!extents.is_empty(), "an answer about a context has at least one extent");
        let count = extents.len() as u32;
        if self.mode == Mode::Extended {
            self.chunk(chunk::BLOCK_STATUS_EXT, is_last, 8 + 16 * count);
            self.out.put(&context.id().to_be_bytes());
            self.out.put(&count.to_be_bytes());
        } else {
            self.chunk(chunk::BLOCK_STATUS, is_last, 4 + 8 * count);
            self.out.put(&context.id().to_be_bytes());
        }
        for extent in extents {
            if self.mode == Mode::Extended {
                self.out.put(&extent.length.0.to_be_bytes());
                self.out.put(&u64::from(extent.flags).to_be_bytes());
            } else {
                let length = u32::try_from(extent.length.0).expect("compact extents are cut to 32 bits");
                self.out.put(&length.to_be_bytes());
                self.out.put(&extent.flags.to_be_bytes());
            }
        }
    }
}

/// What the specification's own rules say of a request, with a sentence for people.
pub(crate) fn refusal(code: ErrorCode, text: &'static str) -> Failure<'static> {
    Failure { code, at: None, text }
}
