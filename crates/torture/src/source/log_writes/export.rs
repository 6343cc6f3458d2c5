//! A history as a log.

use super::Writer;
use crate::history::{Data, History, What, Write as Written, WriteId};
use crate::source::{capacity_mark, copy_of};
use std::collections::BTreeMap;
use std::io::{self, Seek, Write};

/// Writes a history to `to`, which is empty, so that what the log's entries allow to be lost is what the history allows.
///
/// In a log a flush covers all before it. So it stands where it completed, and a write that it does not cover, although it arrived before that,
/// stands behind it; every other write stands where it arrived, or where it completed if it is durable then. What is lost is that a write was under
/// way while a flush was: the log has no state with such a write and without one that the flush covers.
///
/// # Errors
/// It cannot be written, the bytes of a write cannot be read, or a mark is too long for the format.
pub fn export<W: Write + Seek>(history: &History, to: W) -> io::Result<W> {
    let mut writer = Writer::new(to)?;
    writer.mark(&capacity_mark(history.capacity))?;
    for (_, what) in in_order(history) {
        match what {
            What::Write(id) | What::WriteDone(id) => entry(history, id, &mut writer)?,
            What::Flush(_) | What::FlushDone(_) => writer.flush()?,
            What::Mark(number) => writer.mark(&history.marks[number as usize].text)?,
        }
    }
    writer.end()
}

fn entry<W: Write + Seek>(history: &History, id: WriteId, writer: &mut Writer<W>) -> io::Result<()> {
    let write = &history.writes[id.0 as usize];
    let (lba, sectors) = (write.lba.0, u64::from(write.sectors));
    let fua = write.fua && write.completed.is_some();
    match write.data {
        Data::Zeroes => writer.discard(lba, sectors, fua),
        Data::At { .. } => writer.write(lba, sectors, fua, &mut copy_of(history, id)),
    }
}

/// What has an entry, by the event at which it stands, and behind it those that such an event puts off.
fn in_order(history: &History) -> Vec<(usize, What)> {
    let flushes = useful_flushes(history);
    let mut places: Vec<usize> = history.writes.iter().map(|write| place(write, &flushes)).collect();
    keep_order(&history.writes, &mut places);
    let kind = |write: &Written| if write.fua { What::WriteDone } else { What::Write };
    let writes = (0..).zip(history.writes.iter().zip(&places));
    let writes = writes.map(|(id, (write, &place))| (place, kind(write)(WriteId(id))));
    let flushed = flushes.iter().map(|&(_, done)| (done, history.events[done].what));
    let marks = (0..).zip(&history.marks).map(|(number, mark)| (mark.event, What::Mark(number)));
    // In a place that a flush has, the flush is first; what it puts off keeps the order of its arrival.
    let mut all: Vec<(usize, What)> = flushed.chain(writes).chain(marks).collect();
    all.sort_by_key(|&(event, _)| event);
    all
}

/// The event at which a write stands.
fn place(write: &Written, flushes: &[(usize, usize)]) -> usize {
    if let (true, Some(completed)) = (write.fua, write.completed) {
        return completed;
    }
    // The flushes that do not cover it are the first ones; what counts is the last of them.
    let uncovering = flushes.partition_point(|&(since, _)| write.completed.is_none_or(|own| since < own));
    let late = uncovering.checked_sub(1).map_or(0, |last| flushes[last].1);
    write.submitted.max(late)
}

/// Nothing stands behind what arrived after it and has the same sector: that would bring back what has been overwritten. It stands before a flush
/// then that does not cover it, and so seems safer than it was, but only where it has not been overwritten.
fn keep_order(writes: &[Written], places: &mut [usize]) {
    let mut first: BTreeMap<u64, usize> = BTreeMap::new();
    for (write, place) in writes.iter().zip(places).rev() {
        let later = write.range().filter_map(|sector| first.get(&sector).copied()).min();
        *place = later.map_or(*place, |later| later.min(*place));
        first.extend(write.range().map(|sector| (sector, *place)));
    }
}

/// When flushes arrived and completed, in order of both: without those that completed only after one that had arrived later, and covered more.
fn useful_flushes(history: &History) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for flush in history.flushes.iter().rev() {
        if let Some(completed) = flush.completed
            && found.last().is_none_or(|&(_, later)| completed < later)
        {
            found.push((flush.submitted, completed));
        }
    }
    found.reverse();
    found
}
