//! Accepting clients, as long as there is a place.

use std::io;

use super::{ClientSessions, MAX_SESSIONS};
use crate::clock::monotonic;
use crate::net::{SocketInterest, SocketPoller, WakeSource};
use crate::session::memory::choose_evicted;
use crate::session::{ClientSession, SessionBackend, is_shortage};

impl ClientSessions {
    /// Accepts the clients that wait at a listener. If no place is free, the client that has negotiated longest is evicted, one in each turn of the
    /// loop, so that the clients behind it advance.
    pub(crate) fn accept(
        &mut self,
        listener: u32,
        poller: &SocketPoller,
        backend: &impl SessionBackend,
    ) -> io::Result<()> {
        if self.clients() >= MAX_SESSIONS {
            let Some(number) = choose_evicted(self.negotiating(), monotonic()) else {
                return self.pause_accepting(poller);
            };
            self.evict(number);
        }
        self.clients_wait = false;
        // Devices may have gained or lost power since the last client; these exports were accepted before, so this
        // cannot fail.
        let _ = self.offer(backend.offer());
        while self.clients() < MAX_SESSIONS {
            let link = match self.listeners.accept(listener) {
                Ok(Some(link)) => link,
                Ok(None) => return Ok(()),
                Err(error) if is_shortage(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
            // Numbers of closed sessions are used again, so that the list is no longer than the most clients at a
            // time.
            let free = self.sessions.iter().position(Option::is_none);
            let number = free.unwrap_or_else(|| {
                self.sessions.push(None);
                self.sessions.len() - 1
            });
            // Replies to an earlier session with this number are recognised by its generation, and dropped.
            self.generation = self.generation.wrapping_add(1);
            poller.add(
                &link,
                WakeSource::Session(number as u32),
                SocketInterest { input: true, output: false },
            )?;
            let (wire, offer) = self.listeners.begin(listener, link.local_address());
            self.sessions[number] = Some(ClientSession::new(link, wire, offer, monotonic(), self.generation));
            self.enlist(number as u32);
        }
        Ok(())
    }

    /// Stops accepting: clients wait in the system's queue until a session ends.
    fn pause_accepting(&mut self, poller: &SocketPoller) -> io::Result<()> {
        (self.is_accepting, self.clients_wait) = (false, true);
        if !self.has_warned {
            self.has_warned = true;
            self.warning = Some(format!(
                "{MAX_SESSIONS} clients are connected, and others wait until one of them goes; `metrics` says whether they still do (others_wait)"
            ));
        }
        self.listeners.wait_for_clients(false, poller)
    }

    /// Accepts clients again once a place is free.
    pub(super) fn accept_if_room(&mut self, poller: &SocketPoller) -> io::Result<()> {
        if self.is_accepting || self.clients() >= MAX_SESSIONS {
            return Ok(());
        }
        self.resume_accepting(poller)
    }

    pub(super) fn resume_accepting(&mut self, poller: &SocketPoller) -> io::Result<()> {
        self.is_accepting = true;
        self.listeners.wait_for_clients(true, poller)
    }
}
