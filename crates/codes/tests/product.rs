//! Does the product code rebuild whatever can be rebuilt, and are its fatal patterns counted right?

use crate::common;

use common::{random_bytes, views_mut};
use outlast_codes::{CodeError, CodeKernel, CodeLine, ErasurePattern, PatternCounts, ProductCode};
use outlast_units::rng::SplitMix;

/// All bits of a mask as a pattern of `code`.
fn pattern(code: &ProductCode, mask: u32) -> ErasurePattern {
    let mut pattern = code.intact();
    for cell in (0..code.rows() * code.columns()).filter(|cell| mask >> cell & 1 == 1) {
        pattern.erase(cell / code.columns(), cell % code.columns()).expect("a cell of the code");
    }
    pattern
}

/// Verdict of linear algebra, independent of peeling: erased cells are unknowns, each row and each column an
/// equation of even parity; all can be told exactly if the equations' columns of the unknowns are independent.
fn is_independent(rows: usize, columns: usize, mask: u32) -> bool {
    let mut basis: Vec<u64> = Vec::new();
    for cell in (0..rows * columns).filter(|cell| mask >> cell & 1 == 1) {
        let mut vector = 1u64 << (cell / columns) | 1 << (rows + cell % columns);
        for &other in &basis {
            vector = vector.min(vector ^ other);
        }
        if vector == 0 {
            return false;
        }
        basis.push(vector);
        basis.sort_unstable_by(|a, b| b.cmp(a));
    }
    true
}

#[test]
fn every_pattern_up_to_4_by_4_is_rebuilt_or_known_to_be_lost() {
    let mut rng = SplitMix::new(1, "product");
    for (rows, columns) in [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (3, 4), (4, 3), (4, 4)] {
        let code = ProductCode::new(rows, columns).unwrap();
        let mut stripe: Vec<Vec<u8>> = (0..rows * columns).map(|_| random_bytes(&mut rng, 3)).collect();
        code.encode(&mut views_mut(&mut stripe)).unwrap();
        let mut counted = vec![0u64; rows * columns + 1];
        for mask in 0u32..1 << (rows * columns) {
            let pattern = pattern(&code, mask);
            let recoverable = is_independent(rows, columns, mask);
            assert_eq!(code.is_recoverable(&pattern).unwrap(), recoverable, "{rows} x {columns}: {mask:b}");
            counted[pattern.len()] += u64::from(!recoverable);

            let mut cells = stripe.clone();
            pattern.iter().for_each(|(row, column)| cells[row * columns + column] = vec![0xee; 3]);
            let stuck = code.peel(&pattern).unwrap().stuck;
            let expected =
                if recoverable { Ok(()) } else { Err(CodeError::Unrecoverable { left: stuck.len() }) };
            assert_eq!(code.decode(&mut views_mut(&mut cells), &pattern), expected);
            for (cell, bytes) in cells.iter().enumerate() {
                let lost = stuck.is_erased(cell / columns, cell % columns);
                assert_eq!(
                    *bytes,
                    if lost { vec![0xee; 3] } else { stripe[cell].clone() },
                    "{rows} x {columns}: {mask:b}"
                );
            }
        }
        let counts = code.pattern_counts().unwrap();
        for (erased, &counted) in counted.iter().enumerate() {
            assert_eq!(
                counts.unrecoverable(erased).to_u128(),
                Some(counted.into()),
                "{rows} x {columns}, {erased}"
            );
            assert_eq!(
                counts.recoverable(erased).to_u128(),
                counts.all(erased).to_u128().map(|all| all - u128::from(counted))
            );
        }
        // The probability against the sum over all patterns.
        for p in [1e-9f64, 0.01, 0.3, 0.99, 1.0] {
            let all = rows * columns;
            let sum: f64 = (0..=all)
                .map(|i| counted[i] as f64 * p.powf(i as f64) * (1.0 - p).powf((all - i) as f64))
                .sum();
            let probability = counts.unrecoverable_probability(p);
            assert!((probability / sum - 1.0).abs() < 1e-11, "{rows} x {columns}, {p}: {probability} {sum}");
        }
    }
}

/// 5 × 4, patterns of few cells: beyond what was decoded byte for byte above.
#[test]
fn counts_of_5_by_4_agree_with_brute_force() {
    let mut counted = [0u64; 21];
    for mask in 0u32..1 << 20 {
        counted[mask.count_ones() as usize] += u64::from(!is_independent(5, 4, mask));
    }
    for (rows, columns) in [(5, 4), (4, 5)] {
        let counts = PatternCounts::new(rows, columns).unwrap();
        for (erased, &counted) in counted.iter().enumerate() {
            assert_eq!(counts.unrecoverable(erased).to_u128(), Some(counted.into()));
        }
    }
}

fn binomial(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// The paper's code, (7, 1) across cards and (63, 1) within blocks: closed forms of the smallest counts.
///
/// Four cells hold a cycle only as a rectangle. Five: a rectangle and any other cell, and no five cells hold two rectangles.
/// Six: hexagons (3 rows, 3 columns, 6 ways each) and patterns with a rectangle, by inclusion and exclusion: pairs of rectangles in
/// six cells share two cells of one line (2 × 3 or 3 × 2 cells, whose three rectangles meet pairwise and all together).
#[test]
fn the_smallest_fatal_patterns_of_8_by_64() {
    for (m, n) in [(8, 64), (64, 8), (2, 255), (16, 17)] {
        let counts = PatternCounts::new(m, n).unwrap();
        let (m, n) = (m as u128, n as u128);
        let rectangles = binomial(m, 2) * binomial(n, 2);
        let triples = binomial(m, 2) * binomial(n, 3) + binomial(m, 3) * binomial(n, 2);
        let hexagons = 6 * binomial(m, 3) * binomial(n, 3);
        assert!((0..4).all(|erased| counts.unrecoverable(erased).to_u128() == Some(0)));
        assert_eq!(counts.unrecoverable(4).to_u128(), Some(rectangles));
        assert_eq!(counts.unrecoverable(5).to_u128(), Some(rectangles * (m * n - 4)));
        let six = rectangles * binomial(m * n - 4, 2) - 3 * triples + triples + hexagons;
        assert_eq!(counts.unrecoverable(6).to_u128(), Some(six));
    }
}

/// The largest forests are the spanning trees, M^(N−1)·N^(M−1); with more cells every pattern is fatal.
#[test]
fn the_largest_recoverable_patterns_are_spanning_trees() {
    for (m, n) in [(2usize, 2usize), (3, 7), (8, 20), (6, 30)] {
        let counts = PatternCounts::new(m, n).unwrap();
        let trees = (m as u128).pow(n as u32 - 1) * (n as u128).pow(m as u32 - 1);
        assert_eq!(counts.recoverable(m + n - 1).to_u128(), Some(trees));
        assert_eq!(counts.recoverable(m + n).to_u128(), Some(0));
        assert_eq!(counts.unrecoverable(m + n), counts.all(m + n));
    }
    let counts = PatternCounts::new(8, 64).unwrap();
    // 8^63 · 64^7 = 2^(189 + 42).
    let ln = 231.0 * std::f64::consts::LN_2;
    assert!((counts.recoverable(71).ln() / ln - 1.0).abs() < 1e-14);
    assert_eq!(
        counts.recoverable(71).to_string(),
        "3450873173395281893717377931138512726225554486085193277581262111899648"
    );
}

/// Sampling the paper's code: the share of fatal patterns of 20 cells, counted and drawn.
#[test]
fn shares_agree_with_random_patterns_of_8_by_64() {
    let code = ProductCode::new(8, 64).unwrap();
    let counts = code.pattern_counts().unwrap();
    let mut rng = SplitMix::new(4, "patterns");
    for erased in [10, 20, 30, 45] {
        let share = counts.unrecoverable_share(erased);
        let draws = 20_000;
        let mut fatal = 0;
        for _ in 0..draws {
            let mut pattern = code.intact();
            while pattern.len() < erased {
                pattern.erase(rng.below(8) as usize, rng.below(64) as usize).unwrap();
            }
            fatal += u32::from(!code.is_recoverable(&pattern).unwrap());
        }
        // Five sigma of a binomial: one failure in 10^6 for other seeds.
        let sigma = (share * (1.0 - share) / f64::from(draws)).sqrt();
        let drawn = f64::from(fatal) / f64::from(draws);
        assert!(
            (drawn - share).abs() < 5.0 * sigma,
            "{erased}: {drawn} drawn, {share} counted, sigma {sigma}"
        );
    }
}

#[test]
fn every_kernel_rebuilds_the_same_bytes_of_a_large_code() {
    for kernel in CodeKernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let code = ProductCode::with_kernel(8, 64, kernel).unwrap();
        let mut rng = SplitMix::new(2, "product");
        let mut stripe: Vec<Vec<u8>> = (0..512).map(|_| random_bytes(&mut rng, 150)).collect();
        code.encode(&mut views_mut(&mut stripe)).unwrap();
        for line in 0..8 {
            let parity = stripe[line * 64..][..64].iter().fold(vec![0; 150], |sum, cell| xor(&sum, cell));
            assert_eq!(parity, vec![0; 150], "row {line}");
        }
        // A new page, and the three parity pages that follow.
        let new = random_bytes(&mut rng, 150);
        let (row, column) = (3, 17);
        let mut expected = stripe.clone();
        expected[row * 64 + column].clone_from(&new);
        code.encode(&mut views_mut(&mut expected)).unwrap();
        let old = std::mem::replace(&mut stripe[row * 64 + column], new.clone());
        let [of_row, of_column, of_all] =
            stripe.get_disjoint_mut([row * 64 + 63, 7 * 64 + column, 7 * 64 + 63]).unwrap();
        code.update(&old, &new, [of_row, of_column, of_all]).unwrap();
        assert_eq!(stripe, expected);

        // A card fails, and two pages of one column elsewhere (one of them of a block that has lost nothing else): peeled in turns.
        let mut lost = code.intact();
        (0..64).filter(|&column| column != 9).for_each(|column| assert!(lost.erase(5, column).unwrap()));
        lost.erase(2, 9).unwrap();
        lost.erase(6, 9).unwrap();
        lost.iter().for_each(|(row, column)| stripe[row * 64 + column].fill(0));
        code.decode(&mut views_mut(&mut stripe), &lost).unwrap();
        assert!(stripe == expected);
    }
}

/// A single page is rebuilt from the 7 others of its card code, not from 63 of its block (Flexible reads those one by one).
#[test]
fn the_shorter_line_is_preferred() {
    let code = ProductCode::new(8, 64).unwrap();
    let mut lost = code.intact();
    lost.erase(1, 1).unwrap();
    assert_eq!(code.peel(&lost).unwrap().steps[0].by, CodeLine::Column);
    let turned = ProductCode::new(64, 8).unwrap();
    let mut lost = turned.intact();
    lost.erase(1, 1).unwrap();
    assert_eq!(turned.peel(&lost).unwrap().steps[0].by, CodeLine::Row);
}

#[test]
fn what_does_not_fit_is_refused_by_name_value_and_limit() {
    assert_eq!(ProductCode::new(1, 8).unwrap_err().to_string(), "rows = 1: must be 2 to 255");
    assert_eq!(ProductCode::new(8, 256).unwrap_err().to_string(), "columns = 256: must be 2 to 255");
    assert_eq!(
        PatternCounts::new(30, 17).unwrap_err().to_string(),
        "columns = 17: must be 2 to 16, as the shorter side"
    );
    assert_eq!(
        PatternCounts::new(4, 256).unwrap_err().to_string(),
        "columns = 256: must be 2 to 255, as the longer side"
    );
    let code = ProductCode::new(2, 3).unwrap();
    let mut pattern = code.intact();
    assert_eq!(
        pattern.erase(2, 0).unwrap_err().to_string(),
        "row = 2: must be below the number of them in the code"
    );
    assert!(pattern.erase(1, 2).unwrap() && !pattern.erase(1, 2).unwrap());
    let other = ProductCode::new(3, 3).unwrap();
    assert_eq!(other.peel(&pattern).unwrap_err().to_string(), "pattern.rows = 2: must be that of the code");
    assert_eq!(code.encode(&mut []).unwrap_err(), CodeError::Count { list: "cells", found: 0, expected: 6 });
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}
