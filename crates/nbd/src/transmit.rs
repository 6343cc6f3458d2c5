//! The transmission phase: requests in, answers out. Sections "Transmission", "Request types", "Error values".

mod answer;
mod check;
mod head;

use std::ops::Range;

use outlast_units::slab::Slab;

use crate::context::{Context, Contexts};
use crate::error::{ErrorCode, Violation};
use crate::export::{Export, Server};
use crate::inbox::Inbox;
use crate::negotiate::Agreed;
use crate::outbox::Outbox;
use crate::reply::{Reply, TEXT_MAX, refusal};
use crate::request::RequestId;
use crate::wire::{PAYLOAD_HARMLESS, command, u32_at, u64_at};
pub(crate) use check::Kind;
use check::Refused;
use head::Head;

/// Bytes of an answer beside what was asked for: heads, or an error with its text.
const REPLY_OVERHEAD: u64 = 256;
const _: () = assert!(REPLY_OVERHEAD as usize >= 32 + 14 + TEXT_MAX);

/// What a step came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More bytes are needed, or what is in flight or to be sent has to leave first.
    Wait,
    /// A request for the caller; its payload lies there in the inbox.
    Request { id: RequestId, offset: u64, length: u64, kind: Kind, payload: Range<usize> },
    /// The client has disconnected.
    Disconnect,
}

/// The state of one client in the transmission phase.
#[derive(Debug)]
pub(crate) struct Transmission {
    agreed: Agreed,
    in_flight: Slab<Option<InFlight>>,
    /// What the requests in flight cost: see [`Transmission::cost`].
    reserved: u64,
    /// Bytes that may be held at present, however few the client's own limits would leave.
    allowance: u64,
    /// Whether the next request waits for a larger allowance.
    is_short: bool,
    is_shutting_down: bool,
}

/// A request that the caller has.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    cookie: u64,
    offset: u64,
    length: u64,
    cost: u64,
    kind: Kind,
}

impl Transmission {
    pub(crate) fn new(agreed: Agreed, is_shutting_down: bool) -> Self {
        let in_flight = Slab::default();
        Self { agreed, in_flight, reserved: 0, allowance: u64::MAX, is_short: false, is_shutting_down }
    }

    #[inline]
    pub(crate) fn allow(&mut self, bytes: u64) {
        self.allowance = bytes;
    }

    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// What the requests in flight cost.
    #[inline]
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
    }

    pub(crate) fn export(&self) -> usize {
        self.agreed.export
    }

    pub(crate) fn shut_down(&mut self) {
        self.is_shutting_down = true;
    }

    /// Requests that the caller has.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.used()
    }

    /// Contexts that a request in flight asks about.
    pub(crate) fn contexts(&self, id: RequestId) -> Contexts {
        match self.in_flight.slots().get(id.0 as usize) {
            Some(Some(InFlight { kind: Kind::Status { contexts, .. }, .. })) => *contexts,
            _ => Contexts::NONE,
        }
    }

    /// Bytes allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.in_flight.heap_bytes()
    }

    /// Goes on to the next request, and answers those that are refused on the way.
    pub(crate) fn step(
        &mut self,
        server: &Server,
        inbox: &mut Inbox,
        out: &mut Outbox,
    ) -> Result<Step, Violation> {
        let export = &server.exports()[self.agreed.export];
        let head_bytes = self.agreed.mode.request_bytes();
        self.is_short = false;
        loop {
            if !inbox.is_aligned() || !inbox.has(head_bytes) {
                return Ok(Step::Wait);
            }
            let head = Head::parse(self.agreed.mode, inbox.bytes())?;
            if head.payload > PAYLOAD_HARMLESS.max(export.blocks.maximum.0) {
                return Err(Violation::Payload(head.payload));
            }
            if head.command == command::DISC {
                inbox.take(head_bytes);
                return Ok(Step::Disconnect);
            }
            let judged = match self.judge(export, &head) {
                Ok(kind) => match self.with_payload(export, &head, kind, inbox) {
                    Some(judged) => judged,
                    None => return Ok(Step::Wait),
                },
                Err(refused) => Err(refused),
            };
            let cost = Self::cost(server, &head, judged.as_ref().ok());
            if !self.has_room(server, out, cost) {
                return Ok(Step::Wait);
            }
            // A payload that is there has been allowed before it came.
            let more = cost.saturating_sub(head.payload);
            self.is_short = self.reserved + out.len() as u64 + more > self.allowance;
            if self.is_short {
                return Ok(Step::Wait);
            }
            let taken = inbox.take(head_bytes);
            match judged {
                Ok((kind, length)) => {
                    let payload = inbox.take(head.payload as usize);
                    debug_assert_eq!(taken.end, payload.start, "a payload follows its head");
                    let entry = InFlight { cookie: head.cookie, offset: head.offset, length, cost, kind };
                    let id = RequestId(self.in_flight.insert(Some(entry)));
                    self.reserved += cost;
                    return Ok(Step::Request { id, offset: head.offset, length, kind, payload });
                }
                Err((code, text)) => {
                    inbox.skip(head.payload);
                    self.reply(out, head.cookie, head.offset).failure(refusal(code, text));
                }
            }
        }
    }

    fn judge(&self, export: &Export, head: &Head) -> Result<Kind, Refused> {
        if self.is_shutting_down {
            return Err((ErrorCode::Shutdown, "the server is being shut down"));
        }
        check::kind(export, self.agreed, head)
    }

    /// The kind with what the payload says, and the length that is meant; nothing while the payload is not all there.
    fn with_payload(
        &self,
        export: &Export,
        head: &Head,
        kind: Kind,
        inbox: &mut Inbox,
    ) -> Option<Result<(Kind, u64), Refused>> {
        let head_bytes = self.agreed.mode.request_bytes();
        if !inbox.has(head_bytes + head.payload as usize) {
            return None;
        }
        let Kind::Status { one, .. } = kind else { return Some(Ok((kind, head.length))) };
        if head.payload == 0 {
            return Some(Ok((kind, head.length)));
        }
        let payload = &inbox.bytes()[head_bytes..][..head.payload as usize];
        let length = u64_at(payload, 0);
        let chosen = payload[8..].chunks_exact(4).try_fold(Contexts::NONE, |chosen, id| {
            let context =
                Context::with_id(u32_at(id, 0)).filter(|&context| self.agreed.contexts.has(context))?;
            (!chosen.has(context)).then(|| chosen.with(context))
        });
        Some(match chosen {
            Some(contexts) => check::range(export, command::BLOCK_STATUS, head.offset, length)
                .map(|()| (Kind::Status { contexts, one }, length)),
            None => Err((ErrorCode::Inval, "a context was not negotiated, or is there twice")),
        })
    }

    /// The most that one request alone costs.
    pub(crate) fn cost_max(server: &Server) -> u64 {
        let of = |export: &Export| {
            export
                .blocks
                .maximum
                .0
                .max(u64::from(export.contexts.count()) * status_bytes(server.limits().extents))
        };
        REPLY_OVERHEAD + server.exports().iter().map(of).max().unwrap_or(0)
    }

    /// Bytes of an entry of the table of requests in flight.
    pub(crate) const ENTRY: usize = size_of::<Option<InFlight>>() + size_of::<u32>();

    /// Bytes that a request may make the connection and its caller hold.
    fn cost(server: &Server, head: &Head, judged: Option<&(Kind, u64)>) -> u64 {
        REPLY_OVERHEAD
            + match judged {
                Some((Kind::Read { .. }, length)) => *length,
                Some((Kind::Write { .. }, _)) => head.payload,
                Some((Kind::Status { contexts, one }, _)) => {
                    let extents = if *one { 1 } else { server.limits().extents };
                    u64::from(contexts.count()) * status_bytes(extents)
                }
                _ => 0,
            }
    }

    /// Whether another request may be let in. One by itself always may.
    fn has_room(&self, server: &Server, out: &Outbox, cost: u64) -> bool {
        let limits = server.limits();
        let held = self.reserved + out.len() as u64;
        held == 0
            || held + cost <= limits.bytes.0 && (self.in_flight.used() as u64) < u64::from(limits.requests)
    }

    fn reply<'a>(&self, out: &'a mut Outbox, cookie: u64, offset: u64) -> Reply<'a> {
        Reply { out, mode: self.agreed.mode, cookie, offset }
    }

    /// Takes the entry of a request that is being answered.
    fn take(&mut self, id: RequestId) -> InFlight {
        let slot = self.in_flight.slots_mut().get_mut(id.0 as usize).and_then(Option::take);
        let entry = slot.expect("a request is answered once, on the connection that it came from");
        self.in_flight.remove(id.0);
        self.reserved -= entry.cost;
        debug_assert_eq!(
            self.in_flight.used() == 0,
            self.reserved == 0,
            "every request in flight has its cost"
        );
        entry
    }
}

/// Bytes of an answer about one context.
fn status_bytes(extents: u32) -> u64 {
    40 + 16 * u64::from(extents)
}
