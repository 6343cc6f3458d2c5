//! Names of crash states, from which a state can be made again.

use crate::error::TortureError;
use outlast_units::Nanos;
use std::fmt;
use std::str::FromStr;

/// The name of a crash state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateId {
    /// A cut after so many events, with some writes lost: `contract@812`, `contract@812-3,7:4711+8`; `lost@…` if writes that a flush covered may be
    /// among them.
    Lost {
        /// True if only writes are lost that the contract allows to be lost.
        is_allowed: bool,
        /// Number of events before the cut.
        cut: usize,
        /// Names of the lost pieces.
        lost: Vec<String>,
    },
    /// State of a simulated device whose power fails at a time: `drive@12345678`, `die3@12345678`.
    Simulated {
        /// Name of a [`CrashModel`](crate::drive::CrashModel).
        model: String,
        /// Time of the device.
        at: Nanos,
    },
}

impl StateId {
    /// The model: the part before the `@`.
    pub fn model(&self) -> &str {
        match self {
            Self::Lost { is_allowed: true, .. } => "contract",
            Self::Lost { is_allowed: false, .. } => "lost",
            Self::Simulated { model, .. } => model,
        }
    }
}

impl fmt::Display for StateId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}@", self.model())?;
        match self {
            Self::Lost { cut, lost, .. } if lost.is_empty() => write!(to, "{cut}"),
            Self::Lost { cut, lost, .. } => write!(to, "{cut}-{}", lost.join(",")),
            Self::Simulated { at, .. } => write!(to, "{}", at.0),
        }
    }
}

impl FromStr for StateId {
    type Err = TortureError;

    fn from_str(text: &str) -> Result<Self, TortureError> {
        let bad = |why| TortureError::state(text, why);
        let (model, position) = text
            .split_once('@')
            .ok_or_else(|| bad("must be MODEL@PLACE, such as contract@812 or drive@12.5s"))?;
        if model != "contract" && model != "lost" {
            let at = position.parse().map(Nanos).or_else(|_| position.parse());
            let at = at.map_err(|_| bad("its time must be in nanoseconds, or such as 12.345s"))?;
            return Ok(Self::Simulated { model: model.to_owned(), at });
        }
        let (cut, lost) = position.split_once('-').unwrap_or((position, ""));
        let cut = cut.parse().map_err(|_| bad("the number of events must come after the @"))?;
        let lost = lost.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Ok(Self::Lost { is_allowed: model == "contract", cut, lost })
    }
}
