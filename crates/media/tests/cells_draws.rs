//! Is what is drawn for cells distributed as it should be, and a function of nothing else?

use outlast_media::reliability::{BlockVariation, RberModel, chip};
use outlast_media::{AgeRange, CellsConfig, FlashCells, Geometry, InitialState, ReadScope};
use outlast_units::{BlockIndex, Bytes, Group, Nanos, Row};

const DAY: Nanos = Nanos::secs(86_400);
const BLOCKS: u32 = 20_000;

fn cells(first_block: u64, seed: u64) -> FlashCells {
    let model: &RberModel = &chip("tlc-72-layer").expect("a chip of the list").model;
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: 4,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let variation = BlockVariation { sigma: 0.4 };
    let config = CellsConfig { model, variation, page_types: None, scope: ReadScope::Block, modes: &[] };
    FlashCells::new(&config, &geometry, 1, first_block, BLOCKS, seed)
}

/// Counts of `values` in (0, 1) by hundredths: χ² with 99 degrees of freedom, mean 99, σ = √198 = 14.1. Below 99 + 6σ.
fn assert_uniform(values: impl Iterator<Item = f64>) {
    let mut counts = [0f64; 100];
    let mut total = 0.0;
    for value in values {
        counts[(value * 100.0) as usize] += 1.0;
        total += 1.0;
    }
    let expected = total / 100.0;
    let chi_square: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(expected >= 100.0 && chi_square < 184.0, "{chi_square}");
}

#[test]
fn luck_is_uniform_over_every_part_of_its_address() {
    let mut cells = cells(0, 1);
    assert_uniform((0..BLOCKS).map(|block| cells.luck(BlockIndex(block), Row(0), 0)));
    assert_uniform((0..BLOCKS).map(|row| cells.luck(BlockIndex(0), Row(row), 0)));
    assert_uniform((0..BLOCKS).map(|unit| cells.luck(BlockIndex(0), Row(0), unit)));
    let over_cycles: Vec<f64> = (0..BLOCKS)
        .map(|cycles| {
            cells.erased(BlockIndex(7), cycles);
            cells.luck(BlockIndex(7), Row(1), 2)
        })
        .collect();
    assert_uniform(over_cycles.iter().copied());
    // Neighbours are independent: the fractional part of the sum of two is uniform, and so is that of their difference.
    assert_uniform(
        (1..BLOCKS).map(|b| {
            (cells.luck(BlockIndex(b), Row(0), 0) + cells.luck(BlockIndex(b - 1), Row(0), 0)).fract()
        }),
    );
    assert_uniform((1..BLOCKS).map(|b| {
        (1.0 + cells.luck(BlockIndex(b), Row(0), 1) - cells.luck(BlockIndex(b), Row(0), 0)).fract()
    }));
    assert_uniform(over_cycles.windows(2).map(|pair| (1.0 + pair[1] - pair[0]).fract()));
}

#[test]
fn luck_changes_with_each_erasure_and_not_with_reads_or_age() {
    let mut cells = cells(0, 1);
    let before = cells.luck(BlockIndex(3), Row(1), 2);
    for _ in 0..100 {
        cells.sense(BlockIndex(3), Row(1), Group(0), DAY);
    }
    cells.forget(Group(0));
    cells.programmed(Group(0), DAY);
    assert_eq!(cells.luck(BlockIndex(3), Row(1), 2).to_bits(), before.to_bits());
    cells.erased(BlockIndex(3), 1);
    assert_ne!(cells.luck(BlockIndex(3), Row(1), 2).to_bits(), before.to_bits());
}

#[test]
fn blocks_are_numbered_over_the_drive() {
    let (first, second) = (cells(0, 9), cells(15_000, 9));
    for block in 0..5000 {
        // The same block of the drive, seen as part of either set.
        assert_eq!(
            first.luck(BlockIndex(15_000 + block), Row(1), 2).to_bits(),
            second.luck(BlockIndex(block), Row(1), 2).to_bits()
        );
        let rber = |cells: &FlashCells, block| {
            cells.ln_rber(BlockIndex(block), Row(0), Group(0), Nanos::ZERO).to_bits()
        };
        assert_eq!(rber(&first, 15_000 + block), rber(&second, block));
        assert_ne!(rber(&first, block), rber(&second, block));
    }
}

#[test]
fn initial_cycles_have_the_mean_and_spread_asked_for() {
    let cells = cells(0, 4);
    let initial = InitialState { pe_cycles: 5000, pe_spread: 300.0, ..InitialState::default() };
    let drawn = cells.draw_cycles(&initial);
    let n = f64::from(BLOCKS);
    let mean = drawn.iter().copied().map(f64::from).sum::<f64>() / n;
    let variance = drawn.iter().map(|&c| (f64::from(c) - mean).powi(2)).sum::<f64>() / n;
    // σ/√n = 2.1 and σ/√(2n) = 1.5; six of each. Rounding adds 1/12 to the variance.
    assert!((mean - 5000.0).abs() < 12.7, "{mean}");
    assert!((variance.sqrt() - 300.0).abs() < 9.0, "{}", variance.sqrt());
    // Within one σ: 68.27 % of 20 000 = 13 654, σ = 66.
    let within = drawn.iter().filter(|&&c| c.abs_diff(5000) <= 300).count();
    assert!(within.abs_diff(13_654) < 395 + 35, "{within}");
    assert!(cells.draw_cycles(&InitialState { pe_spread: 0.0, ..initial }).iter().all(|&c| c == 5000));
    // A spread as wide as the mean never goes below 0.
    let wide = InitialState { pe_cycles: 10, pe_spread: 10.0, ..InitialState::default() };
    assert!(cells.draw_cycles(&wide).iter().all(|&c| c < 80));
}

#[test]
fn initial_ages_are_uniform_and_differ_between_sets() {
    let (mut one, mut other) = (cells(0, 4), cells(u64::from(BLOCKS), 4));
    let age = AgeRange::Between([Nanos(30 * DAY.0), Nanos(90 * DAY.0)]);
    let initial = InitialState { age, block_reads: 77, ..InitialState::default() };
    for cells in [&mut one, &mut other] {
        cells.begin(&vec![100; BLOCKS as usize], &initial, DAY);
        assert_uniform(
            (0..BLOCKS).map(|group| (cells.days(Group(group), DAY) - 30.0) / 60.0).map(|x| x.min(0.999_999)),
        );
        assert!(
            (0..BLOCKS)
                .all(|block| cells.reads(BlockIndex(block)) == 77 && cells.cycles(BlockIndex(block)) == 100)
        );
    }
    let same =
        (0..BLOCKS).filter(|&g| (one.days(Group(g), DAY) - other.days(Group(g), DAY)).abs() < 1e-6).count();
    // 20 000 pairs among 51 840 000 tenths of a second.
    assert!(same <= 3, "{same}");
    let later = Nanos(2 * DAY.0);
    one.forget(Group(5));
    one.programmed(Group(5), DAY);
    assert!((one.days(Group(5), later) - 1.0).abs() < 1e-9 && one.days(Group(6), later) >= 31.0);
}

#[test]
fn the_same_seed_gives_the_same_cells() {
    let initial = InitialState {
        pe_cycles: 3000,
        pe_spread: 100.0,
        age: AgeRange::Between([Nanos::ZERO, DAY]),
        block_reads: 5,
    };
    let run = |seed| {
        let mut cells = cells(0, seed);
        let cycles = cells.draw_cycles(&initial);
        cells.begin(&cycles, &initial, DAY);
        (0..2000u32)
            .map(|i| {
                cells.programmed(Group(i % 13), Nanos(DAY.0 + u64::from(i) * 1_000_000_000));
                let ln_rber = cells.sense(BlockIndex(i % 97), Row(i % 4), Group(i), Nanos(2 * DAY.0)).ln_rber;
                (ln_rber.to_bits(), cells.luck(BlockIndex(i), Row(i % 4), 1).to_bits())
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn settings_are_read_and_written_as_people_write_them() {
    let read = |text: &str| serde_json::from_str::<InitialState>(text);
    let initial = read(r#"{"pe_cycles": 5000, "age": ["30d", "90d"]}"#).unwrap();
    assert_eq!(initial.age, AgeRange::Between([Nanos(30 * DAY.0), Nanos(90 * DAY.0)]));
    assert_eq!(read(r#"{"age": "90d"}"#).unwrap().age, AgeRange::Same(Nanos(90 * DAY.0)));
    assert_eq!(read("{}").unwrap(), InitialState::default());
    for initial in [initial, InitialState::default()] {
        assert_eq!(read(&serde_json::to_string(&initial).unwrap()).unwrap(), initial);
    }
    for bad in [r#"{"age": ["30d"]}"#, r#"{"age": ["1d", "2d", "3d"]}"#, r#"{"age": 90}"#, r#"{"cycles": 1}"#]
    {
        assert!(read(bad).is_err(), "{bad}");
    }
    let message = read(r#"{"age": ["30d", "90 moons"]}"#).unwrap_err().to_string();
    assert!(message.contains("90 moons"), "{message}");
    assert_eq!(serde_json::to_string(&ReadScope::Page).unwrap(), "\"page\"");
}

#[test]
fn settings_that_cannot_be_are_refused_by_name_value_and_limit() {
    let refused = |initial: InitialState| initial.validate("device.initial").unwrap_err().to_string();
    let pe = InitialState { pe_cycles: 20_000_000, ..InitialState::default() };
    assert_eq!(refused(pe), "device.initial.pe_cycles = 20000000: must be at most 10000000 cycles");
    let spread = InitialState { pe_cycles: 10, pe_spread: 11.0, ..InitialState::default() };
    assert_eq!(refused(spread), "device.initial.pe_spread = 11: must be between 0 and pe_cycles = 10");
    let spread = InitialState { pe_cycles: 10, pe_spread: f64::NAN, ..InitialState::default() };
    assert!(refused(spread).contains("pe_spread = NaN"));
    let age = AgeRange::Between([Nanos(9 * DAY.0), DAY]);
    let message = refused(InitialState { age, ..InitialState::default() });
    assert_eq!(message, "device.initial.age = [9d, 1d]: must begin with the youngest");
    let age = AgeRange::Same(Nanos(3651 * DAY.0));
    let message = refused(InitialState { age, ..InitialState::default() });
    assert_eq!(message, "device.initial.age = 3651d: must be at most 3650d");
}
