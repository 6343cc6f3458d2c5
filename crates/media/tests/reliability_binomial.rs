//! Is the probability of every outcome of an ECC exact, from certainty to far below 1e-300?
//!
//! Expected values are from mpmath 1.4.1 with 120 digits, summing terms, each p being the exact value of its double:
//!
//! ```python
//! from mpmath import *; mp.dps = 120                      # python3 -m pip install mpmath
//! def up(n, t, p):                                        # P(X > t)
//!     p = mpf(p); s = 0; term = binomial(n, t+1) * p**(t+1) * (1-p)**(n-t-1)
//!     for k in range(t+1, n+1): s += term; term *= mpf(n-k) / (k+1) * p / (1-p)
//!     return s
//! def down(n, t, p):                                      # P(X <= t)
//!     p = mpf(p); s = 0; term = binomial(n, t) * p**t * (1-p)**(n-t)
//!     for k in range(t, -1, -1): s += term; term *= mpf(k) / (n-k+1) * (1-p) / p
//!     return s
//! # printed: n, t, p, log(up), log(down); the logarithm of one above 1/2 as log1p(-other)
//! ```
#![allow(clippy::unreadable_literal, clippy::excessive_precision, reason = "tables as mpmath printed them")]

use outlast_media::reliability::binomial::{BinomialDistribution, ln_1m_exp, ln_any_of};
use outlast_media::reliability::{Ecc, chips};
use proptest::prelude::*;

/// n, t, p, ln P(X > t), ln P(X <= t).
const TAILS: [(u32, u32, f64, f64, f64); 44] = [
    (4096, 75, 0.5, -0.0, -2467.851608189815),
    (4096, 75, 0.1, -2.113646947876074e-98, -224.90492424659675),
    (4096, 75, 0.03, -1.6538191135854399e-06, -13.31242415726038),
    (4096, 75, 0.0164, -1.8777181635862987, -0.1659822008462359),
    (4096, 75, 0.012, -8.467554259552596, -0.0002102004074376841),
    (4096, 75, 0.008, -23.472257918345527, -6.399232777224669e-11),
    (4096, 75, 0.004, -60.279899339496765, -6.618694673933789e-27),
    (4096, 75, 0.002, -105.01895366387775, -2.459506238763552e-46),
    (4096, 75, 0.001, -153.72879967034265, -1.723576616937244e-67),
    (4096, 75, 0.0005, -204.42365756148726, -1.6593330009780514e-89),
    (4096, 75, 0.00029, -244.98958656080836, -4.002897162425936e-107),
    (4096, 75, 0.0001, -325.1536763955961, -6.131300063251496e-142),
    (4096, 75, 1e-05, -499.7930359670137, -8.762789634569683e-218),
    (4096, 75, 1e-07, -849.746688896245, -0.0),
    (4096, 25, 0.0164, -2.6043294973448777e-09, -19.76609058682846),
    (4096, 25, 0.008, -0.10250426643765795, -2.3286652321736327),
    (4096, 25, 0.001, -28.590503082293313, -3.830912887540327e-13),
    (4096, 25, 0.0001, -84.93998035572577, -1.291324047049409e-37),
    (4096, 25, 1e-06, -204.28648605919398, -1.9032961849617273e-89),
    (4096, 25, 1e-09, -383.88420798139066, -1.9107628278137038e-167),
    (4096, 25, 1e-13, -623.3530537339041, -1.9107703158543855e-271),
    (4148, 4, 0.001, -0.9161260544907596, -0.5109354237560958),
    (4148, 4, 1.18e-05, -19.91576663214463, -2.2422934550174373e-09),
    (4148, 4, 3.58e-07, -37.352895794774135, -5.995749407718874e-17),
    (4148, 4, 1e-09, -66.7543282059137, -1.0208539581632203e-29),
    (4148, 4, 1e-20, -193.39650486808637, -1.0208574826674221e-84),
    (8192, 8, 0.001, -0.8341433580206503, -0.5695964823717393),
    (8192, 8, 1e-05, -35.39795243227475, -4.235108957474043e-16),
    (8192, 8, 1e-12, -180.38719345724422, -4.558660768560096e-79),
    (65536, 8, 1.09e-07, -57.2828724023178, -1.3254538413086008e-25),
    (65536, 8, 3.3e-05, -7.785257871603622, -0.0004159065653190497),
    (65536, 8, 0.001, -3.227935251738446e-19, -42.57727407500176),
    (4096, 0, 0.01, -1.3236009541645218e-18, -41.166175655941906),
    (4096, 0, 1e-06, -5.499791193217455, -0.0040960020480013655),
    (4096, 0, 1e-100, -221.9407431326852, -4.096e-97),
    (4096, 0, 1e-300, -682.4577617314943, -4.096e-297),
    (4096, 10, 0.0001, -27.708040513158668, -9.258718940825525e-13),
    (4096, 40, 2e-09, -594.4415301916795, -6.875806142560966e-259),
    (1048576, 2000, 0.001, -345.0618114544095, -1.385349555859634e-150),
    (1048576, 900, 0.001, -1.4046432833726128e-06, -13.475727880573858),
    (10, 3, 0.3, -1.048710509428851, -0.4313819902707923),
    (1, 0, 0.25, -1.3862943611198906, -0.2876820724517809),
    (4096, 4095, 0.45, -3270.6875237079926, -0.0),
    (20, 10, 0.5, -0.8869710990103956, -0.5308607838941738),
];

/// n, t, p, codewords, ln(1 − down^codewords).
const PAGES: [(u32, u32, f64, u32, f64); 6] = [
    (4096, 75, 0.0164, 32, -0.004947079348529654),
    (4096, 75, 0.008, 32, -20.00652201653768),
    (4096, 75, 0.0001, 32, -321.6879404927964),
    (4096, 75, 0.03, 8, -5.596302504622303e-47),
    (4096, 4, 1e-09, 8, -64.7379942622091),
    (4096, 75, 1e-07, 8, -847.6672473545652),
];

/// n, k, p, ln P(k < X <= 2k), ln P(X > 2k).
const DETECTION: [(u32, u32, f64, f64, f64); 7] = [
    (8192, 8, 0.001, -0.844910568910638, -5.370771924577125),
    (8192, 8, 1e-05, -35.39795243227475, -76.13309161941622),
    (65536, 8, 1e-07, -58.05794093279265, -118.98492962017936),
    (4096, 75, 0.0164, -1.8777181635862987, -42.20694579889677),
    (4096, 75, 0.028, -0.0006107042873664276, -7.471020321226834),
    (4096, 75, 0.04, -1.9427742074217818, -0.15467429419640855),
    (4096, 75, 0.001, -153.72879967034265, -403.84578930623553),
];

/// 1e-10 of the probability, and 1e-10 of the logarithm itself where that is small (a probability next to 1).
fn close(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() <= 1e-10 * expected.abs().min(1.0)
}

fn ecc(bits: u32, strength: u32) -> Ecc {
    Ecc { data_bits: bits, parity_bits: 0, strength: Some(strength) }
}

#[test]
fn tails_agree_with_mpmath() {
    for (n, t, p, ln_more, ln_at_most) in TAILS {
        let tails = BinomialDistribution { trials: n, p }.tails(t);
        assert!(close(tails.ln_more, ln_more), "P(X > {t}), n {n}, p {p}: {} not {ln_more}", tails.ln_more);
        assert!(
            close(tails.ln_at_most, ln_at_most),
            "P(X <= {t}), n {n}, p {p}: {} not {ln_at_most}",
            tails.ln_at_most
        );
        let code = ecc(n, t);
        assert_eq!(code.log_p_uncorrectable(p).to_bits(), tails.ln_more.to_bits());
        assert_eq!(code.log_p_correctable(p).to_bits(), tails.ln_at_most.to_bits());
    }
}

#[test]
fn terms_are_those_of_pascals_triangle() {
    let mut row = vec![1u128];
    for n in 1..=120u32 {
        row = std::iter::once(1).chain(row.windows(2).map(|pair| pair[0] + pair[1])).chain([1]).collect();
        let binomial = BinomialDistribution { trials: n, p: 0.5 };
        for (k, &ways) in (0u32..).zip(&row) {
            let expected = (ways as f64).ln() - f64::from(n) * std::f64::consts::LN_2;
            // Both sides round numbers of up to n·ln 2 a few times.
            let tolerance = 4.0 * f64::EPSILON * (1.0 + f64::from(n));
            assert!(
                (binomial.ln_pmf(k) - expected).abs() <= tolerance,
                "C({n}, {k}): {}",
                binomial.ln_pmf(k)
            );
        }
    }
}

#[test]
fn pages_and_detection_agree_with_mpmath() {
    for (n, t, p, codewords, expected) in PAGES {
        let actual = ecc(n, t).log_p_page_fail(p, codewords);
        assert!(close(actual, expected), "page of {codewords}, n {n}, t {t}, p {p}: {actual} not {expected}");
    }
    for (n, k, p, detected, undetected) in DETECTION {
        let code = ecc(n, k);
        let actual = (code.log_p_detected(p), code.log_p_undetected(p));
        assert!(close(actual.0, detected) && close(actual.1, undetected), "n {n}, k {k}, p {p}: {actual:?}");
        let page = code.log_p_page_undetected(p, 8);
        assert!(page >= undetected && page <= undetected + 8f64.ln() + 1e-12);
    }
}

#[test]
fn probabilities_at_the_edges_are_exact() {
    let code = ecc(100, 5);
    assert_eq!((code.log_p_uncorrectable(0.0), code.log_p_correctable(0.0)), (f64::NEG_INFINITY, 0.0));
    assert_eq!((code.log_p_uncorrectable(1.0), code.log_p_correctable(1.0)), (0.0, f64::NEG_INFINITY));
    let impossible = (ecc(100, 100).log_p_uncorrectable(0.5), ecc(100, 0).log_p_detected(0.1));
    assert_eq!(impossible, (f64::NEG_INFINITY, f64::NEG_INFINITY));
    let unlimited = Ecc::default();
    assert_eq!(
        (unlimited.log_p_page_fail(0.5, 8), unlimited.log_p_correctable(0.5)),
        (f64::NEG_INFINITY, 0.0)
    );
    assert_eq!(
        (unlimited.log_p_detected(0.5), unlimited.log_p_undetected(0.5)),
        (f64::NEG_INFINITY, f64::NEG_INFINITY)
    );
    assert!(code.log_p_uncorrectable(f64::MIN_POSITIVE * 1e-10).is_finite());
    assert_eq!((ln_any_of(-1.0, 0), ln_any_of(0.0, 3)), (f64::NEG_INFINITY, 0.0));
    assert!(close(ln_any_of(0.5f64.ln(), 2), 0.75f64.ln()) && close(ln_1m_exp(-1e-30), 1e-30f64.ln()));
}

/// Diff-RAID, Table 1: UBER of 4-bit BCH over 512 bytes at 5000 and 10 000 cycles. `None`: the paper's figure is rounding
/// noise of its own 1 − sum in doubles (a quantum of 2^-53 / 4096 = 2.7e-20, and more after hundreds of roundings).
const DIFF_RAID_UBER: [(&str, Option<f64>, Option<f64>); 12] = [
    ("b-mlc8-1", None, None),
    ("b-mlc8-2", None, None),
    ("b-mlc32-1", Some(6.31e-17), Some(6.40e-15)),
    ("b-mlc32-2", None, Some(2.99e-16)),
    ("c-mlc64-1", Some(4.36e-18), Some(1.61e-15)),
    ("c-mlc64-2", Some(5.26e-17), Some(1.85e-13)),
    ("d-mlc32-1", None, Some(5.31e-13)),
    ("d-mlc32-2", None, Some(1.14e-16)),
    ("e-mlc8-1", None, None),
    ("e-mlc8-2", None, None),
    ("im-1", None, Some(5.32e-18)),
    ("im-2", None, None),
];

#[test]
fn table_1_of_diff_raid_is_reproduced() {
    let code = Ecc::bch(4096, 4).unwrap();
    assert_eq!(code.codeword_bits(), 4148);
    for (name, at_5k, at_10k) in DIFF_RAID_UBER {
        let model = &chips().iter().find(|chip| chip.name == name).unwrap().model;
        for (cycles, printed) in [(5000.0, at_5k), (10_000.0, at_10k)] {
            let rber = model.rber(cycles, 0.0, 0.0);
            let uber = code.log_p_uncorrectable(rber).exp() / f64::from(code.data_bits);
            // Three printed digits: half a unit of the last in the RBER counts five times (UBER ~ RBER^5), and once in the
            // UBER. 1.3 %: whether the paper divided by the 4096 user bits or by the 4148 of the codeword.
            let digits = |x: f64| 0.005 * 10f64.powf(x.log10().floor()) / x;
            if let Some(printed) = printed {
                let tolerance = 5.0 * digits(rber) + digits(printed) + 52.0 / 4096.0;
                let tolerance = tolerance + 8.0 * 2f64.powi(-53) / 4096.0 / printed;
                assert!(
                    (uber / printed - 1.0).abs() <= tolerance,
                    "{name} at {cycles}: {uber:e}, printed {printed:e}"
                );
            }
            assert!(uber > 0.0, "{name} at {cycles}: exact, however small");
        }
    }
}

#[test]
fn bch_parity_follows_the_field() {
    // 2^13 − 1 bits hold 512 bytes with 13 bits for each correctable error, 1 KiB needs GF(2^14).
    assert_eq!(Ecc::bch(4096, 75).unwrap().parity_bits, 13 * 75);
    assert_eq!(Ecc::bch(8192, 8).unwrap().parity_bits, 14 * 8);
    assert_eq!(Ecc::bch(4, 1).unwrap().codeword_bits(), 7);
    assert_eq!(Ecc::bch(Ecc::MAX_CODEWORD_BITS, 1), None);
}

#[test]
fn bad_codes_are_refused_by_name() {
    let refused = |ecc: Ecc| ecc.validate("device.ecc").unwrap_err();
    let beyond = refused(ecc(4096, 4097));
    assert_eq!((beyond.field.as_str(), beyond.value.as_str()), ("device.ecc.strength", "4097"));
    assert!(beyond.limit.contains("4096 bits"), "{beyond}");
    assert_eq!(refused(ecc(0, 0)).field, "device.ecc.data_bits");
    assert_eq!(refused(Ecc { parity_bits: u32::MAX, ..Ecc::default() }).field, "device.ecc.data_bits");
    assert!(ecc(4096, 4096).validate("device.ecc").is_ok() && Ecc::default().validate("device.ecc").is_ok());
    let text = r#"{"data_bits": 4096, "strength": 75}"#;
    assert_eq!(serde_json::from_str::<Ecc>(text).unwrap(), ecc(4096, 75));
    assert!(serde_json::from_str::<Ecc>(r#"{"strenght": 75}"#).is_err());
}

proptest! {
    /// Failure grows with the error rate and falls with strength; the parts of an outcome add up to 1.
    #[test]
    fn outcomes_are_monotone_and_complete(
        n in 1u32..9000,
        share in 0.0f64..1.0,
        ln_p in -700.0f64..-0.6932,
        growth in 1.0f64..3.0,
        codewords in 1u32..65,
    ) {
        let t = (f64::from(n) * share * share) as u32;
        let code = ecc(n, t.min(n));
        let (p, higher) = (ln_p.exp(), (ln_p.exp() * growth).min(0.5));
        let slack = |x: f64| 1e-12 * (1.0 + x.abs() * 1e-3);
        let fail = code.log_p_uncorrectable(p);
        prop_assert!(fail <= code.log_p_uncorrectable(higher) + slack(fail));
        prop_assert!(code.log_p_page_fail(p, codewords) <= code.log_p_page_fail(higher, codewords) + slack(fail));
        prop_assert!(fail <= code.log_p_page_fail(p, codewords) + slack(fail));
        if t + 1 < n {
            prop_assert!(ecc(n, t + 1).log_p_uncorrectable(p) <= fail + slack(fail));
        }
        if n > t {
            prop_assert!(fail.is_finite(), "positive however small: {}", fail);
        }
        let sum = code.log_p_correctable(p).exp() + code.log_p_detected(p).exp() + code.log_p_undetected(p).exp();
        prop_assert!((sum - 1.0).abs() < 1e-12, "{}", sum);
    }

    /// A range is the sum of its terms.
    #[test]
    fn ranges_add_up(n in 1u32..300, ends in (0u32..300, 0u32..300), p in 1e-6f64..0.999) {
        let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
        let binomial = BinomialDistribution { trials: n, p };
        let sum: f64 = (low..=high).map(|k| binomial.ln_pmf(k).exp()).sum();
        let range = binomial.ln_range(low..=high).exp();
        prop_assert!((range - sum).abs() <= 1e-11 * sum + 1e-300, "{} {}", range, sum);
    }
}
