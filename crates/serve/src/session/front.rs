//! All clients.

use std::io;
use std::time::Duration;

use super::{Answer, Backend, Origin, Session, Target, is_shortage};
use crate::clock::monotonic;
use crate::net::{Interest, Listener, Poller, Ready, Source};

/// Clients at a time; who comes beyond waits to be accepted.
const SESSIONS: usize = 64;
/// How long a client may negotiate.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// The clients, and where they come in.
#[derive(Debug)]
pub(crate) struct Front {
    listener: Listener,
    sessions: Vec<Option<Session>>,
    /// Sessions to be looked at, by number.
    listed: Vec<u32>,
    /// Tells sessions apart that have the same number one after the other.
    generation: u32,
    /// Whether the listener is waited for.
    is_accepting: bool,
}

impl Front {
    pub(crate) fn new(listener: Listener, poller: &Poller) -> io::Result<Self> {
        poller.add(&listener, Source::Listener, Interest { input: true, output: false })?;
        Ok(Self { listener, sessions: Vec::new(), listed: Vec::new(), generation: 0, is_accepting: true })
    }

    /// Clients that are connected.
    pub(crate) fn clients(&self) -> usize {
        self.sessions.iter().flatten().count()
    }

    /// Clients that have opened `target`.
    pub(crate) fn clients_of(&self, target: Target) -> usize {
        self.sessions.iter().flatten().filter(|session| session.target == Some(target)).count()
    }

    /// The NBD URI of an export.
    pub(crate) fn uri(&self, export: &str) -> String {
        self.listener.uri(export)
    }

    /// Lets in who waits.
    pub(crate) fn accept(&mut self, poller: &Poller, backend: &impl Backend) -> io::Result<()> {
        while self.clients() < SESSIONS {
            let stream = match self.listener.accept() {
                Ok(Some(stream)) => stream,
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
            poller.add(&stream, Source::Session(number as u32), Interest { input: true, output: false })?;
            let session = Session::new(stream, backend.server().clone(), monotonic(), self.generation);
            self.sessions[number] = Some(session);
            self.list(number as u32);
        }
        // The rest waits in the system's queue until somebody goes.
        self.is_accepting = false;
        poller.modify(&self.listener, Source::Listener, Interest::default())
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
        let is_gone = ready.hung_up && !session.connection.wants_input();
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
            if !session.listen(number, backend) {
                self.close(number);
            }
        }
    }

    /// Hands answers to their sessions; those of clients that have gone are dropped.
    pub(crate) fn give(&mut self, answers: &mut Vec<(Origin, Answer)>) {
        for (origin, answer) in answers.drain(..) {
            let Some(Some(session)) = self.sessions.get_mut(origin.session as usize) else { continue };
            if session.generation == origin.generation {
                session.give(origin.id, answer);
                self.list(origin.session);
            }
        }
    }

    /// Sends what listed sessions have, takes in what they have room for then, and closes those that are over.
    pub(crate) fn send(&mut self, poller: &Poller, backend: &mut impl Backend) -> io::Result<()> {
        while let Some(number) = self.listed.pop() {
            let Some(session) = &mut self.sessions[number as usize] else { continue };
            session.is_listed = false;
            let goes_on = session.send() && session.listen(number, backend);
            if !goes_on || session.connection.is_finished() {
                self.close(number);
            } else if let Some(interest) = session.changed_interest() {
                poller.modify(&session.stream, Source::Session(number), interest)?;
            }
        }
        if !self.is_accepting && self.clients() < SESSIONS {
            self.is_accepting = true;
            poller.modify(&self.listener, Source::Listener, Interest { input: true, output: false })?;
        }
        Ok(())
    }

    /// Ends a session at once. What it has under way goes on, and is answered to nobody.
    fn close(&mut self, number: u32) {
        // The socket leaves the poller when it is closed.
        self.sessions[number as usize] = None;
    }

    /// Ends all sessions of a machine and of its members at once, as when a cable is pulled.
    pub(crate) fn close_all(&mut self, machine: u32) {
        let is_its = |session: &Session| session.target.is_some_and(|target| target.machine == machine);
        for session in &mut self.sessions {
            if session.as_ref().is_some_and(is_its) {
                *session = None;
            }
        }
    }

    /// The server is going down: what clients ask from now on is refused, saying so.
    pub(crate) fn shut_down(&mut self) {
        self.sessions.iter_mut().flatten().for_each(|session| session.connection.shut_down());
    }

    /// Turns away whoever has negotiated for too long. Until when the next one may.
    pub(crate) fn hurry(&mut self, now: Duration) -> Option<Duration> {
        let mut next = None;
        for slot in &mut self.sessions {
            match slot {
                Some(session) if session.is_overdue(now) => *slot = None,
                Some(session) if session.target.is_none() => {
                    let end = session.born + HANDSHAKE;
                    next = Some(next.map_or(end, |next: Duration| next.min(end)));
                }
                _ => {}
            }
        }
        next
    }
}
