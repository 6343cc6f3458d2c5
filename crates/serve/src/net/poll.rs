//! Waiting for sockets, for a time, and for a word from another thread.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// What was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A client knocks at a door, by number.
    Listener(u32),
    /// The time has come.
    Timer,
    /// Another thread has something to say.
    Waker,
    /// The socket of a session, by number.
    Session(u32),
}

impl Source {
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

/// What a session's socket is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interest {
    pub(crate) input: bool,
    pub(crate) output: bool,
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        let mut flags = epoll::EventFlags::empty();
        flags.set(epoll::EventFlags::IN, self.input);
        flags.set(epoll::EventFlags::OUT, self.output);
        flags
    }
}

/// Something that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) source: Source,
    /// Bytes can be read, or the other side has hung up, which reading tells.
    pub(crate) input: bool,
    /// The other side has hung up, and takes nothing any more. This is told whether or not it is waited for.
    pub(crate) hung_up: bool,
    /// Bytes can be written.
    pub(crate) output: bool,
}

/// Wakes the loop from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Waker(Arc<OwnedFd>);

impl Waker {
    /// The loop looks at its messages soon.
    pub(crate) fn wake(&self) {
        // It can only fail when the count is full, and then the loop is awake anyway.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

/// The one place where the loop waits.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    waker: Waker,
    /// The time of the system's monotonic clock that the timer is set to.
    armed: Option<Duration>,
}

/// Sources that are told of at once; others come at the next look.
const EVENTS: usize = 128;

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let waker = Waker(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?));
        // Told once for each time that it fires, so that nobody has to take its count out.
        let once = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, Source::Timer.data(), once)?;
        epoll::add(&epoll, &*waker.0, Source::Waker.data(), epoll::EventFlags::IN)?;
        Ok(Self { epoll, timer, waker, armed: None })
    }

    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Waits for `what` from now on.
    pub(crate) fn add(&self, what: impl AsFd, source: Source, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, what, source.data(), interest.flags())?)
    }

    /// Waits for something else of `what`.
    pub(crate) fn modify(&self, what: impl AsFd, source: Source, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, what, source.data(), interest.flags())?)
    }

    /// Sets the timer to a time of the system's monotonic clock, or to none.
    pub(crate) fn arm(&mut self, at: Option<Duration>) -> io::Result<()> {
        if self.armed == at {
            return Ok(());
        }
        // Zero would mean never.
        let value = at.map_or(Duration::ZERO, |at| at.max(Duration::from_nanos(1)));
        let value =
            Timespec { tv_sec: value.as_secs().cast_signed(), tv_nsec: i64::from(value.subsec_nanos()) };
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spec = Itimerspec { it_interval: never, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec)?;
        self.armed = at;
        Ok(())
    }

    /// Waits until something is ready, or `timeout` is over; `None` waits without end.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        let mut events = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs().cast_signed(),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        let events = match epoll::wait(&self.epoll, &mut events[..], timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            let (flags, source) = (event.flags, Source::of(event.data.u64()));
            match source {
                Source::Timer => self.armed = None,
                Source::Waker => drain(&self.waker.0),
                Source::Listener(_) | Source::Session(_) => {}
            }
            let hung_up = epoll::EventFlags::HUP | epoll::EventFlags::ERR;
            ready.push(Ready {
                source,
                input: flags.intersects(epoll::EventFlags::IN | hung_up),
                hung_up: flags.intersects(hung_up),
                output: flags.contains(epoll::EventFlags::OUT),
            });
        }
        Ok(())
    }
}

/// Takes the count out of an event counter.
fn drain(counter: &OwnedFd) {
    let mut count = [0; 8];
    // Where there is none, there is nothing to take.
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
        let mut poller = Poller::new().unwrap();
        let mut ready = Vec::new();
        let due = now() + Duration::from_millis(20);
        poller.arm(Some(due)).unwrap();
        poller.wait(Some(Duration::ZERO), &mut ready).unwrap();
        assert!(ready.is_empty(), "{ready:?}");
        poller.wait(None, &mut ready).unwrap();
        assert!(now() >= due);
        assert_eq!(ready.iter().map(|one| one.source).collect::<Vec<_>>(), [Source::Timer]);
        poller.wait(Some(Duration::from_millis(30)), &mut ready).unwrap();
        assert!(ready.is_empty(), "{ready:?}");
        // A time that is past fires at once; none never does.
        poller.arm(Some(Duration::ZERO)).unwrap();
        poller.wait(None, &mut ready).unwrap();
        assert_eq!(ready.len(), 1);
        poller.arm(Some(now() + Duration::from_millis(10))).unwrap();
        poller.arm(None).unwrap();
        poller.wait(Some(Duration::from_millis(30)), &mut ready).unwrap();
        assert!(ready.is_empty(), "{ready:?}");
    }

    #[test]
    fn another_thread_wakes_it() {
        let mut poller = Poller::new().unwrap();
        let waker = poller.waker();
        std::thread::scope(|scope| {
            scope.spawn(|| waker.wake());
            let mut ready = Vec::new();
            poller.wait(None, &mut ready).unwrap();
            assert_eq!(ready[0].source, Source::Waker);
        });
    }
}
