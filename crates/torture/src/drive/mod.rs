//! What a machine really leaves when its power fails: the recording is given to it again, its power is cut at every instant, and it is read.
//!
//! Between two events, a command that comes or something that the machine itself does, what a cut leaves is always the same. So there are finitely many
//! instants, stretches of time, and each is looked at once: a copy of the machine loses its power and gets it back, and what it then holds is compared
//! with what was written. Stretches that leave the same, with the same last mark, are one class: one [`CrashState`] with its
//! [`spans`](CrashState::spans). By these there is the probability of a loss at a random instant.
//!
//! - [`What::Drive`]: the machine that was recorded.
//! - [`What::Liar`]: one that ignores flushes or carries them out late, given the same commands at the same times. What the program was promised is
//!   what the recorded machine promised; the liar would have promised the same, only sooner.
//! - [`What::Fault`]: something breaks at the cut: it breaks, then the power fails at the same instant, then it is read.
//! - [`What::Without`]: a member of an array is gone with the power, or goes after the array has made its redundancy fit. An array that is in doubt
//!   does not start without a member, as md does not; then the state says so, and there is another that shows what a forced start gives.
//!
//! What a machine says that it holds is taken without a read where that is exact ([`Machine::peek`](outlast_serve::ServedDevice::peek)); all else is read by
//! commands.

mod cells;
mod classes;
mod cut;
mod look;
mod read;
mod replay;
mod what;

pub use classes::{Found, Request, classes, state};
pub use what::{Start, What};
