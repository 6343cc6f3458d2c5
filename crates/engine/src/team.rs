//! Threads; nothing else in the engine starts any. Their pieces of work are independent, so results do not depend on their number.
//!
//! Threads work only in phases without time. An array says which member gets which commands (`Array::route_untimed`), a drive hands out the shares of its flash
//! cores (`Ssd::write_units_untimed`), and a single thread does the same work in the same order. A timed run uses one thread, for reasons that were measured
//! (decision 0037).

use crate::clock::{self, Stopwatch};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Threads that share work: the caller's own, and helpers that live for one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadTeam {
    threads: usize,
}

impl ThreadTeam {
    /// A team of `wished` threads, or of one for each processor, but of no more than there are `parts` of work.
    pub(crate) fn new(wished: Option<u16>, parts: usize) -> Self {
        let threads = wished.map_or_else(processors, usize::from);
        Self { threads: threads.clamp(1, parts.max(1)) }
    }

    /// Only the caller's own thread.
    pub(crate) fn alone() -> Self {
        Self { threads: 1 }
    }

    /// Number of threads, the caller's own included.
    pub(crate) fn threads(self) -> usize {
        self.threads
    }

    /// Applies `work` to each item, on any of the threads in any order.
    pub(crate) fn for_each<T: Send>(self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        if self.threads == 1 || items.len() < 2 {
            items.iter_mut().for_each(work);
            return;
        }
        let others = self.threads.min(items.len()) - 1;
        let remaining = Mutex::new(items.iter_mut());
        let take_all = || {
            loop {
                // A poisoned lock is still good, since no thread panics while it holds it. The panic itself continues at the join.
                let item = remaining.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(item) = item else { return };
                work(item);
            }
        };
        let helper = || {
            let watch = Stopwatch::start();
            take_all();
            watch.cpu_s()
        };
        thread::scope(|scope| {
            let helpers: Vec<_> = (0..others).map(|_| scope.spawn(helper)).collect();
            take_all();
            for helper in helpers {
                match helper.join() {
                    Ok(cpu_s) => clock::add_cpu_s(cpu_s),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
}

/// Processors available to this process.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::ThreadTeam;

    #[test]
    fn every_item_is_worked_on_once_whatever_the_number_of_threads() {
        for threads in [1, 2, 3, 8, 64] {
            let team = ThreadTeam::new(Some(threads), 64);
            for count in [0usize, 1, 2, 7, 1000] {
                let mut items: Vec<usize> = (0..count).collect();
                team.for_each(&mut items, |item| *item = *item * 2 + 1);
                let expected: Vec<usize> = (0..count).map(|item| item * 2 + 1).collect();
                assert_eq!(items, expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn there_are_no_more_threads_than_parts_and_at_least_one() {
        assert_eq!(ThreadTeam::new(Some(8), 3).threads(), 3);
        assert_eq!(ThreadTeam::new(Some(1), 3).threads(), 1);
        assert_eq!(ThreadTeam::new(Some(4), 0).threads(), 1);
        assert!(ThreadTeam::new(None, 64).threads() >= 1);
    }

    #[test]
    #[should_panic(expected = "item 5")]
    fn a_panic_of_any_thread_reaches_the_caller() {
        let mut items: Vec<u32> = (0..10).collect();
        ThreadTeam::new(Some(4), 10).for_each(&mut items, |&mut item| assert!(item != 5, "item {item}"));
    }
}
