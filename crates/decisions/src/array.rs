//! Code of the user's that decides for an array in the place of settings: what it is told, and what it may answer.

use crate::{Decides, Forks, Loaded};
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Code of the user's that decides in the place of built-in policies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnDecisions {
    /// When and how the failure of a die in a member is repaired, in the place of `array.repair.way`.
    pub repair: Option<Loaded<dyn Decides<Failure>>>,
    /// How fast members are rebuilt and repaired, in the place of `array.background.min_rate`, `array.background.max_rate` and
    /// `array.repair.share`.
    pub rebuild: Option<Loaded<dyn Decides<Pace>>>,
    /// Which of the rows that a member has lost are recovered first, in the place of `array.repair.order`.
    pub repair_order: Option<Loaded<dyn OrdersRows>>,
}

/// What is recovered, and where to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist,
)]
#[serde(rename_all = "kebab-case")]
pub enum RepairWay {
    /// The failed sectors are computed from the other members and written back to the same member: Reparo, section 4.2.
    #[default]
    Die,
    /// A spare takes the member's place and is filled from the member where that can be read, from the others elsewhere; then the
    /// member leaves: Rebuild Assist, Reparo's baseline. Waits for a spare.
    Assist,
    /// The member counts as failed, and is rebuilt on a spare from the others. Waits until the array can do without the member, and for
    /// members that report to be beyond repair and are replaced with their help.
    Rebuild,
}

impl RepairWay {
    /// All.
    pub const ALL: [Self; 3] = [Self::Die, Self::Assist, Self::Rebuild];

    /// The way as it is written in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Die => "die",
            Self::Assist => "assist",
            Self::Rebuild => "rebuild",
        }
    }
}

/// What is done about a failed die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairDecision {
    /// It is repaired like this, as soon as that can begin. This is final.
    Now(RepairWay),
    /// Nothing is done for so long; then the question is asked again.
    Later(Nanos),
}

crate::question! {
    /// A die of a member has failed: when is that repaired, and how? Asked when the member tells of it, and again whenever the time of a
    /// [`RepairDecision::Later`] is over. Not asked where a member is beyond repair, nor without redundancy: nothing is to be decided there.
    pub struct Failure -> RepairDecision {
        /// The time.
        now_ns: Nanos,
        /// When the member told of it.
        told_ns: Nanos,
        /// The member's column.
        member: u16,
        /// The die.
        die: u16,
        /// The member's age, in percent of what it is rated for, as its health log tells.
        percent_used: f64,
        /// Dies of this member that have failed, this one included, repaired or not.
        dies: u32,
        /// Members that are missing or incomplete.
        missing: u32,
        /// Members that are being repaired.
        repairing: u32,
        /// Spare devices.
        spares: u32,
        /// Whether the host has commands under way: 0 or 1.
        host_active: u8,
        /// When the host last was served.
        last_host_ns: Option<Nanos>,
        /// How often this was asked before about this die.
        asked: u32,
    }
}

crate::question! {
    /// A member is being rebuilt, or rows of it recovered: how many bytes a second may that be? Each member may take so many; the answer holds
    /// until the next question. A fraction of a byte is dropped.
    pub struct Pace -> f64 {
        /// The time.
        now_ns: Nanos,
        /// `rebuild`: a member is being filled. `repair`: members get rows back that they have lost with a die.
        kind: &'static str,
        /// Groups that are rebuilt, or ranges that are repaired, on all members that are.
        done: u64,
        /// How many there are.
        total: u64,
        /// Members that are missing or incomplete.
        missing: u32,
        /// Whether the host has commands under way: 0 or 1.
        host_active: u8,
        /// When the host last was served.
        last_host_ns: Option<Nanos>,
        /// Commands of the host under way.
        under_way: u32,
    }
}

/// Rows that a member has lost with a die, each within one chunk: a column for each thing that is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostRows {
    /// The member's column.
    pub member: u16,
    /// The first sector of each, on the member.
    pub sector: Vec<u64>,
    /// Sectors of each.
    pub sectors: Vec<u32>,
    /// How many other members lack something of the same rows.
    pub exposure: Vec<u32>,
    /// Whether the member can still read them, and only wants them written elsewhere.
    pub readable: Vec<bool>,
}

impl LostRows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.sector.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sector.is_empty()
    }
}

/// In which order the rows that a member has lost are recovered. Asked once everything that it has lost is known, and again when another
/// member's losses become known: with rows that are left.
///
/// The built-in orders are those that `array.repair.order` names.
pub trait OrdersRows: fmt::Debug + Send + Sync {
    /// A score for each of `rows`, the least first; of equal ones the one with the lower address.
    ///
    /// # Errors
    /// What went wrong, in one line: the run ends.
    fn order(&mut self, rows: &LostRows) -> Result<Vec<f64>, String>;

    /// Another one in the same state, for an array that is forked.
    fn fork(&self) -> Box<dyn OrdersRows>;
}

impl Forks for dyn OrdersRows {
    fn fork(&self) -> Box<Self> {
        OrdersRows::fork(self)
    }
}
