//! The cost of the error rate that a sensing sees: no engine around it.

use outlast_media::reliability::{BlockVariation, chip};
use outlast_media::{AgeRange, CellsConfig, FlashCells, Geometry, InitialState, ReadScope};
use outlast_units::rng::{SplitMix, mix};
use outlast_units::{BlockIndex, Bytes, Group, Nanos, Row};
use std::time::Instant;

/// Nanoseconds per sensing, in order and at random over the blocks of the comparison's device (32 GiB raw), where tables and
/// blocks are partly in cache; and over one die's, where all are.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn measure(quick: bool) -> String {
    let senses: u32 = if quick { 200_000 } else { 20_000_000 };
    let mut times = Vec::new();
    let mut hash = 0;
    for (name, dies, at_random) in [("one die", 1, true), ("in order", 32, false), ("at random", 32, true)] {
        let (mut cells, blocks, groups) = cells(dies);
        let mut rng = SplitMix::new(1, "bench.cells");
        // Places are drawn beforehand, and mixed with the turn.
        let places: Vec<u32> =
            (0..1 << 16).map(|i| if at_random { rng.next_u64() as u32 } else { i }).collect();
        let mut sum = 0u64;
        let start = Instant::now();
        for turn in 0..senses {
            let place = places[(turn & 0xffff) as usize].wrapping_add(turn >> 16);
            let now = Nanos(u64::from(turn) * 1000);
            let (block, row) = (BlockIndex(place & (blocks - 1)), Row(place >> 4 & 255));
            let sensing = cells.sense(block, row, Group(place & (groups - 1)), now);
            sum = sum.rotate_left(1) ^ sensing.ln_rber.to_bits();
        }
        let ns = start.elapsed().as_secs_f64() * 1e9 / f64::from(senses);
        hash = mix(hash ^ sum);
        times.push(format!("{name} {ns:.1}"));
    }
    format!("cells: ns per sensing: {}; hash {hash:016x}", times.join(", "))
}

/// The cells of `dies` dies of 2 x 512 blocks of 256 pages, worn and aged; how many blocks, and how many groups: powers of two, so that
/// choosing costs nothing.
fn cells(dies: u16) -> (FlashCells, u32, u32) {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: dies,
        planes_per_die: 2,
        blocks_per_plane: 512,
        pages_per_block: 256,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let model = &chip("tlc-72-layer").expect("a chip of the list").model;
    let config = CellsConfig {
        model,
        variation: BlockVariation { sigma: 0.2 },
        page_types: None,
        scope: ReadScope::Block,
        modes: &[],
    };
    let (blocks, groups) = (u32::from(dies) * 1024, 512 * 256);
    let mut cells = FlashCells::new(&config, &geometry, dies, 0, groups, 1);
    let age = AgeRange::Between([Nanos::ZERO, Nanos::secs(90 * 86_400)]);
    let initial = InitialState { pe_cycles: 1500, pe_spread: 100.0, age, block_reads: 500 };
    let cycles = cells.draw_cycles(&initial);
    cells.begin(&cycles, &initial, Nanos::ZERO);
    (cells, blocks, groups)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_benchmark_runs_and_computes_the_same_each_time() {
        let hash = |line: String| line.split("hash ").nth(1).map(str::to_owned);
        assert_eq!(hash(super::measure(true)), hash(super::measure(true)));
    }
}
