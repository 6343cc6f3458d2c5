//! One sensing: which units the ECC gives, and how likely each was to fail.

use super::odds::LineOdds;
use super::places::{block_and_row, broken_units, units};
use super::tails::UnitTail;
use super::{CoreCells, Reliability};
use crate::op::OpKind;
use outlast_ftl::{Ftl, PuPlace};
use outlast_media::{CalmSensing, DataAge, DieFaults, RowSensing};
use outlast_units::{BlockIndex, Group, Nanos, Ppn, Pu, Row};

/// A read at the moment of a sensing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub kind: OpKind,
    /// Program unit, and those of its units that have not been got, one bit each.
    pub pu: Pu,
    pub wanted: u64,
    /// Step: 0 is the plain read, every re-read is one further.
    pub step: u16,
    /// True if nothing has been sensed for this read before.
    pub is_first: bool,
}

/// What a sensing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sensed {
    /// Units that were wanted and that the ECC does not give, one bit each.
    pub failing: u64,
    /// The step that the sensing took: a history of steps may have begun further on.
    pub step: u16,
}

/// What becomes of the exact probabilities of the units that a read asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sums {
    /// They are not summed: not a first read for the host.
    None,
    /// They are summed; nothing but re-reads helps.
    Unstriped,
    /// They are summed; the units' lines may help.
    Striped,
}

impl Sums {
    #[inline]
    fn of(ftl: &Ftl, read: &Attempt, place: &PuPlace) -> Self {
        if !(read.is_first && read.kind == OpKind::HostRead) {
            Self::None
        } else if ftl.superblock(place.superblock).has_parity() {
            Self::Striped
        } else {
            Self::Unstriped
        }
    }
}

impl Reliability {
    /// True if [`Reliability::sense_small`] does for reads of kind `kind`, in a drive without faults: by far the most frequent case.
    #[inline]
    pub(crate) fn is_plain(&self, kind: OpKind) -> bool {
        self.is_simple
            && kind != OpKind::PatrolRead
            && (self.collection_disturbs || kind != OpKind::RelocationRead)
    }

    /// A die of a drive without faults, which keeps no history of steps, senses units within a page. Returns the units that fail.
    #[inline]
    pub(crate) fn sense_small(&mut self, ftl: &Ftl, own: &mut CoreCells, read: &Attempt, at: Nanos) -> u64 {
        if read.wanted.is_power_of_two() {
            self.sense_page(ftl, own, read, read.wanted, at)
        } else {
            self.sense_pages(ftl, own, read, at)
        }
    }

    /// [`Reliability::sense_small`] of several units.
    #[inline(never)]
    fn sense_pages(&mut self, ftl: &Ftl, own: &mut CoreCells, read: &Attempt, at: Nanos) -> u64 {
        let layout = ftl.layout();
        let (mut rest, mut failing) = (read.wanted, 0);
        while rest != 0 {
            let page = layout.units_of_page(layout.page_of(Ppn(rest.trailing_zeros())));
            failing |= self.sense_page(ftl, own, read, rest & page, at);
            rest &= !page;
        }
        failing
    }

    /// [`Reliability::sense_small`] of the units `wanted`, all of one page. Not inlined: what is live around it would be in its way.
    #[inline(never)]
    fn sense_page(&mut self, ftl: &Ftl, own: &mut CoreCells, read: &Attempt, wanted: u64, at: Nanos) -> u64 {
        debug_assert!(wanted != 0 && wanted & !read.wanted == 0, "units are sensed that nobody wants");
        let layout = ftl.layout();
        let (place, group) = layout.place_and_group(read.pu);
        let (block, row) = block_and_row(ftl, &place, layout.page_of(Ppn(wanted.trailing_zeros())));
        let (sums, age) = (Sums::of(ftl, read, &place), own.cells.age(group, at));
        let CalmSensing { p_most, luck, ln_rber } =
            match own.cells.sense_calm(block, row, age, sums != Sums::None) {
                Some(seen) => seen,
                None => self.sense_restless(own, block, row, group, at),
            };
        let (mut rest, mut failing) = (wanted, 0);
        while rest != 0 {
            let unit = rest.trailing_zeros();
            rest &= rest - 1;
            let u = luck.of(unit);
            if u < p_most && self.fails(own, (block, row), age, u, read) {
                failing |= 1 << unit;
            }
            match sums {
                Sums::None => {}
                Sums::Unstriped => {
                    let ladder = self.of_one.as_ref().unwrap_or(&self.ladder);
                    self.tails.add_plain(ladder, ln_rber);
                }
                Sums::Striped => self.add_striped(ftl, own, (read.pu, unit), ln_rber, at),
            }
            if read.is_first && self.histogram.is_turn() {
                let one = self.decodes_one(read.kind);
                self.histogram.sample(u, own.cells.ln_rber_sensed(block, row, age), one);
            }
        }
        failing
    }

    /// A die senses a page of a block that is not calm, or not yet.
    #[cold]
    #[inline(never)]
    fn sense_restless(
        &self,
        own: &mut CoreCells,
        block: BlockIndex,
        row: Row,
        group: Group,
        at: Nanos,
    ) -> CalmSensing {
        let RowSensing { ln_rber, luck } = own.cells.sense(block, row, group, at);
        let p_most = own.cells.expect_calm(block, own.cells.age(group, at), self.ladder.table());
        CalmSensing { p_most, luck, ln_rber }
    }

    /// True if a unit of bad luck `u` of a page of age `age` that has just been sensed fails.
    #[inline(never)]
    fn fails(
        &self,
        own: &CoreCells,
        (block, row): (BlockIndex, Row),
        age: DataAge,
        u: f64,
        read: &Attempt,
    ) -> bool {
        let ln_rber = own.cells.ln_rber_sensed(block, row, age);
        self.ladder_of(read.kind).fails_at(u, ln_rber, u32::from(read.step))
    }

    fn decodes_one(&self, kind: OpKind) -> bool {
        self.of_one.is_some() && kind == OpKind::HostRead
    }

    /// Adds the probabilities of a unit with parity, within a page, whose first read saw `ln_rber`.
    #[inline(never)]
    fn add_striped(&mut self, ftl: &Ftl, own: &CoreCells, (pu, unit): (Pu, u32), ln_rber: f64, at: Nanos) {
        let mut tail = UnitTail::default();
        tail.add(self.ladder_of(OpKind::HostRead), ln_rber, 0);
        let (cells, ladder, limit) = (&own.cells, &self.ladder, self.retries.first(true));
        let lines = LineOdds { ftl, cells, faults: None, ladder, limit, at };
        self.tails.add_striped(&tail, || lines.ln_fail(pu, unit));
    }

    /// Any read of any drive whose flash errs; what faults keep from it is not taken into account.
    #[inline(never)]
    pub(crate) fn sense_any(
        &mut self,
        ftl: &Ftl,
        own: &mut CoreCells,
        faults: Option<&DieFaults>,
        read: &Attempt,
        at: Nanos,
    ) -> Sensed {
        let layout = ftl.layout();
        let (place, group) = layout.place_and_group(read.pu);
        let sums = Sums::of(ftl, read, &place);
        let any_broken = faults.is_some_and(DieFaults::any_broken);
        let Attempt { mut step, is_first, .. } = *read;
        let (mut last, mut sensing, mut block) = (u32::MAX, RowSensing::default(), BlockIndex(0));
        let mut failing = 0;
        for unit in units(read.wanted) {
            let mut tail = UnitTail::default();
            for page in layout.pages_of_unit(unit) {
                if page != last {
                    last = page;
                    let row;
                    (block, row) = block_and_row(ftl, &place, page);
                    sensing = if self.collection_disturbs || read.kind != OpKind::RelocationRead {
                        own.cells.sense(block, row, group, at)
                    } else {
                        own.cells.preview_sensing(block, row, group, at)
                    };
                    if is_first && self.has_history && unit == read.wanted.trailing_zeros() {
                        step = own.step(block);
                    }
                }
                let (luck, ln_rber) = (sensing.luck.of(unit), sensing.ln_rber);
                let fails = if read.kind == OpKind::PatrolRead {
                    self.patrol.as_ref().is_some_and(|table| table.fails(luck, ln_rber))
                } else {
                    self.ladder_of(read.kind).fails_at(luck, ln_rber, u32::from(step))
                };
                if sums != Sums::None {
                    tail.add(self.ladder_of(read.kind), ln_rber, step);
                }
                if fails {
                    failing |= 1 << unit;
                } else if step != 0 {
                    own.remember_step(block, step);
                }
                if is_first && self.histogram.is_turn() {
                    let one = self.decodes_one(read.kind);
                    self.histogram.sample(luck, ln_rber, one);
                }
            }
            if sums != Sums::None && any_broken && broken_units(ftl, faults, read.pu, 1 << unit) != 0 {
                tail = UnitTail::BROKEN;
            }
            match sums {
                Sums::None => {}
                Sums::Unstriped => self.tails.add_unstriped(&tail),
                Sums::Striped => {
                    let (cells, ladder, limit) = (&own.cells, &self.ladder, self.retries.first(true));
                    let lines = LineOdds { ftl, cells, faults, ladder, limit, at };
                    self.tails.add_striped(&tail, || lines.ln_fail(read.pu, unit));
                }
            }
        }
        Sensed { failing, step }
    }
}
