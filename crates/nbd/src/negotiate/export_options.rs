//! Options that name an export: `NBD_OPT_EXPORT_NAME`, `NBD_OPT_LIST`, `NBD_OPT_INFO`, `NBD_OPT_GO`.

use super::{
    ACK, BAD_LENGTHS, LONG_STRING, NegotiatedTerms, Negotiation, OptionAnswer, OptionReplies, TlsState,
};
use crate::error::ProtocolViolation;
use crate::export::{NbdExport, NbdServer, TlsMode};
use crate::reply::MessageMode;
use crate::wire::{STRING_MAX, answer, export_flag, handshake, info, u16_at, u32_at};

pub(super) const NO_EXPORT: OptionAnswer = (answer::ERR_UNKNOWN, "no such export");

impl Negotiation {
    /// True if the client may see `export` over its present connection.
    pub(super) fn may_see(&self, export: &NbdExport) -> bool {
        !export.tls_only || self.tls == TlsState::Encrypted
    }

    /// Transmission flags of the export at `index`, by the terms negotiated so far.
    fn transmission_flags(&self, server: &NbdServer, index: usize) -> u16 {
        let flags = server.exports()[index].features.flags();
        let has_contexts = !self.terms_for(index).contexts.is_empty();
        flags
            | match self.session.mode {
                MessageMode::Simple => 0,
                MessageMode::Extended if has_contexts => {
                    export_flag::SEND_DF | export_flag::BLOCK_STATUS_PAYLOAD
                }
                MessageMode::Structured | MessageMode::Extended => export_flag::SEND_DF,
            }
    }

    /// Handles `NBD_OPT_EXPORT_NAME`, the only option of clients without fixed newstyle. Errors can only close the connection.
    pub(super) fn export_name(
        &self,
        replies: &mut OptionReplies<'_>,
        name: &[u8],
    ) -> Result<NegotiatedTerms, ProtocolViolation> {
        let server = replies.server;
        let index = server.find(name).ok_or(ProtocolViolation::ExportName)?;
        let export = &server.exports()[index];
        if !self.may_see(export) || export.blocks.required || self.session.mode == MessageMode::Extended {
            return Err(ProtocolViolation::ExportName);
        }
        replies.output.push(&export.size.0.to_be_bytes());
        replies.output.push(&self.transmission_flags(server, index).to_be_bytes());
        // Reserved bytes, which clients had to ask not to get.
        if !self.has_flag(handshake::NO_ZEROES) {
            replies.output.push_zeroes(124);
        }
        Ok(self.terms_for(index))
    }

    pub(super) fn list(&self, replies: &mut OptionReplies<'_>) -> OptionAnswer {
        for export in replies.server.exports().iter().filter(|export| self.may_see(export)) {
            let (name, description) = (export.name.as_bytes(), export.description.as_bytes());
            replies.reply(answer::SERVER, &[&(name.len() as u32).to_be_bytes(), name, description]);
        }
        ACK
    }

    /// Describes an export; returns its index, or the error with which the answer ends.
    pub(super) fn info(&self, replies: &mut OptionReplies<'_>, data: &[u8]) -> Result<usize, OptionAnswer> {
        let (name, requests) = parse(data)?;
        let server = replies.server;
        let index = server.find(name).ok_or_else(|| self.unknown_export(server))?;
        let export = &server.exports()[index];
        if !self.may_see(export) {
            return Err((answer::ERR_TLS_REQD, "this export needs TLS"));
        }
        let wants = |kind: u16| requests.chunks_exact(2).any(|request| u16_at(request, 0) == kind);
        let reply = |replies: &mut OptionReplies<'_>, kind: u16, data: &[&[u8]]| {
            let kind = kind.to_be_bytes();
            let pieces: Vec<&[u8]> = std::iter::once(&kind[..]).chain(data.iter().copied()).collect();
            replies.reply(answer::INFO, &pieces);
        };
        // Sent unasked, since a server with sizes other than the default must announce them.
        let sizes = [export.blocks.minimum, export.blocks.preferred, export.blocks.maximum];
        let sizes = sizes.map(|size| (size.0 as u32).to_be_bytes());
        reply(replies, info::BLOCK_SIZE, &[sizes.as_flattened()]);
        if export.blocks.required && !wants(info::BLOCK_SIZE) {
            return Err((answer::ERR_BLOCK_SIZE_REQD, "this export insists on its block sizes"));
        }
        let flags = self.transmission_flags(server, index);
        reply(replies, info::EXPORT, &[&export.size.0.to_be_bytes(), &flags.to_be_bytes()]);
        if wants(info::NAME) {
            reply(replies, info::NAME, &[export.name.as_bytes()]);
        }
        if wants(info::DESCRIPTION) && !export.description.is_empty() {
            reply(replies, info::DESCRIPTION, &[export.description.as_bytes()]);
        }
        Ok(index)
    }

    /// Error for an unknown name. If some export is hidden without TLS, the error must be the same for hidden and missing ones.
    fn unknown_export(&self, server: &NbdServer) -> OptionAnswer {
        let hides =
            server.tls() == TlsMode::Allowed && server.exports().iter().any(|export| !self.may_see(export));
        if hides { (answer::ERR_TLS_REQD, "no such export without TLS") } else { NO_EXPORT }
    }
}

/// Splits the data into the name and the list of information requests.
fn parse(data: &[u8]) -> Result<(&[u8], &[u8]), OptionAnswer> {
    let (name, remaining) = string(data).ok_or(BAD_LENGTHS)?;
    let Some((count, requests)) = remaining.split_at_checked(2) else { return Err(BAD_LENGTHS) };
    if requests.len() != 2 * usize::from(u16_at(count, 0)) {
        return Err(BAD_LENGTHS);
    }
    if name.len() > STRING_MAX {
        return Err(LONG_STRING);
    }
    Ok((name, requests))
}

/// Splits a string with a preceding length from the data that follows it.
pub(super) fn string(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, remaining) = data.split_at_checked(4)?;
    remaining.split_at_checked(u32_at(length, 0) as usize)
}
