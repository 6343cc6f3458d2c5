//! Do the cells of a drive have the error rates of their model, block by block and read by read?

use outlast_media::reliability::{BlockVariation, PageTypes, RberModel, chip};
use outlast_media::{
    AgeRange, CellMode, CellsConfig, FlashCells, Geometry, InitialState, PageTimes, ReadScope,
};
use outlast_units::{BlockIndex, Bytes, Group, ModeId, Nanos, Row};
use proptest::prelude::*;

const DAY: u64 = 86_400_000_000_000;
const ROWS: u32 = 12;

fn geometry(blocks_per_plane: u32) -> Geometry {
    Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 2,
        planes_per_die: 2,
        blocks_per_plane,
        pages_per_block: ROWS,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    }
}

fn model(name: &str) -> &'static RberModel {
    &chip(name).expect("a chip of the list").model
}

fn plain(name: &str) -> CellsConfig<'static> {
    CellsConfig {
        model: model(name),
        variation: BlockVariation::default(),
        page_types: None,
        scope: ReadScope::Block,
        modes: &[],
    }
}

/// 4 x `blocks_per_plane` blocks, groups of the same number.
fn cells(config: &CellsConfig, blocks_per_plane: u32, seed: u64) -> FlashCells {
    FlashCells::new(config, &geometry(blocks_per_plane), 2, 1000, 4 * blocks_per_plane, seed)
}

fn days(days: u64) -> Nanos {
    Nanos(days * DAY)
}

/// Chip, cycles, days, reads, RBER by HRM's Equation 1 with the coefficients of its Table 2:
/// - TLC: 1.48e-3 + 3.90e-10·5000^2.05 + 6.28e-5·5000^0.14·90^0.54 + 3.73e-9·5000^0.33·10000^1.71
///   = 0.00148 + 0.0149263 + 0.0023502 + 0.4289127 = 0.4476693
/// - 2y-nm: 8.34e-5 + 3.30e-11·5000^1.71 + 5.56e-19·5000^2.49·90^3.33 + 6.26e-13·5000^1.76·100^0.47
///   = 8.34e-5 + 6.97835e-5 + 2.904943e-3 + 1.76507e-5 = 3.0757776e-3
/// - 3x-nm: 5.06e-8 + 1.05e-14·50000^2.16 + 9.31e-14·50000^1.80·90^0.80 + 4.17e-15·50000^1.07·10000^1.45
///   = 5.06e-8 + 1.482397e-4 + 9.783397e-4 + 2.805653e-4 = 1.40719533e-3
const POINTS: [(&str, u32, u64, u32, f64); 3] = [
    ("tlc-72-layer", 5000, 90, 10_000, 0.447_669_3),
    ("mlc-2y-nm", 5000, 90, 100, 3.075_777_6e-3),
    ("mlc-3x-nm", 50_000, 90, 10_000, 1.407_195_33e-3),
];

#[test]
fn the_chips_of_hrm_reach_the_rates_of_equation_1_when_worn_aged_and_read() {
    for (name, cycles, age, reads, rber) in POINTS {
        let mut cells = cells(&plain(name), 1, 1);
        cells.erased(BlockIndex(3), cycles);
        cells.forget(Group(2));
        cells.programmed(Group(2), days(7));
        for _ in 0..reads {
            cells.sense(BlockIndex(3), Row(1), Group(2), days(8));
        }
        let now = days(7 + age);
        let actual = cells.ln_rber(BlockIndex(3), Row(5), Group(2), now).exp();
        // The hand's seven digits.
        assert!((actual / rber - 1.0).abs() < 3e-7, "{name}: {actual}, expected {rber}");
        assert!((cells.rber_parts(BlockIndex(3), Row(5), Group(2), now).total() / rber - 1.0).abs() < 3e-7);
        assert!(
            (cells.expected_errors(BlockIndex(3), Row(5), Group(2), now, 4096) / (4096.0 * rber) - 1.0).abs()
                < 3e-7
        );
        assert_eq!(cells.reads(BlockIndex(3)), reads);
    }
}

#[test]
fn exponential_chips_neither_age_nor_mind_reads() {
    for name in ["msapl", "b-mlc32-1"] {
        let mut cells = cells(&plain(name), 1, 1);
        cells.erased(BlockIndex(0), 12_000);
        for _ in 0..1000 {
            cells.sense(BlockIndex(0), Row(0), Group(0), days(1));
        }
        let (expected, actual) = (
            model(name).rber(12_000.0, 0.0, 0.0),
            cells.ln_rber(BlockIndex(0), Row(0), Group(0), days(900)).exp(),
        );
        // The table of logarithms.
        assert!((actual / expected - 1.0).abs() < 1.1e-9, "{name}");
        assert_eq!(cells.time_until(BlockIndex(0), Group(0), 0.1, days(1)), None);
        assert_eq!(cells.reads_until(BlockIndex(0), None, Group(0), 0.1, days(1)), None);
    }
}

proptest! {
    /// Any block and row of any set, at any wear, age and reads: the model's RBER times both factors.
    #[test]
    fn a_sensing_sees_the_models_rate(
        name in prop_oneof![Just("tlc-72-layer"), Just("mlc-2y-nm"), Just("mlc-3x-nm"), Just("msapl")],
        sigma in 0.0..0.5f64,
        factors in proptest::collection::vec(0.5..2.0f64, 1..5),
        block in 0..8u32,
        row in 0..ROWS,
        cycles in 0..20_000u32,
        tenths in 0..40_000_000u64,
        reads in 0..200_000u32,
        seed: u64,
    ) {
        let page_types = PageTypes { factors };
        let variation = BlockVariation { sigma };
        let config =
            CellsConfig { model: model(name), variation, page_types: Some(&page_types), scope: ReadScope::Block, modes: &[] };
        let mut cells = cells(&config, 2, seed);
        let age = Nanos(tenths * 100_000_000);
        let initial = InitialState { age: AgeRange::Same(age), block_reads: reads, ..InitialState::default() };
        cells.begin(&[cycles; 8], &initial, Nanos::secs(5));
        let ln_factors = page_types.ln_factors();
        let ln_factor = variation.ln_factor(seed, 1000 + u64::from(block))
            + ln_factors[row as usize % ln_factors.len()];
        let rber = model(name).rber(f64::from(cycles), tenths as f64 / 864_000.0, f64::from(reads));
        let expected = (rber * ln_factor.exp()).min(0.5);
        let looked = cells.ln_rber(BlockIndex(block), Row(row), Group(block), Nanos::secs(5));
        prop_assert!((looked.exp() / expected - 1.0).abs() < 1e-6, "{} not {expected}", looked.exp());
        let parts = cells.rber_parts(BlockIndex(block), Row(row), Group(block), Nanos::secs(5));
        prop_assert!((parts.total().min(0.5) / expected - 1.0).abs() < 1e-6);
        // The look disturbed nothing; the sensing sees the same and counts afterwards.
        let sensed = cells.sense(BlockIndex(block), Row(row), Group(block), Nanos::secs(5)).ln_rber;
        prop_assert_eq!(sensed.to_bits(), looked.to_bits());
        prop_assert_eq!(cells.reads(BlockIndex(block)), reads + 1);
        prop_assert_eq!(cells.saturations(), u64::from(rber * ln_factor.exp() > 0.5));
        prop_assert!(cells.sense(BlockIndex(block), Row(row), Group(block), Nanos::secs(5)).ln_rber >= sensed - 1e-13);
    }

    /// Forecasts against the model's own bisection, and against the cells at the moment forecast.
    #[test]
    fn forecasts_come_true(
        name in prop_oneof![Just("tlc-72-layer"), Just("mlc-2y-nm"), Just("mlc-3x-nm")],
        cycles in 1000..10_000u32,
        age in 0..200u64,
        more in 1.01..20.0f64,
        row in proptest::option::of(0..ROWS),
        seed: u64,
    ) {
        let page_types = PageTypes { factors: vec![0.8, 0.95, 1.25] };
        let variation = BlockVariation { sigma: 0.3 };
        let config =
            CellsConfig { model: model(name), variation, page_types: Some(&page_types), scope: ReadScope::Block, modes: &[] };
        let mut cells = cells(&config, 1, seed);
        cells.erased(BlockIndex(1), cycles);
        let now = days(age);
        // A row of the worst type, where none is given.
        let at = row.unwrap_or(2);
        let limit = cells.ln_rber(BlockIndex(1), Row(at), Group(0), now).exp() * more;
        prop_assume!(limit < 0.5);
        let factor = variation.factor(seed, 1001) * page_types.factors[at as usize % 3];
        let (c, t) = (f64::from(cycles), age as f64);

        // In one draw of many thousands, 10^12 reads do not suffice.
        let expected = model(name).reads_to_reach(limit / factor, c, t).unwrap_or(f64::INFINITY);
        match cells.reads_until(BlockIndex(1), row.map(Row), Group(0), limit, now) {
            // A table error of 1e-7 of the RBER is one of (1e-7 / part of disturbance / q) of the reads.
            Some(reads) => {
                prop_assert!(expected.is_finite(), "{reads}, which the model never reaches");
                let tolerance = 1e-6 * more / (more - 1.0) / 0.47;
                prop_assert!((f64::from(reads) - expected).abs() <= 1.0 + tolerance * expected,
                    "{reads} not {expected}");
                let initial = InitialState { block_reads: reads, ..InitialState::default() };
                cells.begin(&[cycles; 4], &initial, Nanos::ZERO);
                prop_assert!(cells.ln_rber(BlockIndex(1), Row(at), Group(0), now).exp() >= limit * (1.0 - 1e-9));
                let initial = InitialState { block_reads: reads - 1, ..InitialState::default() };
                cells.begin(&[cycles; 4], &initial, Nanos::ZERO);
                prop_assert!(cells.ln_rber(BlockIndex(1), Row(at), Group(0), now).exp() < limit * (1.0 + 1e-9));
            }
            None => prop_assert!(expected > 4.29e9, "{expected}"),
        }
        cells.begin(&[cycles; 4], &InitialState::default(), Nanos::ZERO);
        let worst = factor / page_types.factors[at as usize % 3] * 1.25;
        let expected = model(name).days_to_reach(limit / worst, c, 0.0).expect("data age");
        match cells.time_until(BlockIndex(1), Group(0), limit, Nanos::ZERO) {
            Some(time) => {
                prop_assert!(cells.ln_rber(BlockIndex(1), Row(2), Group(0), time).exp() >= limit * (1.0 - 1e-9));
                if time > Nanos::ZERO {
                    let before = time - Nanos::millis(100);
                    prop_assert!(cells.ln_rber(BlockIndex(1), Row(2), Group(0), before).exp() < limit * (1.0 + 1e-9));
                    let found = time.0 as f64 / DAY as f64;
                    let part = model(name).parts(c, found, 0.0);
                    let tolerance = 1e-6 * part.total() / part.retention / 0.54;
                    prop_assert!((found - expected).abs() <= 2e-6 + tolerance * expected, "{found} not {expected}");
                }
            }
            None => prop_assert!(expected > 13.6 * 365.0, "{expected}"),
        }
    }
}

/// Two laws in one drive: a block has that of its mode, whatever others have, and the mode of its last opening.
#[test]
fn a_block_has_the_error_rate_of_the_mode_in_which_it_is_used() {
    let page_types = PageTypes { factors: vec![0.5, 2.0] };
    let mode = CellMode {
        rows: 4,
        one_shot: 1,
        read: PageTimes::Same(Nanos::micros(30)),
        program: PageTimes::Same(Nanos::micros(200)),
        rber: Some(model("mlc-3x-nm").clone()),
        page_types: Some(page_types.clone()),
        endurance: None,
    };
    let variation = BlockVariation { sigma: 0.3 };
    let first = CellsConfig { variation, ..plain("tlc-72-layer") };
    let second = CellsConfig {
        model: model("mlc-3x-nm"),
        page_types: Some(&page_types),
        ..CellsConfig { variation, ..plain("mlc-3x-nm") }
    };
    let modes = [mode.clone()];
    let both = CellsConfig { modes: &modes, ..first };
    let [mut both, mut first, mut second] = [&both, &first, &second].map(|config| cells(config, 1, 9));
    for block in (0..4).map(BlockIndex) {
        for cells in [&mut both, &mut first, &mut second] {
            cells.erased(block, 700 + block.0);
        }
    }
    let rates = |cells: &FlashCells, block| {
        [0, 1, 2, 3].map(|row| cells.ln_rber(block, Row(row), Group(0), days(40)).to_bits())
    };
    let in_second = |block: u32, even: bool| block.is_multiple_of(2) == even;
    for even in [true, false] {
        for block in 0..4 {
            both.set_mode(BlockIndex(block), ModeId(u8::from(in_second(block, even))));
        }
        for block in 0..4 {
            let alone = if in_second(block, even) { &second } else { &first };
            assert_eq!(rates(&both, BlockIndex(block)), rates(alone, BlockIndex(block)), "block {block}");
            let parts = [&both, alone].map(|cells| {
                cells.rber_parts(BlockIndex(block), Row(1), Group(0), days(40)).total().to_bits()
            });
            assert_eq!(parts[0], parts[1]);
            let sensed = both.preview_sensing(BlockIndex(block), Row(1), Group(0), days(40));
            assert_eq!(sensed, alone.preview_sensing(BlockIndex(block), Row(1), Group(0), days(40)));
            let until = |cells: &FlashCells| cells.time_until(BlockIndex(block), Group(0), 0.01, days(1));
            assert_eq!(until(&both), until(alone));
        }
    }
}

#[test]
fn a_rate_that_is_reached_already_is_forecast_for_now() {
    let mut cells = cells(&plain("tlc-72-layer"), 1, 1);
    cells.erased(BlockIndex(0), 5000);
    assert_eq!(cells.reads_until(BlockIndex(0), None, Group(0), 0.01, days(3)), Some(0));
    assert_eq!(cells.time_until(BlockIndex(0), Group(0), 0.01, days(3)), Some(days(3)));
}

#[test]
fn an_alarm_goes_off_once_at_its_count() {
    for scope in [ReadScope::Block, ReadScope::Page] {
        let mut cells = cells(&CellsConfig { scope, ..plain("tlc-72-layer") }, 1, 1);
        cells.set_alarm(BlockIndex(2), 100);
        for read in 1..=300 {
            cells.sense(BlockIndex(2), Row(4), Group(0), Nanos::ZERO);
            assert_eq!(cells.take_alarm(), (read == 100).then_some(BlockIndex(2)), "read {read}");
            assert_eq!(cells.alarm(BlockIndex(2)), if read < 100 { 100 } else { u32::MAX });
        }
        // Set again: at a count to come, at one that has passed, and off by erasure while it waits to be taken.
        cells.set_alarm(BlockIndex(2), 301);
        cells.sense(BlockIndex(2), Row(4), Group(0), Nanos::ZERO);
        assert_eq!((cells.take_alarm(), cells.take_alarm()), (Some(BlockIndex(2)), None));
        cells.set_alarm(BlockIndex(2), 7);
        cells.set_alarm(BlockIndex(2), 8);
        assert_eq!((cells.take_alarm(), cells.take_alarm()), (Some(BlockIndex(2)), None));
        cells.set_alarm(BlockIndex(2), 7);
        cells.erased(BlockIndex(2), 1);
        assert_eq!(cells.take_alarm(), None);
        // Other blocks' alarms wait their turn.
        cells.set_alarm(BlockIndex(3), 1);
        cells.set_alarm(BlockIndex(1), 1);
        cells.sense(BlockIndex(1), Row(0), Group(0), Nanos::ZERO);
        cells.sense(BlockIndex(3), Row(0), Group(0), Nanos::ZERO);
        assert_eq!(
            [cells.take_alarm(), cells.take_alarm(), cells.take_alarm()],
            [Some(BlockIndex(1)), Some(BlockIndex(3)), None]
        );
    }
}

#[test]
fn with_page_scope_only_the_row_that_is_read_is_disturbed() {
    let mut cells = cells(&CellsConfig { scope: ReadScope::Page, ..plain("tlc-72-layer") }, 1, 1);
    let initial = InitialState { block_reads: 12_005, ..InitialState::default() };
    cells.begin(&[3000; 4], &initial, Nanos::ZERO);
    // 12 005 reads over 12 rows.
    let expected = model("tlc-72-layer").rber(3000.0, 0.0, 1000.0);
    assert!(
        (cells.ln_rber(BlockIndex(1), Row(7), Group(0), Nanos::ZERO).exp() / expected - 1.0).abs() < 1e-6
    );
    for _ in 0..500 {
        cells.sense(BlockIndex(1), Row(7), Group(0), Nanos::ZERO);
    }
    let read = model("tlc-72-layer").rber(3000.0, 0.0, 1500.0);
    assert!((cells.ln_rber(BlockIndex(1), Row(7), Group(0), Nanos::ZERO).exp() / read - 1.0).abs() < 1e-6);
    for (block, row) in [(1, 6), (1, 8), (0, 7), (2, 7)] {
        assert!(
            (cells.ln_rber(BlockIndex(block), Row(row), Group(0), Nanos::ZERO).exp() / expected - 1.0).abs()
                < 1e-6
        );
    }
    assert_eq!(
        (
            cells.row_reads(BlockIndex(1), Row(7)),
            cells.row_reads(BlockIndex(1), Row(8)),
            cells.reads(BlockIndex(1))
        ),
        (1500, 1000, 12_505)
    );
    cells.erased(BlockIndex(1), 3001);
    assert_eq!(
        (
            cells.row_reads(BlockIndex(1), Row(7)),
            cells.row_reads(BlockIndex(2), Row(7)),
            cells.reads(BlockIndex(1))
        ),
        (0, 1000, 0)
    );
}

#[test]
fn a_rate_beyond_one_half_is_held_counted_and_placed() {
    let mut cells = cells(&plain("mlc-2y-nm"), 1, 1);
    cells.erased(BlockIndex(2), 10_000);
    assert_eq!(cells.first_saturation(), None);
    // Retention 1.7 after a year: HRM's "100% error rate".
    assert_eq!(
        cells.ln_rber(BlockIndex(2), Row(0), Group(0), days(365)).to_bits(),
        (-std::f64::consts::LN_2).to_bits()
    );
    assert_eq!(cells.saturations(), 0, "a look is not counted");
    assert!(cells.sense(BlockIndex(2), Row(0), Group(0), days(100)).ln_rber < -std::f64::consts::LN_2);
    for _ in 0..2 {
        assert_eq!(
            cells.sense(BlockIndex(2), Row(0), Group(0), days(365)).ln_rber.to_bits(),
            (-std::f64::consts::LN_2).to_bits()
        );
    }
    assert_eq!(cells.saturations(), 2);
    let first = cells.first_saturation().unwrap();
    assert_eq!((first.block, first.cycles, first.reads), (BlockIndex(2), 10_000, 1));
    assert!((first.days - 365.0).abs() < 1e-6);
}

#[test]
fn steep_models_overflow_into_saturation_and_not_into_nonsense() {
    let RberModel::PowerLaw(mut law) = model("mlc-2y-nm").clone() else { unreachable!("a power law") };
    (law.m, law.n, law.q) = (400.0, 300.0, 200.0);
    let steep = RberModel::PowerLaw(law);
    let mut cells = cells(&CellsConfig { model: &steep, ..plain("msapl") }, 1, 1);
    cells.erased(BlockIndex(0), 5000);
    assert!(cells.sense(BlockIndex(0), Row(0), Group(0), Nanos::ZERO).ln_rber < -5.0);
    assert_eq!(
        cells.sense(BlockIndex(0), Row(0), Group(0), days(50)).ln_rber.to_bits(),
        (-std::f64::consts::LN_2).to_bits()
    );
}

#[test]
fn time_stands_still_at_the_horizon() {
    let mut cells = cells(&plain("tlc-72-layer"), 1, 1);
    let initial = InitialState { age: AgeRange::Same(days(365)), ..InitialState::default() };
    cells.begin(&[1; 4], &initial, Nanos::ZERO);
    // 2^32 − 1 tenths of a second, less a year.
    let horizon = Nanos((u64::from(u32::MAX) - 365 * 864_000) * 100_000_000);
    assert_eq!(cells.horizon(), horizon);
    let at = cells.days(Group(0), horizon);
    assert!((at - f64::from(u32::MAX) / 864_000.0).abs() < 1e-6);
    assert_eq!(cells.days(Group(0), Nanos::MAX).to_bits(), at.to_bits());
    cells.forget(Group(0));
    cells.programmed(Group(0), Nanos::MAX);
    assert_eq!(cells.days(Group(0), Nanos::MAX).to_bits(), 0f64.to_bits());
}

/// If reads disturb only their page, the least-read rows may be the worst: an alarm must go off at the first reading after which
/// *some* row has reached the limit of its type, neither before nor after. The oracle looks at every row after every reading.
#[test]
fn an_alarm_of_read_pages_goes_off_when_the_first_row_reaches_its_limit() {
    let page_types = PageTypes { factors: vec![0.5, 1.0, 2.0] };
    let config =
        CellsConfig { page_types: Some(&page_types), scope: ReadScope::Page, ..plain("tlc-72-layer") };
    for seed in 0..40 {
        let mut cells = cells(&config, 1, seed);
        cells.erased(BlockIndex(1), 3000);
        let now = days(20);
        // What the worst type reaches after some hundred reads; the best has to be read far more often.
        let limit = cells.ln_rber(BlockIndex(1), Row(2), Group(0), now).exp() * 1.001;
        cells.set_alarms(BlockIndex(1), |cells, row, reads| {
            assert_eq!(reads, 0, "nothing has been read");
            cells.reads_until(BlockIndex(1), row, Group(0), limit, now).unwrap()
        });
        let mut rng = outlast_units::rng::SplitMix::new(seed, "test");
        // Some rows are read far more often than others; in some runs never one of the worst type.
        let rows = [rng.below(12) as u32, rng.below(12) as u32];
        let mut reads = 0;
        loop {
            let row = if rng.below(100) == 0 { rng.below(12) as u32 } else { rows[rng.below(2) as usize] };
            cells.sense(BlockIndex(1), Row(row), Group(0), now);
            reads += 1;
            let worst = (0..ROWS)
                .map(|row| cells.expected_errors(BlockIndex(1), Row(row), Group(0), now, 4096))
                .fold(0.0, f64::max);
            assert!(
                (cells.worst_expected_errors(BlockIndex(1), Group(0), now, 4096) / worst - 1.0).abs() < 1e-12
            );
            let reached = worst >= limit * 4096.0 * (1.0 - 1e-9);
            assert_eq!(cells.take_alarm(), reached.then_some(BlockIndex(1)), "seed {seed}, reading {reads}");
            if reached {
                break;
            }
        }
        assert!(reads > 10, "seed {seed}: {reads}");
        // Erasure turns it off.
        cells.set_alarms(BlockIndex(1), |_, _, reads| reads + 1);
        cells.erased(BlockIndex(1), 3001);
        cells.sense(BlockIndex(1), Row(rows[0]), Group(0), now);
        assert_eq!(cells.take_alarm(), None);
    }
}

/// A group is as old as what was written to it first, until it is forgotten.
#[test]
fn a_group_is_as_old_as_its_first_data() {
    let mut cells = cells(&plain("tlc-72-layer"), 1, 1);
    cells.forget(Group(2));
    let is_old = |cells: &FlashCells, age: f64| (cells.days(Group(2), days(400)) - age).abs() < 1e-6;
    assert!(is_old(&cells, 0.0), "nothing is of no age");
    cells.programmed(Group(2), days(100));
    cells.programmed(Group(2), days(300));
    assert!(is_old(&cells, 300.0));
    cells.forget(Group(2));
    cells.programmed(Group(2), days(390));
    assert!(is_old(&cells, 10.0));
}

/// What was copied without correction errs by the rate of its source more, whatever the law, until its block is erased.
#[test]
fn a_block_inherits_the_errors_of_what_is_copied_into_it() {
    for chip in ["tlc-72-layer", "mlc-3x-nm", "msapl"] {
        let mut cells = cells(&plain(chip), 1, 9);
        let block = BlockIndex(2);
        cells.erased(block, 500);
        let rate = |cells: &FlashCells| cells.ln_rber(block, Row(1), Group(0), Nanos::ZERO).exp();
        let own = rate(&cells);
        for (given, expected) in [(1e-3, 1e-3), (2e-4, 1e-3), (3e-3, 3e-3)] {
            cells.inherit(block, given);
            let more = rate(&cells) - own;
            assert!((more / expected - 1.0).abs() < 1e-3, "{chip}: {more} more, not {expected}");
        }
        cells.erased(block, 500);
        assert!((rate(&cells) / own - 1.0).abs() < 1e-9, "{chip}: an erasure ends it");
    }
}
