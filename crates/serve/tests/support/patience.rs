//! How long a test waits for what must come. None fails because a device is slow: it counts, or it waits this long.

use std::time::{Duration, Instant};

/// A quarter of an hour. With thirty programs to a processor a wait of seconds takes minutes; only a deadlock takes this.
pub(crate) const PATIENCE: Duration = Duration::from_mins(15);

/// Waits until something holds.
///
/// # Panics
/// If it never does.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "never {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
