//! Scrubbing alone, over a core that is a table: what it flags is compared with a look at everything.

mod table;

use super::*;
use proptest::prelude::*;
use table::{BITS, BLOCKS, PUS, SECOND, SUPERBLOCKS, Table};

fn scrub_of(config: ScrubConfig) -> Scrub {
    Scrub::new(&config, SUPERBLOCKS, 1, Bytes(4096))
}

fn is_flagged(scrub: &Scrub, superblock: usize) -> bool {
    scrub.is_flagged[SuperblockId(superblock as u32)]
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Reads of a block.
    Read(u32, u32),
    /// Seconds pass.
    Pause(u64),
    /// The data gets older by so many seconds at once.
    Leap(u64),
    /// A superblock is erased and filled again.
    Rewrite(usize),
    /// So many pages of a superblock are read again.
    Reread(u32, u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..SUPERBLOCKS * BLOCKS, 1u32..40).prop_map(|(block, reads)| Step::Read(block, reads)),
        (1u64..100).prop_map(Step::Pause),
        (1u64..100).prop_map(Step::Leap),
        (0..SUPERBLOCKS as usize).prop_map(Step::Rewrite),
        (0..SUPERBLOCKS, 1u32..20).prop_map(|(superblock, pages)| Step::Reread(superblock, pages)),
    ]
}

/// Takes one step, in which housekeeping comes whenever it is called.
fn take(step: Step, scrub: &mut Scrub, table: &mut Table) {
    match step {
        Step::Read(block, reads) => {
            for _ in 0..reads {
                table.read(block);
                scrub.answer_alarms(table);
            }
        }
        Step::Pause(seconds) => {
            let end = table.now + seconds * SECOND;
            while scrub.next(table.now()).0 <= end {
                table.now = scrub.next(table.now()).0.max(table.now);
                scrub.tick(table);
            }
            table.now = end;
        }
        Step::Leap(seconds) => {
            table.aged += seconds * SECOND;
            scrub.begin(table);
            scrub.tick(table);
        }
        Step::Rewrite(superblock) => {
            table.erase(superblock);
            scrub.erased(SuperblockId(superblock as u32));
            scrub.sealed(table, SuperblockId(superblock as u32));
        }
        Step::Reread(superblock, pages) => {
            table.superblocks[superblock as usize].rereads += pages;
            scrub.reread(table, SuperblockId(superblock));
        }
    }
    scrub.self_check().unwrap();
}

/// True if a superblock is to be moved.
type Judge = fn(&Table, usize) -> bool;

/// The least wrong bits in a million at which the oracle moves a superblock.
const BAD: u64 = 150;

proptest! {
    /// Of each policy by itself, a look at all superblocks finds the same as its alarms and timers.
    #[test]
    fn a_policy_flags_what_a_look_at_everything_finds(steps in prop::collection::vec(step(), 1..60)) {
        // The superblock on a die that is expected to fail is flagged for that as soon as it is filled.
        let policies: [(ScrubConfig, Judge, u64); 4] = [
            (ScrubConfig { reads: Some(50), ..ScrubConfig::default() },
             |table, at| *table.superblocks[at].reads.iter().max().unwrap() >= 50, 0),
            (ScrubConfig { rereads_per_unit: Some(1.5), ..ScrubConfig::default() },
             |table, at| table.superblocks[at].rereads >= 15, 0),
            // Looks every 2 s.
            (ScrubConfig { age: Some(Nanos::secs(200)), ..ScrubConfig::default() },
             |table, at| table.age_s(at, table.now + table.aged) >= 200, 2),
            // Looks at a superblock at most once a minute, unless it is read.
            (ScrubConfig { expected_errors: Some(BAD as f64 * f64::from(BITS) / 1e6), ..ScrubConfig::default() },
             |table, at| table.wrong(at, 0) >= BAD, 60),
        ];
        for (config, is_bad, late_s) in policies {
            let (mut scrub, mut table) = (scrub_of(config), Table::new());
            scrub.begin(&mut table);
            scrub.tick(&mut table);
            for &step in &steps {
                take(step, &mut scrub, &mut table);
                for at in 0..SUPERBLOCKS as usize - 1 {
                    let flagged = is_flagged(&scrub, at);
                    let mut earlier = table.clone();
                    earlier.now = earlier.now.saturating_sub(late_s * SECOND);
                    let was_there = earlier.now + earlier.aged >= earlier.superblocks[at].written;
                    prop_assert!(!flagged || is_bad(&table, at), "{:?}: superblock {} is flagged", config, at);
                    let must = was_there && is_bad(&earlier, at);
                    prop_assert!(flagged || !must, "{:?}: superblock {} is not flagged", config, at);
                }
            }
        }
    }

    /// The most exposed, then the most re-reads for each unit, then the first flagged; never one without room or data.
    #[test]
    fn the_superblock_chosen_is_the_one_that_needs_it_most(
        superblocks in prop::collection::vec((any::<bool>(), 0u32..4, 0u32..4, -1i64..2), SUPERBLOCKS as usize),
        order in Just((0..SUPERBLOCKS).collect::<Vec<u32>>()).prop_shuffle(),
    ) {
        let (mut scrub, mut table) = (scrub_of(ScrubConfig::default()), Table::new());
        for (this, &(can_move, valid, rereads, exposure)) in table.superblocks.iter_mut().zip(&superblocks) {
            (this.can_move, this.valid, this.rereads, this.exposure) = (can_move, valid, rereads, exposure);
        }
        for &superblock in &order {
            scrub.flag(SuperblockId(superblock), Reason::Reads);
        }
        let mut left = order;
        loop {
            left.retain(|&superblock| table.superblocks[superblock as usize].valid != 0);
            let mut best: Option<u32> = None;
            for &superblock in left.iter().filter(|&&at| table.superblocks[at as usize].can_move) {
                let key = |at: u32| {
                    let this = &table.superblocks[at as usize];
                    // Re-reads for each unit, by the common denominator of 1, 2 and 3 units.
                    (this.exposure, this.rereads * (6 / this.valid))
                };
                if best.is_none_or(|best| key(superblock) > key(best)) {
                    best = Some(superblock);
                }
            }
            let chosen = scrub.choose(&table);
            prop_assert_eq!(chosen.map(|(superblock, ..)| superblock.0), best);
            scrub.self_check().unwrap();
            let Some(best) = best else { break };
            left.retain(|&superblock| superblock != best);
        }
    }
}

#[test]
fn patrol_reads_every_living_program_unit_once_in_its_period() {
    let period = Nanos::secs(30);
    let mut scrub = scrub_of(ScrubConfig { patrol: Some(period), ..ScrubConfig::default() });
    let mut table = Table::new();
    table.superblocks[2].is_sealed = false;
    scrub.begin(&mut table);
    let mut read = Vec::new();
    while table.now < period.0 {
        if let Some(pu) = scrub.tick(&mut table) {
            assert_eq!(scrub.tick(&mut table), None, "one patrol read at a time");
            let failed = pu == Pu(4);
            scrub.patrolled(&table, SuperblockId(pu.0 / PUS), failed);
            read.push(pu.0);
        }
        table.now = scrub.next(table.now()).0;
    }
    // Lane 2 is dead, and superblock 2 is not full.
    assert_eq!(read, [0, 1, 3, 4, 9, 10, 12, 13]);
    assert_eq!(scrub.flagged, [(SuperblockId(1), Reason::Patrol)]);
    // A loss of power takes the read that is under way.
    let pu = std::iter::from_fn(|| {
        table.now = scrub.next(table.now()).0;
        Some(scrub.tick(&mut table))
    });
    assert!(pu.flatten().next().is_some());
    scrub.power_failed();
    table.now = scrub.next(table.now()).0;
    assert!(scrub.tick(&mut table).is_some());
}

/// A drive that is a fifth full: the full superblock is read once in each period, and the others take their time.
#[test]
fn patrol_reads_a_drive_that_holds_less_no_faster() {
    let period = Nanos::secs(30);
    let mut scrub = scrub_of(ScrubConfig { patrol: Some(period), ..ScrubConfig::default() });
    let mut table = Table::new();
    table.superblocks.iter_mut().for_each(|superblock| superblock.is_sealed = false);
    table.superblocks[3].is_sealed = true;
    scrub.begin(&mut table);
    let mut read = Vec::new();
    while table.now < 4 * period.0 {
        if let Some(pu) = scrub.tick(&mut table) {
            scrub.patrolled(&table, SuperblockId(pu.0 / PUS), false);
            read.push((table.now / period.0, pu.0));
        }
        table.now = scrub.next(table.now()).0;
    }
    assert_eq!(read, [(0, 9), (0, 10), (1, 9), (1, 10), (2, 9), (2, 10), (3, 9), (3, 10)]);
}

#[test]
fn bandwidth_is_shared_by_the_cores() {
    let bandwidth = Some("1 MiB/s".parse().unwrap());
    let mut scrub =
        Scrub::new(&ScrubConfig { bandwidth, ..ScrubConfig::default() }, SUPERBLOCKS, 4, Bytes::kib(16));
    let mut table = Table::new();
    for superblock in [0, 1] {
        scrub.flag(SuperblockId(superblock), Reason::Age);
    }
    assert!(scrub.choose(&table).is_some());
    // 10 units of 16 KiB at a quarter of 1 MiB/s.
    let ready = 640 * SECOND / 1024;
    assert_eq!(scrub.next(Nanos(0)), Nanos(ready));
    table.now = ready - 1;
    assert_eq!(scrub.choose(&table), None);
    table.now = ready;
    assert!(scrub.choose(&table).is_some());
}

#[test]
fn what_lacks_protection_is_moved_for_the_gravest_reason() {
    let reasons = |reprotect: bool| {
        let (mut scrub, mut table) =
            (scrub_of(ScrubConfig { reprotect, ..ScrubConfig::default() }), Table::new());
        table.superblocks[0].exposure = 0;
        scrub.reprotect_all(&table);
        scrub.flagged
    };
    let of = |superblock, reason| (SuperblockId(superblock), reason);
    assert_eq!(reasons(false), [of(4, Reason::Evacuation)]);
    assert_eq!(
        reasons(true),
        [of(0, Reason::Exposed), of(1, Reason::Code), of(2, Reason::Dies), of(4, Reason::Evacuation)]
    );
}
