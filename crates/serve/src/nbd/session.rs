//! A client that speaks NBD.

use std::io::IoSlice;

use outlast_nbd::{Connection, End, ErrorCode, Event, Failure, Op, Request, RequestId};

use super::status;
use crate::protocol::{
    Answer, BlockOp, BlockRequest, FailureKind, RequestFailure, RequestTag, SessionEnd, SessionEvent,
    WireSession,
};

/// A connection of NBD as a session of the service.
#[derive(Debug)]
pub(super) struct NbdSession {
    connection: Connection,
}

impl NbdSession {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }
}

impl WireSession for NbdSession {
    fn space(&mut self) -> &mut [u8] {
        self.connection.space()
    }

    fn filled(&mut self, count: usize) {
        self.connection.filled(count);
    }

    fn wants_input(&self) -> bool {
        self.connection.wants_input()
    }

    fn poll(&mut self) -> Option<SessionEvent<'_>> {
        match self.connection.poll()? {
            Event::Request(request) => Some(SessionEvent::Request(asked(request))),
            Event::Opened => Some(SessionEvent::Opened),
            Event::StartTls => Some(SessionEvent::Secure),
            Event::Ended(_) => None,
        }
    }

    fn export(&self) -> Option<usize> {
        self.connection.export().map(|(number, _)| number)
    }

    fn answer(&mut self, tag: RequestTag, answer: Answer) {
        let id = RequestId(tag.0);
        match answer {
            Answer::Done => self.connection.done(id),
            Answer::Data(data) => self.connection.read(id, data),
            Answer::Extents(known) => {
                let extents = status::of_all(self.connection.contexts(id), &known);
                let extents: Vec<_> = extents.iter().map(|(context, own)| (*context, &own[..])).collect();
                self.connection.extents(id, &extents);
            }
            Answer::Failed(failure) => self.connection.fail(id, failed(failure)),
        }
    }

    fn in_flight(&self) -> usize {
        self.connection.in_flight()
    }

    fn output<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slice, bytes) in slices.iter_mut().zip(self.connection.output()) {
            *slice = IoSlice::new(bytes);
            count += 1;
        }
        count
    }

    fn output_len(&self) -> usize {
        self.connection.output_len()
    }

    fn sent(&mut self, count: usize) {
        self.connection.sent(count);
    }

    fn held(&self) -> u64 {
        self.connection.held()
    }

    fn allow(&mut self, bytes: u64) {
        self.connection.allow(bytes);
    }

    fn is_short(&self) -> bool {
        self.connection.is_short()
    }

    fn tls_started(&mut self) {
        self.connection.tls_started();
    }

    fn shut_down(&mut self) {
        self.connection.shut_down();
    }

    fn end(&self) -> Option<SessionEnd> {
        self.connection.end().map(|end| match end {
            End::Aborted | End::Disconnected => SessionEnd::Parted,
            End::Violation(_) => SessionEnd::Broken,
        })
    }
}

/// A request of NBD as one to the service.
#[inline]
fn asked(request: Request<'_>) -> BlockRequest<'_> {
    let Request { id, offset, length, op } = request;
    let op = match op {
        Op::Read => BlockOp::Read,
        Op::Write { data, fua } => BlockOp::Write { data, fua },
        Op::Flush => BlockOp::Flush,
        Op::Trim { fua } => BlockOp::Trim { fua },
        Op::WriteZeroes { fua, may_punch, fast } => BlockOp::WriteZeroes { fua, may_punch, fast },
        Op::Cache => BlockOp::Prefetch,
        Op::Status { .. } => BlockOp::Status,
    };
    BlockRequest { tag: RequestTag(id.0), offset, length, op }
}

/// A failure in the protocol's codes.
fn failed(failure: RequestFailure) -> Failure<'static> {
    let code = match failure.kind {
        FailureKind::Unreadable | FailureKind::Internal => ErrorCode::Io,
        FailureKind::ReadOnly => ErrorCode::Perm,
        FailureKind::SlowZeroes => ErrorCode::NotSup,
        FailureKind::OutOfRange => ErrorCode::Inval,
        FailureKind::Unavailable => ErrorCode::Shutdown,
    };
    Failure { code, at: failure.at, text: failure.text }
}
