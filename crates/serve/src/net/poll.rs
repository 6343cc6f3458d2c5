//! Waiting for sockets, for a time, and for other threads.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// Source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeSource {
    /// A client waits at the listener with this number.
    Listener(u32),
    /// The timer has expired.
    Timer,
    /// Another thread has sent a message.
    Waker,
    /// The socket of the session with this number is ready.
    Session(u32),
}

impl WakeSource {
    // Numbers of sessions have 32 bits; all other sources lie above.
    const OTHERS: u64 = 1 << 32;

    fn data(self) -> epoll::EventData {
        epoll::EventData::new_u64(match self {
            Self::Session(index) => index.into(),
            Self::Timer => Self::OTHERS,
            Self::Waker => Self::OTHERS + 1,
            Self::Listener(door) => Self::OTHERS + 2 + u64::from(door),
        })
    }

    fn of(data: u64) -> Self {
        match data.checked_sub(Self::OTHERS) {
            None => Self::Session(data as u32),
            Some(0) => Self::Timer,
            Some(1) => Self::Waker,
            Some(door) => Self::Listener((door - 2) as u32),
        }
    }
}

/// Events for which a socket is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketInterest {
    pub(crate) input: bool,
    pub(crate) output: bool,
}

impl SocketInterest {
    fn flags(self) -> epoll::EventFlags {
        let mut flags = epoll::EventFlags::empty();
        flags.set(epoll::EventFlags::IN, self.input);
        flags.set(epoll::EventFlags::OUT, self.output);
        flags
    }
}

/// A source that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadySource {
    pub(crate) source: WakeSource,
    /// Input can be read, or the client has hung up, which reading reports.
    pub(crate) input: bool,
    /// The client has hung up. Reported even if no event is watched for.
    pub(crate) hung_up: bool,
    /// Output can be written.
    pub(crate) output: bool,
}

/// Handle that wakes the loop from another thread.
#[derive(Clone, Debug)]
pub(crate) struct LoopWaker(Arc<OwnedFd>);

impl LoopWaker {
    /// Wakes the loop, which then reads its messages.
    pub(crate) fn wake(&self) {
        // Fails only if the counter is full, and then the loop is awake already.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

/// Poller of all sockets, with a timer and a waker.
#[derive(Debug)]
pub(crate) struct SocketPoller {
    epoll: OwnedFd,
    timer: OwnedFd,
    waker: LoopWaker,
    /// Time on the monotonic clock for which the timer is set.
    armed: Option<Duration>,
}

/// Most events of one wait; others follow with the next.
const EVENTS: usize = 128;
/// Longest wait. Some systems count milliseconds in 31 bits, which a host can exceed: the keep-alive time-out of `NVMe` has 32. Waking early is harmless.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// A time for the system, which takes no seconds beyond those of 63 bits.
fn timespec(time: Duration) -> Timespec {
    let tv_sec = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: i64::from(time.subsec_nanos()) }
}

impl SocketPoller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let waker = LoopWaker(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?));
        // Edge-triggered: reported once for each expiry, so that the counter of the timer need not be read.
        let once = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, WakeSource::Timer.data(), once)?;
        epoll::add(&epoll, &*waker.0, WakeSource::Waker.data(), epoll::EventFlags::IN)?;
        Ok(Self { epoll, timer, waker, armed: None })
    }

    pub(crate) fn waker(&self) -> LoopWaker {
        self.waker.clone()
    }

    /// Watches a socket.
    pub(crate) fn add(
        &self,
        socket: impl AsFd,
        source: WakeSource,
        interest: SocketInterest,
    ) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, source.data(), interest.flags())?)
    }

    /// Changes the events for which a socket is watched.
    pub(crate) fn modify(
        &self,
        socket: impl AsFd,
        source: WakeSource,
        interest: SocketInterest,
    ) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, source.data(), interest.flags())?)
    }

    /// Sets the timer to a time on the monotonic clock, or stops it.
    pub(crate) fn arm(&mut self, at: Option<Duration>) -> io::Result<()> {
        if self.armed == at {
            return Ok(());
        }
        // A time of zero would stop the timer.
        let value = at.map_or(Duration::ZERO, |at| at.max(Duration::from_nanos(1)));
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spec = Itimerspec { it_interval: never, it_value: timespec(value) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec)?;
        self.armed = at;
        Ok(())
    }

    /// Waits until a source is ready or `timeout` has passed, without limit for `None`. A long wait may end early, with nothing ready.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<ReadySource>) -> io::Result<()> {
        ready.clear();
        let mut events = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        let timeout = timeout.map(|timeout| timespec(timeout.min(LONGEST_WAIT)));
        let events = match epoll::wait(&self.epoll, &mut events[..], timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            let (flags, source) = (event.flags, WakeSource::of(event.data.u64()));
            match source {
                WakeSource::Timer => self.armed = None,
                WakeSource::Waker => drain(&self.waker.0),
                WakeSource::Listener(_) | WakeSource::Session(_) => {}
            }
            let hung_up = epoll::EventFlags::HUP | epoll::EventFlags::ERR;
            ready.push(ReadySource {
                source,
                input: flags.intersects(epoll::EventFlags::IN | hung_up),
                hung_up: flags.intersects(hung_up),
                output: flags.contains(epoll::EventFlags::OUT),
            });
        }
        Ok(())
    }
}

/// Resets an event counter.
fn drain(counter: &OwnedFd) {
    let mut count = [0; 8];
    // Fails only if the counter is zero already.
    let _ = rustix::io::read(counter, &mut count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::time::{ClockId, clock_gettime};

    fn now() -> Duration {
        let now = clock_gettime(ClockId::Monotonic);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }

    #[test]
    fn the_timer_fires_once_at_its_time_and_not_before() {
        let mut poller = SocketPoller::new().unwrap();
        let mut ready = Vec::new();
        let due = now() + Duration::from_millis(20);
        poller.arm(Some(due)).unwrap();
        poller.wait(Some(Duration::ZERO), &mut ready).unwrap();
        assert!(ready.is_empty(), "{ready:?}");
        poller.wait(None, &mut ready).unwrap();
        assert!(now() >= due);
        assert_eq!(ready.iter().map(|one| one.source).collect::<Vec<_>>(), [WakeSource::Timer]);
        poller.wait(Some(Duration::from_millis(30)), &mut ready).unwrap();
        assert!(ready.is_empty(), "{ready:?}");
        // A time in the past fires at once; a stopped timer never fires.
        poller.arm(Some(Duration::ZERO)).unwrap();
        poller.wait(None, &mut ready).unwrap();
        assert_eq!(ready.len(), 1);
        poller.arm(Some(now() + Duration::from_millis(10))).unwrap();
        poller.arm(None).unwrap();
        poller.wait(Some(Duration::from_millis(30)), &mut ready).unwrap();
        assert!(ready.is_empty(), "{ready:?}");
    }

    #[test]
    fn no_time_out_and_no_deadline_is_too_long() {
        let mut poller = SocketPoller::new().unwrap();
        let keep_alive = Duration::from_millis(2 * u64::from(u32::MAX));
        for long in
            [Duration::from_millis(1 << 31), keep_alive, Duration::from_nanos(u64::MAX), Duration::MAX]
        {
            // The waker ends the wait at once.
            poller.waker().wake();
            let mut ready = Vec::new();
            poller.wait(Some(long), &mut ready).unwrap();
            assert_eq!(
                ready.iter().map(|one| one.source).collect::<Vec<_>>(),
                [WakeSource::Waker],
                "{long:?}"
            );
            // A timer set so far ahead does not fire.
            poller.arm(Some(long)).unwrap();
            poller.wait(Some(Duration::from_millis(5)), &mut ready).unwrap();
            assert!(ready.is_empty() || long < now(), "{long:?}: {ready:?}");
        }
    }

    #[test]
    fn another_thread_wakes_the_poller() {
        let mut poller = SocketPoller::new().unwrap();
        let waker = poller.waker();
        std::thread::scope(|scope| {
            scope.spawn(|| waker.wake());
            let mut ready = Vec::new();
            poller.wait(None, &mut ready).unwrap();
            assert_eq!(ready[0].source, WakeSource::Waker);
        });
    }
}
