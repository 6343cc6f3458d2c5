//! One sensing: which units the ECC gives, and how likely each was to fail.

use super::Retries;
use super::odds::LineOdds;
use super::places::{block_and_row, broken_units, units};
use super::tails::UnitTail;
use super::{CoreCells, Reliability};
use crate::op::OpKind;
use outlast_ftl::{Ftl, PuPlace};
use outlast_media::{CalmSensing, Faults, Sensing};
use outlast_units::{BlockIndex, Group, Nanos, Ppn, Pu, Row};

/// A read at the moment of a sensing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) kind: OpKind,
    /// Program unit, and those of its units that have not been got, one bit each.
    pub(crate) pu: Pu,
    pub(crate) wanted: u64,
    /// Step: 0 is the plain read, every re-read is one further.
    pub(crate) step: u16,
    /// Whether nothing has been sensed for this read before.
    pub(crate) is_first: bool,
}

/// What a sensing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sensed {
    /// Units that were wanted and that the ECC does not give, one bit each.
    pub(crate) failing: u64,
    /// The step that the sensing took: a history of steps may have begun further on.
    pub(crate) step: u16,
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
    /// Whether [`Reliability::sense_small`] does for reads of kind `kind`, in a drive without faults: by far the most frequent case.
    #[inline]
    pub(crate) fn is_plain(&self, kind: OpKind) -> bool {
        self.has_small_units && !self.has_history && kind != OpKind::PatrolRead
    }

    /// A die of a drive without faults, which keeps no history of steps, senses units within a page. Returns the units that fail.
    #[inline]
    pub(crate) fn sense_small(
        &mut self,
        ftl: &Ftl,
        own: &mut CoreCells,
        read: Attempt,
        at: Nanos,
        retries: Retries,
    ) -> u64 {
        let layout = ftl.layout();
        let (place, group) = layout.place_and_group(read.pu);
        let sums = Sums::of(ftl, &read, &place);
        let (mut rest, mut failing) = (read.wanted, 0);
        let (mut last, mut page) = (u32::MAX, SmallPage::default());
        while rest != 0 {
            let unit = rest.trailing_zeros();
            rest &= rest - 1;
            let number = layout.page_of(Ppn(unit));
            if number != last {
                last = number;
                (page.block, page.row) = block_and_row(ftl, &place, number);
                if let Some(calm) = own.cells.sense_calm(page.block, page.row, group, at) {
                    page.calm = calm;
                    page.is_told = sums != Sums::None;
                    if page.is_told {
                        page.ln_rber = own.cells.ln_rber_of_calm(page.block, page.row, calm);
                    }
                } else {
                    let sensing = self.sense_restless(own, page.block, page.row, group, at);
                    (page.calm.luck, page.calm.p_most) = (sensing.luck, f64::INFINITY);
                    (page.ln_rber, page.is_told) = (sensing.ln_rber, true);
                }
            }
            let luck = page.calm.luck.of(unit);
            if luck < page.calm.p_most {
                failing |= u64::from(self.fails(own, page, luck, read.step)) << unit;
            }
            match sums {
                Sums::None => {}
                Sums::Unstriped => self.tails.add_plain(&self.ladder, page.ln_rber),
                Sums::Striped => {
                    let mut tail = UnitTail::default();
                    tail.add(&self.ladder, page.ln_rber, read.step);
                    let (cells, ladder, limit) = (&own.cells, &self.ladder, retries.first(true));
                    let lines = LineOdds { ftl, cells, faults: None, ladder, limit, at };
                    self.tails.add_striped(&tail, || lines.ln_fail(read.pu, unit));
                }
            }
            if read.is_first && self.histogram.is_turn() {
                self.histogram.sample(luck, page.told(own));
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
    ) -> Sensing {
        let sensing = own.cells.sense(block, row, group, at);
        own.cells.expect_calm(block, group, at, self.ladder.table());
        sensing
    }

    /// Whether a unit of bad luck `luck` of a page fails.
    #[inline(never)]
    fn fails(&self, own: &CoreCells, page: SmallPage, luck: f64, step: u16) -> bool {
        self.ladder.fails_at(luck, page.told(own), u32::from(step))
    }

    /// Any read of any drive whose flash errs; what faults keep from it is not taken into account.
    #[inline(never)]
    pub(crate) fn sense_any(
        &mut self,
        ftl: &Ftl,
        own: &mut CoreCells,
        faults: Option<&Faults>,
        read: &Attempt,
        at: Nanos,
        retries: Retries,
    ) -> Sensed {
        let layout = ftl.layout();
        let (place, group) = layout.place_and_group(read.pu);
        let sums = Sums::of(ftl, read, &place);
        let any_broken = faults.is_some_and(Faults::any_broken);
        let Attempt { mut step, is_first, .. } = *read;
        let (mut last, mut sensing, mut block) = (u32::MAX, Sensing::default(), BlockIndex(0));
        let mut failing = 0;
        for unit in units(read.wanted) {
            let mut tail = UnitTail::default();
            for page in layout.pages_of_unit(unit) {
                if page != last {
                    last = page;
                    let row;
                    (block, row) = block_and_row(ftl, &place, page);
                    sensing = own.cells.sense(block, row, group, at);
                    if is_first && self.has_history && unit == read.wanted.trailing_zeros() {
                        step = own.step(block);
                    }
                }
                let (luck, ln_rber) = (sensing.luck.of(unit), sensing.ln_rber);
                let fails = if read.kind == OpKind::PatrolRead {
                    self.patrol.as_ref().is_some_and(|table| table.fails(luck, ln_rber))
                } else {
                    self.ladder.fails_at(luck, ln_rber, u32::from(step))
                };
                if sums != Sums::None {
                    tail.add(&self.ladder, ln_rber, step);
                }
                if fails {
                    failing |= 1 << unit;
                } else if step != 0 {
                    own.remember_step(block, step);
                }
                if is_first && self.histogram.is_turn() {
                    self.histogram.sample(luck, ln_rber);
                }
            }
            if sums != Sums::None && any_broken && broken_units(ftl, faults, read.pu, 1 << unit) != 0 {
                tail = UnitTail::BROKEN;
            }
            match sums {
                Sums::None => {}
                Sums::Unstriped => self.tails.add_unstriped(&tail),
                Sums::Striped => {
                    let (cells, ladder, limit) = (&own.cells, &self.ladder, retries.first(true));
                    let lines = LineOdds { ftl, cells, faults, ladder, limit, at };
                    self.tails.add_striped(&tail, || lines.ln_fail(read.pu, unit));
                }
            }
        }
        Sensed { failing, step }
    }
}

/// A page that was sensed, in [`Reliability::sense_small`].
#[derive(Clone, Copy, Default)]
struct SmallPage {
    block: BlockIndex,
    row: Row,
    /// What the sensing saw; of a block that was not calm, the luck only.
    calm: CalmSensing,
    /// ln RBER, if it has been told: where the block was not calm, or the probabilities are summed.
    ln_rber: f64,
    is_told: bool,
}

impl SmallPage {
    /// ln RBER that the sensing saw.
    #[inline]
    fn told(self, own: &CoreCells) -> f64 {
        if self.is_told { self.ln_rber } else { own.cells.ln_rber_of_calm(self.block, self.row, self.calm) }
    }
}
