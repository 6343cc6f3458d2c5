//! Does protected data come back as it was written, or not at all, whatever fails, in whatever order? Programs that fail, dies that fail,
//! bad blocks left out, covers of open stripes, changes of code, losses of power: stripes are checked after every step.

use crate::support;

use outlast_ftl::StreamCause;
use outlast_settings::ftl::{CodeConfig, PartialPlace};
use outlast_units::rng::SplitMix;
use outlast_units::{Lpn, Pu};
use proptest::prelude::*;
use std::collections::VecDeque;
use support::kind::{Kind, SOUND, UNITS, kinds};
use support::rig::Rig;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_breaks_gives_the_truth_or_nothing(
        kind in kinds(),
        steps in prop::collection::vec((0u8..=62, any::<u32>()), 1..400),
        seed: u64,
    ) {
        let Some(mut rig) = Rig::new(kind, seed) else { return Ok(()) };
        for (step, number) in steps {
            rig.step(step, number);
            rig.check()?;
        }
        rig.flush();
        rig.check()?;
    }
}

/// The random test above would be worth little if hardly anything failed, or nothing were rebuilt.
#[test]
fn what_breaks_is_reached() {
    for late in [false, true] {
        let kind = Kind { late, classes: true, tolerated: 1, pages_per_block: 6, failures: 25, ..SOUND };
        let mut rig = Rig::new(kind, 7).expect("it fits");
        let mut rng = SplitMix::new(3, "test");
        for _ in 0..1000 {
            // No die fails, so that the drive stays in use.
            rig.step(rng.below(56) as u8, rng.below(1 << 20) as u32);
            rig.check().expect("the model holds");
        }
        assert!(
            rig.failed > 100 && rig.rebuilt > 3000 && rig.writes > 1000,
            "{} {} {}",
            rig.failed,
            rig.rebuilt,
            rig.writes
        );
        assert!(rig.ftl.figures().victims > 50, "{:?}", rig.ftl.figures());
    }
}

/// A stream has filled a superblock of more stripes than it has when another stream has opened it: what the first has handed out says nothing about it.
#[test]
fn a_superblock_has_fewer_stripes_for_the_stream_after() {
    let mut rig = Rig::new(Kind { classes: true, parity: 0, block: Some(1), ..SOUND }, 1).expect("it fits");
    rig.ftl.set_code(2, CodeConfig { data: 2, parity: 2, block: None }).expect("room");
    let fill = |rig: &mut Rig, hint: u8| {
        let before = rig.ftl.stream(rig.ftl.streams().host(0, hint)).data_units();
        (0..before).for_each(|lpn| rig.write(hint, Lpn(lpn)));
        rig.flush();
        rig.ftl.layout().superblock_of(rig.ftl.lookup(Lpn(0)))
    };
    let first = fill(&mut rig, 2);
    while fill(&mut rig, 1) != first {
        (0..8).for_each(|lpn| rig.trim(Lpn(lpn)));
        while rig.ftl.choose_victim().is_some() {
            rig.collect(StreamCause::Gc, 1.0);
        }
    }
    assert_eq!((rig.ftl.self_check(), rig.ftl.check_restored()), (Ok(()), Ok(())));
}

/// A stream has filled a superblock of fewer stripes, and written nothing since. The superblock is opened again by another stream, filled
/// and left: a program that fails then fails after the parity of its stripe was computed, however few stripes the first stream saw.
#[test]
fn a_stream_has_no_say_in_what_a_superblock_holds_after_it() {
    let mut rig = Rig::new(Kind { classes: true, parity: 0, block: Some(1), ..SOUND }, 1).expect("it fits");
    rig.ftl.set_code(2, CodeConfig { data: 2, parity: 2, block: None }).expect("room");
    let fill = |rig: &mut Rig, hint: u8| {
        let before = rig.ftl.stream(rig.ftl.streams().host(0, hint)).data_units();
        (0..before).for_each(|lpn| rig.write(hint, Lpn(lpn)));
        rig.ftl.layout().superblock_of(rig.ftl.lookup(Lpn(0)))
    };
    let first = fill(&mut rig, 1);
    rig.flush();
    // Until the other stream comes to the same superblock.
    while fill(&mut rig, 2) != first {
        rig.flush();
        (0..8).for_each(|lpn| rig.trim(Lpn(lpn)));
        while rig.ftl.choose_victim().is_some() {
            rig.collect(StreamCause::Gc, 1.0);
        }
    }
    rig.write(2, Lpn(9));
    let last = rig.ftl.lookup(Lpn(7));
    assert_eq!(rig.ftl.layout().superblock_of(last), first);
    let (pu, lanes) = (rig.ftl.layout().pu_of(last).0, rig.queues.len());
    for lane in 0..lanes {
        while let Some(&next) = rig.queues[lane].front() {
            if next == pu {
                rig.queues[lane].pop_front();
                rig.fail(pu);
            } else {
                rig.program(lane);
            }
        }
    }
    rig.check().expect("the parity covers what failed");
}

/// The parity of a stripe is on flash when power fails, its data is not: that is programmed with nothing in it, so that the pages of its
/// blocks follow one another. It may fail to be programmed like anything else.
#[test]
fn what_is_filled_after_a_loss_of_power_may_fail() {
    let mut rig = Rig::new(Kind { late: true, ..SOUND }, 1).expect("it fits");
    (0..4).for_each(|lpn| rig.write(0, Lpn(lpn)));
    let data: Vec<Pu> = [0, 2].map(|lpn| rig.ftl.layout().pu_of(rig.ftl.lookup(Lpn(lpn))).0).to_vec();
    for lane in 0..rig.queues.len() {
        if rig.queues[lane].front().is_some_and(|pu| !data.contains(pu)) {
            rig.program(lane);
        }
    }
    rig.queues.iter_mut().for_each(VecDeque::clear);
    rig.ftl.power_failed();
    rig.lose_buffer(&[], &data);
    assert_eq!(rig.queues.iter().flatten().copied().collect::<Vec<Pu>>(), data);
    rig.queues.iter_mut().for_each(VecDeque::clear);
    for &pu in &data {
        rig.fail(pu);
    }
    rig.check().expect("nothing is there, and nothing is owed");
    (0..UNITS as u32).for_each(|lpn| rig.write(0, Lpn(lpn)));
    rig.flush();
    rig.check().expect("the stripes after it are whole");
}

/// Pages of a block are programmed in order: a code that leaves some out before the lists of owners would have the lists programmed out
/// of order.
#[test]
fn a_code_that_leaves_pages_out_before_the_lists_is_refused() {
    let lists = |block, pages_per_block| Kind {
        parity: 0,
        block: Some(block),
        lists: true,
        pages_per_block,
        ..SOUND
    };
    // Groups of three pages, and one page is over.
    let ftl = |kind: Kind| kind.sized(40, 1);
    assert!(ftl(lists(2, 5)).is_none() && ftl(lists(2, 4)).is_some() && ftl(lists(2, 6)).is_some());
    assert!(ftl(Kind { lists: false, ..lists(2, 5) }).is_some());
}

/// Where the data before is lost, nothing is there that a unit could be torn over: power that fails leaves the loss.
#[test]
fn a_unit_over_lost_data_is_not_torn() {
    for lost in [false, true] {
        let mut rig = Rig::new(Kind { late: true, parity: 0, block: Some(1), ..SOUND }, 1).expect("it fits");
        rig.ftl.begin_origins();
        rig.write(0, Lpn(3));
        rig.flush();
        if lost {
            let gone = rig.ftl.lose(rig.ftl.lookup(Lpn(3)));
            assert_eq!(gone, Some(Lpn(3)));
            rig.is_lost(gone);
        }
        rig.write(0, Lpn(3));
        let (pu, _) = rig.ftl.layout().pu_of(rig.ftl.lookup(Lpn(3)));
        assert_eq!(rig.ftl.is_unpromised(pu), !lost);
        rig.cut();
        assert_eq!(rig.ftl.is_lost(Lpn(3)), lost);
        rig.check().expect("the model holds");
    }
}

/// The cache of parity is lost, and the older copy of a page cannot be read, while the newer one is in the buffer: power that fails then goes back to
/// a copy that is gone. A page of the mapping table is dirty, as the controller has it; the host's is lost.
#[test]
fn a_copy_that_was_lost_when_it_was_stale_does_not_come_back() {
    for comes_to_flash in [false, true] {
        let kind = Kind { late: true, place: PartialPlace::Cache, parity: 1, flushes: true, ..SOUND };
        let mut rig = Rig::new(kind, 1).expect("it fits");
        rig.ftl.begin_origins();
        rig.write(0, Lpn(3));
        rig.flush_map(true);
        rig.flush();
        let table = Lpn(UNITS as u32);
        for lpn in [Lpn(3), table] {
            let (pu, _) = rig.ftl.layout().pu_of(rig.ftl.lookup(lpn));
            rig.broken.insert(pu);
        }
        rig.write(0, Lpn(3));
        rig.flush_map(true);
        rig.lose_cache();
        assert!(!rig.ftl.is_lost(Lpn(3)) && rig.ftl.lookup(table).is_some());
        if comes_to_flash {
            rig.flush();
        }
        rig.cut();
        assert_eq!(rig.ftl.is_lost(Lpn(3)), !comes_to_flash);
        assert_eq!(rig.ftl.lookup(table).is_some(), comes_to_flash);
        rig.check().expect("the model holds");
    }
}
