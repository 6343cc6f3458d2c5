//! Decisions of an array that user policies may take in place of the settings: questions and answers.

use crate::{ForkPolicy, LoadedPolicy, QuestionPolicy};
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The user policies of an array; each absent one leaves its decision to the settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayPolicies {
    /// Time and method of the repair of a failed die in a member, in place of `array.repair.way`.
    pub repair: Option<LoadedPolicy<dyn QuestionPolicy<DieRepairQuestion>>>,
    /// Rate of rebuilds and repairs, in place of `array.background.min_rate`, `array.background.max_rate` and
    /// `array.repair.share`.
    pub rebuild: Option<LoadedPolicy<dyn QuestionPolicy<RebuildRateQuestion>>>,
    /// Order in which lost rows are recovered, in place of `array.repair.order`.
    pub repair_order: Option<LoadedPolicy<dyn OrdersRows>>,
}

/// Methods of recovering the data of a failed die.
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
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Die, Self::Assist, Self::Rebuild];

    /// Name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Die => "die",
            Self::Assist => "assist",
            Self::Rebuild => "rebuild",
        }
    }
}

/// A decision about a failed die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairDecision {
    /// Repair it by this method, as soon as that can begin. This is final.
    Now(RepairWay),
    /// Do nothing for this time, then ask again.
    Later(Nanos),
}

crate::question! {
    /// A die of a member has failed: when is it repaired, and how? Asked when the member reports it, and again whenever the time of a
    /// [`RepairDecision::Later`] is over. Not asked if a member is beyond repair, nor without redundancy: then there is no choice.
    pub struct DieRepairQuestion -> RepairDecision {
        /// Current time.
        now_ns: Nanos,
        /// Time at which the member reported the failure.
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
        /// 1 if the host has commands under way, else 0.
        host_active: u8,
        /// Time at which the last command of the host ended.
        last_host_ns: Option<Nanos>,
        /// Number of earlier questions about this die.
        asked: u32,
    }
}

crate::question! {
    /// A member is being rebuilt, or rows of it recovered: at how many bytes per second? The answer is a limit for each member, and holds
    /// until the next question. A fraction of a byte is dropped.
    pub struct RebuildRateQuestion -> f64 {
        /// Current time.
        now_ns: Nanos,
        /// `rebuild`: a member is being filled. `repair`: rows that members have lost with a die are being recovered.
        kind: &'static str,
        /// Groups rebuilt so far, or ranges repaired so far on all members under repair.
        done: u64,
        /// Number of all such groups or ranges.
        total: u64,
        /// Members that are missing or incomplete.
        missing: u32,
        /// 1 if the host has commands under way, else 0.
        host_active: u8,
        /// Time at which the last command of the host ended.
        last_host_ns: Option<Nanos>,
        /// Commands of the host under way.
        under_way: u32,
    }
}

/// Rows that a member has lost with a die, as a table with a column for each property. Each entry lies within one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostRows {
    /// The member's column.
    pub member: u16,
    /// First sector of each entry, on the member.
    pub sector: Vec<u64>,
    /// Sectors of each entry.
    pub sectors: Vec<u32>,
    /// Number of other members that lack some of the same rows.
    pub exposure: Vec<u32>,
    /// True if the member can still read the entry, and only asks for it to be written again.
    pub readable: Vec<bool>,
}

impl LostRows {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.sector.len()
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.sector.is_empty()
    }
}

/// The order in which the lost rows of a member are recovered. Asked once all its lost rows are identified, and again, with the rows that
/// remain, when those of another member are.
///
/// The built-in orders are those that `array.repair.order` names.
pub trait OrdersRows: fmt::Debug + Send + Sync {
    /// A score for each of `rows`. Lower scores go first; of equal ones, lower addresses.
    ///
    /// # Errors
    /// The error of the user's code, in one line: the run ends.
    fn order(&mut self, rows: &LostRows) -> Result<Vec<f64>, String>;

    /// A copy in the same state, for an array that is forked.
    fn fork(&self) -> Box<dyn OrdersRows>;
}

impl ForkPolicy for dyn OrdersRows {
    fn fork(&self) -> Box<Self> {
        OrdersRows::fork(self)
    }
}
