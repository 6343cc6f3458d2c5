//! The detector alone, beside the whole rule on plain maps.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const PLANES: u32 = 2;
const PER_PLANE: u32 = 6;
const PER_DIE: u32 = PLANES * PER_PLANE;
const DIES: u32 = 4;
const MOST_BAD: u32 = 5;

/// Two cores of two dies. The last block of each plane is a spare one.
fn detector() -> Detector {
    Detector::new(DieLayout {
        dies_of_cores: IndexVec::from(vec![vec![DieId(0), DieId(2)], vec![DieId(1), DieId(3)]]),
        blocks_per_die: PER_DIE,
        planes_per_die: PLANES,
        in_use: PER_DIE - PLANES,
        most_bad: MOST_BAD,
    })
}

fn in_use(_die: DieId, block: BlockIndex) -> bool {
    block.0 % PER_PLANE != PER_PLANE - 1
}

/// Block `own` of die `die`, as its core numbers it.
fn block_of(die: u32, own: u32) -> (CoreId, BlockIndex) {
    (CoreId((die % 2) as u16), BlockIndex(die / 2 * PER_DIE + own))
}

/// The whole rule on plain maps: bad blocks of each die, and the walk of each probe to its end, all at one time.
#[derive(Default)]
struct Plain {
    bad: BTreeMap<u32, BTreeSet<u32>>,
    failed: BTreeSet<u32>,
}

impl Plain {
    fn add(&mut self, die: u32, own: u32) -> bool {
        let bad = self.bad.entry(die).or_default();
        let is_new = !self.failed.contains(&die) && bad.insert(own);
        if is_new && bad.len() as u32 > MOST_BAD {
            self.failed.insert(die);
        }
        is_new
    }

    /// Block `own` of die `die` is found to be bad, and the die is probed to the end.
    fn find(&mut self, die: u32, own: u32, broken: &BTreeSet<u32>) {
        if !self.add(die, own) {
            return;
        }
        let (plane, place) = (own / PER_PLANE, own % PER_PLANE);
        for passed in 1..PER_DIE {
            let beside = (plane + passed / PER_PLANE) % PLANES * PER_PLANE + (place + passed) % PER_PLANE;
            let is_known = self.bad[&die].contains(&beside);
            if self.failed.contains(&die) || is_known || beside % PER_PLANE == PER_PLANE - 1 {
                continue;
            }
            if !broken.contains(&beside) {
                return;
            }
            self.add(die, beside);
        }
    }
}

proptest! {
    #[test]
    fn the_detector_finds_what_a_plain_walk_finds(
        broken in prop::collection::vec(prop::collection::btree_set(0u32..PER_DIE, 0..PER_DIE as usize), DIES as usize),
        finds in prop::collection::vec((0u32..DIES, any::<prop::sample::Index>()), 0..20),
    ) {
        let (mut detector, mut plain) = (detector(), Plain::default());
        let mut now = Nanos(0);
        for (die, index) in finds {
            let shown: Vec<u32> = broken[die as usize].iter().copied().filter(|own| own % PER_PLANE != PER_PLANE - 1).collect();
            if shown.is_empty() {
                continue;
            }
            let own = shown[index.index(shown.len())];
            let (core, block) = block_of(die, own);
            detector.note_bad(core, block);
            detector.note_bad(core, block);
            prop_assert!(!detector.must_retire(core, block, true) || plain.failed.contains(&die) || plain.bad.get(&die).is_some_and(|bad| bad.contains(&own)));
            // Until no round has anything more to do.
            loop {
                now += Nanos(1);
                detector.begin_round();
                let mut probes = Vec::new();
                while let Some(asked) = detector.next(now, in_use) {
                    match asked {
                        Detected::Probe(die, block) => probes.push((die, block)),
                        Detected::Failed(die) => prop_assert!(detector.has_failed(die)),
                    }
                }
                detector.self_check().unwrap();
                prop_assert_eq!(detector.reads_under_way() as usize, probes.len());
                if probes.is_empty() {
                    break;
                }
                for (die, block) in probes {
                    detector.probe_ended(die, |read| {
                        assert_eq!(read, block);
                        broken[die.index()].contains(&(read.0 % PER_DIE))
                    });
                }
            }
            plain.find(die, own, &broken[die as usize]);
            let known: Vec<u32> = detector.failed_dies().map(|die| u32::from(die.0)).collect();
            prop_assert_eq!(&known, &plain.failed.iter().copied().collect::<Vec<u32>>());
            for die in 0..DIES {
                let bad = plain.bad.get(&die).map_or(0, BTreeSet::len) as u32;
                prop_assert_eq!(detector.bad_blocks(DieId(die as u16)), bad);
            }
        }
    }
}

#[test]
fn a_loss_of_power_forgets_the_read_and_the_probe_reads_the_next_block() {
    let mut detector = detector();
    let (core, block) = block_of(1, 0);
    detector.note_broken(Nanos(2), DieId(1));
    detector.note_bad(core, block);
    detector.begin_round();
    assert_eq!(detector.next(Nanos(3), in_use), Some(Detected::Probe(DieId(1), BlockIndex(1))));
    assert_eq!(detector.next(Nanos(3), in_use), None);
    // A die under suspicion keeps its blocks.
    assert!(!detector.must_retire(core, block, true));
    detector.power_failed();
    assert_eq!(detector.reads_under_way(), 0);
    detector.probe_ended(DieId(1), |_| panic!("the read was forgotten"));
    detector.begin_round();
    assert_eq!(detector.next(Nanos(4), in_use), Some(Detected::Probe(DieId(1), BlockIndex(2))));
    assert_eq!(detector.next(Nanos(4), in_use), None);
    detector.probe_ended(DieId(1), |_| false);
    detector.begin_round();
    assert_eq!(detector.next(Nanos(5), in_use), None);
    assert!(detector.must_retire(core, block, false));
    let finding = Finding { broken_at: Some(Nanos(2)), first_bad_at: Nanos(3), bad_blocks: 1, probes: 2 };
    assert_eq!(detector.finding(DieId(1)), finding);
}
