//! Isotonic regression: the nearest values that never fall.

/// The values nearest to `values` (least squares with `weights`) of which none is above one that `pairs` says is not below it: pairs of what
/// is below and what is above. By Hildreth's method: each pair that is broken is moved together, and what was moved too far is given back,
/// until nothing moves. Values that break no pair stay what they are, bit by bit.
pub(super) fn isotonic(values: &[f64], weights: &[f64], pairs: &[(usize, usize)]) -> Vec<f64> {
    const SMALL: f64 = 1e-12;
    const MOST_SWEEPS: usize = 20_000;
    let mut at = values.to_vec();
    let mut pushed = vec![0.0; pairs.len()];
    for _ in 0..MOST_SWEEPS {
        let mut moved = 0.0f64;
        for (&(below, above), pushed) in pairs.iter().zip(&mut pushed) {
            let stiffness = weights[below].recip() + weights[above].recip();
            let push = ((at[below] - at[above]) / stiffness).max(-*pushed);
            if push != 0.0 {
                *pushed += push;
                at[below] -= push / weights[below];
                at[above] += push / weights[above];
                moved = moved.max((push * stiffness).abs());
            }
        }
        if moved < SMALL {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pool-adjacent-violators, for a chain.
    fn pooled(values: &[f64], weights: &[f64]) -> Vec<f64> {
        let mut pools: Vec<(f64, f64, usize)> = Vec::new();
        for (&value, &weight) in values.iter().zip(weights) {
            pools.push((value, weight, 1));
            while let [.., (a, wa, na), (b, wb, nb)] = pools[..]
                && a > b
            {
                pools.truncate(pools.len() - 2);
                pools.push(((a * wa + b * wb) / (wa + wb), wa + wb, na + nb));
            }
        }
        pools.iter().flat_map(|&(value, _, count)| std::iter::repeat_n(value, count)).collect()
    }

    proptest! {
        #[test]
        fn a_chain_gives_the_same_as_pooling_adjacent_violators(
            each in prop::collection::vec((-5.0..5.0f64, 0.2..5.0f64), 1..12),
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = each.into_iter().unzip();
            let pairs: Vec<(usize, usize)> = (1..values.len()).map(|i| (i - 1, i)).collect();
            let expected = pooled(&values, &weights);
            for (found, expected) in isotonic(&values, &weights, &pairs).iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-6, "{} {}", found, expected);
            }
        }

        #[test]
        fn values_that_never_fall_stay(mut values in prop::collection::vec(-5.0..5.0f64, 1..12)) {
            values.sort_by(f64::total_cmp);
            let pairs: Vec<(usize, usize)> = (1..values.len()).map(|i| (i - 1, i)).collect();
            prop_assert_eq!(isotonic(&values, &vec![2.0; values.len()], &pairs), values);
        }
    }
}
