//! From one placement to the next with as few parity chunks moved as possible.

use super::ParityPlacement;
use crate::ids::column_number;
use crate::roles::to_role;
use outlast_units::to_count;

/// A target placement, and the moves that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ShiftPlan {
    /// The table afterwards.
    pub target: ParityPlacement,
    /// Parity chunks that change their column, per period.
    pub parity_moves: u32,
    /// Chunks of any kind that change their column, per period.
    pub chunk_moves: u32,
}

impl ShiftPlan {
    /// The step between two tables of one shape.
    pub fn between(from: &ParityPlacement, target: ParityPlacement) -> Self {
        let (mut parity_moves, mut chunk_moves) = (0, 0);
        for phase in 0..from.period() as usize {
            let pairs = from.columns_at(phase).iter().zip(target.columns_at(phase));
            chunk_moves += to_count(pairs.filter(|(old, new)| old != new).count());
            let old = &from.columns_at(phase)[from.data()..];
            let new = &target.columns_at(phase)[from.data()..];
            parity_moves += to_count(new.iter().filter(|column| !old.contains(column)).count());
        }
        Self { target, parity_moves, chunk_moves }
    }

    /// The table in which column `c` holds parity in `target_counts[c]` stripes of the period, with the fewest parity chunks moved.
    /// Each move swaps a parity chunk with the data chunk that lies where it goes; nothing else changes. The stripes that
    /// change are spread evenly over those that could.
    ///
    /// # Panics
    /// If `target_counts` does not hold as many parity chunks as the table, or more than one chunk of a stripe on a column.
    pub fn minimal(from: &ParityPlacement, target_counts: &[u32]) -> Self {
        let mut target = from.clone();
        let mut have = from.parity_counts();
        assert_eq!(
            have.iter().sum::<u32>(),
            target_counts.iter().sum::<u32>(),
            "a shift keeps the number of parity chunks"
        );
        assert!(
            target_counts.iter().all(|&count| count <= from.period()),
            "a stripe has one chunk on each column"
        );
        for source in 0..have.len() {
            for sink in 0..have.len() {
                let surplus = have[source].saturating_sub(target_counts[source]);
                let count = surplus.min(target_counts[sink].saturating_sub(have[sink]));
                if count > 0 {
                    let moved = move_parity(&mut target, column_number(source), column_number(sink), count);
                    have[source] -= moved;
                    have[sink] += moved;
                }
            }
        }
        // With several parities, every stripe of a surplus column may already have parity on the column that lacks some: then a third
        // column lies between.
        while let Some(source) = (0..have.len()).find(|&column| have[column] > target_counts[column]) {
            let path = path_to_sink(&target, source, |column| have[column] < target_counts[column]);
            for step in path.windows(2) {
                let moved = move_parity(&mut target, step[0], step[1], 1);
                assert_eq!(moved, 1, "an edge of the path has a stripe");
            }
            have[source] -= 1;
            have[usize::from(path[path.len() - 1])] += 1;
        }
        Self::between(from, target)
    }
}

/// Moves up to `count` parity chunks from column `source` to column `sink`; returns how many there were to move.
fn move_parity(table: &mut ParityPlacement, source: u8, sink: u8, count: u32) -> u32 {
    let data = to_role(table.data());
    let movable = |table: &ParityPlacement, phase: usize| {
        let roles = table.roles_at(phase);
        roles[usize::from(source)] >= data && roles[usize::from(sink)] < data
    };
    // Candidates are chosen at even distances, so that parity stays spread over the period.
    let candidates: Vec<usize> =
        (0..table.period() as usize).filter(|&phase| movable(table, phase)).collect();
    let count = (count as usize).min(candidates.len());
    for i in 0..count {
        table.swap(candidates[i * candidates.len() / count], source, sink);
    }
    to_count(count)
}

/// The shortest chain of columns from `source` to one that `is_sink`, along which parity can move.
fn path_to_sink(table: &ParityPlacement, source: usize, is_sink: impl Fn(usize) -> bool) -> Vec<u8> {
    let data = to_role(table.data());
    let edge = |from: usize, to: usize| {
        (0..table.period() as usize).any(|phase| {
            let roles = table.roles_at(phase);
            roles[from] >= data && roles[to] < data
        })
    };
    let mut before = vec![usize::MAX; table.columns()];
    before[source] = source;
    let mut queue = std::collections::VecDeque::from([source]);
    while let Some(column) = queue.pop_front() {
        if is_sink(column) {
            let mut path = vec![column_number(column)];
            let mut at = column;
            while at != source {
                at = before[at];
                path.push(column_number(at));
            }
            path.reverse();
            return path;
        }
        for (next, before) in before.iter_mut().enumerate() {
            if *before == usize::MAX && edge(column, next) {
                *before = column;
                queue.push_back(next);
            }
        }
    }
    // The columns reached hold parity in no stripe in which any other column holds data, so every stripe with parity on one of
    // them has all other columns as parity: there is no data at all.
    unreachable!("a table with data always has a stripe in which parity can move")
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_settings::array::Shares;
    use proptest::prelude::*;

    fn surplus(from: &ParityPlacement, want: &[u32]) -> u32 {
        from.parity_counts().iter().zip(want).map(|(&have, &want)| have.saturating_sub(want)).sum()
    }

    /// The paper's example: (70, 10, 10, 10), device 0 replaced: 60 % of the parity moves to device 1, nothing else.
    #[test]
    fn the_papers_example_moves_sixty_percent() {
        let shares = Shares::from_percent("p", &[70.0, 10.0, 10.0, 10.0], 1).unwrap();
        let from = ParityPlacement::from_shares(&shares);
        let want = shares.ranked(&[1, 2, 3, 0]).counts;
        let plan = ShiftPlan::minimal(&from, &want);
        assert_eq!(plan.target.parity_counts(), want);
        assert_eq!((plan.parity_moves, from.period()), (6, 10));
        assert_eq!(plan.chunk_moves, 12, "each move displaces one data chunk");
    }

    #[test]
    fn the_naive_shift_moves_every_chunk() {
        let shares = Shares::from_percent("p", &[80.0, 5.0, 5.0, 5.0, 5.0], 1).unwrap();
        let from = ParityPlacement::from_shares(&shares);
        let plan = ShiftPlan::between(&from, from.renamed(&[1, 2, 3, 4, 0]));
        assert_eq!(plan.chunk_moves, 5 * from.period());
        assert_eq!(plan.parity_moves, from.period());
    }

    proptest! {
        /// Whatever the shares and however often they are given out anew: the percentages are exact, the number of moves is the
        /// least there is, and a stripe without a move keeps all its chunks.
        #[test]
        fn minimal_shifts_are_exact_and_minimal(
            weights in prop::collection::vec(0u32..9, 4..8),
            parities in 1usize..3,
            orders in prop::collection::vec(any::<u64>(), 1..12),
        ) {
            let period = 12;
            let mut counts: Vec<u32> = weights.clone();
            let mut left = (period * parities as u32).saturating_sub(counts.iter().sum());
            for count in &mut counts {
                let more = left.min(period - *count);
                *count += more;
                left -= more;
            }
            let mut over = counts.iter().sum::<u32>() - period * parities as u32;
            for count in &mut counts {
                let less = over.min(*count);
                *count -= less;
                over -= less;
            }
            let shares = Shares { period, counts };
            let mut table = ParityPlacement::from_shares(&shares);
            for order in orders {
                let mut rng = outlast_units::rng::SplitMix::new(order, "order");
                let mut ranks: Vec<u8> = (0..weights.len() as u8).collect();
                for i in (1..ranks.len()).rev() {
                    ranks.swap(i, rng.below(i as u64 + 1) as usize);
                }
                let want = shares.ranked(&ranks).counts;
                let least = surplus(&table, &want);
                let plan = ShiftPlan::minimal(&table, &want);
                prop_assert_eq!(plan.target.parity_counts(), want);
                prop_assert!(plan.parity_moves >= least);
                if parities == 1 {
                    prop_assert_eq!(plan.parity_moves, least);
                    prop_assert_eq!(plan.chunk_moves, 2 * least);
                }
                for phase in 0..period as usize {
                    let mut columns = plan.target.columns_at(phase).to_vec();
                    for (column, &role) in plan.target.roles_at(phase).iter().enumerate() {
                        prop_assert_eq!(usize::from(columns[usize::from(role)]), column);
                    }
                    columns.sort_unstable();
                    prop_assert!(columns.iter().enumerate().all(|(i, &column)| i == usize::from(column)));
                }
                table = plan.target;
            }
        }
    }
}
