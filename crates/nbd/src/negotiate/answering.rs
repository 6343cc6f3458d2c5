//! Replies to options: the section "Option reply types".

use super::OUTPUT_MAX;
use crate::export::{Export, Server};
use crate::outbox::Outbox;
use crate::wire::{answer, magic};

/// An answer of one word: a reply type, and a sentence for people if it is an error.
pub(super) type Answer = (u32, &'static str);

pub(super) const ACK: Answer = (answer::ACK, "");

pub(super) const GARBLED: Answer = (answer::ERR_INVALID, "the lengths in the option do not add up");
pub(super) const LONG_STRING: Answer = (answer::ERR_INVALID, "names and queries have at most 4096 bytes");
pub(super) const UNKNOWN_OPTION: Answer = (answer::ERR_UNSUP, "this server does not know the option");

/// The writer of the answers to one option.
pub(super) struct Answering<'a> {
    pub(super) server: &'a Server,
    pub(super) out: &'a mut Outbox,
    pub(super) number: u32,
}

impl Answering<'_> {
    /// One reply of type `kind`, its data in pieces.
    pub(super) fn reply(&mut self, kind: u32, data: &[&[u8]]) {
        let length: usize = data.iter().map(|piece| piece.len()).sum();
        self.out.put(&magic::OPTION_REPLY.to_be_bytes());
        self.out.put(&self.number.to_be_bytes());
        self.out.put(&kind.to_be_bytes());
        self.out.put(&(length as u32).to_be_bytes());
        for piece in data {
            self.out.put(piece);
        }
    }

    /// The last reply.
    pub(super) fn end(&mut self, (kind, text): Answer) {
        self.reply(kind, &[text.as_bytes()]);
    }
}

/// The most that can wait to be sent: one answer is added to what an option may find there.
pub(crate) fn output_max(server: &Server) -> usize {
    let of = |export: &Export| 64 + export.name.len() + export.description.len();
    let exports = || server.exports().iter().map(of);
    OUTPUT_MAX + exports().sum::<usize>().max(256 + exports().max().unwrap_or(0))
}
