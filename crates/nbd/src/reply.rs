//! Replies of the transmission phase as bytes: the sections "Simple reply message", "Structured reply chunk message", "Structured
//! reply types" and, of the extension, "Extended reply chunk message".

use crate::context::{MetaContext, StatusExtent};
use crate::error::{ErrorCode, ReplyFailure};
use crate::output_queue::OutputQueue;
use crate::wire::{chunk, magic};

/// Longest text of an error, in bytes. The specification would allow 4,096.
pub(crate) const MAX_TEXT: usize = 200;

/// Format of requests and replies, as negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MessageMode {
    /// Compact requests, simple replies.
    #[default]
    Simple,
    /// Compact requests, structured replies.
    Structured,
    /// Extended requests and replies.
    Extended,
}

impl MessageMode {
    /// Length of a request without its payload, in bytes.
    #[inline]
    pub(crate) fn request_bytes(self) -> usize {
        if self == Self::Extended { 32 } else { 28 }
    }
}

/// Writer of the reply to one request.
pub(crate) struct ReplyWriter<'a> {
    pub(crate) output: &'a mut OutputQueue,
    pub(crate) mode: MessageMode,
    pub(crate) cookie: u64,
    /// Offset of the request.
    pub(crate) offset: u64,
}

impl ReplyWriter<'_> {
    #[inline]
    fn simple(&mut self, error: u32) {
        let mut head = [0; 16];
        head[..4].copy_from_slice(&magic::SIMPLE_REPLY.to_be_bytes());
        head[4..8].copy_from_slice(&error.to_be_bytes());
        head[8..].copy_from_slice(&self.cookie.to_be_bytes());
        self.output.push(&head);
    }

    /// Head of a chunk with `length` bytes of payload.
    #[inline]
    fn chunk(&mut self, kind: u16, is_last: bool, length: u32) {
        debug_assert_ne!(self.mode, MessageMode::Simple, "chunks were negotiated");
        let flags = if is_last { chunk::FLAG_DONE } else { 0 };
        let is_extended = self.mode == MessageMode::Extended;
        let magic = if is_extended { magic::EXTENDED_REPLY } else { magic::STRUCTURED_REPLY };
        let mut head = [0; 32];
        head[..4].copy_from_slice(&magic.to_be_bytes());
        head[4..6].copy_from_slice(&flags.to_be_bytes());
        head[6..8].copy_from_slice(&kind.to_be_bytes());
        head[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        if is_extended {
            head[16..24].copy_from_slice(&self.offset.to_be_bytes());
            head[24..].copy_from_slice(&u64::from(length).to_be_bytes());
            self.output.push(&head);
        } else {
            head[16..20].copy_from_slice(&length.to_be_bytes());
            self.output.push(&head[..20]);
        }
    }

    /// Success of a request without data.
    #[inline]
    pub(crate) fn success(&mut self) {
        match self.mode {
            MessageMode::Simple | MessageMode::Structured => self.simple(0),
            MessageMode::Extended => self.chunk(chunk::NONE, true, 0),
        }
    }

    /// Failure of the whole request.
    pub(crate) fn failure(&mut self, failure: ReplyFailure<'_>) {
        match self.mode {
            MessageMode::Simple => self.simple(failure.code as u32),
            MessageMode::Structured | MessageMode::Extended => self.error(failure, true),
        }
    }

    /// An error chunk.
    pub(crate) fn error(&mut self, ReplyFailure { code, at, text }: ReplyFailure<'_>, is_last: bool) {
        // Cut between characters, since the text must be valid UTF-8.
        let text = &text.as_bytes()[..text.floor_char_boundary(MAX_TEXT)];
        let (kind, fixed) = if at.is_some() { (chunk::ERROR_OFFSET, 14) } else { (chunk::ERROR, 6) };
        self.chunk(kind, is_last, fixed + text.len() as u32);
        self.output.push(&(code as u32).to_be_bytes());
        self.output.push(&(text.len() as u16).to_be_bytes());
        self.output.push(text);
        if let Some(at) = at {
            self.output.push(&at.to_be_bytes());
        }
    }

    /// Head of `length` bytes of data, which must follow.
    #[inline]
    pub(crate) fn data_head(&mut self, offset: u64, length: u32, is_last: bool) {
        debug_assert!(length > 0, "a chunk describes at least one byte");
        if self.mode == MessageMode::Simple {
            debug_assert!(is_last, "a simple reply has no parts");
            self.simple(0);
        } else {
            self.chunk(chunk::OFFSET_DATA, is_last, 8 + length);
            self.output.push(&offset.to_be_bytes());
        }
    }

    /// `length` bytes that read as zeroes.
    pub(crate) fn hole(&mut self, offset: u64, length: u32, is_last: bool) {
        self.chunk(chunk::OFFSET_HOLE, is_last, 12);
        self.output.push(&offset.to_be_bytes());
        self.output.push(&length.to_be_bytes());
    }

    /// The extents of one context.
    pub(crate) fn extents(&mut self, context: MetaContext, extents: &[StatusExtent], is_last: bool) {
        assert!(!extents.is_empty(), "an answer about a context has at least one extent");
        let count = extents.len() as u32;
        if self.mode == MessageMode::Extended {
            self.chunk(chunk::BLOCK_STATUS_EXT, is_last, 8 + 16 * count);
            self.output.push(&context.id().to_be_bytes());
            self.output.push(&count.to_be_bytes());
        } else {
            self.chunk(chunk::BLOCK_STATUS, is_last, 4 + 8 * count);
            self.output.push(&context.id().to_be_bytes());
        }
        for extent in extents {
            if self.mode == MessageMode::Extended {
                self.output.push(&extent.length.0.to_be_bytes());
                self.output.push(&u64::from(extent.flags).to_be_bytes());
            } else {
                let length = u32::try_from(extent.length.0).expect("compact extents are cut to 32 bits");
                self.output.push(&length.to_be_bytes());
                self.output.push(&extent.flags.to_be_bytes());
            }
        }
    }
}

/// A failure by the rules of the specification, with a sentence for people.
pub(crate) fn refusal(code: ErrorCode, text: &'static str) -> ReplyFailure<'static> {
    ReplyFailure { code, at: None, text }
}
