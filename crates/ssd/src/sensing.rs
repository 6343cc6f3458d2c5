//! What a sensing gives, and how likely it was to fail.

use crate::chances::Moment;
use crate::op::{Op, OpKind, Rung};
use crate::reliability::UnitTail;
use crate::ssd::Ssd;
use outlast_ftl::Ftl;
use outlast_media::Faults;
use outlast_units::{Nanos, Ppn};

/// The units in `mask` of program unit `pu` that lie on flash broken for good.
pub(crate) fn beyond_hope(ftl: &Ftl, faults: Option<&Faults>, pu: u32, mask: u64) -> u64 {
    let Some(faults) = faults else { return 0 };
    let layout = ftl.layout();
    let place = layout.place(pu);
    let is_broken = |&unit: &u32| {
        layout.pages_of_unit(unit).any(|page| {
            let (plane, row) = layout.page_place(place, page);
            !faults.is_readable(ftl.block_index(place.superblock, place.lane.local_die, plane), row)
        })
    };
    units(mask).filter(is_broken).fold(0, |broken, unit| broken | 1 << unit)
}

/// The units in bit mask `mask`.
pub(crate) fn units(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let unit = mask.trailing_zeros();
            mask &= mask - 1;
            unit
        })
    })
}

impl Ssd {
    /// A die senses what the read with record `read` still wants: the cells are disturbed, and it is decided which units ECC gives.
    ///
    /// Not inlined: reads of drives whose flash never errs should not pay for its registers.
    #[inline(never)]
    pub(crate) fn sense(&mut self, now: Nanos, read: u32) {
        if !self.sense_plain(now, read) {
            self.sense_any(now, read);
        }
    }

    /// [`Ssd::sense`] of what is by far the most frequent: units within a page, in a drive without faults that keeps no history of
    /// steps. False, and nothing done, if it is anything else.
    #[inline]
    fn sense_plain(&mut self, now: Nanos, read: u32) -> bool {
        let this = &mut self.reads[read];
        let state = &mut self.cores[usize::from(this.core)];
        let layout = state.ftl.layout();
        let (Some(own), Some(reliability)) = (&mut state.cells, &mut self.reliability) else { return false };
        if state.faults.is_some()
            || reliability.history
            || layout.pages_per_unit() != 1
            || this.kind == OpKind::PatrolRead
        {
            return false;
        }
        let place = layout.place(this.pu);
        let is_first = this.rereads == 0 && this.rung == Rung::Rereads;
        let is_host = is_first && this.kind == OpKind::HostRead;
        if is_host && state.ftl.has_parity(place.superblock) {
            return false;
        }
        let (wanted, step, at) = (this.failing, u32::from(this.step), now + self.schedule.aged());
        let group = layout.group_of_pu(this.pu);
        let (mut rest, mut failing) = (wanted, 0);
        let (mut last, mut block, mut row, mut ln_rber) = (u32::MAX, 0, 0, 0.0);
        while rest != 0 {
            let unit = rest.trailing_zeros();
            rest &= rest - 1;
            let page = layout.page_of(Ppn(unit));
            if page != last {
                last = page;
                let plane;
                (plane, row) = layout.page_place(place, page);
                block = state.ftl.block_index(place.superblock, place.lane.local_die, plane);
                ln_rber = own.cells.sense(block, row, group, at);
            }
            let luck = own.cells.luck(block, row, unit);
            failing |= u64::from(reliability.ladder.fails_at(luck, ln_rber, step)) << unit;
            if is_host {
                reliability.add_plain(ln_rber);
            }
            if is_first {
                reliability.checked(luck, ln_rber);
            }
        }
        this.failing = failing;
        if this.kind != OpKind::StripeRead {
            let had = u64::from((wanted & !failing).count_ones());
            if is_first {
                self.corrections.ecc += had;
            } else {
                self.corrections.reread += had;
            }
        }
        if own.cells.has_alarm() {
            let core = usize::from(this.core);
            self.look_at_alarms(now, core);
        }
        true
    }

    #[inline(never)]
    fn sense_any(&mut self, now: Nanos, read: u32) {
        let Op { pu, core, kind, rereads, failing: wanted, mut step, rung, .. } = self.reads[read];
        let at = now + self.schedule.aged();
        let state = &mut self.cores[usize::from(core)];
        let layout = state.ftl.layout();
        let place = layout.place(pu);
        let is_first = rereads == 0 && rung == Rung::Rereads;
        let is_host = is_first && kind == OpKind::HostRead;
        let mut failing = 0;
        if let (Some(own), Some(reliability)) = (&mut state.cells, &mut self.reliability) {
            let group = layout.group_of_pu(pu);
            let (mut last, mut ln_rber, mut block) = (u32::MAX, 0.0, 0);
            for unit in units(wanted) {
                // The unit's probabilities to fail its first read, and all of them.
                let mut tail = UnitTail::default();
                for page in layout.pages_of_unit(unit) {
                    let (plane, row) = layout.page_place(place, page);
                    if page != last {
                        last = page;
                        block = state.ftl.block_index(place.superblock, place.lane.local_die, plane);
                        ln_rber = own.cells.sense(block, row, group, at);
                        if is_first && reliability.history && unit == wanted.trailing_zeros() {
                            step = own.steps[block as usize];
                        }
                    }
                    let luck = own.cells.luck(block, row, unit);
                    let fails = if kind == OpKind::PatrolRead {
                        reliability.patrol.as_ref().is_some_and(|table| table.fails(luck, ln_rber))
                    } else if is_host {
                        let p = tail.add(&reliability.ladder, ln_rber, step);
                        luck < p
                    } else {
                        reliability.ladder.fails_at(luck, ln_rber, u32::from(step))
                    };
                    if fails {
                        failing |= 1 << unit;
                    } else if step != 0 && reliability.history {
                        own.steps[block as usize] = step;
                    }
                    if is_first {
                        reliability.checked(luck, ln_rber);
                    }
                }
                if is_host {
                    let broken = state.faults.as_ref().is_some_and(outlast_media::Faults::any_broken)
                        && beyond_hope(&state.ftl, state.faults.as_ref(), pu, 1 << unit) != 0;
                    if broken {
                        tail = UnitTail::BROKEN;
                    }
                    reliability.exact.add(&tail);
                    if state.ftl.has_parity(place.superblock) {
                        if reliability.exact.is_turn() && tail.ln_rereads > f64::NEG_INFINITY {
                            let limit = self.ladder.retries().first(true);
                            let faults = state.faults.as_ref();
                            let moment = Moment {
                                ftl: &state.ftl,
                                cells: &own.cells,
                                faults,
                                ladder: &reliability.ladder,
                                limit,
                                at,
                            };
                            let others = moment.ln_lines_fail(pu, unit);
                            reliability.exact.add_striped((tail.ln_rereads + others).min(0.0));
                        }
                    } else {
                        reliability.exact.add_unstriped(&tail);
                    }
                }
            }
            if self.config.scrub.is_some() {
                self.look_at_alarms(now, usize::from(core));
            }
        }
        let state = &mut self.cores[usize::from(core)];
        if let Some(faults) = &mut state.faults {
            let layout = state.ftl.layout();
            for unit in units(wanted) {
                for page in layout.pages_of_unit(unit) {
                    let (plane, row) = layout.page_place(place, page);
                    let block = state.ftl.block_index(place.superblock, place.lane.local_die, plane);
                    if !faults.is_readable(block, row) || faults.sense_fails_transiently(block) {
                        failing |= 1 << unit;
                    }
                }
            }
        }
        if matches!(kind, OpKind::HostRead | OpKind::RmwRead | OpKind::RelocationRead | OpKind::MoveRead) {
            let had = u64::from((wanted & !failing).count_ones());
            if is_first {
                self.corrections.ecc += had;
            } else {
                self.corrections.reread += had;
            }
        }
        let op = &mut self.reads[read];
        op.failing = failing;
        op.step = step;
    }
}
