//! The loop: wait, take in, let time go on, answer.

use std::io;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use crate::clock::monotonic;
use crate::handle::{Message, Told};
use crate::net::{Poller, Ready, Source};
use crate::session::Front;
use crate::work::Work;

/// With spinning: so long before a deadline the loop stops sleeping.
const SPIN: Duration = Duration::from_micros(20);
/// For less than this the loop never sleeps: falling asleep and waking up take longer.
const NAP: Duration = Duration::from_micros(4);
/// How long a server that ends waits for what its clients have under way.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A server at work.
pub(crate) struct Turns<W> {
    pub(crate) work: W,
    pub(crate) front: Front,
    pub(crate) poller: Poller,
    pub(crate) messages: Receiver<Message>,
    /// Whether to stay awake for the last microseconds before a deadline.
    pub(crate) spins: bool,
}

impl<W: Work> Turns<W> {
    /// Serves until told to stop; `warn` is told what somebody should know.
    pub(crate) fn run(&mut self, mut warn: impl FnMut(String)) -> io::Result<()> {
        let (mut ready, mut ending) = (Vec::new(), None);
        loop {
            let is_asked = self.turn(&mut ready)?;
            for warning in self.work.tend().into_iter().chain(self.front.take_warning()) {
                warn(warning);
            }
            if is_asked && ending.is_none() {
                ending = Some(monotonic() + LAST_WORDS);
                self.front.shut_down();
                self.work.hurry();
            }
            if ending.is_some_and(|end| !self.work.is_busy() || monotonic() >= end) {
                return self.work.end();
            }
        }
    }

    /// One turn. Whether the server was asked to end.
    fn turn(&mut self, ready: &mut Vec<Ready>) -> io::Result<bool> {
        let timeout = self.until_next()?;
        self.poller.wait(timeout, ready)?;
        self.front.turns += 1;
        self.work.turn();
        let (mut is_asked, mut said) = (false, Vec::new());
        for one in &*ready {
            match one.source {
                Source::Listener(door) => self.front.accept(door, &self.poller, &self.work)?,
                Source::Session(_) => self.front.ready(*one),
                Source::Waker => is_asked |= self.converse(&mut said),
                Source::Timer => {}
            }
        }
        self.front.listen(&mut self.work);
        self.work.settle();
        self.work.leap();
        self.answer(!said.is_empty())?;
        for (reply, said) in said {
            // Who asked may have gone.
            let _ = reply.send(said);
        }
        Ok(is_asked)
    }

    /// Answers leave, once what they tell of is kept; and what clients have room to ask then is taken in.
    fn answer(&mut self, has_said: bool) -> io::Result<()> {
        loop {
            let tells = has_said || !self.work.answers().is_empty();
            self.work.commit(tells)?;
            self.front.give(self.work.answers());
            self.front.send(&self.poller, &mut self.work)?;
            if self.work.answers().is_empty() {
                return Ok(());
            }
        }
    }

    /// Sets the timer to what happens next, and says how long to wait for sockets: `None` for as long as nothing else wakes.
    fn until_next(&mut self) -> io::Result<Option<Duration>> {
        if self.work.is_to_leap() {
            return Ok(Some(Duration::ZERO));
        }
        let (next, now) = (self.work.next(), monotonic());
        let early = if self.spins { SPIN } else { Duration::ZERO };
        if next.is_some_and(|next| next <= now + early.max(NAP)) {
            return Ok(Some(Duration::ZERO));
        }
        self.poller.arm(next.map(|next| next.saturating_sub(early)))?;
        let end = self.front.hurry(now, &self.poller)?;
        Ok(end.map(|end| end.saturating_sub(now) + Duration::from_millis(1)))
    }

    /// Hears what other threads ask; what they are `said` leaves with the answers to clients. Whether the server is to end.
    fn converse(&mut self, said: &mut Vec<(Sender<Told>, Told)>) -> bool {
        let mut is_asked = false;
        while let Ok(message) = self.messages.try_recv() {
            let outcome = self.work.hear(message.request, message.is_own, &mut self.front);
            is_asked |= outcome.stop;
            said.push((message.reply, outcome.said));
        }
        is_asked
    }
}
