//! All clients of a server, with their limits of number, time and memory.

mod accepting;
mod limits;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::listeners::{ProtocolListener, ProtocolListeners};
use super::memory::{ALL_CLIENTS, ClientMemory, EACH_CLIENT};
use super::{ClientSession, ExportTarget, RequestOrigin, SessionBackend};
use crate::net::{ReadySource, SocketCalls, SocketPoller, WakeSource};
use crate::protocol::{BlockReply, DeviceNews, ExportOffer, OfferError, SessionEnd};
use crate::tls::SessionEncryption;

/// Most clients at a time; others wait to be accepted.
const MAX_SESSIONS: usize = 64;
/// Most bytes that requests, replies and long messages of all clients take together, beside the read-ahead of each.
pub(crate) const CLIENTS_MEMORY_LIMIT: u64 = ALL_CLIENTS + MAX_SESSIONS as u64 * EACH_CLIENT;
/// Longest time for which a client may negotiate.
pub(crate) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// All clients, and the listeners at which they connect.
#[derive(Debug)]
pub(crate) struct ClientSessions {
    listeners: ProtocolListeners,
    /// Certificates, if sessions may be encrypted.
    tls: Option<SessionEncryption>,
    sessions: Vec<Option<ClientSession>>,
    /// Numbers of sessions that may have something to do.
    listed: Vec<u32>,
    /// Number of sessions begun so far; tells successive sessions with one number apart.
    generation: u32,
    /// Set while clients are accepted.
    is_accepting: bool,
    /// Set if a client was found waiting for a place, and none has been accepted since.
    clients_wait: bool,
    /// A warning for the user that has not been taken yet.
    warning: Option<String>,
    has_warned: bool,
    /// Number of clients that have lost their place or memory to others.
    evicted: u64,
    memory: ClientMemory,
    /// Number of turns of the loop.
    pub(crate) turns: u64,
    /// System calls of closed sessions.
    closed_calls: SocketCalls,
}

impl ClientSessions {
    /// Begins to listen at `listeners`, with no export offered yet.
    pub(crate) fn new(
        listeners: Vec<ProtocolListener>,
        tls: Option<SessionEncryption>,
        poller: &SocketPoller,
    ) -> io::Result<Self> {
        Ok(Self {
            listeners: ProtocolListeners::new(listeners, poller)?,
            tls,
            sessions: Vec::new(),
            listed: Vec::new(),
            generation: 0,
            is_accepting: true,
            clients_wait: false,
            warning: None,
            has_warned: false,
            evicted: 0,
            memory: ClientMemory::default(),
            turns: 0,
            closed_calls: SocketCalls::default(),
        })
    }

    /// System calls on the sockets of clients so far.
    pub(crate) fn calls(&self) -> SocketCalls {
        let mut calls = self.closed_calls;
        self.sessions.iter().flatten().for_each(|session| calls += session.link.calls);
        calls
    }

    /// Number of connected clients.
    pub(crate) fn clients(&self) -> usize {
        self.sessions.iter().flatten().count()
    }

    /// True if clients wait for a place; and the number of evicted clients.
    pub(crate) fn waiting(&self) -> (bool, u64) {
        (self.clients_wait, self.evicted)
    }

    /// Bytes held for all clients together, and the most that ever were.
    pub(crate) fn memory(&self) -> (u64, u64) {
        self.memory.figures()
    }

    /// A new warning for the user, once.
    pub(crate) fn take_warning(&mut self) -> Option<String> {
        self.warning.take()
    }

    /// Number of clients that have opened `target`.
    pub(crate) fn clients_of(&self, target: ExportTarget) -> usize {
        self.sessions.iter().flatten().filter(|session| session.target == Some(target)).count()
    }

    /// URI of an export.
    pub(crate) fn uri(&self, export: &str) -> String {
        self.listeners.uri(export)
    }

    /// Offers these exports to clients that connect from now on.
    ///
    /// # Errors
    /// A protocol cannot express the offer; the previous one remains.
    pub(crate) fn offer(&mut self, offer: &Arc<ExportOffer>) -> Result<(), OfferError> {
        self.listeners.offer(offer)
    }

    /// Ends a session so that others get its place and memory.
    fn evict(&mut self, number: u32) {
        self.evicted += 1;
        self.close(number);
    }

    fn enlist(&mut self, number: u32) {
        if let Some(session) = &mut self.sessions[number as usize]
            && !session.is_listed
        {
            session.is_listed = true;
            self.listed.push(number);
        }
    }

    /// Reads from a session whose socket is ready.
    pub(crate) fn read_ready(&mut self, ready: ReadySource) {
        let WakeSource::Session(number) = ready.source else { return };
        let Some(session) = &mut self.sessions[number as usize] else { return };
        // The poller would report a closed connection again and again, if nothing is read from it.
        let is_gone = ready.hung_up && !session.wants_input();
        if is_gone || ready.input && !session.read() {
            self.close(number);
            return;
        }
        self.enlist(number);
    }

    /// Passes the requests of listed sessions to `backend`.
    pub(crate) fn handle_requests(&mut self, backend: &mut impl SessionBackend) {
        for index in 0..self.listed.len() {
            let number = self.listed[index];
            let Some(session) = &mut self.sessions[number as usize] else { continue };
            let is_connected = session.handle_requests(number, self.tls.as_ref(), backend, &mut self.memory);
            let has_ended_others = session.take_has_ended_others();
            if !is_connected {
                self.close(number);
            } else if has_ended_others {
                self.close_broken();
            }
        }
    }

    /// Passes replies to their sessions; those of closed sessions are dropped.
    pub(crate) fn deliver(&mut self, replies: &mut Vec<(RequestOrigin, BlockReply)>) {
        for (origin, reply) in replies.drain(..) {
            let Some(Some(session)) = self.sessions.get_mut(origin.session as usize) else { continue };
            if session.generation == origin.generation {
                session.reply(origin.tag, reply);
                self.enlist(origin.session);
            }
        }
    }

    /// Passes what devices tell unasked to the sessions that have opened them.
    pub(crate) fn pass_on_news(&mut self, news: &mut Vec<DeviceNews>) {
        for news in news.drain(..) {
            for number in 0..self.sessions.len() {
                if let Some(session) = &mut self.sessions[number]
                    && session.target == Some(ExportTarget::device(news.device))
                {
                    session.wire.report_news(news);
                    self.enlist(number as u32);
                }
            }
        }
    }

    /// Sends the output of listed sessions, then passes on requests for which that made room, and closes sessions that have ended.
    pub(crate) fn send(
        &mut self,
        poller: &SocketPoller,
        backend: &mut impl SessionBackend,
    ) -> io::Result<()> {
        loop {
            while let Some(number) = self.listed.pop() {
                let Some(session) = &mut self.sessions[number as usize] else { continue };
                // Cleared first: handling the session may list it again.
                session.is_listed = false;
                let is_connected = session.send()
                    && session.handle_requests(number, self.tls.as_ref(), backend, &mut self.memory);
                let has_ended_others = session.take_has_ended_others();
                if !is_connected || session.is_over() {
                    session.link.end();
                    self.close(number);
                } else if let Some(interest) = session.changed_interest() {
                    poller.modify(&session.link, WakeSource::Session(number), interest)?;
                }
                if has_ended_others {
                    self.close_broken();
                }
            }
            // Memory that was released in this pass may let other sessions continue, still in this turn.
            if !self.memory.take_released() {
                return self.accept_if_room(poller);
            }
            self.list_short_of_memory();
        }
    }

    /// Lists the sessions that wait for memory.
    fn list_short_of_memory(&mut self) {
        for number in 0..self.sessions.len() {
            if self.sessions[number].as_ref().is_some_and(|session| session.wire.is_short()) {
                self.enlist(number as u32);
            }
        }
    }

    /// Closes a session at once. Its requests under way go on, and their replies are dropped.
    fn close(&mut self, number: u32) {
        if self.remove(number) {
            // Other sessions may have ended with it: those of the same controller.
            self.close_broken();
        }
    }

    /// Closes the sessions that are of no use any more.
    fn close_broken(&mut self) {
        for number in 0..self.sessions.len() {
            if let Some(session) = &mut self.sessions[number]
                && session.wire.end() == Some(SessionEnd::Broken)
            {
                // What it was still to be told, as far as the socket takes it.
                let _ = session.send();
                session.link.end();
                self.remove(number as u32);
            }
        }
    }

    /// Drops a session, if it is there.
    fn remove(&mut self, number: u32) -> bool {
        let Some(session) = self.sessions[number as usize].take() else { return false };
        // Closing a socket removes it from the poller.
        self.closed_calls += session.link.calls;
        self.memory.update(session.held, 0);
        true
    }

    /// Closes all sessions for which `condition` holds.
    fn close_where(&mut self, condition: impl Fn(&ClientSession) -> bool) {
        for number in 0..self.sessions.len() {
            if self.sessions[number].as_ref().is_some_and(&condition) {
                self.close(number as u32);
            }
        }
    }

    /// Closes all sessions of a device and of its members at once, as when a cable is pulled.
    pub(crate) fn close_sessions_of(&mut self, device: u32) {
        self.close_where(|session| session.target.is_some_and(|target| target.device == device));
    }

    /// Has sessions refuse requests from now on, since the server ends.
    pub(crate) fn shut_down(&mut self) {
        self.sessions.iter_mut().flatten().for_each(|session| session.wire.shut_down());
    }
}
