//! Options that name an export: `NBD_OPT_EXPORT_NAME`, `NBD_OPT_LIST`, `NBD_OPT_INFO`, `NBD_OPT_GO`.

use super::{ACK, Agreed, Answer, Answering, GARBLED, LONG_STRING, Negotiation, TlsState};
use crate::error::Violation;
use crate::export::{Export, Server, Tls};
use crate::reply::Mode;
use crate::wire::{STRING_MAX, answer, export_flag, handshake, info, u16_at, u32_at};

pub(super) const NO_EXPORT: Answer = (answer::ERR_UNKNOWN, "no such export");

impl Negotiation {
    /// Whether `export` may be shown to the client as it is connected now.
    pub(super) fn may_see(&self, export: &Export) -> bool {
        !export.tls_only || self.tls == TlsState::Encrypted
    }

    /// The transmission flags of export number `index`, as negotiated so far.
    fn transmission_flags(&self, server: &Server, index: usize) -> u16 {
        let flags = server.exports()[index].features.flags();
        let has_contexts = !self.agreed(index).contexts.is_empty();
        flags
            | match self.session.mode {
                Mode::Simple => 0,
                Mode::Extended if has_contexts => export_flag::SEND_DF | export_flag::BLOCK_STATUS_PAYLOAD,
                Mode::Structured | Mode::Extended => export_flag::SEND_DF,
            }
    }

    /// The one option of clients that are not fixed newstyle; there is no error but to hang up.
    pub(super) fn export_name(
        &self,
        answering: &mut Answering<'_>,
        name: &[u8],
    ) -> Result<Agreed, Violation> {
        let server = answering.server;
        let index = server.find(name).ok_or(Violation::ExportName)?;
        let export = &server.exports()[index];
        if !self.may_see(export) || export.blocks.required || self.session.mode == Mode::Extended {
            return Err(Violation::ExportName);
        }
        answering.out.put(&export.size.0.to_be_bytes());
        answering.out.put(&self.transmission_flags(server, index).to_be_bytes());
        if !self.has_flag(handshake::NO_ZEROES) {
            answering.out.put_zeroes(124);
        }
        Ok(self.agreed(index))
    }

    pub(super) fn list(&self, answering: &mut Answering<'_>) -> Answer {
        for export in answering.server.exports().iter().filter(|export| self.may_see(export)) {
            let (name, description) = (export.name.as_bytes(), export.description.as_bytes());
            answering.reply(answer::SERVER, &[&(name.len() as u32).to_be_bytes(), name, description]);
        }
        ACK
    }

    /// Tells what an export is; returns its number, or the error with which the answer ends.
    pub(super) fn info(&self, answering: &mut Answering<'_>, data: &[u8]) -> Result<usize, Answer> {
        let (name, requests) = parse(data)?;
        let server = answering.server;
        let index = server.find(name).ok_or_else(|| self.unknown(server))?;
        let export = &server.exports()[index];
        if !self.may_see(export) {
            return Err((answer::ERR_TLS_REQD, "this export needs TLS"));
        }
        let wants = |kind: u16| requests.chunks_exact(2).any(|request| u16_at(request, 0) == kind);
        let reply = |answering: &mut Answering<'_>, kind: u16, data: &[&[u8]]| {
            let kind = kind.to_be_bytes();
            let pieces: Vec<&[u8]> = std::iter::once(&kind[..]).chain(data.iter().copied()).collect();
            answering.reply(answer::INFO, &pieces);
        };
        // Unasked, too: a server whose sizes are not the default ones has to say so.
        let sizes = [export.blocks.minimum, export.blocks.preferred, export.blocks.maximum];
        let sizes = sizes.map(|size| (size.0 as u32).to_be_bytes());
        reply(answering, info::BLOCK_SIZE, &[sizes.as_flattened()]);
        if export.blocks.required && !wants(info::BLOCK_SIZE) {
            return Err((answer::ERR_BLOCK_SIZE_REQD, "this export insists on its block sizes"));
        }
        let flags = self.transmission_flags(server, index);
        reply(answering, info::EXPORT, &[&export.size.0.to_be_bytes(), &flags.to_be_bytes()]);
        if wants(info::NAME) {
            reply(answering, info::NAME, &[export.name.as_bytes()]);
        }
        if wants(info::DESCRIPTION) && !export.description.is_empty() {
            reply(answering, info::DESCRIPTION, &[export.description.as_bytes()]);
        }
        Ok(index)
    }

    /// Where some export is hidden without TLS, every name that is none could be a hidden one.
    fn unknown(&self, server: &Server) -> Answer {
        let hides =
            server.tls() == Tls::Allowed && server.exports().iter().any(|export| !self.may_see(export));
        if hides { (answer::ERR_TLS_REQD, "no such export without TLS") } else { NO_EXPORT }
    }
}

/// The name, and the list of information requests.
fn parse(data: &[u8]) -> Result<(&[u8], &[u8]), Answer> {
    let (name, rest) = string(data).ok_or(GARBLED)?;
    let Some((count, requests)) = rest.split_at_checked(2) else { return Err(GARBLED) };
    if requests.len() != 2 * usize::from(u16_at(count, 0)) {
        return Err(GARBLED);
    }
    if name.len() > STRING_MAX {
        return Err(LONG_STRING);
    }
    Ok((name, requests))
}

/// A string with its length before it, and what follows it.
pub(super) fn string(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_at_checked(4)?;
    rest.split_at_checked(u32_at(length, 0) as usize)
}
