//! Sensings of blocks that hardly ever fail, without computing their error rates.

use super::block::RowLuck;
use super::{DataAge, FlashCells, LN_SATURATED};
use crate::reliability::FailTable;
use outlast_units::{BlockIndex, Row};

/// Result of a sensing of a calm block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CalmSensing {
    /// Luck from which on a unit passes; below, the error rate decides.
    pub p_most: f64,
    /// The luck of the row's units.
    pub luck: RowLuck,
    /// ln RBER if it was requested, else 0.
    pub ln_rber: f64,
}

/// Added to ln RBER at the end of a calm spell: more than the errors of the tables behind it (1e-7 and 1e-9) can make between its ends.
const MARGIN: f64 = 1e-6;

impl FlashCells {
    /// A sensing of a block that is calm, which counts as a read; `None`, and nothing counted, of a block that is not, for which
    /// [`FlashCells::sense`] must do. `age` is that of the group that the row was written with; `wants_rber`: true if ln RBER is requested. A block
    /// becomes calm by [`FlashCells::expect_calm`], and ceases to be when it has been read or has aged too far, when its alarm is due, and when it
    /// is erased.
    #[inline]
    pub fn sense_calm(
        &mut self,
        block: BlockIndex,
        row: Row,
        age: DataAge,
        wants_rber: bool,
    ) -> Option<CalmSensing> {
        let record = &mut self.blocks[block];
        let reads = record.reads;
        if reads >= record.calm_reads || age.0 > record.calm_age {
            return None;
        }
        record.reads = reads + 1;
        let ln_rber =
            if wants_rber { self.laws[record.mode].errors.ln_rber(record, row, age.0, reads) } else { 0.0 };
        Some(CalmSensing { p_most: record.p_most, luck: record.luck_of_row(row), ln_rber })
    }

    /// ln RBER that the last sensing of row `row` of a block saw, at age `age`: that sensing counts as a read and is not seen by itself.
    #[cold]
    #[inline(never)]
    pub fn ln_rber_sensed(&self, block: BlockIndex, row: Row, age: DataAge) -> f64 {
        let reads = self.row_reads(block, row);
        debug_assert!(reads > 0, "block {block} has not been sensed");
        self.law(&self.blocks[block]).ln_rber(&self.blocks[block], row, age.0, reads - 1).min(LN_SATURATED)
    }

    /// Makes a block that has just been sensed calm, where it can be: until it has been read some more, or its data, now of age `age`, has aged some more. The
    /// probability that sensings of it tell meanwhile is that of `table` at the end of this spell. Where reads disturb only their page, or
    /// the error rate would reach 0.5, no block is calm. Returns that probability, which is none less of the sensing that has just been made;
    /// infinity where the block is not calm.
    #[cold]
    pub fn expect_calm(&mut self, block: BlockIndex, age: DataAge, table: &FailTable) -> f64 {
        /// Shortest spell: 64 reads, and 600 ticks of age, which are a minute. Older and more-read blocks get an eighth of their age and reads.
        const LEAST: (u32, u32) = (64, 600);
        let record = &mut self.blocks[block];
        // A block that could not be made calm is tried again only after 64 reads: most stay as they are.
        if record.calm_reads == 0 && !record.reads.is_multiple_of(LEAST.0) && record.reads > LEAST.0 {
            return f64::INFINITY;
        }
        record.calm_reads = 0;
        let reads = record.reads.saturating_add(LEAST.0.max(record.reads / 8));
        let age = age.0.saturating_add(LEAST.1.max(age.0 / 8));
        let ln_rber = self.laws[record.mode].errors.worst_ln_rber(record, age, reads) + MARGIN;
        if !self.row_reads.is_empty() || ln_rber >= LN_SATURATED {
            return f64::INFINITY;
        }
        // An alarm goes off at a sensing that counts as read number `alarm`: that one is not calm.
        (record.calm_reads, record.calm_age) = (reads.min(record.alarm.saturating_sub(1)), age);
        record.p_most = table.p_at_most(ln_rber);
        record.p_most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reliability::{BlockVariation, Ecc, PageTypes, chip};
    use crate::{AgeRange, CellsConfig, Geometry, InitialState, ReadScope};
    use outlast_units::{Bytes, Group, Nanos};

    fn cells(scope: ReadScope, initial: &InitialState) -> FlashCells {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 4,
            pages_per_block: 12,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        };
        let page_types = PageTypes { factors: vec![0.7, 1.0, 1.4] };
        let model = &chip("tlc-72-layer").expect("a chip of the list").model;
        let variation = BlockVariation { sigma: 0.2 };
        let config = CellsConfig { model, variation, page_types: Some(&page_types), scope, modes: &[] };
        let mut cells = FlashCells::new(&config, &geometry, 1, 0, 4, 7);
        cells.begin(&[initial.pe_cycles; 4], initial, Nanos::ZERO);
        cells
    }

    /// Sensings that take blocks to be calm where they can, beside sensings that never do: the same error rates, the same outcomes, the
    /// same counts, alarms and saturations, from fresh flash to flash that nearly always fails.
    #[test]
    fn calm_sensings_give_the_same_as_computed_ones() {
        for (pe_cycles, strength) in [(100, 75), (3000, 75), (3000, 12), (9000, 40)] {
            let age = AgeRange::Between([Nanos::ZERO, Nanos::secs(90 * 86_400)]);
            let initial = InitialState { pe_cycles, age, ..InitialState::default() };
            let mut usual = cells(ReadScope::Block, &initial);
            let mut calm = usual.clone();
            let table = FailTable::new(&Ecc { strength: Some(strength), ..Ecc::default() }, 8);
            let mut were_calm = 0;
            for turn in 0..20_000u32 {
                let (block, row, group) = (BlockIndex(turn % 4), Row(turn / 4 % 12), Group(turn % 3));
                let now = Nanos(u64::from(turn) * 40_000_000);
                if turn % 5000 == 4999 {
                    usual.erased(block, pe_cycles + turn / 5000);
                    calm.erased(block, pe_cycles + turn / 5000);
                }
                if turn % 3000 == 7 {
                    let alarm = usual.reads(block) + 50;
                    usual.set_alarm(block, alarm);
                    calm.set_alarm(block, alarm);
                }
                let expected = usual.sense(block, row, group, now);
                let age = calm.age(group, now);
                let (ln_rber, luck, p_most) = if let Some(sensing) =
                    calm.sense_calm(block, row, age, turn % 3 != 0)
                {
                    were_calm += 1;
                    let told =
                        if turn % 3 != 0 { sensing.ln_rber } else { calm.ln_rber_sensed(block, row, age) };
                    (told, sensing.luck, sensing.p_most)
                } else {
                    let sensing = calm.sense(block, row, group, now);
                    let p_most = calm.expect_calm(block, age, &table);
                    (sensing.ln_rber, sensing.luck, p_most)
                };
                assert_eq!(
                    calm.ln_rber_sensed(block, row, age).to_bits(),
                    expected.ln_rber.to_bits(),
                    "turn {turn}"
                );
                assert_eq!(ln_rber.to_bits(), expected.ln_rber.to_bits(), "turn {turn}");
                assert!(table.p_fail(ln_rber) <= p_most, "turn {turn}: {} {p_most}", table.p_fail(ln_rber));
                assert_eq!(luck, expected.luck);
                assert_eq!(calm.take_alarm(), usual.take_alarm(), "turn {turn}");
            }
            assert_eq!(
                (calm.reads(BlockIndex(0)), calm.saturations()),
                (usual.reads(BlockIndex(0)), usual.saturations())
            );
            assert!(were_calm > 15_000, "{were_calm} of 20000 sensings were calm at {pe_cycles} cycles");
        }
    }

    #[test]
    fn no_block_is_calm_if_reads_disturb_only_their_page() {
        let mut cells = cells(ReadScope::Page, &InitialState::default());
        let table = FailTable::new(&Ecc { strength: Some(75), ..Ecc::default() }, 8);
        let age = cells.age(Group(0), Nanos::ZERO);
        assert!(cells.expect_calm(BlockIndex(1), age, &table).is_infinite());
        assert_eq!(cells.sense_calm(BlockIndex(1), Row(0), age, true), None);
        assert_eq!(cells.reads(BlockIndex(1)), 0);
        // What a sensing saw counts the reads of its row only, before itself.
        for row in [Row(3), Row(3), Row(4)] {
            let sensing = cells.sense(BlockIndex(1), row, Group(0), Nanos::ZERO);
            assert_eq!(cells.ln_rber_sensed(BlockIndex(1), row, age).to_bits(), sensing.ln_rber.to_bits());
        }
    }
}
