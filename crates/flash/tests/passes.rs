//! Programs in two passes: their order, their times, and what is under way of them.

use crate::support;

use outlast_flash::{DieQueue, FlashOp, InternalTask};
use outlast_media::TwoPassConfig;
use outlast_units::rng::SplitMix;
use outlast_units::{BlockId, DieId, Nanos};
use support::{COMMAND, Caller, PROGRAM, Shape, Tag, UNIT, internal, place, read};

const GC: DieQueue = DieQueue::Internal(InternalTask::Gc);

/// A quarter of tPROG is the coarse pass.
fn two_pass(distance: u32) -> Shape {
    Shape { two_pass: Some(TwoPassConfig { coarse: 0.25, distance }), ..Shape::default() }
}

/// The program of row `row` of block `block`, numbered by both.
fn row_of(block: u32, row: u32) -> FlashOp<Tag> {
    FlashOp::program(place(block, row), 2, Tag { number: 100 * block + row, internal: false })
}

/// Both passes as they ended: row, and true for the fine one.
fn passes(caller: &Caller) -> Vec<(u32, bool)> {
    let coarse = caller.passed.iter().map(|&(at, _, number)| (at, number, false));
    let fine = caller.ended.iter().map(|&(at, _, number)| (at, number, true));
    let mut all: Vec<_> = coarse.chain(fine).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, number, is_fine)| (number % 100, is_fine)).collect()
}

/// The order that makers give: each fine pass right after the coarse one `distance` rows later, the last ones at the end.
fn expected(rows: u32, distance: u32) -> Vec<(u32, bool)> {
    let mut order = Vec::new();
    for row in 0..rows {
        order.push((row, false));
        if row >= distance {
            order.push((row - distance, true));
        }
    }
    order.extend((rows.saturating_sub(distance)..rows).map(|row| (row, true)));
    order
}

#[test]
fn a_fine_pass_follows_the_coarse_one_of_a_later_row() {
    for distance in [1, 2, 4] {
        let mut caller = Caller::new(&two_pass(distance));
        let rows = 10;
        (0..rows).for_each(|row| caller.submit(0, DieQueue::Programs, row_of(1, row)));
        caller.run();
        let closed = expected(rows, distance);
        let ended = closed.len() - distance as usize;
        assert_eq!(passes(&caller), closed[..ended], "the last rows wait for something to follow");
        assert_eq!(caller.room.open_passes().count(), distance as usize);
        caller.room.self_check().unwrap();
        assert!(caller.room.close_passes(DieId(0), Some(BlockId(1))));
        caller.wake(DieId(0));
        let end = caller.run();
        assert_eq!(passes(&caller), closed);
        // Each pass takes the data over the channel, and both together tPROG.
        let each = |row: u32| 2 * (COMMAND + 2 * UNIT) + PROGRAM[row as usize % 2];
        assert_eq!(end, (0..rows).map(each).sum::<u64>());
        assert!(
            caller.room.open_passes().next().is_none()
                && !caller.room.close_passes(DieId(0), Some(BlockId(1)))
        );
        caller.room.self_check().unwrap();
    }
}

#[test]
fn passes_of_relocation_take_a_slot_each() {
    let mut caller = Caller::new(&Shape { internal: Some(1), think_time: 1000, ..two_pass(1) });
    (0..3).for_each(|row| caller.submit(0, GC, internal(row_of(1, row))));
    caller.submit(0, DieQueue::Reads, read(7));
    caller.run();
    assert_eq!(caller.room.internal_operations(), 0);
    assert_eq!(passes(&caller).len(), 6, "three coarse passes, two fine ones and a read");
    caller.room.close_passes(DieId(0), Some(BlockId(1)));
    caller.wake(DieId(0));
    caller.run();
    assert_eq!(caller.order(), [7, 100, 101, 102]);
}

#[test]
fn a_loss_of_power_finds_each_program_at_its_pass() {
    let mut caller = Caller::new(&two_pass(1));
    (0..3).for_each(|row| caller.submit(0, DieQueue::Programs, row_of(1, row)));
    let coarse = |row: u32| COMMAND + 2 * UNIT + PROGRAM[row as usize % 2] / 4;
    // In the fine pass of row 0: row 1 is between its passes, row 2 has not begun.
    caller.run_until(coarse(0) + coarse(1) + 1000);
    let found: Vec<_> = caller.room.programs().map(|(_, op)| op.tag.number).collect();
    assert_eq!(found, [100, 101, 102]);
    let lost = caller.room.cut_power(caller.now);
    let stages: Vec<_> = lost.iter().map(|one| (one.op.tag.number, one.started, one.in_last_pass)).collect();
    assert_eq!(stages, [(100, true, true), (101, true, false), (102, false, false)]);
    caller.room.self_check().unwrap();
    assert!(caller.room.open_passes().next().is_none());
}

/// Rows of several blocks and queues at random moments, some of which are closed: fine passes of a block go in order, after what they follow, and all end.
#[test]
fn random_programs_end_in_the_order_of_their_rows() {
    for seed in 0..500 {
        let mut rng = SplitMix::new(seed, "passes");
        let distance = 1 + rng.below(3) as u32;
        let mut caller = Caller::new(&two_pass(distance));
        let mut rows = [0u32; 3];
        for _ in 0..40 {
            let block = rng.below(3) as usize;
            let op = row_of(block as u32, rows[block]);
            // All of a block go through one queue.
            let (queue, op) = if block == 0 { (GC, internal(op)) } else { (DieQueue::Programs, op) };
            caller.submit_at(caller.now.0 + rng.below(700_000), 0, queue, op);
            rows[block] += 1;
            if rng.below(10) == 0 && caller.room.close_passes(DieId(0), Some(BlockId(block as u32))) {
                caller.wake(DieId(0));
            }
            caller.room.self_check().unwrap();
        }
        for block in 0..3 {
            if caller.room.close_passes(DieId(0), Some(BlockId(block))) {
                caller.wake(DieId(0));
            }
        }
        caller.run();
        for block in 0..3u32 {
            let own = |all: &[(u64, u16, u32)]| -> Vec<(u64, u32)> {
                all.iter().filter(|one| one.2 / 100 == block).map(|one| (one.0, one.2 % 100)).collect()
            };
            let (coarse, fine) = (own(&caller.passed), own(&caller.ended));
            let in_order: Vec<u32> = (0..rows[block as usize]).collect();
            assert_eq!(coarse.iter().map(|one| one.1).collect::<Vec<_>>(), in_order, "seed {seed}");
            assert_eq!(fine.iter().map(|one| one.1).collect::<Vec<_>>(), in_order, "seed {seed}");
            assert!(coarse.iter().zip(&fine).all(|(coarse, fine)| coarse.0 < fine.0), "seed {seed}");
        }
        assert_eq!(caller.room.next_event(), Nanos::MAX);
        caller.room.self_check().unwrap();
    }
}
