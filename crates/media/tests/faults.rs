//! Does damaged hardware fail where it is damaged, and nowhere else?

use outlast_media::{
    AgeFactor, BlockAddress, DefectConfig, DieDamage, DieFaults, DriveFault, FaultKind, FaultSpec, Geometry,
    HazardClock, HazardConfig, PhysicalBlocks,
};
use outlast_units::{BlockId, BlockIndex, Bytes, DieId, LocalDie, Nanos, Row};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const DIES: u16 = 8;
const PLANES: u16 = 2;
const BLOCKS: u32 = 5;
const ROWS: u32 = 10;
const WORDLINE: u32 = 3;

fn geometry() -> Geometry {
    Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 2,
        planes_per_die: PLANES,
        blocks_per_plane: BLOCKS,
        pages_per_block: ROWS,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    }
}

fn faults(hazards: &HazardConfig, seed: u64) -> DieFaults {
    DieFaults::new(&geometry(), DIES, DieId(0), WORDLINE, hazards, seed)
}

/// Number of a block, by the books that the FTL keeps.
fn number(die: u16, plane: u16, block: u32) -> BlockIndex {
    let blocks = PhysicalBlocks::new(&geometry(), DIES, &DefectConfig::default(), 0);
    blocks.index(BlockAddress { die: LocalDie(die), plane, block: BlockId(block) })
}

/// Everything that can fail, spelled out.
#[derive(Default)]
struct Model {
    /// (die, plane, block, row)
    broken: BTreeSet<(u16, u16, u32, u32)>,
    dead: BTreeSet<(u16, u16)>,
    retire: BTreeSet<(u16, u16, u32)>,
    program: BTreeSet<(u16, u16, u32)>,
    erase: BTreeSet<(u16, u16, u32)>,
    transient_block: BTreeMap<(u16, u16, u32), u32>,
    transient_die: BTreeMap<u16, u32>,
}

impl Model {
    fn inject(&mut self, die: u16, damage: DieDamage) {
        match damage {
            DieDamage::Page { plane, block, page } => {
                self.broken.insert((die, plane, block, page));
            }
            DieDamage::Wordline { plane, block, page } => {
                let same = (0..ROWS).filter(|row| row / WORDLINE == page / WORDLINE);
                self.broken.extend(same.map(|row| (die, plane, block, row)));
            }
            DieDamage::Block { plane, block } => {
                self.broken.extend((0..ROWS).map(|row| (die, plane, block, row)));
            }
            DieDamage::Plane { plane } => {
                self.dead.insert((die, plane));
            }
            DieDamage::Die | DieDamage::Chip => self.dead.extend((0..PLANES).map(|plane| (die, plane))),
            DieDamage::TransientRead { block: Some((plane, block)), reads } => {
                *self.transient_block.entry((die, plane, block)).or_default() += reads;
            }
            DieDamage::TransientRead { block: None, reads } => {
                *self.transient_die.entry(die).or_default() += reads;
            }
            DieDamage::Program { plane, block } => {
                self.program.insert((die, plane, block));
            }
            DieDamage::Erase { plane, block } => {
                self.erase.insert((die, plane, block));
            }
            DieDamage::Power(_) | DieDamage::ParityCache => {}
        }
    }

    fn readable(&self, (die, plane, block): (u16, u16, u32), row: u32) -> bool {
        !self.dead.contains(&(die, plane)) && !self.broken.contains(&(die, plane, block, row))
    }

    fn must_retire(&self, at @ (die, plane, _): (u16, u16, u32)) -> bool {
        self.dead.contains(&(die, plane))
            || self.retire.contains(&at)
            || (0..ROWS).any(|row| self.broken.contains(&(at.0, at.1, at.2, row)))
    }

    fn transient(&mut self, at: (u16, u16, u32)) -> bool {
        let of_block = self.transient_block.entry(at).or_default();
        let left = if *of_block > 0 { of_block } else { self.transient_die.entry(at.0).or_default() };
        let fails = *left > 0;
        *left -= u32::from(fails);
        fails
    }

    fn program(&mut self, at: (u16, u16, u32), row: u32) -> bool {
        if !self.readable(at, row) {
            return true;
        }
        let fails = self.program.remove(&at);
        if fails {
            self.retire.insert(at);
        }
        fails
    }

    fn erase(&mut self, at: (u16, u16, u32)) -> bool {
        if self.dead.contains(&(at.0, at.1)) {
            return true;
        }
        let fails = self.erase.remove(&at);
        if fails {
            self.retire.insert(at);
        }
        fails
    }
}

fn damages() -> impl Strategy<Value = DieDamage> {
    let at = || (0..PLANES, 0..BLOCKS);
    prop_oneof![
        4 => (at(), 0..ROWS).prop_map(|((plane, block), page)| DieDamage::Page { plane, block, page }),
        2 => (at(), 0..ROWS).prop_map(|((plane, block), page)| DieDamage::Wordline { plane, block, page }),
        2 => at().prop_map(|(plane, block)| DieDamage::Block { plane, block }),
        1 => (0..PLANES).prop_map(|plane| DieDamage::Plane { plane }),
        1 => prop_oneof![Just(DieDamage::Die), Just(DieDamage::Chip)],
        2 => (proptest::option::of(at()), 1..4u32)
            .prop_map(|(block, reads)| DieDamage::TransientRead { block, reads }),
        2 => at().prop_map(|(plane, block)| DieDamage::Program { plane, block }),
        2 => at().prop_map(|(plane, block)| DieDamage::Erase { plane, block }),
    ]
}

/// A step: a fault, or one of three questions about a place.
type Step = (Option<DieDamage>, u8, (u16, u16, u32), u32);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = (0..DIES, 0..PLANES, 0..BLOCKS);
    proptest::collection::vec((proptest::option::weighted(0.15, damages()), 0..3u8, at, 0..ROWS), 0..120)
}

proptest! {
    #[test]
    fn the_overlay_agrees_with_a_plain_model(steps in steps()) {
        let mut faults = faults(&HazardConfig::default(), 1);
        let mut model = Model::default();
        for (damage, question, at @ (die, plane, block), row) in steps {
            if let Some(damage) = damage {
                faults.inject(LocalDie(die), damage);
                model.inject(die, damage);
            }
            let index = number(die, plane, block);
            match question {
                0 => prop_assert_eq!(faults.program_fails(index, Row(row)), model.program(at, row)),
                1 => prop_assert_eq!(faults.erase_fails(index), model.erase(at)),
                _ => prop_assert_eq!(faults.sense_fails_transiently(index), model.transient(at)),
            }
            prop_assert_eq!(faults.is_readable(index, Row(row)), model.readable(at, row));
            prop_assert_eq!(faults.block_must_retire(index), model.must_retire(at));
            prop_assert_eq!(faults.plane_is_dead(LocalDie(die), plane), model.dead.contains(&(die, plane)));
            let dead = (0..PLANES).all(|plane| model.dead.contains(&(die, plane)));
            prop_assert_eq!(faults.die_is_dead(LocalDie(die)), dead);
            prop_assert_eq!(faults.any_broken(), !model.dead.is_empty() || !model.broken.is_empty());
        }
        for die in 0..DIES {
            for (plane, block, row) in (0..PLANES).flat_map(|p| (0..BLOCKS).flat_map(move |b| (0..ROWS).map(move |r| (p, b, r)))) {
                let readable = faults.is_readable(number(die, plane, block), Row(row));
                prop_assert_eq!(readable, model.readable((die, plane, block), row));
            }
        }
    }
}

#[test]
fn single_operations_fail_as_often_as_set_and_the_same_each_time() {
    let hazards = HazardConfig {
        program_failure: 0.01,
        erase_failure: 0.02,
        transient_read: 0.005,
        ..HazardConfig::default()
    };
    let run = |seed, first_die| {
        let mut faults = DieFaults::new(&geometry(), DIES, DieId(first_die), WORDLINE, &hazards, seed);
        (0..100_000u32)
            .map(|turn| {
                let block = BlockIndex(turn % 80);
                [
                    faults.program_fails(block, Row(0)),
                    faults.erase_fails(block),
                    faults.sense_fails_transiently(block),
                ]
            })
            .collect::<Vec<_>>()
    };
    let outcomes = run(5, 0);
    // Binomial(100 000, p): σ = √(n·p·(1−p)); six of them.
    for (index, p) in [0.01, 0.02, 0.005f64].into_iter().enumerate() {
        let count = outcomes.iter().filter(|fails| fails[index]).count() as f64;
        let sigma = (1e5 * p * (1.0 - p)).sqrt();
        assert!((count - 1e5 * p).abs() < 6.0 * sigma, "{p}: {count}");
    }
    assert!(outcomes == run(5, 0) && outcomes != run(6, 0) && outcomes != run(5, 8));
    // Failures of one kind follow no other's: both at once as often as independence says, 20 ± 6·4.5.
    let both = outcomes.iter().filter(|fails| fails[0] && fails[1]).count();
    assert!(both.abs_diff(20) < 27, "{both}");
}

const YEAR: Nanos = Nanos::secs(365 * 86_400);

#[test]
fn hazards_come_as_often_as_set_evenly_over_time_and_place() {
    let rate = 4000.0;
    let hazards = HazardConfig {
        page_per_year: rate,
        wordline_per_year: rate,
        block_per_year: rate,
        plane_per_year: rate,
        die_per_year: rate,
        chip_per_year: rate,
        ..HazardConfig::default()
    };
    let mut clock = HazardClock::new(&hazards, &geometry(), Nanos::ZERO, 7);
    let mut counts = [0u32; 6];
    let mut by_die = [0u32; DIES as usize];
    let (mut by_block, mut by_page) = ([0u32; BLOCKS as usize], [0u32; ROWS as usize]);
    let mut first_half = 0;
    let mut before = Nanos::ZERO;
    let mut gaps_beyond_mean = 0;
    while clock.next() < YEAR {
        let at = clock.next();
        assert!(at >= before);
        gaps_beyond_mean += u32::from((at - before).0 as f64 > YEAR.0 as f64 / (6.0 * rate));
        before = at;
        first_half += u32::from(at.0 < YEAR.0 / 2);
        let DriveFault { die, damage } = clock.draw();
        let kind = match damage {
            DieDamage::Page { page, .. } => {
                by_page[page as usize] += 1;
                0
            }
            DieDamage::Wordline { .. } => 1,
            DieDamage::Block { block, .. } => {
                by_block[block as usize] += 1;
                2
            }
            DieDamage::Plane { .. } => 3,
            DieDamage::Die => {
                by_die[usize::from(die)] += 1;
                4
            }
            DieDamage::Chip => {
                assert!(die.is_multiple_of(2) && die < DIES);
                5
            }
            other => panic!("{other:?} is no hazard"),
        };
        counts[kind] += 1;
    }
    // Poisson: σ = √mean; six of them.
    let near = |count: u32, mean: f64| (f64::from(count) - mean).abs() < 6.0 * mean.sqrt();
    assert!(counts.iter().all(|&count| near(count, rate)), "{counts:?}");
    assert!(near(first_half, 3.0 * rate), "{first_half}");
    assert!(by_die.iter().all(|&count| near(count, rate / 8.0)), "{by_die:?}");
    assert!(by_block.iter().all(|&count| near(count, rate / 5.0)), "{by_block:?}");
    assert!(by_page.iter().all(|&count| near(count, rate / 10.0)), "{by_page:?}");
    // Exponential gaps: a share 1/e is longer than the mean.
    assert!(near(gaps_beyond_mean, 6.0 * rate / std::f64::consts::E), "{gaps_beyond_mean}");
}

#[test]
fn switching_one_hazard_on_shifts_no_other() {
    let times = |hazards: &HazardConfig| {
        let mut clock = HazardClock::new(hazards, &geometry(), Nanos::secs(3), 7);
        let mut dies = Vec::new();
        while dies.len() < 20 {
            let at = clock.next();
            let fault = clock.draw();
            if fault.damage == DieDamage::Die {
                dies.push((at, fault.die));
            }
        }
        dies
    };
    let alone = HazardConfig { die_per_year: 10.0, ..HazardConfig::default() };
    assert_eq!(times(&alone), times(&HazardConfig { page_per_year: 1000.0, ..alone.clone() }));
    assert!(times(&alone)[0].0 >= Nanos::secs(3));
    assert_eq!(HazardClock::new(&HazardConfig::default(), &geometry(), Nanos::ZERO, 7).next(), Nanos::MAX);
}

/// Times of the failures of dies in `years` years, with 1,000 a year at a factor of 1.
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn die_failures(by_age: &[(u64, f64)], age_days: u64, years: u64) -> Vec<Nanos> {
    let day = 86_400;
    let hazards = HazardConfig {
        die_per_year: 1000.0,
        by_age: by_age
            .iter()
            .map(|&(from, factor)| AgeFactor { from: Nanos::secs(from * day), factor })
            .collect(),
        age: Nanos::secs(age_days * day),
        ..HazardConfig::default()
    };
    hazards.validate("device.hazards").unwrap();
    let mut clock = HazardClock::new(&hazards, &geometry(), Nanos::ZERO, 7);
    let mut times = Vec::new();
    while clock.next() < Nanos::secs(years * 365 * day) {
        times.push(clock.next());
        clock.draw();
    }
    times
}

/// The oracle is the integral of the rate over each span; a Poisson count is within five times the root of its mean but once in a million.
#[test]
fn failures_follow_the_rate_of_the_age() {
    let bathtub = [(0, 5.0), (90, 1.0), (200, 0.0), (400, 0.5), (1000, 20.0)];
    for age in [0, 30, 250, 2000] {
        let times = die_failures(&bathtub, age, 4);
        let ends = bathtub.iter().skip(1).map(|&(from, _)| from).chain([u64::MAX]);
        for (&(from, factor), end) in bathtub.iter().zip(ends) {
            let (first, last) = (from.max(age), end.min(age + 4 * 365));
            let mean = 1000.0 / 365.0 * factor * last.saturating_sub(first) as f64;
            let within = |at: &&Nanos| (first..last).contains(&(at.0 / 86_400_000_000_000 + age));
            let found = times.iter().filter(within).count() as f64;
            assert!((found - mean).abs() <= 5.0 * mean.sqrt(), "age {age}, from {from}: {found} of {mean}");
        }
    }
    assert_eq!(die_failures(&[(0, 1.0)], 0, 1), die_failures(&[], 0, 1), "a factor of 1 changes nothing");
    assert_eq!(
        die_failures(&[(0, 1.0), (10, 0.0)], 20, 4),
        [],
        "nothing breaks where the factor is 0 for good"
    );
}

#[test]
fn factors_by_age_out_of_order_are_refused_by_name() {
    let refused = |by_age: &[(u64, f64)], age| {
        let by_age =
            by_age.iter().map(|&(from, factor)| AgeFactor { from: Nanos::secs(from), factor }).collect();
        let hazards = HazardConfig { by_age, age: Nanos::secs(age), ..HazardConfig::default() };
        hazards.validate("device.hazards").unwrap_err().to_string()
    };
    assert!(refused(&[(1, 1.0)], 0).starts_with("device.hazards.by_age[0].from = 1s: must be 0s"));
    assert!(
        refused(&[(0, 1.0), (5, 1.0), (5, 2.0)], 0)
            .starts_with("device.hazards.by_age[2].from = 5s: must be later")
    );
    assert!(
        refused(&[(0, -1.0)], 0)
            .starts_with("device.hazards.by_age[0].factor = -1: must be between 0 and 1e6")
    );
    assert!(refused(&[], 9).starts_with("device.hazards.age = 9s: is for rates that change with age"));
}

#[test]
fn a_chip_is_all_its_dies() {
    let spec = FaultSpec { channel: Some(1), chip: Some(1), ..FaultSpec::new(Nanos::ZERO, FaultKind::Chip) };
    let fault = spec.resolve("faults[0]", &geometry()).unwrap();
    assert_eq!(fault.dies(&geometry()), 6..8);
    let mut faults = faults(&HazardConfig::default(), 1);
    fault.dies(&geometry()).for_each(|die| faults.inject(LocalDie(die), fault.damage));
    for die in 0..DIES {
        let chip = geometry().locate(DieId(die));
        assert_eq!(faults.die_is_dead(LocalDie(die)), chip.channel.0 == 1 && chip.chip == 1, "die {die}");
    }
    let die = FaultSpec { die: Some(5), ..FaultSpec::new(Nanos::ZERO, FaultKind::Die) };
    assert_eq!(die.resolve("faults[0]", &geometry()).unwrap().dies(&geometry()), 5..6);
}

#[test]
fn scheduled_faults_are_read_as_people_write_them() {
    let resolve = |text: &str| {
        let spec: FaultSpec = serde_json::from_str(text).map_err(|error| error.to_string())?;
        spec.resolve("faults[3]", &geometry()).map_err(|error| error.to_string())
    };
    let ok = [
        (
            r#"{"at": "10s", "kind": "wordline", "die": 3, "plane": 1, "block": 4, "page": 9}"#,
            DieDamage::Wordline { plane: 1, block: 4, page: 9 },
        ),
        (r#"{"at": "1h", "kind": "plane", "die": 3, "plane": 1}"#, DieDamage::Plane { plane: 1 }),
        (
            r#"{"at": 0, "kind": "transient-read", "die": 3, "reads": 5}"#,
            DieDamage::TransientRead { block: None, reads: 5 },
        ),
        (
            r#"{"at": 0, "kind": "transient-read", "die": 3, "plane": 0, "block": 2, "reads": 1}"#,
            DieDamage::TransientRead { block: Some((0, 2)), reads: 1 },
        ),
        (
            r#"{"at": 0, "kind": "erase", "die": 3, "plane": 0, "block": 2}"#,
            DieDamage::Erase { plane: 0, block: 2 },
        ),
    ];
    for (text, damage) in ok {
        assert_eq!(resolve(text), Ok(DriveFault { die: 3, damage }), "{text}");
    }
    let power = resolve(r#"{"at": "2s", "kind": "power"}"#);
    assert_eq!(power, Ok(DriveFault { die: 0, damage: DieDamage::Power(outlast_media::UnitTear::Nothing) }));
    let refused = [
        (r#"{"at": 0, "kind": "power", "die": 0}"#, r#"faults[3].die = 0: kind = "power" takes none"#),
        (r#"{"at": 0, "kind": "die"}"#, r#"faults[3].die = absent: is needed by kind = "die""#),
        (
            r#"{"at": 0, "kind": "die", "die": 8}"#,
            "faults[3].die = 8: must be less than 8, the number there are",
        ),
        (
            r#"{"at": 0, "kind": "block", "die": 0, "plane": 0, "block": 0, "page": 7}"#,
            r#"faults[3].page = 7: kind = "block" takes none"#,
        ),
        (
            r#"{"at": 0, "kind": "page", "die": 0, "plane": 0, "block": 0, "page": 10}"#,
            "faults[3].page = 10: must be less than 10, the number there are",
        ),
        (
            r#"{"at": 0, "kind": "chip", "channel": 0, "chip": 0, "die": 1}"#,
            r#"faults[3].die = 1: kind = "chip" takes none"#,
        ),
        (
            r#"{"at": 0, "kind": "transient-read", "die": 0, "reads": 0}"#,
            "faults[3].reads = 0: must be at least 1",
        ),
        (
            r#"{"at": 0, "kind": "transient-read", "die": 0, "plane": 1, "reads": 1}"#,
            "faults[3].block = absent: plane and block are given together, or neither for the whole die",
        ),
    ];
    for (text, message) in refused {
        assert_eq!(resolve(text), Err(message.to_owned()));
    }
    assert!(resolve(r#"{"at": 0, "kind": "dye", "die": 0}"#).unwrap_err().contains("dye"));
    assert!(resolve(r#"{"at": 0, "kind": "die", "die": 0, "when": 1}"#).unwrap_err().contains("when"));
}

#[test]
fn hazards_out_of_range_are_refused_by_name() {
    let refused = |hazards: HazardConfig| hazards.validate("device.hazards").unwrap_err().to_string();
    let message = refused(HazardConfig { die_per_year: -1.0, ..HazardConfig::default() });
    assert_eq!(message, "device.hazards.per_year.die = -1: must be between 0 and 1e9 events per year");
    let message = refused(HazardConfig { erase_failure: 0.6, ..HazardConfig::default() });
    assert_eq!(message, "device.hazards.per_operation.erase = 0.6: must be between 0 and 0.5");
    assert!(
        refused(HazardConfig { transient_read: f64::NAN, ..HazardConfig::default() })
            .contains("per_operation.read")
    );
    HazardConfig::default().validate("device.hazards").unwrap();
}

/// A fault of a spare as a whole was refused with "must be less than 4, the number there are", of an array with five devices.
#[test]
fn a_spare_is_told_from_a_device_that_is_not_there() {
    let device = |kind: &str, device: u16| {
        let text = format!(r#"{{"at": 0, "kind": "{kind}", "device": {device}}}"#);
        let fault: FaultSpec = serde_json::from_str(&text).unwrap();
        fault.resolve_device("faults[3]", 4, Some(5)).map_err(|error| error.to_string())
    };
    for kind in ["device", "replace"] {
        let is_spare = format!(
            "faults[3].device = 4: is a spare; kind = \"{kind}\" is for members, which are less than 4"
        );
        assert_eq!(device(kind, 3), Ok(3));
        assert_eq!(device(kind, 4), Err(is_spare));
    }
    assert_eq!(device("die", 4), Ok(4), "flash of a spare can fail");
    for kind in ["device", "replace", "die", "power"] {
        let beyond = "faults[3].device = 5: must be less than 5, members and spares".to_owned();
        assert_eq!(device(kind, 5), Err(beyond), "{kind}");
    }
}
