//! Crash states: the contents that a block device may have after a loss of power.
//!
//! A [`CommandHistory`] has the commands that a device received and their completions. A *cut* is a place between two of its events. A [`CrashState`] is a
//! content that a power loss at a cut may leave: all writes that had arrived, except for some *lost* writes or parts of them, sometimes with bytes
//! that no write gave, or with unreadable sectors.
//!
//! A history comes from the log of an image, which `source/image.rs` replays on its device, or from logs of other tools (`source/`). [`contract`] enumerates
//! the states that flushes and FUA allow, each distinct content once, and [`drive`] those that a simulated device leaves at each instant. Python mounts states and runs
//! checks; it knows only named states (decision 0051).

pub mod contract;
pub mod drive;
mod error;
mod facts;
mod history;
mod id;
mod losable;
mod pieces;
mod plan;
mod recording;
mod serve;
pub mod source;
mod state;
mod versions;
mod witness;

pub use error::TortureError;
pub use facts::{EventFact, MarkFact, RecordingFacts};
pub use history::{
    CommandHistory, EventKind, FlushId, HistoryBuilder, RecordedEvent, RecordedFlush, RecordedMark,
    RecordedWrite, WriteData, WriteId,
};
pub use id::StateId;
pub use pieces::{WritePiece, WritePieces};
pub use plan::{PlanFacts, PlanSpec, StatePlan};
pub use recording::OpenRecording;
pub use serve::serve_state;
pub use state::{CrashState, OddSector};
pub use versions::{SectorVersion, SectorVersions};
pub use witness::{CoveringFlush, LossWitness};
