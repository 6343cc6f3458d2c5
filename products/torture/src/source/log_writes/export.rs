//! Writing a history as a log.

use super::LogWritesWriter;
use crate::history::{CommandHistory, EventKind, RecordedWrite, WriteData, WriteId};
use crate::source::{capacity_mark, write_reader};
use std::collections::BTreeMap;
use std::io::{self, Seek, Write};

/// Writes a history to `to`, which is empty, so that the log allows the same losses as the history.
///
/// In a log a flush covers all entries before it. So a flush stands at the event of its completion, and a write that it does not cover, although it
/// arrived earlier, stands behind it. Every other write stands at its arrival, or at its completion if it has forced unit access. Not kept is that a
/// write was under way together with a flush: the log has no state with such a write and without a write that the flush covers.
///
/// # Errors
/// The log cannot be written, the bytes of a write cannot be read, or a mark is too long for the format.
pub fn export<W: Write + Seek>(history: &CommandHistory, to: W) -> io::Result<W> {
    let mut writer = LogWritesWriter::new(to)?;
    writer.mark(&capacity_mark(history.capacity))?;
    for (_, kind) in ordered_entries(history) {
        match kind {
            EventKind::Write(id) | EventKind::WriteDone(id) => write_entry(history, id, &mut writer)?,
            EventKind::Flush(_) | EventKind::FlushDone(_) => writer.flush()?,
            EventKind::Mark(number) => writer.mark(&history.marks[number as usize].text)?,
        }
    }
    writer.end()
}

fn write_entry<W: Write + Seek>(
    history: &CommandHistory,
    id: WriteId,
    writer: &mut LogWritesWriter<W>,
) -> io::Result<()> {
    let write = &history.writes[id.0 as usize];
    let (lba, sectors) = (write.lba.0, u64::from(write.sectors));
    let fua = write.fua && write.completed.is_some();
    match write.data {
        WriteData::Zeroes => writer.discard(lba, sectors, fua),
        WriteData::At { .. } => writer.write(lba, sectors, fua, &mut write_reader(history, id)),
    }
}

/// Entries of the log, each with the event at which it stands, in order.
fn ordered_entries(history: &CommandHistory) -> Vec<(usize, EventKind)> {
    let flushes = useful_flushes(history);
    let mut places: Vec<usize> = history.writes.iter().map(|write| entry_event(write, &flushes)).collect();
    keep_order(&history.writes, &mut places);
    let kind = |write: &RecordedWrite| if write.fua { EventKind::WriteDone } else { EventKind::Write };
    let writes = (0..).zip(history.writes.iter().zip(&places));
    let writes = writes.map(|(id, (write, &place))| (place, kind(write)(WriteId(id))));
    let flushed = flushes.iter().map(|&(_, done)| (done, history.events[done].kind));
    let marks = (0..).zip(&history.marks).map(|(number, mark)| (mark.event, EventKind::Mark(number)));
    // Stable: at the event of a flush, the flush comes first; writes behind it keep the order of their arrival.
    let mut all: Vec<(usize, EventKind)> = flushed.chain(writes).chain(marks).collect();
    all.sort_by_key(|&(event, _)| event);
    all
}

/// The event at which a write stands in the log.
fn entry_event(write: &RecordedWrite, flushes: &[(usize, usize)]) -> usize {
    if let (true, Some(completed)) = (write.fua, write.completed) {
        return completed;
    }
    // Flushes are in order of arrival, so those that do not cover the write are the first ones; it stands behind the last of these.
    let uncovering =
        flushes.partition_point(|&(since, _)| write.completed.is_none_or(|completed| since < completed));
    let late = uncovering.checked_sub(1).map_or(0, |last| flushes[last].1);
    write.submitted.max(late)
}

/// Moves a write before all later writes to one of its sectors, which would else be overwritten by older data. It may then stand before a flush that
/// does not cover it, and so be safer than it was, but only in sectors that are not overwritten.
fn keep_order(writes: &[RecordedWrite], places: &mut [usize]) {
    let mut first: BTreeMap<u64, usize> = BTreeMap::new();
    for (write, place) in writes.iter().zip(places).rev() {
        let later = write.range().filter_map(|sector| first.get(&sector).copied()).min();
        *place = later.map_or(*place, |later| later.min(*place));
        first.extend(write.range().map(|sector| (sector, *place)));
    }
}

/// Arrivals and completions of flushes, in order of both; without flushes that completed after one that arrived later and so covers more.
fn useful_flushes(history: &CommandHistory) -> Vec<(usize, usize)> {
    let mut useful: Vec<(usize, usize)> = Vec::new();
    for flush in history.flushes.iter().rev() {
        if let Some(completed) = flush.completed
            && useful.last().is_none_or(|&(_, later)| completed < later)
        {
            useful.push((flush.submitted, completed));
        }
    }
    useful.reverse();
    useful
}
