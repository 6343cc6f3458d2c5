//! States that a simulated device leaves: the recording is replayed on it, its power is cut at every instant, and its content is read.
//!
//! Between two events (arrivals of commands, and events of the device itself) all cuts leave the same content. So the window has finitely many
//! *instants*, stretches of time, and each is examined once: a copy of the device loses its power and starts again, and its content is compared
//! with what was written. Instants with the same content and the same last mark are one class: one [`CrashState`] with its
//! [`spans`](CrashState::spans), which give the probability of a loss at a random time.
//!
//! - [`CrashModel::Drive`]: the recorded device.
//! - [`CrashModel::Liar`]: a device that ignores flushes or executes them late, given the same commands at the same times. The promises to the program are
//!   those of the recorded device; the liar would have made the same promises, only sooner.
//! - [`CrashModel::Fault`]: a fault at the instant of the cut: first the fault, then the loss of power, then the start.
//! - [`CrashModel::WithoutMember`]: a member of an array fails with the power, or after the array has resynchronised. An array in doubt refuses to
//!   start without a member, as md does; then this state says so, and another shows the result of a forced start.
//!
//! Content is peeked at without a read where that is exact ([`ServedDevice::peek`](outlast_serve::ServedDevice::peek)), and else read by commands.

mod classes;
mod contents;
mod cut;
mod model;
mod read;
mod replay;
mod units;

pub use classes::{CrashClasses, CrashSearch, find_classes, find_state};
pub use model::{ArrayStart, CrashModel};
