//! The handshake: the sections "Newstyle negotiation", "Option types" and "TLS support".

mod answering;
mod export_options;
mod meta;

use std::ops::ControlFlow::{self, Break, Continue};

use crate::context::Contexts;
use crate::error::Violation;
use crate::export::{Server, Tls};
use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::reply::Mode;
use crate::wire::{PAYLOAD_HARMLESS, answer, handshake, magic, option, u32_at, u64_at};
use answering::{ACK, Answer, Answering, GARBLED, LONG_STRING, UNKNOWN_OPTION};

pub(crate) use answering::output_max;

/// Data of an option that is looked at; a longer one is answered with `NBD_REP_ERR_TOO_BIG`. Eight names of the greatest length.
pub(crate) const OPTION_DATA_MAX: usize = 8 * 4102;

/// While more than this waits to be sent, no option is looked at: a client has to read the answer before it asks again.
const OUTPUT_MAX: usize = 64 << 10;

const OPTION_HEAD: usize = 16;

/// What a step of the handshake came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More bytes are needed, or what is to be sent has to leave first.
    Wait,
    /// The caller wraps the connection into TLS, and says so.
    StartTls,
    /// Negotiation is over.
    Open(Agreed),
    /// The client gave up.
    Abort,
}

/// What was negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub(crate) export: usize,
    pub(crate) mode: Mode,
    pub(crate) contexts: Contexts,
}

/// The state of one client's handshake.
#[derive(Debug)]
pub(crate) struct Negotiation {
    /// Nothing before the client's flags have come.
    flags: Option<u16>,
    tls: TlsState,
    /// What a client may set, and TLS makes forgotten.
    session: Session,
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
struct Session {
    mode: Mode,
    /// The contexts that the last `NBD_OPT_SET_META_CONTEXT` has selected, and of which export.
    contexts: Option<(usize, Contexts)>,
}

impl Negotiation {
    /// Greets the client.
    pub(crate) fn new(out: &mut Outbox) -> Self {
        out.put(&magic::INIT.to_be_bytes());
        out.put(&magic::OPTION.to_be_bytes());
        out.put(&(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES).to_be_bytes());
        Self {
            flags: None,
            tls: TlsState::Plain,
            session: Session::default(),
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

    /// Does what can be done with what has come in.
    pub(crate) fn step(
        &mut self,
        server: &Server,
        inbox: &mut Inbox,
        out: &mut Outbox,
    ) -> Result<Step, Violation> {
        if self.flags.is_none() {
            if !inbox.has(4) {
                return Ok(Step::Wait);
            }
            self.client_flags(u32_at(inbox.bytes(), 0))?;
            inbox.take(4);
        }
        loop {
            if self.tls == TlsState::Starting
                || out.len() > OUTPUT_MAX
                || !inbox.is_aligned()
                || !inbox.has(OPTION_HEAD)
            {
                return Ok(Step::Wait);
            }
            let head = inbox.bytes();
            let (found, number, length) = (u64_at(head, 0), u32_at(head, 8), u32_at(head, 12));
            self.check_head(server, found, number, length)?;
            let is_long = length as usize > OPTION_DATA_MAX;
            let data = if is_long { 0 } else { length as usize };
            if !inbox.has(OPTION_HEAD + data) {
                return Ok(Step::Wait);
            }
            self.options += 1;
            if self.options > server.limits().options {
                return Err(Violation::Options(server.limits().options));
            }
            let taken = inbox.take(OPTION_HEAD + data);
            let data = &inbox.taken(taken)[OPTION_HEAD..];
            let mut option = Answering { server, out, number };
            let step = if is_long { self.long(&mut option)? } else { self.option(&mut option, data)? };
            if is_long {
                inbox.skip(u64::from(length));
            }
            match step {
                Continue(()) => {}
                Break(Step::StartTls) if !inbox.bytes().is_empty() => return Err(Violation::PlainText),
                Break(step) => return Ok(step),
            }
        }
    }

    fn client_flags(&mut self, flags: u32) -> Result<(), Violation> {
        let known = u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
        if flags & !known != 0 {
            return Err(Violation::ClientFlags(flags));
        }
        self.flags = Some(flags as u16);
        Ok(())
    }

    fn has_flag(&self, flag: u16) -> bool {
        self.flags.is_some_and(|flags| flags & flag != 0)
    }

    fn check_head(&self, server: &Server, found: u64, number: u32, length: u32) -> Result<(), Violation> {
        if found != magic::OPTION {
            return Err(Violation::OptionMagic(found));
        }
        if u64::from(length) > PAYLOAD_HARMLESS {
            return Err(Violation::OptionLength { option: number, length });
        }
        if number == option::EXPORT_NAME && (length as usize > OPTION_DATA_MAX || self.needs_tls(server)) {
            return Err(Violation::ExportName);
        }
        if number != option::EXPORT_NAME && !self.has_flag(handshake::FIXED_NEWSTYLE) {
            return Err(Violation::NotFixed(number));
        }
        Ok(())
    }

    /// Whether the client is told nothing because it is not encrypted.
    fn needs_tls(&self, server: &Server) -> bool {
        server.tls() == Tls::Required && self.tls != TlsState::Encrypted
    }

    /// An option whose data is not even read.
    fn long(&mut self, answering: &mut Answering<'_>) -> Result<ControlFlow<Step>, Violation> {
        match answering.number {
            // Neither takes data into account, and neither is looked at for it.
            option::ABORT => return self.option(answering, &[]),
            option::SET_META_CONTEXT => self.session.contexts = None,
            _ => {}
        }
        let is_known = matches!(answering.number, 1..=3 | 5..=11);
        let (kind, text) = match self.turned_away(answering) {
            Some(answer) => answer,
            None if is_known => (answer::ERR_TOO_BIG, "more data than any such option needs"),
            None => UNKNOWN_OPTION,
        };
        answering.end((kind, text));
        Ok(Continue(()))
    }

    /// What every option but the two that are always possible is answered with, if so.
    fn turned_away(&self, answering: &Answering<'_>) -> Option<Answer> {
        match answering.number {
            option::ABORT => None,
            _ if self.is_shutting_down => Some((answer::ERR_SHUTDOWN, "the server is being shut down")),
            option::STARTTLS => None,
            _ => self.needs_tls(answering.server).then_some((answer::ERR_TLS_REQD, "TLS comes first")),
        }
    }

    fn option(&mut self, answering: &mut Answering<'_>, data: &[u8]) -> Result<ControlFlow<Step>, Violation> {
        if let Some(answer) = self.turned_away(answering) {
            // An export's name cannot be refused in words.
            if answering.number == option::EXPORT_NAME {
                return Err(Violation::ExportName);
            }
            answering.end(answer);
            return Ok(Continue(()));
        }
        let answer = match answering.number {
            option::EXPORT_NAME => {
                return self.export_name(answering, data).map(|agreed| Break(Step::Open(agreed)));
            }
            option::ABORT => {
                answering.end(ACK);
                return Ok(Break(Step::Abort));
            }
            option::INFO => self.info(answering, data).map_or_else(|answer| answer, |_| ACK),
            option::GO => match self.info(answering, data) {
                Ok(export) => {
                    answering.end(ACK);
                    return Ok(Break(Step::Open(self.agreed(export))));
                }
                Err(answer) => answer,
            },
            option::LIST_META_CONTEXT => self.list_contexts(answering, data),
            option::SET_META_CONTEXT => self.set_contexts(answering, data),
            option::LIST | option::STARTTLS | option::STRUCTURED_REPLY | option::EXTENDED_HEADERS
                if !data.is_empty() =>
            {
                (answer::ERR_INVALID, "this option has no data")
            }
            option::LIST => self.list(answering),
            option::STARTTLS => self.start_tls(answering.server),
            option::STRUCTURED_REPLY if self.session.mode == Mode::Extended => {
                (answer::ERR_EXT_HEADER_REQD, "extended headers were negotiated, which include this")
            }
            option::STRUCTURED_REPLY => {
                self.session.mode = Mode::Structured;
                ACK
            }
            option::EXTENDED_HEADERS => {
                self.session.mode = Mode::Extended;
                ACK
            }
            _ => UNKNOWN_OPTION,
        };
        answering.end(answer);
        Ok(if self.tls == TlsState::Starting { Break(Step::StartTls) } else { Continue(()) })
    }

    /// Section "Server-side requirements" of TLS. What was negotiated before is forgotten (`NBD_OPT_STARTTLS`): whoever sits between
    /// client and server may have said it.
    fn start_tls(&mut self, server: &Server) -> Answer {
        match (server.tls(), self.tls) {
            (Tls::Off, _) => (answer::ERR_POLICY, "this server has no TLS"),
            (_, TlsState::Encrypted | TlsState::Starting) => (answer::ERR_INVALID, "TLS is there already"),
            (Tls::Allowed | Tls::Required, TlsState::Plain) => {
                self.session = Session::default();
                self.tls = TlsState::Starting;
                ACK
            }
        }
    }

    fn agreed(&self, export: usize) -> Agreed {
        let contexts = match self.session.contexts {
            Some((of, contexts)) if of == export => contexts,
            _ => Contexts::NONE,
        };
        Agreed { export, mode: self.session.mode, contexts }
    }
}
