//! Replies to options: the section "Option reply types".

use super::MAX_OUTPUT;
use crate::export::{NbdExport, NbdServer};
use crate::output_queue::OutputQueue;
use crate::wire::{answer, magic};

/// A final reply: its type, and for errors a sentence for people.
pub(super) type OptionAnswer = (u32, &'static str);

pub(super) const ACK: OptionAnswer = (answer::ACK, "");

pub(super) const BAD_LENGTHS: OptionAnswer = (answer::ERR_INVALID, "the lengths in the option do not add up");
pub(super) const LONG_STRING: OptionAnswer =
    (answer::ERR_INVALID, "names and queries have at most 4096 bytes");
pub(super) const UNKNOWN_OPTION: OptionAnswer = (answer::ERR_UNSUP, "this server does not know the option");

/// Writer of the replies to one option.
pub(super) struct OptionReplies<'a> {
    pub(super) server: &'a NbdServer,
    pub(super) output: &'a mut OutputQueue,
    pub(super) number: u32,
}

impl OptionReplies<'_> {
    /// Writes a reply of type `kind`, with data in pieces.
    pub(super) fn reply(&mut self, kind: u32, data: &[&[u8]]) {
        let length: usize = data.iter().map(|piece| piece.len()).sum();
        self.output.push(&magic::OPTION_REPLY.to_be_bytes());
        self.output.push(&self.number.to_be_bytes());
        self.output.push(&kind.to_be_bytes());
        self.output.push(&(length as u32).to_be_bytes());
        for piece in data {
            self.output.push(piece);
        }
    }

    /// Writes the final reply.
    pub(super) fn finish(&mut self, (kind, text): OptionAnswer) {
        self.reply(kind, &[text.as_bytes()]);
    }
}

/// Most output of the handshake: the replies to one option, on top of the output with which it may begin.
pub(crate) fn max_output(server: &NbdServer) -> usize {
    // Head, lengths, name and description of an export.
    let reply_bytes = |export: &NbdExport| 64 + export.name.len() + export.description.len();
    let sizes = || server.exports().iter().map(reply_bytes);
    MAX_OUTPUT + sizes().sum::<usize>().max(256 + sizes().max().unwrap_or(0))
}
