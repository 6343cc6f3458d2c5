//! Do codes lose what linear algebra says? Sets are counted one by one, with no help from the code under test.

use outlast_fleet::GroupCode;

const PRIME: u64 = (1 << 61) - 1;

const fn times(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) % PRIME as u128) as u64
}

fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut base, mut found) = (base, 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            found = times(found, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    found
}

/// Rank over the field of `PRIME` elements.
fn rank(mut rows: Vec<Vec<u64>>) -> usize {
    let columns = rows[0].len();
    let mut found = 0;
    for column in 0..columns {
        let Some(pivot) = (found..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
        rows.swap(found, pivot);
        let inverse = power(rows[found][column], PRIME - 2);
        for row in found + 1..rows.len() {
            let factor = times(rows[row][column], inverse);
            for place in column..columns {
                let taken = times(factor, rows[found][place]);
                rows[row][place] = (rows[row][place] + PRIME - taken) % PRIME;
            }
        }
        found += 1;
    }
    found
}

/// A number of the field that looks like chance: any generator of this shape is maximally recoverable, except for 1e-15 of them.
fn generic(row: u64, column: u64) -> u64 {
    outlast_units::rng::mix(row << 32 | column) % PRIME
}

/// Each piece as a row over the data: data, local parities, global parities.
fn rows_of_lrc(data: u64, local: u64, global: u64) -> Vec<Vec<u64>> {
    let width = data / local;
    let unit = |piece| (0..data).map(|place| u64::from(place == piece)).collect::<Vec<u64>>();
    let mut rows: Vec<Vec<u64>> = (0..data).map(unit).collect();
    for group in 0..local {
        let own = |place: u64| place / width == group;
        rows.push((0..data).map(|place| if own(place) { generic(group, place) } else { 0 }).collect());
    }
    for parity in 0..global {
        rows.push((0..data).map(|place| generic(1000 + parity, place)).collect());
    }
    rows
}

/// All sets of missing pieces of locally repairable codes, by the rank of what is left.
#[test]
fn local_codes_lose_what_has_not_the_rank() {
    for (data, local, global) in [(4, 2, 2), (6, 2, 2), (6, 3, 1), (4, 4, 1), (3, 1, 2), (4, 2, 0), (2, 2, 3)]
    {
        let code = GroupCode::Lrc { data, local, global };
        let rows = rows_of_lrc(data.into(), local.into(), global.into());
        assert_eq!((code.fault(), rows.len()), (None, code.pieces() as usize));
        let mut least = u32::MAX;
        for missing in 0u64..1 << code.pieces() {
            let left: Vec<Vec<u64>> = (0..rows.len())
                .filter(|piece| missing >> piece & 1 == 0)
                .map(|piece| rows[piece].clone())
                .collect();
            let is_lost = left.is_empty() || rank(left) < data as usize;
            assert_eq!(code.is_lost(missing), is_lost, "{code:?} without {missing:b}");
            if is_lost {
                least = least.min(missing.count_ones());
            }
        }
        assert!(code.survives() < least, "{code:?}: {least} pieces can be lost");
    }
}

/// All sets of missing pieces of product codes, by taking away one row or column at a time in any order.
#[test]
fn product_codes_lose_what_no_row_or_column_mends() {
    for (rows, columns, row_parity, column_parity) in
        [(3, 4, 1, 1), (3, 3, 2, 1), (2, 6, 3, 0), (4, 4, 1, 2), (3, 5, 0, 0), (1, 4, 2, 0)]
    {
        let code = GroupCode::Product { rows, columns, row_parity, column_parity };
        assert_eq!(code.fault(), None);
        let mut least = u32::MAX;
        for missing in 0u64..1 << code.pieces() {
            let mut grid: Vec<Vec<bool>> = (0..rows)
                .map(|row| (0..columns).map(|column| missing >> (row * columns + column) & 1 == 1).collect())
                .collect();
            // One line each time, until none can be mended.
            loop {
                let row = grid.iter().position(|row| {
                    (1..=row_parity as usize).contains(&row.iter().filter(|gone| **gone).count())
                });
                let column = (0..columns as usize).find(|&column| {
                    (1..=column_parity as usize).contains(&grid.iter().filter(|row| row[column]).count())
                });
                match (row, column) {
                    (Some(row), _) => grid[row].fill(false),
                    (None, Some(column)) => grid.iter_mut().for_each(|row| row[column] = false),
                    (None, None) => break,
                }
            }
            let is_lost = grid.iter().flatten().any(|gone| *gone);
            assert_eq!(code.is_lost(missing), is_lost, "{code:?} without {missing:b}");
            if is_lost {
                least = least.min(missing.count_ones());
            }
        }
        assert_eq!(code.survives() + 1, least, "{code:?}");
    }
}
