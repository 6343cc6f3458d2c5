//! Why state cannot be read.

use std::io;
use thiserror::Error;

/// Why state cannot be read.
#[derive(Debug, Error)]
pub enum Damage {
    /// There is less than there should be.
    #[error("it ends too early")]
    Ended,
    /// A block is not what was written.
    #[error("block {0} is not what was written")]
    Block(u64),
    /// There is more than there should be.
    #[error("it goes on where it should end")]
    Trailing,
    /// A value is none of its kind.
    #[error("{value} is no {what}")]
    Value {
        /// The kind.
        what: &'static str,
        /// What was found, as a number.
        value: u64,
    },
    /// A table is not as large as the settings say.
    #[error("{what} has {found} entries, not {expected}")]
    Count {
        /// The table.
        what: &'static str,
        /// Entries that were written.
        found: u64,
        /// Entries that the settings ask for.
        expected: u64,
    },
    /// A number lies beyond what the machine has.
    #[error("{what} {value} is beyond those of the machine, which has {count}")]
    Beyond {
        /// The kind of number.
        what: &'static str,
        /// The number.
        value: u64,
        /// How many there are.
        count: u64,
    },
    /// A value that follows from the settings, and is another one.
    #[error("{0} is not what the settings say")]
    Setting(&'static str),
    /// Values that do not fit each other.
    #[error("its parts do not fit each other: {0}")]
    State(String),
    /// A machine that the state speaks of cannot be built.
    #[error("{0}")]
    Machine(String),
    /// The system could not read.
    #[error("{0}")]
    Read(#[from] io::Error),
}
