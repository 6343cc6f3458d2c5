//! Answers of the caller to requests.

use super::{ConnectionPhase, NbdConnection};
use crate::error::{ConnectionEnd, ReplyFailure};
use crate::export::NbdServer;
use crate::output_queue::OutputQueue;
use crate::request::{ContextExtents, ReadPart, RequestId};
use crate::transmit::Transmission;

impl NbdConnection {
    /// Answers a write, trim, zeroing, flush or cache as done.
    ///
    /// # Panics
    /// All five methods: if `id` is not in flight, or its request needs another kind of answer.
    pub fn done(&mut self, id: RequestId) {
        self.answer(|phase, _, output| phase.done(id, output));
    }

    /// Answers a request as failed.
    ///
    /// # Panics
    /// See [`NbdConnection::done`].
    pub fn fail<'a>(&mut self, id: RequestId, failure: impl Into<ReplyFailure<'a>>) {
        self.answer(|phase, _, output| phase.fail(id, failure.into(), output));
    }

    /// Answers a read with its bytes. Large data is sent without being copied.
    ///
    /// # Panics
    /// See [`NbdConnection::done`].
    pub fn read(&mut self, id: RequestId, data: Vec<u8>) {
        self.answer(|phase, _, output| phase.read(id, data, output));
    }

    /// Answers a read in parts. Without structured replies one failed part fails the whole read; with them the client learns which bytes failed, and
    /// gets the others.
    ///
    /// # Panics
    /// See [`NbdConnection::done`].
    pub fn read_parts(&mut self, id: RequestId, parts: &[ReadPart<'_>]) {
        self.answer(|phase, _, output| phase.read_parts(id, parts, output));
    }

    /// Answers a status request with the extents of each context, from the request's offset on: at least one. At most
    /// [`crate::ConnectionLimits::extents`] are sent. They may end before or after the request, but not after the end of the export.
    ///
    /// # Panics
    /// See [`NbdConnection::done`].
    pub fn extents(&mut self, id: RequestId, answers: &[ContextExtents<'_>]) {
        self.answer(|phase, server, output| phase.extents(server, id, answers, output));
    }

    #[inline]
    fn answer(&mut self, write: impl FnOnce(&mut Transmission, &NbdServer, &mut OutputQueue)) {
        let ConnectionPhase::Transmitting(phase) = &mut self.phase else {
            panic!("requests are answered after negotiation")
        };
        write(phase, &self.server, &mut self.output);
        if matches!(self.end, Some(ConnectionEnd::Violation(_))) {
            self.output.clear();
        }
    }
}
