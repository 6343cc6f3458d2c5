//! All clients.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::doors::{Door, Doors};
use super::room::{ALL, EACH, HASTE, Room, gives_way};
use super::{Backend, Origin, Session, Target, is_shortage};
use crate::clock::monotonic;
use crate::net::{Calls, Interest, Poller, Ready, Source};
use crate::protocol::{Answer, Offer, OfferError};
use crate::tls::Encryption;

/// Clients at a time; who comes beyond waits to be accepted.
const SESSIONS: usize = 64;
/// Bytes that the requests, replies and long messages of all clients take at most, beside the read-ahead of each.
pub(crate) const CLIENTS_MEMORY: u64 = ALL + SESSIONS as u64 * EACH;
/// How long a client may negotiate.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// The clients, and where they come in.
#[derive(Debug)]
pub(crate) struct Front {
    doors: Doors,
    /// What sessions are encrypted with, if they may be.
    tls: Option<Encryption>,
    sessions: Vec<Option<Session>>,
    /// Sessions to be looked at, by number.
    listed: Vec<u32>,
    /// Tells sessions apart that have the same number one after the other.
    generation: u32,
    /// Set while clients are waited for.
    is_accepting: bool,
    /// Whether a client has been found waiting for a place, and nobody has come in since.
    others_wait: bool,
    /// What somebody should know of that, once.
    warning: Option<String>,
    has_warned: bool,
    /// Clients whose place or memory others have got.
    turned_away: u64,
    room: Room,
    /// Turns of the loop.
    pub(crate) turns: u64,
    /// System calls of sessions that are over.
    past: Calls,
}

impl Front {
    /// Clients that come in by `doors`, to whom nothing is offered yet.
    pub(crate) fn new(doors: Vec<Door>, tls: Option<Encryption>, poller: &Poller) -> io::Result<Self> {
        Ok(Self {
            doors: Doors::new(doors, poller)?,
            tls,
            sessions: Vec::new(),
            listed: Vec::new(),
            generation: 0,
            is_accepting: true,
            others_wait: false,
            warning: None,
            has_warned: false,
            turned_away: 0,
            room: Room::default(),
            turns: 0,
            past: Calls::default(),
        })
    }

    /// System calls on clients' sockets until now.
    pub(crate) fn calls(&self) -> Calls {
        let mut calls = self.past;
        self.sessions.iter().flatten().for_each(|session| calls += session.link.calls);
        calls
    }

    /// Clients that are connected.
    pub(crate) fn clients(&self) -> usize {
        self.sessions.iter().flatten().count()
    }

    /// Whether clients wait for a place, and how many have been turned away so that others come in.
    pub(crate) fn waiting(&self) -> (bool, u64) {
        (self.others_wait, self.turned_away)
    }

    /// Bytes that are held for all clients together, and the most that were.
    pub(crate) fn memory(&self) -> (u64, u64) {
        self.room.figures()
    }

    /// What a person should know, told once.
    pub(crate) fn take_warning(&mut self) -> Option<String> {
        self.warning.take()
    }

    /// Clients that have opened `target`.
    pub(crate) fn clients_of(&self, target: Target) -> usize {
        self.sessions.iter().flatten().filter(|session| session.target == Some(target)).count()
    }

    /// The URI of an export.
    pub(crate) fn uri(&self, export: &str) -> String {
        self.doors.uri(export)
    }

    /// Clients that connect from now on are offered this.
    ///
    /// # Errors
    /// A protocol has no place for it, and what was offered before remains.
    pub(crate) fn offer(&mut self, offer: &Arc<Offer>) -> Result<(), OfferError> {
        self.doors.offer(offer)
    }

    /// Lets in who waits at a door. Where there is no place, the client that has negotiated longest loses its own, one in each turn of the loop, so
    /// that those that came after it get on.
    pub(crate) fn accept(&mut self, door: u32, poller: &Poller, backend: &impl Backend) -> io::Result<()> {
        if self.clients() >= SESSIONS {
            let Some(number) = gives_way(self.negotiating(), monotonic()) else {
                return self.let_wait(poller);
            };
            self.turn_away(number);
        }
        self.others_wait = false;
        // Machines that have lost or found their power since; these exports have been offered before.
        let _ = self.offer(backend.offer());
        while self.clients() < SESSIONS {
            let link = match self.doors.accept(door) {
                Ok(Some(link)) => link,
                Ok(None) => return Ok(()),
                Err(error) if is_shortage(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
            let free = self.sessions.iter().position(Option::is_none);
            let number = free.unwrap_or_else(|| {
                self.sessions.push(None);
                self.sessions.len() - 1
            });
            self.generation = self.generation.wrapping_add(1);
            poller.add(&link, Source::Session(number as u32), Interest { input: true, output: false })?;
            let (wire, offer) = self.doors.begin(door);
            self.sessions[number] = Some(Session::new(link, wire, offer, monotonic(), self.generation));
            self.list(number as u32);
        }
        Ok(())
    }

    /// Those that still negotiate, with when they came.
    fn negotiating(&self) -> impl Iterator<Item = (u32, Duration)> {
        let sessions =
            (0..).zip(&self.sessions).filter_map(|(number, session)| Some((number, session.as_ref()?)));
        sessions
            .filter(|(_, session)| session.target.is_none())
            .map(|(number, session)| (number, session.born))
    }

    /// Who comes now waits in the system's queue until somebody goes.
    fn let_wait(&mut self, poller: &Poller) -> io::Result<()> {
        (self.is_accepting, self.others_wait) = (false, true);
        if !self.has_warned {
            self.has_warned = true;
            self.warning = Some(format!(
                "{SESSIONS} clients are connected, and others wait until one of them goes; `metrics` says whether they still do (others_wait)"
            ));
        }
        self.doors.wait_for_clients(false, poller)
    }

    /// Ends a session so that another client gets what it has taken up.
    fn turn_away(&mut self, number: u32) {
        self.turned_away += 1;
        self.close(number);
    }

    fn list(&mut self, number: u32) {
        if let Some(session) = &mut self.sessions[number as usize]
            && !session.is_listed
        {
            session.is_listed = true;
            self.listed.push(number);
        }
    }

    /// A session's socket is ready: reads from it.
    pub(crate) fn ready(&mut self, ready: Ready) {
        let Source::Session(number) = ready.source else { return };
        let Some(session) = &mut self.sessions[number as usize] else { return };
        // Who has hung up and is not to be read from would be told of for ever.
        let is_gone = ready.hung_up && !session.wants_input();
        if is_gone || ready.input && !session.read() {
            self.close(number);
            return;
        }
        self.list(number);
    }

    /// Hands what listed clients ask to `backend`.
    pub(crate) fn listen(&mut self, backend: &mut impl Backend) {
        for index in 0..self.listed.len() {
            let number = self.listed[index];
            let Some(session) = &mut self.sessions[number as usize] else { continue };
            if !session.listen(number, self.tls.as_ref(), backend, &mut self.room) {
                self.close(number);
            }
        }
    }

    /// Hands answers to their sessions; those of clients that have gone are dropped.
    pub(crate) fn give(&mut self, answers: &mut Vec<(Origin, Answer)>) {
        for (origin, answer) in answers.drain(..) {
            let Some(Some(session)) = self.sessions.get_mut(origin.session as usize) else { continue };
            if session.generation == origin.generation {
                session.give(origin.tag, answer);
                self.list(origin.session);
            }
        }
    }

    /// Sends what listed sessions have, takes in what they have room for then, and closes those that are over.
    pub(crate) fn send(&mut self, poller: &Poller, backend: &mut impl Backend) -> io::Result<()> {
        loop {
            while let Some(number) = self.listed.pop() {
                let Some(session) = &mut self.sessions[number as usize] else { continue };
                session.is_listed = false;
                let goes_on =
                    session.send() && session.listen(number, self.tls.as_ref(), backend, &mut self.room);
                if !goes_on || session.is_over() {
                    session.link.end();
                    self.close(number);
                } else if let Some(interest) = session.changed_interest() {
                    poller.modify(&session.link, Source::Session(number), interest)?;
                }
            }
            if !self.room.has_more() {
                return self.make_room_known(poller);
            }
            self.list_short();
        }
    }

    /// Those that wait for memory are looked at again.
    fn list_short(&mut self) {
        for number in 0..self.sessions.len() {
            if self.sessions[number].as_ref().is_some_and(|session| session.wire.is_short()) {
                self.list(number as u32);
            }
        }
    }

    /// Where there is room again, clients that wait are let in.
    fn make_room_known(&mut self, poller: &Poller) -> io::Result<()> {
        if self.is_accepting || self.clients() >= SESSIONS {
            return Ok(());
        }
        self.accept_again(poller)
    }

    fn accept_again(&mut self, poller: &Poller) -> io::Result<()> {
        self.is_accepting = true;
        self.doors.wait_for_clients(true, poller)
    }

    /// Ends a session at once. What it has under way goes on, and is answered to nobody.
    fn close(&mut self, number: u32) {
        // The socket leaves the poller when it is closed.
        if let Some(session) = self.sessions[number as usize].take() {
            self.past += session.link.calls;
            self.room.changed(session.held, 0);
        }
    }

    /// Ends all sessions that are `meant`.
    fn close_those(&mut self, meant: impl Fn(&Session) -> bool) {
        for number in 0..self.sessions.len() {
            if self.sessions[number].as_ref().is_some_and(&meant) {
                self.close(number as u32);
            }
        }
    }

    /// Ends all sessions of a machine and of its members at once, as when a cable is pulled.
    pub(crate) fn close_all(&mut self, machine: u32) {
        self.close_those(|session| session.target.is_some_and(|target| target.machine == machine));
    }

    /// The server is going down: what clients ask from now on is refused, saying so.
    pub(crate) fn shut_down(&mut self) {
        self.sessions.iter_mut().flatten().for_each(|session| session.wire.shut_down());
    }

    /// Turns away whoever has negotiated for too long, or keeps memory that others wait for. Until when the next one may.
    pub(crate) fn hurry(&mut self, now: Duration, poller: &Poller) -> io::Result<Option<Duration>> {
        let stall = self.end_stalled(now, poller)?;
        let first = self.negotiating().map(|(_, born)| born).min();
        if first.is_some_and(|born| now >= born + HANDSHAKE) {
            self.close_those(|session| session.is_overdue(now));
            self.make_room_known(poller)?;
        } else if !self.is_accepting && gives_way(self.negotiating(), now).is_some() {
            self.accept_again(poller)?;
        }
        let patience = if self.is_accepting { HANDSHAKE } else { HASTE };
        let next = self.negotiating().map(|(_, born)| born + patience).min();
        Ok(next.into_iter().chain(stall).min())
    }

    /// While clients wait for memory, ends those that keep more than their part and have not moved a byte for long, although they could. When that is
    /// to be seen to next.
    fn end_stalled(&mut self, now: Duration, poller: &Poller) -> io::Result<Option<Duration>> {
        let waits = self.sessions.iter().flatten().any(|session| session.wire.is_short());
        let begins = self.room.is_idle();
        let (next, is_due) = self.room.look_over(now, waits);
        if begins || is_due {
            for number in 0..self.sessions.len() {
                let Some(session) = &mut self.sessions[number] else { continue };
                let has_moved = session.has_moved();
                if is_due && !has_moved && session.keeps_others_waiting() {
                    self.turn_away(number as u32);
                }
            }
        }
        if is_due && self.room.has_more() {
            self.list_short();
            self.make_room_known(poller)?;
        }
        Ok(next)
    }
}
