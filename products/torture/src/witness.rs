//! Lost writes of a crash state, described in words.

use crate::history::{CommandHistory, FlushId, WriteId};
use crate::state::CrashState;
use outlast_units::{Lba, Nanos};
use serde::Serialize;

/// A flush that covered a lost write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoveringFlush {
    /// Number of the flush.
    pub number: u32,
    /// Time at which it was acknowledged.
    pub acknowledged_ns: u64,
}

/// A write that is lost, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossWitness {
    /// The write's number.
    pub write: u32,
    /// First lost sector.
    pub lba: u64,
    /// Number of lost sectors.
    pub sectors: u64,
    /// Time at which the write arrived.
    pub submitted_ns: u64,
    /// Time at which it was acknowledged, if it was.
    pub acknowledged_ns: Option<u64>,
    /// The flush that should have kept it.
    pub flush: Option<CoveringFlush>,
    /// The same as a sentence, without its full stop.
    pub text: String,
}

impl CrashState {
    /// Lost writes in order of arrival.
    pub fn witnesses(&self, history: &CommandHistory) -> Vec<LossWitness> {
        let of_write = |pieces: &[crate::pieces::WritePiece]| {
            let sectors = pieces.iter().map(|piece| u64::from(piece.sectors)).sum();
            describe_loss(history, self.cut, self.at, pieces[0].write, pieces[0].lba, sectors)
        };
        self.lost.by_write().map(of_write).collect()
    }
}

fn describe_loss(
    history: &CommandHistory,
    cut: usize,
    at: Nanos,
    id: WriteId,
    lba: u64,
    sectors: u64,
) -> LossWitness {
    let write = &history.writes[id.0 as usize];
    let time = |event: usize| history.events[event].at;
    let moment = |event: usize| {
        if history.has_times { format!("at {}", seconds(time(event))) } else { format!("as event {event}") }
    };
    let acknowledged = write.completed.filter(|&event| event < cut);
    let covered = write.covered.filter(|&(event, _)| event < cut);
    let operation = match (write.is_trim, matches!(write.data, crate::history::WriteData::Zeroes)) {
        (true, _) => "trim",
        (false, true) => "write of zeroes",
        (false, false) => "write",
    };
    let whole = u64::from(write.sectors) == sectors;
    let part = if whole { String::new() } else { format!("{sectors} of {} sectors of ", write.sectors) };
    let acknowledgement = acknowledged
        .map_or_else(|| "not acknowledged".to_owned(), |event| format!("acknowledged {}", moment(event)));
    let coverage = match covered {
        None => "not covered by a flush".to_owned(),
        Some((_, None)) => "with forced unit access: the device did not keep its promise".to_owned(),
        Some((event, Some(FlushId(flush)))) => {
            format!(
                "covered by flush {flush}, acknowledged {}: the device did not keep its promise",
                moment(event)
            )
        }
    };
    let when = if history.has_times { format!("at {}", seconds(at)) } else { format!("after {cut} events") };
    let text = format!(
        "{part}{operation} {} to sector {lba}, {acknowledgement}, {coverage}, when power failed {when}",
        id.0
    );
    LossWitness {
        write: id.0,
        lba: Lba(lba).0,
        sectors,
        submitted_ns: time(write.submitted).0,
        acknowledged_ns: acknowledged.map(|event| time(event).0),
        flush: covered.and_then(|(event, flush)| {
            flush.map(|FlushId(number)| CoveringFlush { number, acknowledged_ns: time(event).0 })
        }),
        text,
    }
}

/// A time for people, to the microsecond.
fn seconds(at: Nanos) -> String {
    format!("{:.6} s", at.0 as f64 / 1e9)
}
