//! A history as a log.

use super::{CAPACITY, Writer};
use crate::history::{Data, History, What, WriteId};
use outlast_units::SECTOR_BYTES;
use std::io::{self, Read, Seek, Write};

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
    writer.mark(&format!("{CAPACITY}{}", history.capacity * SECTOR_BYTES))?;
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
        Data::At { .. } => {
            let mut bytes = Bytes { history, id, lba, left: write.sectors, buffer: Vec::new(), at: 0 };
            writer.write(lba, sectors, fua, &mut bytes)
        }
    }
}

/// What has an entry, by the event at which it stands, and behind it those that such an event puts off.
fn in_order(history: &History) -> Vec<(usize, What)> {
    let flushes = useful_flushes(history);
    let place = |(id, write): (u32, &crate::history::Write)| match (write.fua, write.completed) {
        (true, Some(completed)) => (completed, What::WriteDone(WriteId(id))),
        (_, completed) => {
            // Both events of these flushes are in the same order: the last is the one that counts.
            let is_before =
                |&(since, _): &(usize, usize)| completed.is_none_or(|completed| since < completed);
            let late = flushes.iter().rev().find(|flush| is_before(flush));
            let late = late.map_or(0, |&(_, done)| done);
            (write.submitted.max(late), What::Write(WriteId(id)))
        }
    };
    let writes = (0..).zip(&history.writes).map(place);
    let flushed = flushes.iter().map(|&(_, done)| (done, history.events[done].what));
    let marks = (0..).zip(&history.marks).map(|(number, mark)| (mark.event, What::Mark(number)));
    // In a place that a flush has, the flush is first; what it puts off keeps the order of its arrival.
    let mut all: Vec<(usize, What)> = flushed.chain(writes).chain(marks).collect();
    all.sort_by_key(|&(event, _)| event);
    all
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

/// The bytes of a write.
struct Bytes<'a> {
    history: &'a History,
    id: WriteId,
    lba: u64,
    left: u32,
    buffer: Vec<u8>,
    at: usize,
}

impl Read for Bytes<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        /// Sectors read at once.
        const STEP: u32 = 2048;
        if self.at == self.buffer.len() {
            let count = self.left.min(STEP);
            self.buffer.resize(count as usize * SECTOR_BYTES as usize, 0);
            self.history.read_write(self.id, self.lba, &mut self.buffer)?;
            (self.lba, self.left, self.at) = (self.lba + u64::from(count), self.left - count, 0);
        }
        let count = to.len().min(self.buffer.len() - self.at);
        to[..count].copy_from_slice(&self.buffer[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
