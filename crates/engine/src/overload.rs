//! Detection of overload: a host that submits more than is served has a queue that grows through the run, and its latencies measure the
//! length of the run.

use serde::Serialize;

/// Fewest windows over which a straight line is fitted to the queue.
const LEAST_WINDOWS: usize = 5;
/// Share of the variance (R²) that the straight line must explain: a swinging queue is no overload.
const LEAST_R_SQUARED: f64 = 0.9;
/// Least growth of the queue, as a share of the commands completed meanwhile.
const LEAST_EXCESS: f64 = 0.01;
/// Least growth of the queue in commands: less is a few bursts.
const LEAST_GROWTH: f64 = 64.0;

/// Fewest windows if a stricter test replaces the straight line: the queue must rise in every window and meet the three limits below.
const FEW_WINDOWS: usize = 2;
/// Growth in commands beyond what any drive holds.
const FLOOD: f64 = 1024.0;
/// Growth as a share of the commands completed meanwhile.
const UNSERVED: f64 = 0.5;
/// Commands completed after the deepest window, in queues of that depth: more means that requests kept coming, so it was only a burst.
const DRAIN: f64 = 2.5;

/// Rates of a host that submitted more than was served.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OverloadRates {
    /// Commands that arrived per second, from the start to the last arrival.
    pub offered_iops: f64,
    /// Commands completed per second while the queue grew.
    pub served_iops: f64,
}

/// One window of the time series: length, commands completed, mean commands in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueWindow {
    pub(crate) seconds: f64,
    pub(crate) completed: f64,
    pub(crate) in_flight: f64,
}

/// Commands that arrived in all windows, and seconds from the first window's start to the last arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivalTotals {
    pub(crate) commands: f64,
    pub(crate) seconds: f64,
}

/// The rates if the queue grew through the run, given all windows in order of time; `None` without overload.
pub(crate) fn overload(windows: &[QueueWindow], arrivals: ArrivalTotals) -> Option<OverloadRates> {
    // Only the rise is judged: after the last arrival any queue shrinks.
    let deepest =
        (0..windows.len()).max_by(|&a, &b| windows[a].in_flight.total_cmp(&windows[b].in_flight))?;
    let grown = &windows[..=deepest];
    if grown.len() < FEW_WINDOWS {
        return None;
    }
    let seconds: f64 = grown.iter().map(|window| window.seconds).sum();
    let completed: f64 = grown.iter().map(|window| window.completed).sum();
    let n = grown.len() as f64;
    let mean = grown.iter().map(|window| window.in_flight).sum::<f64>() / n;
    // Least squares of commands in flight over window number, both centred.
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (window, i) in grown.iter().zip(0u32..) {
        let (x, y) = (f64::from(i) - (n - 1.0) / 2.0, window.in_flight - mean);
        (xy, xx, yy) = (xy + x * y, xx + x * x, yy + y * y);
    }
    let growth = xy / xx * n;
    let r_squared = xy * xy / (xx * yy);
    let is_overload = if grown.len() < LEAST_WINDOWS {
        let completed_after: f64 = windows[deepest + 1..].iter().map(|window| window.completed).sum();
        let rising = grown.windows(2).all(|pair| pair[0].in_flight < pair[1].in_flight);
        rising
            && growth >= FLOOD
            && growth >= UNSERVED * completed
            && completed_after <= DRAIN * grown[deepest].in_flight
    } else {
        r_squared >= LEAST_R_SQUARED && growth >= LEAST_GROWTH && growth >= LEAST_EXCESS * completed
    };
    is_overload.then(|| {
        // If the last arrival lies in the rise, the arrivals and their time are known exactly; else they follow from the growth.
        let offered = if arrivals.seconds > 0.0 && arrivals.seconds <= seconds {
            arrivals.commands / arrivals.seconds
        } else {
            (completed + growth) / seconds
        };
        OverloadRates { offered_iops: offered, served_iops: completed / seconds }
    })
}

#[cfg(test)]
mod tests {
    use super::{ArrivalTotals, OverloadRates, QueueWindow, overload};

    fn run(arrive: f64, serve: f64) -> Vec<QueueWindow> {
        run_for(100, arrive, serve)
    }

    /// Overload by windows alone, with requests that still arrive after the last of them.
    fn growing(windows: &[QueueWindow]) -> Option<OverloadRates> {
        overload(windows, ArrivalTotals { commands: 0.0, seconds: f64::INFINITY })
    }

    /// Requests arrive over so many windows of 0.1 s.
    fn run_for(arriving: u32, arrive: f64, serve: f64) -> Vec<QueueWindow> {
        let mut queue = 0.0f64;
        let mut windows = Vec::new();
        for window in 0..200 {
            let come = if window < arriving { arrive * 0.1 } else { 0.0 };
            let done = (queue + come).min(serve * 0.1);
            let before = queue;
            queue += come - done;
            windows.push(QueueWindow {
                seconds: 0.1,
                completed: done,
                in_flight: f64::midpoint(queue, before),
            });
        }
        windows
    }

    #[test]
    fn offered_and_served_rates_are_those_of_the_queue() {
        let rates = growing(&run(500e3, 30e3)).expect("the queue grows");
        assert!((rates.offered_iops / 500e3 - 1.0).abs() < 0.02, "{rates:?}");
        assert!((rates.served_iops / 30e3 - 1.0).abs() < 1e-9, "{rates:?}");
        assert!(growing(&run(31e3, 30e3)).is_some());
    }

    #[test]
    fn two_windows_are_enough_for_a_flood() {
        for arriving in [2, 3, 4] {
            let rates = growing(&run_for(arriving, 500e3, 30e3)).expect("sixteen times what is served");
            assert!((rates.offered_iops / 500e3 - 1.0).abs() < 0.3, "{rates:?}");
            assert!((rates.served_iops / 30e3 - 1.0).abs() < 1e-9, "{rates:?}");
        }
        // A third more than is served may be a stall, and one window shows no growth.
        assert_eq!(growing(&run_for(3, 40e3, 30e3)), None);
        assert_eq!(growing(&run_for(1, 500e3, 30e3)[..1]), None);
        // A queue that a drive may well hold.
        assert_eq!(growing(&run_for(2, 4e3, 1e3)), None);
    }

    #[test]
    fn arrivals_that_end_within_a_window_are_counted_until_they_end() {
        // Of two windows of 0.1 s, requests arrive over 0.12 s: by windows, that is 0.6 of the rate.
        let at = |in_flight: f64| QueueWindow { seconds: 0.1, completed: 3e3, in_flight };
        let arrivals = ArrivalTotals { commands: 60e3, seconds: 0.12 };
        let rates = overload(&[at(23.5e3), at(55e3)], arrivals).expect("sixteen times what is served");
        assert!((rates.offered_iops / 500e3 - 1.0).abs() < 1e-9, "{rates:?}");
    }

    #[test]
    fn a_burst_before_quiet_times_is_no_overload() {
        let mut windows = run_for(3, 500e3, 30e3);
        assert!(growing(&windows).is_some());
        windows.extend(vec![QueueWindow { seconds: 0.1, completed: 2e3, in_flight: 1.0 }; 500]);
        assert_eq!(growing(&windows), None);
    }

    #[test]
    fn a_drive_that_keeps_up_is_not_overloaded() {
        assert_eq!(growing(&run(29e3, 30e3)), None);
        assert_eq!(growing(&run(32e3, 30e3)[..4]), None);
        // A queue that swings.
        let swings = |i: u32| QueueWindow {
            seconds: 0.1,
            completed: 3e3,
            in_flight: 300.0 + 200.0 * f64::from(i % 7),
        };
        assert_eq!(growing(&(0..100).map(swings).collect::<Vec<_>>()), None);
    }
}
