//! The names of states: by its name there is the same state again.

use crate::error::TortureError;
use outlast_units::Nanos;
use std::fmt;
use std::str::FromStr;

/// The name of a crash state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateId {
    /// After so many events, with some writes lost: `contract@812`, `contract@812-3,7:4711+8`; `lost@…` where what a flush covered may be among
    /// them.
    Lost {
        /// Whether only what the contract allows is lost.
        is_allowed: bool,
        /// Events that have happened.
        cut: usize,
        /// What is lost, as pieces are named.
        lost: Vec<String>,
    },
    /// What a machine leaves when its power fails at a time: `drive@12345678`, `die3@12345678`.
    Machine {
        /// Which machine, and what else happens to it.
        what: String,
        /// The time, in nanoseconds of its own.
        at: Nanos,
    },
}

impl StateId {
    /// The part before the `@`.
    pub fn model(&self) -> &str {
        match self {
            Self::Lost { is_allowed: true, .. } => "contract",
            Self::Lost { is_allowed: false, .. } => "lost",
            Self::Machine { what, .. } => what,
        }
    }
}

impl fmt::Display for StateId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}@", self.model())?;
        match self {
            Self::Lost { cut, lost, .. } if lost.is_empty() => write!(to, "{cut}"),
            Self::Lost { cut, lost, .. } => write!(to, "{cut}-{}", lost.join(",")),
            Self::Machine { at, .. } => write!(to, "{}", at.0),
        }
    }
}

impl FromStr for StateId {
    type Err = TortureError;

    fn from_str(text: &str) -> Result<Self, TortureError> {
        let bad = |why| TortureError::state(text, why);
        let (model, rest) = text
            .split_once('@')
            .ok_or_else(|| bad("must be MODEL@PLACE, such as contract@812 or drive@12.5s"))?;
        if model != "contract" && model != "lost" {
            let at = rest.parse().map(Nanos).or_else(|_| rest.parse());
            let at = at.map_err(|_| bad("its time must be in nanoseconds, or such as 12.345s"))?;
            return Ok(Self::Machine { what: model.to_owned(), at });
        }
        let (cut, lost) = rest.split_once('-').map_or((rest, ""), |(cut, lost)| (cut, lost));
        let cut = cut.parse().map_err(|_| bad("the number of events must come after the @"))?;
        let lost = lost.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Ok(Self::Lost { is_allowed: model == "contract", cut, lost })
    }
}
