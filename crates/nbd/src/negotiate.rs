//! The handshake: the sections "Newstyle negotiation", "Option types" and "TLS support".

mod export_options;
mod meta;
mod option_replies;
mod refusals;

use std::ops::ControlFlow::{self, Break, Continue};

use crate::context::MetaContexts;
use crate::error::ProtocolViolation;
use crate::export::{NbdServer, TlsMode};
use crate::input_buffer::InputBuffer;
use crate::output_queue::OutputQueue;
use crate::reply::MessageMode;
use crate::wire::{PAYLOAD_HARMLESS, answer, handshake, magic, option, u32_at, u64_at};
use option_replies::{ACK, BAD_LENGTHS, LONG_STRING, OptionAnswer, OptionReplies, UNKNOWN_OPTION};

pub(crate) use option_replies::max_output;

/// Longest data of an option that is read: eight names of the greatest length. Longer options get `NBD_REP_ERR_TOO_BIG`.
pub(crate) const MAX_OPTION_DATA: usize = 8 * 4102;

/// Most unsent output with which further options are read: a client must read answers before it gets more.
const MAX_OUTPUT: usize = 64 << 10;

const OPTION_HEAD: usize = 16;

/// Result of a step of the handshake.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NegotiationStep {
    /// More input is needed, or output must be sent first.
    Wait,
    /// The caller is to set up TLS.
    StartTls,
    /// The client has opened an export.
    Open(NegotiatedTerms),
    /// The client has given up.
    Abort,
}

/// Result of a negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NegotiatedTerms {
    pub(crate) export: usize,
    pub(crate) mode: MessageMode,
    pub(crate) contexts: MetaContexts,
}

/// State of one client's handshake.
#[derive(Debug)]
pub(crate) struct Negotiation {
    /// Flags of the client; `None` until they are received.
    flags: Option<u16>,
    tls: TlsState,
    /// Terms set by the client so far. TLS resets them.
    session: SessionTerms,
    options: u32,
    is_shutting_down: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TlsState {
    Plain,
    Starting,
    Encrypted,
}

#[derive(Clone, Copy, Debug, Default)]
struct SessionTerms {
    mode: MessageMode,
    /// Index of an export, with the contexts that the last `NBD_OPT_SET_META_CONTEXT` has selected for it.
    contexts: Option<(usize, MetaContexts)>,
}

impl Negotiation {
    /// Begins the handshake with the greeting.
    pub(crate) fn new(output: &mut OutputQueue) -> Self {
        output.push(&magic::INIT.to_be_bytes());
        output.push(&magic::OPTION.to_be_bytes());
        output.push(&(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES).to_be_bytes());
        Self {
            flags: None,
            tls: TlsState::Plain,
            session: SessionTerms::default(),
            options: 0,
            is_shutting_down: false,
        }
    }

    pub(crate) fn is_starting_tls(&self) -> bool {
        self.tls == TlsState::Starting
    }

    pub(crate) fn tls_started(&mut self) {
        assert_eq!(self.tls, TlsState::Starting, "TLS starts when the client was told so, once");
        self.tls = TlsState::Encrypted;
    }

    pub(crate) fn shut_down(&mut self) {
        self.is_shutting_down = true;
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down
    }

    /// Handles the options that have been received.
    pub(crate) fn step(
        &mut self,
        server: &NbdServer,
        input: &mut InputBuffer,
        output: &mut OutputQueue,
    ) -> Result<NegotiationStep, ProtocolViolation> {
        if self.flags.is_none() {
            if !input.require(4) {
                return Ok(NegotiationStep::Wait);
            }
            self.set_client_flags(u32_at(input.bytes(), 0))?;
            input.take(4);
        }
        loop {
            if self.tls == TlsState::Starting
                || output.len() > MAX_OUTPUT
                || !input.is_aligned()
                || !input.require(OPTION_HEAD)
            {
                return Ok(NegotiationStep::Wait);
            }
            let head = input.bytes();
            let (magic, number, length) = (u64_at(head, 0), u32_at(head, 8), u32_at(head, 12));
            self.check_head(server, magic, number, length)?;
            // The data of a long option is discarded as it arrives.
            let is_long = length as usize > MAX_OPTION_DATA;
            let data = if is_long { 0 } else { length as usize };
            if !input.require(OPTION_HEAD + data) {
                return Ok(NegotiationStep::Wait);
            }
            // Counted, so that a client cannot negotiate for ever.
            self.options += 1;
            if self.options > server.limits().options {
                return Err(ProtocolViolation::Options(server.limits().options));
            }
            let taken = input.take(OPTION_HEAD + data);
            let data = &input.taken(taken)[OPTION_HEAD..];
            let mut option = OptionReplies { server, output, number };
            let step = if is_long {
                self.refuse_long_option(&mut option)?
            } else {
                self.handle_option(&mut option, data)?
            };
            if is_long {
                input.discard(u64::from(length));
            }
            match step {
                Continue(()) => {}
                Break(NegotiationStep::StartTls) if !input.bytes().is_empty() => {
                    return Err(ProtocolViolation::PlainText);
                }
                Break(step) => return Ok(step),
            }
        }
    }

    fn set_client_flags(&mut self, flags: u32) -> Result<(), ProtocolViolation> {
        let allowed = u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
        if flags & !allowed != 0 {
            return Err(ProtocolViolation::ClientFlags(flags));
        }
        self.flags = Some(flags as u16);
        Ok(())
    }

    fn has_flag(&self, flag: u16) -> bool {
        self.flags.is_some_and(|flags| flags & flag != 0)
    }

    fn check_head(
        &self,
        server: &NbdServer,
        magic: u64,
        number: u32,
        length: u32,
    ) -> Result<(), ProtocolViolation> {
        if magic != magic::OPTION {
            return Err(ProtocolViolation::OptionMagic(magic));
        }
        if u64::from(length) > PAYLOAD_HARMLESS {
            return Err(ProtocolViolation::OptionLength { option: number, length });
        }
        if number == option::EXPORT_NAME && (length as usize > MAX_OPTION_DATA || self.needs_tls(server)) {
            return Err(ProtocolViolation::ExportName);
        }
        if number != option::EXPORT_NAME && !self.has_flag(handshake::FIXED_NEWSTYLE) {
            return Err(ProtocolViolation::NotFixed(number));
        }
        Ok(())
    }

    /// True if the client must begin TLS before it learns anything.
    fn needs_tls(&self, server: &NbdServer) -> bool {
        server.tls() == TlsMode::Required && self.tls != TlsState::Encrypted
    }

    fn handle_option(
        &mut self,
        replies: &mut OptionReplies<'_>,
        data: &[u8],
    ) -> Result<ControlFlow<NegotiationStep>, ProtocolViolation> {
        if let Some(answer) = self.find_refusal(replies) {
            // `NBD_OPT_EXPORT_NAME` has no error reply.
            if replies.number == option::EXPORT_NAME {
                return Err(ProtocolViolation::ExportName);
            }
            replies.finish(answer);
            return Ok(Continue(()));
        }
        let answer = match replies.number {
            option::EXPORT_NAME => {
                return self.export_name(replies, data).map(|terms| Break(NegotiationStep::Open(terms)));
            }
            option::ABORT => {
                replies.finish(ACK);
                return Ok(Break(NegotiationStep::Abort));
            }
            option::INFO => self.info(replies, data).map_or_else(|answer| answer, |_| ACK),
            option::GO => match self.info(replies, data) {
                Ok(export) => {
                    replies.finish(ACK);
                    return Ok(Break(NegotiationStep::Open(self.terms_for(export))));
                }
                Err(answer) => answer,
            },
            option::LIST_META_CONTEXT => self.list_contexts(replies, data),
            option::SET_META_CONTEXT => self.set_contexts(replies, data),
            option::LIST | option::STARTTLS | option::STRUCTURED_REPLY | option::EXTENDED_HEADERS
                if !data.is_empty() =>
            {
                (answer::ERR_INVALID, "this option has no data")
            }
            option::LIST => self.list(replies),
            option::STARTTLS => self.start_tls(replies.server),
            option::STRUCTURED_REPLY if self.session.mode == MessageMode::Extended => {
                (answer::ERR_EXT_HEADER_REQD, "extended headers were negotiated, which include this")
            }
            option::STRUCTURED_REPLY => {
                self.session.mode = MessageMode::Structured;
                ACK
            }
            option::EXTENDED_HEADERS => {
                self.session.mode = MessageMode::Extended;
                ACK
            }
            _ => UNKNOWN_OPTION,
        };
        replies.finish(answer);
        Ok(if self.tls == TlsState::Starting { Break(NegotiationStep::StartTls) } else { Continue(()) })
    }

    /// Begins TLS: section "Server-side requirements". Terms negotiated before are reset (`NBD_OPT_STARTTLS`), since an attacker between client and
    /// server may have set them.
    fn start_tls(&mut self, server: &NbdServer) -> OptionAnswer {
        match (server.tls(), self.tls) {
            (TlsMode::Off, _) => (answer::ERR_POLICY, "this server has no TLS"),
            (_, TlsState::Encrypted | TlsState::Starting) => (answer::ERR_INVALID, "TLS is there already"),
            (TlsMode::Allowed | TlsMode::Required, TlsState::Plain) => {
                self.session = SessionTerms::default();
                self.tls = TlsState::Starting;
                ACK
            }
        }
    }

    fn terms_for(&self, export: usize) -> NegotiatedTerms {
        let contexts = match self.session.contexts {
            Some((selected_for, contexts)) if selected_for == export => contexts,
            _ => MetaContexts::NONE,
        };
        NegotiatedTerms { export, mode: self.session.mode, contexts }
    }
}
