//! Sessions of clients that speak NBD.

use std::io::IoSlice;

use outlast_device::PlacementId;
use outlast_nbd::{
    ConnectionEnd, ConnectionEvent, ErrorCode, NbdCommand, NbdConnection, NbdRequest, ReplyFailure, RequestId,
};

use super::status;
use crate::protocol::{
    BlockOp, BlockReply, BlockRequest, FailureKind, RequestFailure, RequestTag, SessionEnd, SessionEvent,
    WireSession,
};

/// An NBD connection as a [`WireSession`].
#[derive(Debug)]
pub(super) struct NbdSession {
    connection: NbdConnection,
}

impl NbdSession {
    pub(super) fn new(connection: NbdConnection) -> Self {
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
            ConnectionEvent::Request(request) => Some(SessionEvent::Request(block_request(request))),
            ConnectionEvent::Opened => Some(SessionEvent::Opened),
            ConnectionEvent::StartTls => Some(SessionEvent::Secure),
            ConnectionEvent::Ended(_) => None,
        }
    }

    fn export(&self) -> Option<usize> {
        self.connection.export().map(|(number, _)| number)
    }

    fn reply(&mut self, tag: RequestTag, reply: BlockReply) {
        let id = RequestId(tag.0);
        match reply {
            BlockReply::Done => self.connection.done(id),
            BlockReply::Data(data) => self.connection.read(id, data),
            BlockReply::Extents(runs) => {
                let extents = status::status_extents(self.connection.contexts(id), &runs);
                let extents: Vec<_> =
                    extents.iter().map(|(context, extents)| (*context, &extents[..])).collect();
                self.connection.extents(id, &extents);
            }
            BlockReply::LostRuns(_)
            | BlockReply::Health(_)
            | BlockReply::Placement(_)
            | BlockReply::Appended(_)
            | BlockReply::Zones(_) => {
                unreachable!("NBD asks for none of them")
            }
            BlockReply::Failed(failure) => self.connection.fail(id, nbd_failure(failure)),
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
            ConnectionEnd::Aborted | ConnectionEnd::Disconnected => SessionEnd::Parted,
            ConnectionEnd::Violation(_) => SessionEnd::Broken,
        })
    }
}

/// A request of NBD as a [`BlockRequest`].
#[inline]
fn block_request(request: NbdRequest<'_>) -> BlockRequest<'_> {
    let NbdRequest { id, offset, length, command } = request;
    let op = match command {
        NbdCommand::Read => BlockOp::Read { limited_retry: false },
        NbdCommand::Write { data, fua } => BlockOp::Write { data, fua, placement: PlacementId(0) },
        NbdCommand::Flush => BlockOp::Flush,
        NbdCommand::Trim { fua } => BlockOp::Trim { fua },
        NbdCommand::WriteZeroes { fua, may_punch, fast } => BlockOp::WriteZeroes { fua, may_punch, fast },
        NbdCommand::Cache => BlockOp::Prefetch,
        NbdCommand::Status { .. } => BlockOp::Status,
    };
    BlockRequest { tag: RequestTag(id.0), offset, length, op }
}

/// A failure with its NBD error code.
fn nbd_failure(failure: RequestFailure) -> ReplyFailure<'static> {
    let code = match failure.kind {
        FailureKind::Unreadable | FailureKind::Internal => ErrorCode::Io,
        FailureKind::ReadOnly => ErrorCode::Perm,
        FailureKind::SlowZeroes => ErrorCode::NotSup,
        FailureKind::OutOfRange | FailureKind::Zone(_) => ErrorCode::Inval,
        FailureKind::Unavailable => ErrorCode::Shutdown,
    };
    ReplyFailure { code, at: failure.at, text: failure.text }
}
