//! What disks are asked, and what they answer.

use crate::support::command;
use outlast_device::{Command, Op, Outcome};
use outlast_units::SECTOR_BYTES;

/// What a disk is asked.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Read {
        lba: u64,
        sectors: u64,
    },
    /// `version` is for the one who asks.
    Write {
        lba: u64,
        data: Vec<u8>,
        fua: bool,
        version: u64,
    },
    Trim {
        lba: u64,
        sectors: u64,
    },
    Flush,
}

impl Ask {
    pub(crate) fn command(&self) -> Command {
        match *self {
            Self::Read { lba, sectors } => command(Op::Read, lba, sectors as u32),
            Self::Write { lba, ref data, fua, .. } => {
                Command { fua, ..command(Op::Write, lba, (data.len() as u64 / SECTOR_BYTES) as u32) }
            }
            Self::Trim { lba, sectors } => command(Op::Trim, lba, sectors as u32),
            Self::Flush => command(Op::Flush, 0, 0),
        }
    }

    pub(crate) fn data(&self) -> &[u8] {
        if let Self::Write { data, .. } = self { data } else { &[] }
    }
}

/// What comes of it.
#[derive(Debug)]
pub(crate) enum AskOutcome {
    /// Done, with the bytes of a read.
    Done(Vec<u8>),
    OutOfRange,
    Failed,
}

impl AskOutcome {
    pub(crate) fn of(outcome: Outcome, data: Option<Vec<u8>>) -> Self {
        match outcome {
            Outcome::Ok => Self::Done(data.unwrap_or_default()),
            Outcome::OutOfRange | Outcome::InvalidNamespace | Outcome::Zone(_) | Outcome::InvalidOpcode => {
                Self::OutOfRange
            }
            Outcome::MediumError | Outcome::ReadOnly | Outcome::Aborted => Self::Failed,
        }
    }
}
