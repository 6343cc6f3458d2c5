//! How much each core should hold, and holds: section 5.2.1 of Reparo.

/// The units that go to each helper core when a die fails: Equation 4, α = L / (D − 1), where `own_units` is L, the logical units of a
/// core before any failure, and `dies` is D, the dies of the drive before any failure. Of several failures, each counts anew.
///
/// It is exact for the first failure of a drive whose cores have equal numbers of dies. For `f` failures on one core the victim keeps
/// `1 − f·(N − 1)/(D − 1)` of its units; the [fair share](fair_shares) is `(1 − f·N/D) / (1 − f/D)`. Four failures on one of four cores of
/// 64 dies: 0.06 % apart.
pub fn adjustment(own_units: f64, dies: u32) -> f64 {
    own_units / f64::from(dies - 1)
}

/// The exact optimum: `units` divided among cores in proportion to their remaining `dies`, so that all space utilisations are equal.
/// Whole units, which sum to `units`; of equal remainders the lower core gets the unit. All zero where no die remains.
pub fn fair_shares(units: u64, dies: &[u32]) -> Vec<u64> {
    let all: u128 = dies.iter().map(|&dies| u128::from(dies)).sum();
    if all == 0 {
        return vec![0; dies.len()];
    }
    let exact = |&own: &u32| u128::from(units) * u128::from(own);
    let mut shares: Vec<u64> = dies.iter().map(|own| (exact(own) / all) as u64).collect();
    let left = units - shares.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..dies.len()).collect();
    order.sort_by_key(|&core| std::cmp::Reverse(exact(&dies[core]) % all));
    for &core in order.iter().take(left as usize) {
        shares[core] += 1;
    }
    debug_assert!(shares.iter().sum::<u64>() == units, "every unit has its share");
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By how much percent the victim's and a helper's utilisation grow, when one of `dies` dies of one of four cores fails and
    /// `alpha` units of 1 go from it to each helper.
    fn growth(dies: u32, alpha: f64) -> (String, String) {
        let dies = f64::from(dies);
        let victim = (1.0 - 3.0 * alpha) * dies / (dies - 1.0) - 1.0;
        (format!("{:.2}%", victim * 100.0), format!("{:.2}%", alpha * 100.0))
    }

    #[test]
    fn tables_1_and_2() {
        let dies = [4, 8, 16, 32, 64, 128];
        let table_1 = ["33.33%", "14.29%", "6.67%", "3.23%", "1.59%", "0.79%"];
        let table_2 = ["6.67%", "3.23%", "1.59%", "0.79%", "0.39%", "0.20%"];
        for ((dies, alone), shared) in dies.into_iter().zip(table_1).zip(table_2) {
            assert_eq!(growth(dies, 0.0), (alone.to_owned(), "0.00%".to_owned()));
            assert_eq!(growth(dies, adjustment(1.0, 4 * dies)), (shared.to_owned(), shared.to_owned()));
        }
    }

    #[test]
    fn one_failure_is_shared_exactly() {
        // Figure 8, and a large drive whose units divide.
        assert_eq!(fair_shares(60, &[4, 4, 4, 3]), [16, 16, 16, 12]);
        let (own, dies) = (255_000u32, 256);
        let alpha = adjustment(f64::from(own), dies) as u64;
        let own = u64::from(own);
        assert_eq!(
            fair_shares(4 * own, &[63, 64, 64, 64]),
            [own - 3 * alpha, own + alpha, own + alpha, own + alpha]
        );
    }

    #[test]
    fn four_failures_on_one_core_are_six_hundredths_of_a_percent_off() {
        for dies in [64u32, 96, 128, 512] {
            let own = 1e9;
            let taken = 4.0 * adjustment(own, 4 * dies);
            let fair = fair_shares(4_000_000_000, &[dies - 4, dies, dies, dies]);
            let off = |held: f64, fair: u64| (held / fair as f64 - 1.0).abs();
            let worst = off(own - 3.0 * taken, fair[0]).max(off(own + taken, fair[1]));
            let limit = if dies == 64 { 0.00055..0.00065 } else { 0.0..0.00055 };
            assert!(limit.contains(&worst), "{dies} dies a core: {worst}");
        }
    }

    #[test]
    fn shares_are_whole_and_complete() {
        assert_eq!(fair_shares(10, &[3, 3, 3]), [4, 3, 3]);
        assert_eq!(fair_shares(10, &[1, 0, 2]), [3, 0, 7]);
        assert_eq!(fair_shares(10, &[0, 0]), [0, 0]);
        let shares = fair_shares(u64::from(u32::MAX) * 7, &[128, 127, 126, 1]);
        assert_eq!(shares.iter().sum::<u64>(), u64::from(u32::MAX) * 7);
    }
}
