//! The loop: wait for sockets, take requests in, advance time, send replies.

use std::io;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use crate::clock::monotonic;
use crate::handle::{ControlMessage, DeferredReply};
use crate::loop_service::LoopService;
use crate::net::{ReadySource, SocketPoller, WakeSource};
use crate::protocol::DeviceNews;
use crate::session::ClientSessions;

/// With spinning, the loop wakes this long before a deadline and polls until then.
const SPIN_MARGIN: Duration = Duration::from_micros(20);
/// Shorter waits do not sleep: falling asleep and waking up take longer.
const SHORTEST_SLEEP: Duration = Duration::from_micros(4);
/// Time for requests under way to end after the server was asked to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// A running server: devices, clients, and the poller that waits for both.
pub(crate) struct ServiceLoop<S> {
    pub(crate) service: S,
    pub(crate) clients: ClientSessions,
    pub(crate) poller: SocketPoller,
    pub(crate) messages: Receiver<ControlMessage>,
    /// Set to stay awake for the last microseconds before a deadline.
    pub(crate) spins: bool,
    /// What devices tell unasked, in this turn.
    pub(crate) news: Vec<DeviceNews>,
}

impl<S: LoopService> ServiceLoop<S> {
    /// Serves until a message asks to stop, or the service has to end by itself, which is an error. `warn` is called with each warning for the user.
    pub(crate) fn run(&mut self, mut warn: impl FnMut(String)) -> io::Result<()> {
        let (mut ready, mut end_by, mut end_reason) = (Vec::new(), None, None);
        loop {
            let must_stop = self.run_turn(&mut ready)?;
            for warning in self.service.maintain().into_iter().chain(self.clients.take_warning()) {
                warn(warning);
            }
            if end_by.is_none() {
                end_reason = self.service.end_reason();
            }
            if (must_stop || end_reason.is_some()) && end_by.is_none() {
                end_by = Some(monotonic() + SHUTDOWN_GRACE);
                self.clients.shut_down();
                // While time stands still, requests under way would never end.
                self.service.resume_time();
            }
            if end_by.is_some_and(|end| !self.service.is_busy() || monotonic() >= end) {
                self.service.shut_down()?;
                return end_reason.map_or(Ok(()), |reason| Err(io::Error::other(reason)));
            }
        }
    }

    /// Runs one turn. True if a message asked the server to stop.
    fn run_turn(&mut self, ready: &mut Vec<ReadySource>) -> io::Result<bool> {
        let timeout = self.arm_timer()?;
        self.poller.wait(timeout, ready)?;
        self.clients.turns += 1;
        self.service.begin_turn();
        let (mut must_stop, mut answered) = (false, Vec::new());
        for source in &*ready {
            match source.source {
                WakeSource::Listener(listener) => {
                    self.clients.accept(listener, &self.poller, &self.service)?;
                }
                WakeSource::Session(_) => self.clients.read_ready(*source),
                WakeSource::Waker => must_stop |= self.handle_messages(&mut answered),
                WakeSource::Timer => {}
            }
        }
        self.clients.handle_requests(&mut self.service);
        self.service.do_due();
        self.service.leap();
        self.service.take_news(&mut self.news);
        self.clients.pass_on_news(&mut self.news);
        self.send_replies(!answered.is_empty())?;
        // Answers to other threads leave after the commit, as replies to clients do.
        for (sender, answer) in answered {
            // The thread that asked may have ended.
            let _ = sender.send(answer);
        }
        Ok(must_stop)
    }

    /// Commits inputs, then sends replies. Sending frees memory for more requests, so it repeats until no reply is left.
    fn send_replies(&mut self, has_answers: bool) -> io::Result<()> {
        loop {
            let has_replies = has_answers || !self.service.replies().is_empty();
            self.service.commit(has_replies)?;
            self.clients.deliver(self.service.replies());
            self.clients.send(&self.poller, &mut self.service)?;
            if self.service.replies().is_empty() {
                return Ok(());
            }
        }
    }

    /// Sets the timer to the next deadline; returns how long to wait for sockets, `None` without limit.
    fn arm_timer(&mut self) -> io::Result<Option<Duration>> {
        if self.service.needs_leap() {
            return Ok(Some(Duration::ZERO));
        }
        let (deadline, now) = (self.service.next_deadline(), monotonic());
        let margin = if self.spins { SPIN_MARGIN } else { Duration::ZERO };
        if deadline.is_some_and(|deadline| deadline <= now + margin.max(SHORTEST_SLEEP)) {
            return Ok(Some(Duration::ZERO));
        }
        self.poller.arm(deadline.map(|deadline| deadline.saturating_sub(margin)))?;
        let limit = self.clients.enforce_limits(now, &self.poller)?;
        // One millisecond more, so that a limit has surely passed when the wait ends.
        Ok(limit.map(|limit| limit.saturating_sub(now).saturating_add(Duration::from_millis(1))))
    }

    /// Carries out the requests of other threads; their answers go to `answered`. True if one asked the server to stop.
    fn handle_messages(&mut self, answered: &mut Vec<(Sender<DeferredReply>, DeferredReply)>) -> bool {
        let mut must_stop = false;
        while let Ok(message) = self.messages.try_recv() {
            let reply = self.service.carry_out(message.request, message.is_internal, &mut self.clients);
            must_stop |= reply.stops_server;
            answered.push((message.reply, reply.reply));
        }
        must_stop
    }
}
