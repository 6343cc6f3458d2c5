//! What a state lacks, in words.

use crate::history::{FlushId, History, WriteId};
use crate::state::CrashState;
use outlast_units::{Lba, Nanos};
use serde::Serialize;

/// A flush that covered what is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Covering {
    /// Its number.
    pub number: u32,
    /// When it was acknowledged.
    pub acknowledged_ns: u64,
}

/// A write that is lost, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// The write's number.
    pub write: u32,
    /// The first sector that is lost.
    pub lba: u64,
    /// How many are.
    pub sectors: u64,
    /// When it was asked for.
    pub submitted_ns: u64,
    /// When it was acknowledged, if it was.
    pub acknowledged_ns: Option<u64>,
    /// What should have kept it.
    pub flush: Option<Covering>,
    /// All that in a sentence without its full stop.
    pub text: String,
}

impl CrashState {
    /// What is lost, write by write.
    pub fn witnesses(&self, history: &History) -> Vec<Witness> {
        let of_write = |pieces: &[crate::pieces::Piece]| {
            let sectors = pieces.iter().map(|piece| u64::from(piece.sectors)).sum();
            witness(history, self.cut, self.at, pieces[0].write, pieces[0].lba, sectors)
        };
        self.lost.by_write().map(of_write).collect()
    }
}

fn witness(history: &History, cut: usize, at: Nanos, id: WriteId, lba: u64, sectors: u64) -> Witness {
    let write = &history.writes[id.0 as usize];
    let time = |event: usize| history.events[event].at;
    let told = |event: usize| {
        if history.has_times { format!("at {}", seconds(time(event))) } else { format!("as event {event}") }
    };
    let acknowledged = write.completed.filter(|&event| event < cut);
    let covered = write.covered.filter(|&(event, _)| event < cut);
    let what = match (write.is_trim, matches!(write.data, crate::history::Data::Zeroes)) {
        (true, _) => "trim",
        (false, true) => "write of zeroes",
        (false, false) => "write",
    };
    let whole = u64::from(write.sectors) == sectors;
    let part = if whole { String::new() } else { format!("{sectors} of {} sectors of ", write.sectors) };
    let heard = acknowledged
        .map_or_else(|| "not acknowledged".to_owned(), |event| format!("acknowledged {}", told(event)));
    let kept = match covered {
        None => "not covered by a flush".to_owned(),
        Some((_, None)) => "with forced unit access: the device did not keep its promise".to_owned(),
        Some((event, Some(FlushId(flush)))) => {
            format!(
                "covered by flush {flush}, acknowledged {}: the device did not keep its promise",
                told(event)
            )
        }
    };
    let when = if history.has_times { format!("at {}", seconds(at)) } else { format!("after {cut} events") };
    let text = format!("{part}{what} {} to sector {lba}, {heard}, {kept}, when power failed {when}", id.0);
    Witness {
        write: id.0,
        lba: Lba(lba).0,
        sectors,
        submitted_ns: time(write.submitted).0,
        acknowledged_ns: acknowledged.map(|event| time(event).0),
        flush: covered.and_then(|(event, flush)| {
            flush.map(|FlushId(number)| Covering { number, acknowledged_ns: time(event).0 })
        }),
        text,
    }
}

/// A time for people, to the microsecond.
fn seconds(at: Nanos) -> String {
    format!("{:.6} s", at.0 as f64 / 1e9)
}
