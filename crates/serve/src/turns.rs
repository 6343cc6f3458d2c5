//! The loop: wait, take in, let time go on, answer.

use std::io;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::clock::monotonic;
use crate::control;
use crate::handle::Message;
use crate::net::{Poller, Ready, Source};
use crate::service::Service;
use crate::session::Front;

/// With spinning: so long before a deadline the loop stops sleeping.
const SPIN: Duration = Duration::from_micros(20);
/// How long a server that ends waits for what its clients have under way.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A server at work.
pub(crate) struct Turns {
    pub(crate) service: Service,
    pub(crate) front: Front,
    pub(crate) poller: Poller,
    pub(crate) messages: Receiver<Message>,
    /// Whether to stay awake for the last microseconds before a deadline.
    pub(crate) spins: bool,
}

impl Turns {
    /// Serves until told to stop; `warn` is told what somebody should know.
    pub(crate) fn run(&mut self, mut warn: impl FnMut(String)) -> io::Result<()> {
        let (mut ready, mut ending, mut told) = (Vec::new(), None, false);
        loop {
            let is_asked = self.turn(&mut ready)?;
            if let Err(error) = self.service.main().tend() {
                warn(format!(
                    "no checkpoint could be made, and the log of the image goes on growing: {error}"
                ));
            }
            if self.service.is_overloaded && !told {
                told = true;
                warn(format!(
                    "the server cannot keep up: replies have been more than a second late for ten seconds (now at {}); \
                     a --speed below 1 gives it more time",
                    self.service.now
                ));
            }
            if is_asked && ending.is_none() {
                ending = Some(monotonic() + LAST_WORDS);
                self.front.shut_down();
                self.service.clock.pause(false);
            }
            if ending.is_some_and(|end| !self.service.is_busy() || monotonic() >= end) {
                return self.end();
            }
        }
    }

    /// One turn. Whether the server was asked to end.
    fn turn(&mut self, ready: &mut Vec<Ready>) -> io::Result<bool> {
        let timeout = self.until_next()?;
        self.poller.wait(timeout, ready)?;
        self.service.turn();
        let mut is_asked = false;
        for one in &*ready {
            match one.source {
                Source::Listener => self.front.accept(&self.poller, &self.service)?,
                Source::Session(_) => self.front.ready(*one),
                Source::Waker => is_asked |= self.converse(),
                Source::Timer => {}
            }
        }
        self.front.listen(&mut self.service);
        self.service.settle();
        self.service.leap();
        self.answer()?;
        Ok(is_asked)
    }

    /// Answers leave, once what they tell of is kept; and what clients have room to ask then is taken in.
    fn answer(&mut self) -> io::Result<()> {
        loop {
            self.service.commit()?;
            self.front.give(&mut self.service.answers);
            self.front.send(&self.poller, &mut self.service)?;
            if self.service.answers.is_empty() {
                return Ok(());
            }
        }
    }

    /// Sets the timer to what happens next, and says how long to wait for sockets: `None` for as long as nothing else wakes.
    fn until_next(&mut self) -> io::Result<Option<Duration>> {
        if self.service.is_to_leap() {
            return Ok(Some(Duration::ZERO));
        }
        let next = self.service.next().and_then(|next| self.service.clock.wall_of(next));
        let now = monotonic();
        let early = if self.spins { SPIN } else { Duration::ZERO };
        if next.is_some_and(|next| next <= now + early) {
            return Ok(Some(Duration::ZERO));
        }
        self.poller.arm(next.map(|next| next.saturating_sub(early)))?;
        Ok(self.front.hurry(now).map(|end| end.saturating_sub(now) + Duration::from_millis(1)))
    }

    /// Hears what other threads ask. Whether the server is to end.
    fn converse(&mut self) -> bool {
        let mut is_asked = false;
        while let Ok(message) = self.messages.try_recv() {
            let outcome = control::answer(message.request, &mut self.service, &mut self.front);
            is_asked |= outcome.stop;
            // Who asked may have gone.
            let _ = message.reply.send(outcome.said);
        }
        is_asked
    }

    /// Clients are there no more, and the machine is told as by a host that shuts down.
    fn end(&mut self) -> io::Result<()> {
        let now = self.service.clock.now();
        self.service.main().shut_down(now)
    }
}
