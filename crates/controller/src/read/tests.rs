//! The ladder alone, over a grid of program units: what it rebuilds is compared with the rule of the codes.

use super::{Corrections, Ladder, LadderEffect, Lines, Retries, can_be_read};
use crate::op::{InternalTask, Op, OpKind, Rung};
use outlast_ftl::{CodeAxis, LineMember};
use outlast_units::{CoreId, Lpn, Ppn, Pu};
use proptest::prelude::*;

const LANES: u32 = 4;
const ROWS: u32 = 4;
const UNITS: u32 = 2;

/// Rows are lines across dies, lanes are lines within blocks. Slots hold the page of the same number, unless they are stale.
#[derive(Clone, Debug, Default)]
struct Grid {
    /// Parities of each row, and whether each lane has one.
    across: Option<u32>,
    within: bool,
    /// Units of each program unit that cannot be read.
    broken: Vec<u64>,
    /// Program units whose die is dead.
    dead: Vec<Pu>,
    /// Pages that have moved to another slot.
    moved: Vec<(u32, u32)>,
}

/// The other members of the line of program unit `pu` along `axis`.
fn line(pu: Pu, axis: CodeAxis) -> Vec<Pu> {
    let (row, lane) = (pu.0 / LANES, pu.0 % LANES);
    let all: Vec<u32> = match axis {
        CodeAxis::Dies => (0..LANES).map(|other| row * LANES + other).collect(),
        CodeAxis::Block => (0..ROWS).map(|other| other * LANES + lane).collect(),
    };
    all.into_iter().map(Pu).filter(|&other| other != pu).collect()
}

impl Grid {
    fn is_broken(&self, pu: Pu, unit: u32) -> bool {
        self.dead.contains(&pu) || self.broken[pu.index()] >> unit & 1 == 1
    }

    /// Program units that give unit `unit` in the end: those that can be read, and whatever a line with enough of these gives, until no line gives more. The die of a
    /// member may be dead: then it is not asked for.
    fn peeled(&self, own: Pu, unit: u32) -> Vec<bool> {
        let mut given: Vec<bool> = (0..LANES * ROWS).map(|pu| !self.is_broken(Pu(pu), unit)).collect();
        loop {
            let gives = |&(pu, axis): &(u32, CodeAxis)| {
                let others = line(Pu(pu), axis).into_iter().filter(|other| given[other.index()]).count();
                self.needs(Pu(pu), axis).is_some_and(|needed| others as u32 >= needed)
            };
            let all = (0..LANES * ROWS).flat_map(|pu| CodeAxis::ALL.map(|axis| (pu, axis)));
            let mut open = all.filter(|&(pu, _)| !given[pu as usize]);
            let next = open.find(|own_line| {
                (own_line.0 == own.0 || !self.dead.contains(&Pu(own_line.0))) && gives(own_line)
            });
            let Some((pu, _)) = next else { return given };
            given[pu as usize] = true;
        }
    }
}

impl Lines for Grid {
    fn first_slot_of(&self, pu: Pu) -> Ppn {
        Ppn(pu.0 * UNITS)
    }
    fn needs(&self, _pu: Pu, axis: CodeAxis) -> Option<u32> {
        match axis {
            CodeAxis::Dies => self.across.map(|parity| LANES - parity),
            CodeAxis::Block => self.within.then_some(ROWS - 1),
        }
    }
    fn members(&self, pu: Pu, axis: CodeAxis) -> impl Iterator<Item = LineMember> {
        line(pu, axis).into_iter().map(LineMember::OnFlash)
    }
    fn is_out_of_reach(&self, pu: Pu) -> bool {
        self.dead.contains(&pu)
    }
    fn broken_units(&self, pu: Pu, mask: u64) -> u64 {
        if self.dead.contains(&pu) { mask } else { 0 }
    }
    fn owner(&self, slot: Ppn) -> Lpn {
        Lpn(slot.0)
    }
    fn lookup(&self, lpn: Lpn) -> Ppn {
        Ppn(self.moved.iter().find(|&&(page, _)| page == lpn.0).map_or(lpn.0, |&(_, slot)| slot))
    }
    fn is_lost(&self, _lpn: Lpn) -> bool {
        false
    }
    fn is_programmed(&self, _slot: Ppn) -> bool {
        true
    }
    fn pu_of(&self, slot: Ppn) -> (Pu, u32) {
        (Pu(slot.0 / UNITS), slot.0 % UNITS)
    }
}

/// The read of all units of program unit `pu`, those in `failing` not given.
fn read(kind: OpKind, pu: Pu, failing: u64) -> Op {
    Op {
        mask: (1 << UNITS) - 1,
        units: UNITS as u16,
        failing,
        ..Op::new(kind, InternalTask::Gc, CoreId(0), pu)
    }
}

/// What the ladder does with a read: how it ends, what was rebuilt, and what was read once more or elsewhere.
#[derive(Debug, Default)]
struct Outcome {
    done: Option<(Op, u64)>,
    rebuilt: Vec<(u32, CodeAxis)>,
    again: Vec<Op>,
    elsewhere: Vec<(Pu, u64)>,
    members_read: u32,
    read: std::collections::BTreeSet<Pu>,
}

/// Runs until nothing is under way, ending the reads of members in the order that `order` says.
fn run(ladder: &mut Ladder, grid: &Grid, op: Op, order: &[usize]) -> Outcome {
    let (mut effects, mut outcome, mut under_way) = (Vec::new(), Outcome::default(), Vec::<Op>::new());
    ladder.failed(grid, op, false, &mut effects);
    for turn in 0.. {
        for effect in effects.drain(..) {
            match effect {
                LadderEffect::Read(read) if read.kind == OpKind::StripeRead => under_way.push(read),
                LadderEffect::Read(read) => outcome.elsewhere.push((read.pu, read.mask)),
                LadderEffect::Reread(read) => outcome.again.push(read),
                LadderEffect::Rebuilt { op: of, unit, axis, owner, members } => {
                    assert!(members.iter().all(|member| line(of.pu, axis).contains(member)));
                    if of.kind != OpKind::StripeRead {
                        assert_eq!(owner, Some(Lpn(of.pu.0 * UNITS + unit)));
                        outcome.rebuilt.push((unit, axis));
                    }
                }
                LadderEffect::Combine { request, .. } => {
                    // Whoever waits for the host's read waits for its members, too.
                    assert_eq!(request, (op.kind == OpKind::HostRead).then_some(op.work.request));
                }
                LadderEffect::Done(op, lost) => {
                    assert!(outcome.done.replace((op, lost)).is_none(), "it ends once");
                }
            }
        }
        ladder.self_check(under_way.iter().map(|read| read.recovery)).unwrap();
        if under_way.is_empty() {
            break;
        }
        let mut read = under_way.remove(order[turn % order.len()] % under_way.len());
        outcome.members_read += 1;
        assert!(outcome.read.insert(read.pu) && read.pu != op.pu, "{} is read twice", read.pu);
        for unit in 0..UNITS {
            if read.mask >> unit & 1 == 1 && grid.is_broken(read.pu, unit) {
                read.failing |= 1 << unit;
            }
        }
        ladder.member_ended(grid, &read, &mut effects);
    }
    outcome
}

proptest! {
    #[test]
    fn the_ladder_rebuilds_what_the_codes_can(
        across in prop::option::of(1u32..3),
        within: bool,
        broken in prop::collection::vec(prop_oneof![3 => Just(0u64), 1 => 0u64..4], (LANES * ROWS) as usize),
        dead in prop::collection::vec((0..LANES * ROWS).prop_map(Pu), 0..3),
        pu in (0..LANES * ROWS).prop_map(Pu),
        failing in 1u64..4,
        order in prop::collection::vec(0usize..100, 1..40),
    ) {
        let mut grid = Grid { across, within, broken, dead, moved: Vec::new() };
        grid.broken[pu.index()] = failing;
        let mut ladder = Ladder::new(Retries::new(Some(3), None));
        let outcome = run(&mut ladder, &grid, read(OpKind::RelocationRead, pu, failing), &order);
        let (_, lost) = outcome.done.expect("every read comes to its end");
        for unit in (0..UNITS).filter(|unit| failing >> unit & 1 == 1) {
            let by_codes = grid.peeled(pu, unit)[pu.index()];
            prop_assert_eq!(lost >> unit & 1 == 0, by_codes, "unit {}", unit);
            prop_assert_eq!(outcome.rebuilt.iter().filter(|&&(own, _)| own == unit).count(), usize::from(by_codes));
        }
        let counted = ladder.counted();
        prop_assert_eq!(counted.uncorrectable, u64::from(lost.count_ones()));
        prop_assert_eq!(counted.stripe + counted.block + counted.uncorrectable, u64::from(failing.count_ones()));
        prop_assert_eq!(counted.stripe_failures, if across.is_some() || within { counted.uncorrectable } else { 0 });
        prop_assert!(outcome.again.is_empty());
    }

    /// Whoever asks whether a unit can be read gets the ladder's answer.
    #[test]
    fn what_the_codes_can_rebuild_can_be_read(
        across in prop::option::of(1u32..3),
        within: bool,
        dead in prop::collection::vec((0..LANES * ROWS).prop_map(Pu), 0..9),
        unit in 0..UNITS,
    ) {
        let grid = Grid { broken: vec![0; (LANES * ROWS) as usize], across, within, dead, moved: Vec::new() };
        for pu in (0..LANES * ROWS).map(Pu) {
            prop_assert_eq!(can_be_read(&grid, pu, unit), grid.peeled(pu, unit)[pu.index()], "{}", pu);
        }
    }
}

/// Flash of which nothing can be read: each program unit is read once, where every failing member had every member of its other line read again.
#[test]
fn a_recovery_reads_no_program_unit_twice_however_much_fails() {
    let lines = Grid { broken: vec![3; (LANES * ROWS) as usize], ..grid(Some(1), true) };
    let mut ladder = Ladder::new(Retries::new(Some(3), None));
    let outcome = run(&mut ladder, &lines, read(OpKind::HostRead, Pu(5), 3), &[0, 7, 3]);
    assert!(matches!(outcome.done, Some((_, 3))), "{outcome:?}");
    assert_eq!(outcome.members_read, LANES * ROWS - 1);
}

fn grid(across: Option<u32>, within: bool) -> Grid {
    Grid { across, within, broken: vec![0; (LANES * ROWS) as usize], ..Grid::default() }
}

#[test]
fn without_lines_a_read_ends_at_once_and_with_one_it_reads_no_more_members_than_it_takes() {
    let mut ladder = Ladder::new(Retries::new(Some(3), None));
    let outcome = run(&mut ladder, &grid(None, false), read(OpKind::HostRead, Pu(5), 2), &[0]);
    assert!(matches!(outcome.done, Some((_, 2))));
    assert_eq!(ladder.counted().stripe_attempts, 0);
    // Two parities: two members do.
    let outcome = run(&mut ladder, &grid(Some(2), false), read(OpKind::RmwRead, Pu(5), 3), &[0]);
    assert!(matches!(outcome.done, Some((_, 0))));
    assert_eq!(outcome.members_read, 2);
    // Dies work at the same time, so that the stripe goes before the block.
    let outcome = run(&mut ladder, &grid(Some(1), true), read(OpKind::RmwRead, Pu(5), 1), &[0]);
    assert_eq!(outcome.rebuilt, [(0, CodeAxis::Dies)]);
    ladder.reset();
    assert_eq!(ladder.counted(), Corrections::default());
}

#[test]
fn re_reads_that_were_left_out_come_after_the_stripe() {
    let mut ladder = Ladder::new(Retries::new(Some(5), Some(1)));
    let mut lines = grid(Some(1), false);
    let first = Op { step: 1, ..read(OpKind::MoveRead, Pu(5), 1) };
    assert!(
        !ladder.wants_reread(&lines, &first, true, false)
            && ladder.wants_reread(&lines, &first, false, false)
    );
    assert!(!ladder.wants_reread(&lines, &Op { kind: OpKind::PatrolRead, step: 0, ..first }, true, false));
    lines.broken[6] = 1;
    let outcome = run(&mut ladder, &lines, first, &[0]);
    let [again] = outcome.again[..] else { panic!("one more re-read: {outcome:?}") };
    assert_eq!((again.rung, again.step, again.rereads), (Rung::LastRereads, 2, 1));
    assert!(outcome.done.is_none());
    assert!(ladder.wants_reread(&lines, &again, true, false));
    assert!(!ladder.wants_reread(&lines, &Op { step: 5, ..again }, true, false));
    // On a dead die no re-read helps, before the stripe or after it.
    lines.dead.push(Pu(5));
    assert!(!ladder.wants_reread(&lines, &again, true, false));
    let outcome = run(&mut ladder, &lines, first, &[0]);
    assert!(matches!(outcome.done, Some((_, 1))) && outcome.again.is_empty());
    // After the last re-reads no line is asked again.
    let outcome = run(&mut ladder, &lines, again, &[0]);
    assert!(matches!(outcome.done, Some((_, 1))) && outcome.members_read == 0);
}

#[test]
fn limited_retry_ends_a_read_before_the_stripe_and_its_units_count_apart() {
    let mut ladder = Ladder::new(Retries::new(Some(5), None).with_limited(2));
    let lines = grid(Some(1), false);
    let read = |rereads| Op { rereads, step: rereads, ..read(OpKind::HostRead, Pu(5), 3) };
    assert!(ladder.wants_reread(&lines, &read(1), true, true));
    assert!(!ladder.wants_reread(&lines, &read(2), true, true));
    assert!(ladder.wants_reread(&lines, &read(2), true, false));
    let mut effects = Vec::new();
    ladder.failed(&lines, read(2), true, &mut effects);
    assert!(matches!(effects[..], [LadderEffect::Done(_, 3)]), "{effects:?}");
    assert_eq!(ladder.counted(), Corrections { limited: 2, ..Corrections::default() });
}

#[test]
fn a_unit_that_has_moved_is_read_where_it_is_now() {
    let mut ladder = Ladder::new(Retries::new(Some(1), None));
    let mut lines = grid(Some(1), false);
    lines.moved = vec![(10, 31)];
    let outcome = run(&mut ladder, &lines, read(OpKind::HostRead, Pu(5), 3), &[0]);
    assert_eq!(outcome.elsewhere, [(Pu(15), 2)]);
    let (op, lost) = outcome.done.unwrap();
    // The other unit has been rebuilt, and is all that this read still stands for.
    assert_eq!((op.units, lost, outcome.rebuilt), (1, 0, vec![(1, CodeAxis::Dies)]));
    // Relocation has no use for a copy that somebody else made.
    let outcome = run(&mut ladder, &lines, read(OpKind::RelocationRead, Pu(5), 1), &[0]);
    assert!(outcome.elsewhere.is_empty() && matches!(outcome.done, Some((_, 0))));
}

#[test]
fn a_loss_of_power_forgets_all_recoveries() {
    let mut ladder = Ladder::new(Retries::new(Some(1), None));
    let mut effects = Vec::new();
    ladder.failed(&grid(Some(1), true), read(OpKind::HostRead, Pu(5), 1), false, &mut effects);
    assert!(ladder.self_check(std::iter::empty()).is_err(), "members are waited for that nobody reads");
    ladder.power_failed();
    ladder.self_check(std::iter::empty()).unwrap();
}
