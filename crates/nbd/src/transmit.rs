//! The transmission phase: requests in, answers out. Sections "Transmission", "Request types", "Error values".

mod answer;
mod check;
mod head;

use std::ops::Range;

use outlast_units::slab::Slab;

use crate::context::{MetaContext, MetaContexts};
use crate::error::{ErrorCode, ProtocolViolation};
use crate::export::{NbdExport, NbdServer};
use crate::input_buffer::InputBuffer;
use crate::negotiate::NegotiatedTerms;
use crate::output_queue::OutputQueue;
use crate::reply::{MAX_TEXT, ReplyWriter, refusal};
use crate::request::RequestId;
use crate::wire::{PAYLOAD_HARMLESS, command, u32_at, u64_at};
pub(crate) use check::RequestKind;
use check::RequestRefusal;
use head::RequestHead;

/// Bytes of an answer beside its data: heads, or an error with its text.
const REPLY_OVERHEAD: u64 = 256;
const _: () = assert!(REPLY_OVERHEAD as usize >= 32 + 14 + MAX_TEXT);

/// Result of a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TransmissionStep {
    /// More input is needed, or requests must be answered or output sent first.
    Wait,
    /// A request for the caller, with the range of its payload in the input buffer.
    Request { id: RequestId, offset: u64, length: u64, kind: RequestKind, payload: Range<usize> },
    /// The client has disconnected.
    Disconnect,
}

/// State of one client in the transmission phase.
#[derive(Debug)]
pub(crate) struct Transmission {
    terms: NegotiatedTerms,
    in_flight: Slab<Option<AdmittedRequest>>,
    /// Cost of all requests in flight: see [`Transmission::cost`].
    reserved: u64,
    /// Most bytes that may be held now, in addition to the client's own limits.
    allowance: u64,
    /// Set if the next request waits for a higher allowance.
    is_short: bool,
    is_shutting_down: bool,
}

/// A request that was passed to the caller and is not answered yet.
#[derive(Clone, Copy, Debug)]
struct AdmittedRequest {
    cookie: u64,
    offset: u64,
    length: u64,
    cost: u64,
    kind: RequestKind,
}

impl Transmission {
    pub(crate) fn new(terms: NegotiatedTerms, is_shutting_down: bool) -> Self {
        let in_flight = Slab::default();
        Self { terms, in_flight, reserved: 0, allowance: u64::MAX, is_short: false, is_shutting_down }
    }

    #[inline]
    pub(crate) fn allow(&mut self, bytes: u64) {
        self.allowance = bytes;
    }

    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Cost of all requests in flight, in bytes.
    #[inline]
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
    }

    pub(crate) fn export(&self) -> usize {
        self.terms.export
    }

    pub(crate) fn shut_down(&mut self) {
        self.is_shutting_down = true;
    }

    /// Number of requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.used()
    }

    /// Contexts that a request in flight asks for.
    pub(crate) fn contexts(&self, id: RequestId) -> MetaContexts {
        match self.in_flight.slots().get(id.0 as usize) {
            Some(Some(AdmittedRequest { kind: RequestKind::Status { contexts, .. }, .. })) => *contexts,
            _ => MetaContexts::NONE,
        }
    }

    /// Allocated bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.in_flight.heap_bytes()
    }

    /// Finds the next request for the caller, and answers those that are refused.
    pub(crate) fn step(
        &mut self,
        server: &NbdServer,
        input: &mut InputBuffer,
        output: &mut OutputQueue,
    ) -> Result<TransmissionStep, ProtocolViolation> {
        let export = &server.exports()[self.terms.export];
        let head_bytes = self.terms.mode.request_bytes();
        self.is_short = false;
        loop {
            if !input.is_aligned() || !input.require(head_bytes) {
                return Ok(TransmissionStep::Wait);
            }
            let head = RequestHead::parse(self.terms.mode, input.bytes())?;
            // Checked first: discarding a payload of any length would tie up the connection.
            if head.payload > PAYLOAD_HARMLESS.max(export.blocks.maximum.0) {
                return Err(ProtocolViolation::Payload(head.payload));
            }
            if head.command == command::DISC {
                input.take(head_bytes);
                return Ok(TransmissionStep::Disconnect);
            }
            let checked = match self.check_head(export, &head) {
                Ok(kind) => match self.check_payload(export, &head, kind, input) {
                    Some(checked) => checked,
                    None => return Ok(TransmissionStep::Wait),
                },
                Err(refused) => Err(refused),
            };
            let cost = Self::cost(server, &head, checked.as_ref().ok());
            if !self.has_room(server, output, cost) {
                return Ok(TransmissionStep::Wait);
            }
            // The payload is in the input buffer already, where it is counted.
            let additional = cost.saturating_sub(head.payload);
            self.is_short = self.reserved + output.len() as u64 + additional > self.allowance;
            if self.is_short {
                return Ok(TransmissionStep::Wait);
            }
            let taken = input.take(head_bytes);
            match checked {
                Ok((kind, length)) => {
                    let payload = input.take(head.payload as usize);
                    debug_assert_eq!(taken.end, payload.start, "a payload follows its head");
                    let entry =
                        AdmittedRequest { cookie: head.cookie, offset: head.offset, length, cost, kind };
                    let id = RequestId(self.in_flight.insert(Some(entry)));
                    self.reserved += cost;
                    return Ok(TransmissionStep::Request { id, offset: head.offset, length, kind, payload });
                }
                Err((code, text)) => {
                    // The next request follows the payload of the refused one.
                    input.discard(head.payload);
                    self.reply(output, head.cookie, head.offset).failure(refusal(code, text));
                }
            }
        }
    }

    fn check_head(&self, export: &NbdExport, head: &RequestHead) -> Result<RequestKind, RequestRefusal> {
        if self.is_shutting_down {
            return Err((ErrorCode::Shutdown, "the server is being shut down"));
        }
        check::check_request(export, self.terms, head)
    }

    /// Adds the facts in the payload to a request's kind, and returns its length; `None` while the payload is incomplete.
    fn check_payload(
        &self,
        export: &NbdExport,
        head: &RequestHead,
        kind: RequestKind,
        input: &mut InputBuffer,
    ) -> Option<Result<(RequestKind, u64), RequestRefusal>> {
        let head_bytes = self.terms.mode.request_bytes();
        if !input.require(head_bytes + head.payload as usize) {
            return None;
        }
        let RequestKind::Status { one, .. } = kind else { return Some(Ok((kind, head.length))) };
        if head.payload == 0 {
            return Some(Ok((kind, head.length)));
        }
        let payload = &input.bytes()[head_bytes..][..head.payload as usize];
        // The payload is a length of 8 bytes, and numbers of contexts of 4 bytes each.
        let length = u64_at(payload, 0);
        let chosen = payload[8..].chunks_exact(4).try_fold(MetaContexts::NONE, |chosen, id| {
            let context =
                MetaContext::with_id(u32_at(id, 0)).filter(|&context| self.terms.contexts.has(context))?;
            (!chosen.has(context)).then(|| chosen.with(context))
        });
        Some(match chosen {
            Some(contexts) => check::check_range(export, command::BLOCK_STATUS, head.offset, length)
                .map(|()| (RequestKind::Status { contexts, one }, length)),
            None => Err((ErrorCode::Inval, "a context was not negotiated, or is there twice")),
        })
    }

    /// Greatest cost of one request.
    pub(crate) fn max_cost(server: &NbdServer) -> u64 {
        let max_data = |export: &NbdExport| {
            export
                .blocks
                .maximum
                .0
                .max(u64::from(export.contexts.count()) * status_bytes(server.limits().extents))
        };
        REPLY_OVERHEAD + server.exports().iter().map(max_data).max().unwrap_or(0)
    }

    /// Bytes of an entry in the table of requests in flight.
    pub(crate) const ENTRY_BYTES: usize = size_of::<Option<AdmittedRequest>>() + size_of::<u32>();

    /// Most bytes that a request makes the connection and its caller hold.
    fn cost(server: &NbdServer, head: &RequestHead, checked: Option<&(RequestKind, u64)>) -> u64 {
        REPLY_OVERHEAD
            + match checked {
                Some((RequestKind::Read { .. }, length)) => *length,
                Some((RequestKind::Write { .. }, _)) => head.payload,
                Some((RequestKind::Status { contexts, one }, _)) => {
                    let extents = if *one { 1 } else { server.limits().extents };
                    u64::from(contexts.count()) * status_bytes(extents)
                }
                _ => 0,
            }
    }

    /// True if the limits allow another request. A single request is always allowed.
    fn has_room(&self, server: &NbdServer, output: &OutputQueue, cost: u64) -> bool {
        let limits = server.limits();
        let held = self.reserved + output.len() as u64;
        // Otherwise a request larger than the limit would wait for ever.
        held == 0
            || held + cost <= limits.bytes.0 && (self.in_flight.used() as u64) < u64::from(limits.requests)
    }

    fn reply<'a>(&self, output: &'a mut OutputQueue, cookie: u64, offset: u64) -> ReplyWriter<'a> {
        ReplyWriter { output, mode: self.terms.mode, cookie, offset }
    }

    /// Removes a request that is being answered.
    fn finish_request(&mut self, id: RequestId) -> AdmittedRequest {
        let slot = self.in_flight.slots_mut().get_mut(id.0 as usize).and_then(Option::take);
        let entry = slot.expect("a request is answered once, on the connection that it came from");
        // The entry was emptied before, so a second answer to the same request panics.
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

/// Most bytes of an answer about one context.
fn status_bytes(extents: u32) -> u64 {
    40 + 16 * u64::from(extents)
}
