//! Cells of a chip that is a table: do sensings see what the table says, and do forecasts and calm spells hold?

use outlast_media::reliability::{BlockVariation, Ecc, FailTable, PageTypes, RberGrid, RberModel};
use outlast_media::{AgeRange, CellsConfig, FlashCells, Geometry, InitialState, ReadScope};
use outlast_units::{BlockIndex, Bytes, Group, Nanos, Row};

const GEOMETRY: Geometry = Geometry {
    channels: 1,
    chips_per_channel: 1,
    dies_per_chip: 1,
    planes_per_die: 1,
    blocks_per_plane: 4,
    pages_per_block: 12,
    page_size: Bytes::kib(4),
    spare_per_page: Bytes(0),
};

fn grid() -> RberModel {
    let (cycles, days, reads): (Vec<f64>, Vec<f64>, Vec<f64>) =
        (vec![0.0, 1000.0, 3000.0], vec![0.0, 1.0, 30.0, 365.0], vec![0.0, 1e4, 1e5]);
    let mut rber = Vec::new();
    for c in &cycles {
        for t in &days {
            for r in &reads {
                rber.push(
                    2e-4 + 1e-10 * c * c + 1e-6 * (1.0 + c).sqrt() * (1.0 + t).ln() + 1e-12 * r * (1.0 + c),
                );
            }
        }
    }
    let model = RberModel::Grid(RberGrid { cycles, days, reads, rber });
    assert_eq!(model.validate("model"), Ok(()));
    model
}

fn cells(model: &RberModel, cycles: u32, days: u64, reads: u32) -> FlashCells {
    let types = PageTypes { factors: vec![0.7, 1.0, 1.3] };
    let config = CellsConfig {
        model,
        variation: BlockVariation::default(),
        page_types: Some(&types),
        scope: ReadScope::Block,
        modes: &[],
    };
    let mut cells = FlashCells::new(&config, &GEOMETRY, 1, 0, 4, 7);
    let age = AgeRange::Same(Nanos::secs(days * 86_400));
    let initial = InitialState { pe_cycles: cycles, age, block_reads: reads, ..InitialState::default() };
    cells.begin(&[cycles; 4], &initial, Nanos::ZERO);
    cells
}

/// At nodes, between them and beyond: ln RBER is the table's within the error of a table of logarithms (1e-9), twice.
#[test]
fn a_sensing_sees_the_tables_rate() {
    let model = grid();
    for cycles in [0, 500, 1000, 2999, 3000, 9000] {
        for days in [0, 1, 13, 30, 200, 365, 800] {
            for reads in [0, 1, 10_000, 54_321, 100_000, 1_000_000] {
                let mut cells = cells(&model, cycles, days, reads);
                let expected = model.rber(f64::from(cycles), days as f64, f64::from(reads)).ln();
                let found = cells.sense(BlockIndex(1), Row(1), Group(0), Nanos::ZERO).ln_rber;
                assert!((found - expected).abs() < 1e-8, "{cycles} {days} {reads}: {found} {expected}");
                let parts = cells.rber_parts(BlockIndex(1), Row(1), Group(0), Nanos::ZERO);
                let then = model.rber(f64::from(cycles), days as f64, f64::from(reads + 1));
                assert!((parts.total() / then - 1.0).abs() < 1e-12, "{parts:?} {then}");
            }
        }
    }
}

#[test]
fn forecasts_of_reads_come_true() {
    let model = grid();
    let mut cells = cells(&model, 2000, 30, 0);
    let limit = cells.ln_rber(BlockIndex(0), Row(2), Group(0), Nanos::ZERO).exp() * 1.02;
    let reads = cells.reads_until(BlockIndex(0), Some(Row(2)), Group(0), limit, Nanos::ZERO).unwrap();
    let mut last = 0.0;
    for _ in 0..=reads {
        last = cells.sense(BlockIndex(0), Row(2), Group(0), Nanos::ZERO).ln_rber.exp();
        assert!(cells.reads(BlockIndex(0)) > reads || last < limit * (1.0 + 1e-9));
    }
    assert!(last >= limit * (1.0 - 1e-9), "{last} {limit}");
}

#[test]
fn calm_spells_bound_what_follows() {
    let model = grid();
    let mut cells = cells(&model, 2000, 30, 9_983);
    let table = FailTable::new(&Ecc { strength: Some(20), ..Ecc::default() }, 8);
    // Whether a block has become calm is looked for at every 64th read.
    let age = cells.age(Group(0), Nanos::ZERO);
    cells.sense(BlockIndex(0), Row(0), Group(0), Nanos::ZERO);
    let most = cells.expect_calm(BlockIndex(0), age, &table);
    let mut calm = 0;
    while let Some(sensing) = cells.sense_calm(BlockIndex(0), Row(2), age, true) {
        assert!(table.p_fail(sensing.ln_rber) <= most);
        calm += 1;
    }
    assert!(calm > 1000, "{calm}");
}
