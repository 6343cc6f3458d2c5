//! Random histories, and a reference model of the contract that is applied sector by sector.
#![allow(dead_code, reason = "each test binary uses its own part")]

use outlast_torture::{CommandHistory, FlushId, HistoryBuilder, WriteData, WriteId};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Sectors of the device.
pub(crate) const SECTORS: u64 = 24;
const SECTOR: usize = SECTOR_BYTES as usize;

/// One step of a random history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write {
        lba: u64,
        sectors: u64,
        content: u8,
        fua: bool,
        is_trim: bool,
    },
    Flush,
    /// One of the commands under way completes.
    Complete {
        which: usize,
    },
    Mark,
}

pub(crate) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    // Few contents, so that some states are equal that have not lost the same.
    let write = (0..SECTORS, 1..9u64, 0..5u8, prop::bool::weighted(0.1), prop::bool::weighted(0.1)).prop_map(
        |(lba, sectors, content, fua, is_trim)| Step::Write {
            lba,
            sectors: sectors.min(SECTORS - lba),
            content,
            fua,
            is_trim,
        },
    );
    let complete = any::<usize>().prop_map(|which| Step::Complete { which });
    prop::collection::vec(
        prop_oneof![4 => write, 5 => complete, 1 => Just(Step::Flush), 1 => Just(Step::Mark)],
        1..most,
    )
}

#[derive(Clone, Debug)]
struct PlainWrite {
    range: std::ops::Range<u64>,
    /// One byte for all; zeroes are 0.
    content: u8,
    fua: bool,
    id: WriteId,
}

#[derive(Clone, Debug)]
enum PlainEvent {
    Write(usize),
    WriteDone(usize),
    Flush(usize),
    FlushDone(usize),
    Mark,
}

/// Reference model: all events, gone through from the first for every question.
pub(crate) struct PlainContract {
    versions: Vec<PlainWrite>,
    events: Vec<PlainEvent>,
    flushes: usize,
}

/// Bytes of a version in a sector; they differ by sector, so that a misplaced sector is noticed.
fn sector(content: u8, lba: u64) -> Vec<u8> {
    if content == 0 {
        vec![0; SECTOR]
    } else {
        vec![content ^ (lba as u8).wrapping_mul(16).wrapping_add(128); SECTOR]
    }
}

impl PlainContract {
    /// For each write, `None` if it had not arrived, and else true if it must survive a loss of power after `cut` events.
    fn must_survive(&self, cut: usize) -> Vec<Option<bool>> {
        let mut known = vec![None; self.versions.len()];
        let mut done = vec![false; self.versions.len()];
        let mut promised: Vec<Vec<usize>> = vec![Vec::new(); self.flushes];
        for event in &self.events[..cut] {
            match *event {
                PlainEvent::Write(write) => known[write] = Some(false),
                PlainEvent::WriteDone(write) => {
                    done[write] = true;
                    if self.versions[write].fua {
                        known[write] = Some(true);
                    }
                }
                PlainEvent::Flush(flush) => {
                    promised[flush] = (0..done.len()).filter(|&write| done[write]).collect();
                }
                PlainEvent::FlushDone(flush) => {
                    for &write in &promised[flush] {
                        known[write] = Some(true);
                    }
                }
                PlainEvent::Mark => {}
            }
        }
        known
    }

    /// For each sector, the contents that it may have.
    pub(crate) fn allowed(&self, cut: usize) -> Vec<BTreeSet<Vec<u8>>> {
        let known = self.must_survive(cut);
        let mut allowed: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::from([vec![0; SECTOR]]); SECTORS as usize];
        for (version, known) in self.versions.iter().zip(known) {
            let Some(is_sure) = known else { continue };
            for lba in version.range.clone() {
                let contents = &mut allowed[lba as usize];
                if is_sure {
                    contents.clear();
                }
                contents.insert(sector(version.content, lba));
            }
        }
        allowed
    }

    /// Content of the device if these writes are lost, as far as they may be.
    fn without(&self, known: &[Option<bool>], lost: &[usize]) -> Vec<u8> {
        let mut content = vec![0; SECTORS as usize * SECTOR];
        for lba in 0..SECTORS {
            let covers = |&write: &usize| known[write].is_some() && self.versions[write].range.contains(&lba);
            let arrived: Vec<usize> = (0..known.len()).filter(covers).collect();
            let sure = arrived.iter().rposition(|&write| known[write] == Some(true)).unwrap_or(0);
            let there = arrived[sure.min(arrived.len())..]
                .iter()
                .rev()
                .find(|&&write| known[write] == Some(true) || !lost.contains(&write));
            if let Some(&write) = there {
                let at = lba as usize * SECTOR;
                content[at..at + SECTOR].copy_from_slice(&sector(self.versions[write].content, lba));
            }
        }
        content
    }

    /// Contents that must be among the states: nothing lost, everything, each write alone lost, each alone kept, all from one on; where no more
    /// than three writes are open, every subset of them.
    pub(crate) fn subsets(&self, cut: usize) -> Vec<Vec<u8>> {
        let known = self.must_survive(cut);
        let open: Vec<usize> = (0..known.len()).filter(|&write| known[write] == Some(false)).collect();
        let but = |kept: usize| open.iter().copied().filter(|&write| write != kept).collect::<Vec<_>>();
        let mut lost: Vec<Vec<usize>> = vec![Vec::new(), open.clone()];
        for (at, &write) in open.iter().enumerate() {
            lost.extend([vec![write], but(write), open[at..].to_vec()]);
        }
        if open.len() <= 3 {
            let subset =
                |bits: usize| (0..open.len()).filter(|at| bits >> at & 1 == 1).map(|at| open[at]).collect();
            lost.extend((0..1 << open.len()).map(subset));
        }
        lost.iter().map(|lost| self.without(&known, lost)).collect()
    }
}

/// Plays steps on a history builder and on the reference model.
pub(crate) fn play(steps: &[Step]) -> (CommandHistory, PlainContract) {
    enum UnderWay {
        Write(usize),
        Flush(usize, FlushId),
    }
    let (mut builder, mut source) = (HistoryBuilder::new(), Vec::new());
    let mut plain = PlainContract { versions: Vec::new(), events: Vec::new(), flushes: 0 };
    let mut under_way: Vec<UnderWay> = Vec::new();
    for step in steps {
        let at = Nanos(builder.len() as u64);
        match *step {
            Step::Write { lba, sectors, content, fua, is_trim } => {
                let content = if is_trim { 0 } else { content };
                let data = WriteData::At { file: 0, offset: source.len() as u64 };
                let data = if is_trim { WriteData::Zeroes } else { data };
                (lba..lba + sectors).filter(|_| !is_trim).for_each(|lba| source.extend(sector(content, lba)));
                let id = builder.write(at, Lba(lba), sectors as u32, data, (fua, is_trim));
                under_way.push(UnderWay::Write(plain.versions.len()));
                plain.events.push(PlainEvent::Write(plain.versions.len()));
                plain.versions.push(PlainWrite { range: lba..lba + sectors, content, fua, id });
            }
            Step::Flush => {
                under_way.push(UnderWay::Flush(plain.flushes, builder.flush(at)));
                plain.events.push(PlainEvent::Flush(plain.flushes));
                plain.flushes += 1;
            }
            Step::Complete { .. } if under_way.is_empty() => {}
            Step::Complete { which } => match under_way.remove(which % under_way.len()) {
                UnderWay::Write(write) => {
                    builder.write_done(at, plain.versions[write].id);
                    plain.events.push(PlainEvent::WriteDone(write));
                }
                UnderWay::Flush(flush, id) => {
                    builder.flush_done(at, id);
                    plain.events.push(PlainEvent::FlushDone(flush));
                }
            },
            Step::Mark => {
                builder.mark(at, format!("mark {at}"));
                plain.events.push(PlainEvent::Mark);
            }
        }
    }
    (builder.finish(SECTORS, false, Box::new(source)).unwrap(), plain)
}
