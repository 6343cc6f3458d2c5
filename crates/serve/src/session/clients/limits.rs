//! Limits of time and memory: clients that negotiate for too long or hold up others are evicted.

use std::io;
use std::time::Duration;

use super::{ClientSessions, HANDSHAKE_LIMIT};
use crate::net::SocketPoller;
use crate::session::ClientSession;
use crate::session::memory::{CROWDED_HANDSHAKE, choose_evicted};

impl ClientSessions {
    /// Sessions that still negotiate, with the times at which they connected.
    pub(super) fn negotiating(&self) -> impl Iterator<Item = (u32, Duration)> {
        let sessions =
            (0..).zip(&self.sessions).filter_map(|(number, session)| Some((number, session.as_ref()?)));
        sessions
            .filter(|(_, session)| session.target.is_none())
            .map(|(number, session)| (number, session.connected_at))
    }

    /// Evicts clients that negotiate for too long, or hold memory for which others wait. Returns the time at which the next limit expires, if any
    /// does.
    pub(crate) fn enforce_limits(
        &mut self,
        now: Duration,
        poller: &SocketPoller,
    ) -> io::Result<Option<Duration>> {
        let next_review = self.evict_stalled(now, poller)?;
        let next_silence = self.evict_silent(now, poller)?;
        let earliest = self.negotiating().map(|(_, connected_at)| connected_at).min();
        if earliest.is_some_and(|connected_at| now >= connected_at + HANDSHAKE_LIMIT) {
            self.close_where(|session| session.is_overdue(now));
            self.accept_if_room(poller)?;
        } else if !self.is_accepting && choose_evicted(self.negotiating(), now).is_some() {
            self.resume_accepting(poller)?;
        }
        // While others wait for a place, clients have less time to negotiate.
        let limit = if self.is_accepting { HANDSHAKE_LIMIT } else { CROWDED_HANDSHAKE };
        let next = self.negotiating().map(|(_, connected_at)| connected_at + limit).min();
        Ok(next.into_iter().chain(next_review).chain(next_silence).min())
    }

    /// Evicts clients that have been silent for longer than they promised. Returns the time at which the next will have been.
    fn evict_silent(&mut self, now: Duration, poller: &SocketPoller) -> io::Result<Option<Duration>> {
        let until = |session: &ClientSession| session.silent_until();
        let earliest = |sessions: &[Option<ClientSession>]| sessions.iter().flatten().filter_map(until).min();
        if earliest(&self.sessions).is_some_and(|until| until <= now) {
            self.close_where(|session| session.silent_until().is_some_and(|until| until <= now));
            self.accept_if_room(poller)?;
        }
        Ok(earliest(&self.sessions))
    }

    /// While clients wait for memory, evicts those that hold more than their share and have moved no byte since the last review, although they
    /// could. Returns the time of the next review.
    fn evict_stalled(&mut self, now: Duration, poller: &SocketPoller) -> io::Result<Option<Duration>> {
        let has_waiting = self.sessions.iter().flatten().any(|session| session.wire.is_short());
        let is_first = self.memory.has_no_review();
        let (next, is_due) = self.memory.review_stalls(now, has_waiting);
        if is_first || is_due {
            for number in 0..self.sessions.len() {
                let Some(session) = &mut self.sessions[number] else { continue };
                // Asked of every session, since it also begins the count for the next review.
                let take_has_moved = session.take_has_moved();
                if is_due && !take_has_moved && session.holds_up_others() {
                    self.evict(number as u32);
                }
            }
        }
        if is_due && self.memory.take_released() {
            self.list_short_of_memory();
            self.accept_if_room(poller)?;
        }
        Ok(next)
    }
}
