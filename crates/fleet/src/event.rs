//! Events that are known beforehand, by time.

use std::cmp::Ordering;

/// Event that is due at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FleetChange {
    /// A missing piece is back; void if its end is another by now.
    PieceEnd { piece: u32 },
    /// A drive fails because another one did.
    Contagion { drive: u32, age: u32 },
    /// A failure has been noticed, and its rebuild takes bandwidth from others.
    RebuildBegin { number: u32 },
    /// A rebuild of another group's drive is over; void if its end is another by now.
    ElsewhereEnd { number: u32 },
    /// A drive of another group fails; void after the meeting.
    ElsewhereFailure { meeting: u32 },
    /// A drive is old enough to be replaced; void if it has been since.
    Retirement { drive: u32, age: u32 },
}

/// A moment in hours with what is due; the earliest is the greatest, as a heap gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FleetEvent {
    pub(crate) at: f64,
    /// Order of arrival: of two at one moment the first comes first.
    pub(crate) number: u64,
    pub(crate) due: FleetChange,
}

impl Eq for FleetEvent {}

impl PartialOrd for FleetEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FleetEvent {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.number.cmp(&self.number))
    }
}
