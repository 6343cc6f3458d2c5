//! A connection with a client's bytes going in and a server's coming out, in pieces of any size.

use outlast_nbd::{
    ConnectionEnd, ConnectionEvent, MetaContexts, NbdCommand, NbdConnection, NbdRequest, NbdServer, RequestId,
};
use std::sync::Arc;

/// An event that lends nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkEvent {
    StartTls,
    Opened,
    Request { id: RequestId, offset: u64, length: u64, op: OwnedCommand },
    Ended(ConnectionEnd),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnedCommand {
    Read,
    Write { data: Vec<u8>, fua: bool },
    Flush,
    Trim { fua: bool },
    WriteZeroes { fua: bool, may_punch: bool, fast: bool },
    Cache,
    Status { contexts: MetaContexts, one: bool },
}

impl From<NbdRequest<'_>> for LinkEvent {
    fn from(request: NbdRequest<'_>) -> Self {
        let op = match request.command {
            NbdCommand::Read => OwnedCommand::Read,
            NbdCommand::Write { data, fua } => OwnedCommand::Write { data: data.to_vec(), fua },
            NbdCommand::Flush => OwnedCommand::Flush,
            NbdCommand::Trim { fua } => OwnedCommand::Trim { fua },
            NbdCommand::WriteZeroes { fua, may_punch, fast } => {
                OwnedCommand::WriteZeroes { fua, may_punch, fast }
            }
            NbdCommand::Cache => OwnedCommand::Cache,
            NbdCommand::Status { contexts, one } => OwnedCommand::Status { contexts, one },
        };
        Self::Request { id: request.id, offset: request.offset, length: request.length.0, op }
    }
}

pub(crate) struct TestLink {
    pub(crate) connection: NbdConnection,
    /// All that the server has sent.
    pub(crate) received: Vec<u8>,
}

impl TestLink {
    pub(crate) fn new(server: Arc<NbdServer>) -> Self {
        Self { connection: NbdConnection::new(server), received: Vec::new() }
    }

    /// Gives the connection `bytes`, all of them unless it does not want more; `react` has every event, and may answer.
    pub(crate) fn send_with(
        &mut self,
        mut bytes: &[u8],
        mut react: impl FnMut(&mut NbdConnection, LinkEvent),
    ) {
        loop {
            let before = self.connection.output_len();
            while let Some(event) = self.connection.poll() {
                let got = match event {
                    ConnectionEvent::StartTls => LinkEvent::StartTls,
                    ConnectionEvent::Opened => LinkEvent::Opened,
                    ConnectionEvent::Request(request) => request.into(),
                    ConnectionEvent::Ended(end) => LinkEvent::Ended(end),
                };
                react(&mut self.connection, got);
            }
            let after = self.connection.output_len();
            self.drain();
            let wants = self.connection.wants_input();
            let space = self.connection.space();
            assert!(!wants || !space.is_empty(), "what is wanted has room");
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.connection.filled(count);
            bytes = &bytes[count..];
            if count == 0 && before == 0 && after == 0 {
                return;
            }
        }
    }

    /// As `send_with`; returns the events.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Vec<LinkEvent> {
        let mut events = Vec::new();
        self.send_with(bytes, |_, got| events.push(got));
        events
    }

    /// Takes what is to be sent.
    pub(crate) fn drain(&mut self) {
        let length = self.connection.output_len();
        let before = self.received.len();
        for slice in self.connection.output() {
            self.received.extend(slice);
        }
        assert_eq!(self.received.len() - before, length, "the length is that of the slices");
        self.connection.sent(length);
    }

    /// What the server has sent since this was last called.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.drain();
        std::mem::take(&mut self.received)
    }
}
