//! Does the host ask for more than is served? Then its queue grows through the run, and latencies tell of the length of the run.

use serde::Serialize;

/// Windows in which a queue must have grown for it to be called growing.
const LEAST: usize = 5;
/// How much of the growth a straight line must explain: what swings is no overload.
const STRAIGHT: f64 = 0.9;
/// By how much more must be asked for than is served.
const EXCESS: f64 = 0.01;
/// Commands that a queue must grow by: less is a few bursts.
const DEEP: f64 = 64.0;

/// Windows enough where it is certain without a straight line: the queue must then be deeper than any drive takes, hold more than half of
/// what was served, and be all that is still to be served when it is deepest, so that it is no burst with quiet times behind it.
const FEW: usize = 2;
const FLOOD: f64 = 1024.0;
const UNSERVED: f64 = 0.5;
const DRAIN: f64 = 2.5;

/// More was asked for than was served.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Overload {
    /// Commands that arrived per second, while they did.
    pub offered_iops: f64,
    /// Commands completed per second of that time.
    pub served_iops: f64,
}

/// A window: its length in seconds, commands completed, and mean commands in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) seconds: f64,
    pub(crate) completed: f64,
    pub(crate) in_flight: f64,
}

/// Commands that arrived in all windows, and the time from the first window's start to the last arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    pub(crate) commands: f64,
    pub(crate) seconds: f64,
}

/// Whether the queue grew, given all windows in order of time.
pub(crate) fn overload(windows: &[Stretch], arrivals: Arrivals) -> Option<Overload> {
    // After the last arrival the queue shrinks.
    let deepest =
        (0..windows.len()).max_by(|&a, &b| windows[a].in_flight.total_cmp(&windows[b].in_flight))?;
    let grown = &windows[..=deepest];
    if grown.len() < FEW {
        return None;
    }
    let seconds: f64 = grown.iter().map(|window| window.seconds).sum();
    let completed: f64 = grown.iter().map(|window| window.completed).sum();
    let n = grown.len() as f64;
    let mean = grown.iter().map(|window| window.in_flight).sum::<f64>() / n;
    let (mut across, mut along, mut all) = (0.0, 0.0, 0.0);
    for (window, i) in grown.iter().zip(0u32..) {
        let (x, y) = (f64::from(i) - (n - 1.0) / 2.0, window.in_flight - mean);
        (across, along, all) = (across + x * y, along + x * x, all + y * y);
    }
    let growth = across / along * n;
    let straight = across * across / (along * all);
    let told = if grown.len() < LEAST {
        let last: f64 = windows[deepest + 1..].iter().map(|window| window.completed).sum();
        let rising = grown.windows(2).all(|pair| pair[0].in_flight < pair[1].in_flight);
        rising
            && growth >= FLOOD
            && growth >= UNSERVED * completed
            && last <= DRAIN * grown[deepest].in_flight
    } else {
        straight >= STRAIGHT && growth >= DEEP && growth >= EXCESS * completed
    };
    told.then(|| {
        // The queue is deepest in the window of the last arrival or in the next: then all that arrived is known, and for how long.
        let offered = if arrivals.seconds > 0.0 && arrivals.seconds <= seconds {
            arrivals.commands / arrivals.seconds
        } else {
            (completed + growth) / seconds
        };
        Overload { offered_iops: offered, served_iops: completed / seconds }
    })
}

#[cfg(test)]
mod tests {
    use super::{Arrivals, Overload, Stretch, overload};

    fn run(arrive: f64, serve: f64) -> Vec<Stretch> {
        run_for(100, arrive, serve)
    }

    /// Of windows alone, where requests go on arriving after the last of them.
    fn growing(windows: &[Stretch]) -> Option<Overload> {
        overload(windows, Arrivals { commands: 0.0, seconds: f64::INFINITY })
    }

    /// Requests arrive over so many windows of 0.1 s.
    fn run_for(arriving: u32, arrive: f64, serve: f64) -> Vec<Stretch> {
        let mut queue = 0.0f64;
        let mut windows = Vec::new();
        for window in 0..200 {
            let come = if window < arriving { arrive * 0.1 } else { 0.0 };
            let done = (queue + come).min(serve * 0.1);
            let before = queue;
            queue += come - done;
            windows.push(Stretch { seconds: 0.1, completed: done, in_flight: f64::midpoint(queue, before) });
        }
        windows
    }

    #[test]
    fn what_is_asked_for_and_what_is_served_is_told() {
        let found = growing(&run(500e3, 30e3)).expect("the queue grows");
        assert!((found.offered_iops / 500e3 - 1.0).abs() < 0.02, "{found:?}");
        assert!((found.served_iops / 30e3 - 1.0).abs() < 1e-9, "{found:?}");
        assert!(growing(&run(31e3, 30e3)).is_some());
    }

    #[test]
    fn few_windows_are_enough_where_it_is_certain() {
        for arriving in [2, 3, 4] {
            let found = growing(&run_for(arriving, 500e3, 30e3)).expect("sixteen times what is served");
            assert!((found.offered_iops / 500e3 - 1.0).abs() < 0.3, "{found:?}");
            assert!((found.served_iops / 30e3 - 1.0).abs() < 1e-9, "{found:?}");
        }
        // A third more than is served may be a stall, and of one window nobody can tell what grows.
        assert_eq!(growing(&run_for(3, 40e3, 30e3)), None);
        assert_eq!(growing(&run_for(1, 500e3, 30e3)[..1]), None);
        // A queue that a drive may well hold.
        assert_eq!(growing(&run_for(2, 4e3, 1e3)), None);
    }

    #[test]
    fn arrivals_that_end_within_a_window_are_counted_until_they_end() {
        // Of two windows of 0.1 s, requests arrive over 0.12 s: by windows, that is 0.6 of the rate.
        let at = |in_flight: f64| Stretch { seconds: 0.1, completed: 3e3, in_flight };
        let arrivals = Arrivals { commands: 60e3, seconds: 0.12 };
        let found = overload(&[at(23.5e3), at(55e3)], arrivals).expect("sixteen times what is served");
        assert!((found.offered_iops / 500e3 - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_burst_before_quiet_times_is_no_overload() {
        let mut windows = run_for(3, 500e3, 30e3);
        assert!(growing(&windows).is_some());
        windows.extend(vec![Stretch { seconds: 0.1, completed: 2e3, in_flight: 1.0 }; 500]);
        assert_eq!(growing(&windows), None);
    }

    #[test]
    fn a_drive_that_keeps_up_is_not_overloaded() {
        assert_eq!(growing(&run(29e3, 30e3)), None);
        assert_eq!(growing(&run(32e3, 30e3)[..4]), None);
        // A queue that swings.
        let swings =
            |i: u32| Stretch { seconds: 0.1, completed: 3e3, in_flight: 300.0 + 200.0 * f64::from(i % 7) };
        assert_eq!(growing(&(0..100).map(swings).collect::<Vec<_>>()), None);
    }
}
