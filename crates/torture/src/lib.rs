//! Crash states: what a block device may hold after it has lost its power.
//!
//! A [`History`] is what a device was asked and when it answered. A *cut* is a place between two events of it. A [`CrashState`] is what may be
//! there after power was lost at a cut: all that was asked before, except for some *lost* writes or parts of them, sometimes with bytes that nobody
//! wrote, or sectors that cannot be read. What its promise allows a device to lose is enumerated by [`contract`].
//!
//! A history comes from the log of an image, which `source/image.rs` replays on its machine, or from logs of other tools (`source/`). [`contract`] enumerates
//! the states that flushes and FUA allow, each distinct content once, and [`drive`] those that a machine leaves at each instant. Python mounts states and runs
//! checks; it knows only named states (decision 0051).

pub mod contract;
pub mod drive;
mod error;
mod facts;
mod history;
mod id;
mod open;
mod pieces;
mod plan;
mod recording;
mod serve;
pub mod source;
mod state;
mod versions;
mod witness;

pub use error::TortureError;
pub use facts::{EventFact, Facts, MarkFact};
pub use history::{Builder, Data, Event, Flush, FlushId, History, Mark, What, Write, WriteId};
pub use id::StateId;
pub use pieces::{Piece, Pieces};
pub use plan::{Plan, PlanFacts, Spec};
pub use recording::Recording;
pub use serve::serve_state;
pub use state::{CrashState, Odd};
pub use versions::{Version, Versions};
pub use witness::{Covering, Witness};
