//! Raw bit errors of a codeword as a function of a uniform number.

use super::binomial::BinomialDistribution;
use super::normal::inverse_normal;

/// 2^-54.
const LEAST: f64 = f64::EPSILON / 4.0;

/// The number of wrong bits among `bits` that err with probability `rber` each: the binomial quantile at 1 − u, that is, the
/// least k with `P(more than k) <= u`. Hence `sample_errors(u, …) > t` just when `u < P(more than t)`: the count agrees with
/// the outcome of an ECC of strength t at the same u (up to rounding of 1e-13 of a probability). Small u: many errors.
///
/// Exact inversion: one tail is summed at a guess, then steps of one count lead to the answer; about 0.3 µs.
///
/// # Panics
/// If `u` is outside [0, 1) or `rber` outside [0, 1]. A u of 0 is taken as 2^-54, half the least step of 53-bit numbers, so that not
/// all bits are wrong.
pub fn sample_errors(u: f64, bits: u32, rber: f64) -> u32 {
    assert!((0.0..1.0).contains(&u), "u = {u}");
    let binomial = BinomialDistribution { trials: bits, p: rber };
    quantile(&binomial, u.max(LEAST))
}

/// The number of wrong bits in the worst of `codewords` alike codewords: more than t just when
/// `u < 1 − (1 − P(more than t))^codewords`, so it agrees with the outcome of the page read at the same u.
///
/// # Panics
/// The same as of [`sample_errors`]; or if `codewords` is 0.
pub fn sample_worst_errors(u: f64, codewords: u32, bits: u32, rber: f64) -> u32 {
    assert!((0.0..1.0).contains(&u) && codewords > 0, "u = {u}, {codewords} codewords");
    let binomial = BinomialDistribution { trials: bits, p: rber };
    let u = u.max(LEAST);
    // P(max > k) <= u  <=>  P(X > k) <= 1 − (1 − u)^(1/m)
    quantile(&binomial, -((-u).ln_1p() / f64::from(codewords)).exp_m1())
}

/// The least k with P(X > k) <= `above`, for `above` in (0, 1).
fn quantile(binomial: &BinomialDistribution, above: f64) -> u32 {
    let BinomialDistribution { trials, p } = *binomial;
    if p == 0.0 || trials == 0 {
        return 0;
    }
    if p >= 1.0 {
        return trials;
    }
    let mut k = guess(binomial, above);
    let odds = p / (1.0 - p);
    let n = f64::from(trials);
    let mut pmf = binomial.ln_pmf(k).exp();
    let tails = binomial.tails(k);
    // The lesser of the two probabilities is compared, so that neither end of the distribution loses digits. Throughout,
    // `beyond` is P(X > k) or P(X <= k), and `pmf` is P(X = k).
    if above <= 0.5 {
        let mut beyond = tails.ln_more.exp();
        while beyond > above && k < trials {
            pmf *= (n - f64::from(k)) / (f64::from(k) + 1.0) * odds;
            k += 1;
            beyond -= pmf;
            // The difference loses digits as it shrinks: sum afresh before it matters.
            if beyond < above * 1.001 {
                beyond = binomial.tails(k).ln_more.exp();
            }
        }
        while k > 0 && beyond + pmf <= above {
            beyond += pmf;
            pmf *= f64::from(k) / ((n - f64::from(k) + 1.0) * odds);
            k -= 1;
        }
    } else {
        let at_least = 1.0 - above;
        let mut beyond = tails.ln_at_most.exp();
        while beyond < at_least && k < trials {
            pmf *= (n - f64::from(k)) / (f64::from(k) + 1.0) * odds;
            k += 1;
            beyond += pmf;
        }
        while k > 0 && beyond - pmf >= at_least {
            k -= 1;
            beyond = binomial.tails(k).ln_at_most.exp();
            pmf = binomial.ln_pmf(k).exp();
        }
    }
    k
}

/// Near the answer: the normal approximation with its first correction for skewness (Cornish and Fisher).
fn guess(binomial: &BinomialDistribution, above: f64) -> u32 {
    let n = f64::from(binomial.trials);
    let (mean, spread) = (n * binomial.p, (n * binomial.p * (1.0 - binomial.p)).sqrt());
    let z = -inverse_normal(above.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON));
    let skew = (1.0 - 2.0 * binomial.p) * (z * z - 1.0) / 6.0;
    (mean + z * spread + skew).clamp(0.0, n) as u32
}
