//! Do reads, re-reads and bit errors follow their distributions, consistently from one uniform number?

use outlast_media::reliability::binomial::BinomialDistribution;
use outlast_media::reliability::normal::inverse_normal;
use outlast_media::reliability::{
    Ecc, FailTable, ReadLadder, RereadConfig, open_unit, sample_errors, sample_worst_errors,
};
use outlast_units::rng::{SplitMix, mix};
use proptest::prelude::*;

fn ecc(data_bits: u32, strength: u32) -> Ecc {
    Ecc { data_bits, parity_bits: 0, strength: Some(strength) }
}

/// The codes of the papers, and extremes: no correction, a long codeword, strength beyond half of a codeword.
const CODES: [(u32, u32, u32); 10] = [
    (4096, 75, 8),
    (4096, 75, 32),
    (4096, 25, 8),
    (4096, 10, 8),
    (4148, 4, 8),
    (4096, 0, 1),
    (8192, 8, 4),
    (65_536, 8, 1),
    (16_384, 500, 8),
    (100, 60, 3),
];

#[test]
fn the_table_keeps_its_stated_error_at_random_rates() {
    let mut rng = SplitMix::new(1, "test.table");
    for (bits, strength, codewords) in CODES {
        let code = ecc(bits, strength);
        let table = FailTable::new(&code, codewords);
        assert!(
            table.ln_error() <= FailTable::MAX_LN_ERROR / 4.0 && table.bytes() < 400_000,
            "{} B",
            table.bytes()
        );
        let mut worst = 0.0f64;
        let bend = ((f64::from(strength) + 1.0) / f64::from(bits)).ln();
        for i in 0..6000 {
            // From well below the table's left end up to its right one; every second near the bend, RBER = strength / bits.
            let wide = -60.0 + rng.unit() * (60.0 - std::f64::consts::LN_2);
            let near = (bend + (rng.unit() - 0.7) * 2.0).min(-std::f64::consts::LN_2);
            let ln_rber = if i % 2 == 0 { wide } else { near };
            let exact = code.log_p_page_fail(ln_rber.exp(), codewords);
            worst = worst.max((table.ln_p_fail(ln_rber) - exact).abs());
            let p = table.p_fail(ln_rber);
            assert!(
                (p / exact.exp() - 1.0).abs() <= FailTable::MAX_LN_ERROR || p < 1e-300,
                "{ln_rber}: {p:e}"
            );
        }
        assert!(worst <= FailTable::MAX_LN_ERROR, "{bits} bits, strength {strength}: {worst:e}");
        let half = code.log_p_page_fail(0.5, codewords);
        assert!((table.ln_p_fail(0.0) - half).abs() < 1e-12, "saturates beyond RBER 0.5");
    }
}

#[test]
fn an_unlimited_code_never_fails() {
    for code in [Ecc::default(), ecc(64, 64)] {
        let table = FailTable::new(&code, 8);
        assert_eq!((table.ln_p_fail(-1.0), table.bytes()), (f64::NEG_INFINITY, 0));
        assert!(table.p_fail(-1.0).abs() < f64::MIN_POSITIVE && !table.fails(0.0, -0.7));
        let ladder = ReadLadder::new(&RereadConfig::default(), table);
        assert_eq!((ladder.first_success(0.0, -0.7), ladder.mean_rereads(-0.7).to_bits()), (Some(0), 0));
    }
}

fn ladder(max_retries: Option<u32>) -> ReadLadder {
    ReadLadder::new(
        &RereadConfig { max_retries, ..RereadConfig::default() },
        FailTable::new(&ecc(4096, 75), 8),
    )
}

#[test]
fn frequencies_of_attempts_match_their_probabilities() {
    const READS: u32 = 200_000;
    // A factor so near 1 that several attempts share the reads.
    let rereads = RereadConfig { scale_factor: 1.1, max_retries: Some(3) };
    let ladder = ReadLadder::new(&rereads, FailTable::new(&ecc(4096, 75), 8));
    for rber in [0.014f64, 0.0155, 0.017] {
        let ln_rber = rber.ln();
        let mut counts = [0u32; 5];
        for i in 0..READS {
            let outcome = ladder.first_success(open_unit(mix(u64::from(i))), ln_rber);
            counts[outcome.map_or(4, |attempt| attempt as usize)] += 1;
        }
        let mut mean_rereads = 0.0;
        let mut before = 1.0;
        for (attempt, &count) in (0u32..).zip(&counts) {
            let after = if attempt < 4 { ladder.log_p_fail_after(ln_rber, Some(attempt)).exp() } else { 0.0 };
            if attempt < 3 {
                mean_rereads += after;
            }
            let p: f64 = before - after;
            before = after;
            let (mean, sigma) = (f64::from(READS) * p, (f64::from(READS) * p * (1.0 - p)).sqrt());
            // Six standard deviations, and one read for cells that are all but empty.
            let off = (f64::from(count) - mean).abs();
            assert!(off <= 6.0 * sigma + 1.0, "{rber}, attempt {attempt}: {count}, expected {mean}");
        }
        assert!((ladder.mean_rereads(ln_rber) / mean_rereads - 1.0).abs() < 1e-14);
        assert!(counts[..3].iter().all(|&count| count > 50), "the test must see re-reads: {counts:?}");
    }
}

#[test]
fn a_limit_only_cuts_the_ladder_off() {
    let (limited, unlimited) = (ladder(Some(2)), ladder(None));
    assert_eq!((limited.max_retries(), unlimited.max_retries()), (Some(2), None));
    let mut given_up = 0;
    for i in 0..10_000 {
        let (u, ln_rber) = (open_unit(mix(i)), -1.5 - (i % 40) as f64 * 0.1);
        let all = unlimited.first_success(u, ln_rber).expect("unlimited re-reads succeed in the end");
        assert_eq!(limited.first_success(u, ln_rber), Some(all).filter(|&attempt| attempt <= 2));
        assert_eq!(unlimited.first_success_within(u, ln_rber, 1), Some(all).filter(|&attempt| attempt <= 1));
        // A start from a later step: nothing before it is read.
        assert_eq!(unlimited.retry(u, ln_rber, 2, u32::MAX), Some(all.max(2)));
        given_up += u32::from(all > 2);
    }
    assert!(given_up > 100, "{given_up}");
    let never = (unlimited.log_p_uncorrectable(-1.0), unlimited.max_retries());
    assert_eq!(never, (f64::NEG_INFINITY, None));
    let at_two = limited.table().ln_p_fail(-1.0 - 2.0 * 2f64.ln());
    assert_eq!(limited.log_p_uncorrectable(-1.0).to_bits(), at_two.to_bits());
    assert!(unlimited.first_success(0.0, -0.7).is_some(), "even u = 0 ends");
}

#[test]
fn bad_rereads_are_refused_by_name() {
    let refused =
        |scale_factor, max_retries| RereadConfig { scale_factor, max_retries }.validate("device.rereads");
    for (scale, max) in [(0.5, Some(1)), (f64::NAN, None), (f64::INFINITY, None), (1.0, None)] {
        assert_eq!(refused(scale, max).unwrap_err().field, "device.rereads.scale_factor");
    }
    assert!(refused(1.0, Some(5)).is_ok() && RereadConfig::default().validate("device.rereads").is_ok());
    let default: RereadConfig = serde_json::from_str("{}").unwrap();
    assert_eq!(default, RereadConfig { scale_factor: 2.0, max_retries: None });
    assert!(serde_json::from_str::<RereadConfig>(r#"{"retries": 3}"#).is_err());
}

/// The value that chi-square with `freedom` degrees exceeds with probability `p`: Wilson and Hilferty 1931, within 1 % here.
fn chi_square_critical(freedom: f64, p: f64) -> f64 {
    let a = 2.0 / (9.0 * freedom);
    freedom * (1.0 - a - inverse_normal(p) * a.sqrt()).powi(3)
}

#[test]
fn sampled_errors_are_binomial() {
    const SAMPLES: u32 = 100_000;
    for (bits, p) in
        [(4096u32, 0.0164), (4096, 1e-4), (4148, 1.18e-5), (100, 0.5), (4096, 0.3), (65_536, 1e-3)]
    {
        let binomial = BinomialDistribution { trials: bits, p };
        let mut counts = std::collections::BTreeMap::new();
        for i in 0..SAMPLES {
            *counts.entry(sample_errors(open_unit(mix(u64::from(i) ^ 0xabcd)), bits, p)).or_insert(0u32) += 1;
        }
        // Cells of single counts, neighbours pooled until at least ten are expected.
        let (mut chi_square, mut cells, mut seen, mut expected) = (0.0, 0, 0.0, 0.0);
        let mut left = f64::from(SAMPLES);
        for k in 0..=bits {
            seen += f64::from(counts.get(&k).copied().unwrap_or(0));
            expected += f64::from(SAMPLES) * binomial.ln_pmf(k).exp();
            if expected >= 10.0 && left - expected >= 10.0 {
                chi_square += (seen - expected) * (seen - expected) / expected;
                left -= expected;
                (cells, seen, expected) = (cells + 1, 0.0, 0.0);
            }
        }
        if left > 0.0 && cells > 0 {
            chi_square += (seen - left) * (seen - left) / left;
        }
        if cells > 0 {
            let critical = chi_square_critical(f64::from(cells), 1e-6);
            assert!(chi_square < critical, "n {bits}, p {p}: {chi_square} of {cells}, critical {critical}");
        }
        assert!(counts.len() > 1, "n {bits}, p {p}");
    }
}

#[test]
fn the_critical_value_is_that_of_tables() {
    // Abramowitz and Stegun, Table 26.8: 29.588 (10 degrees, 0.1 %), 149.449 (100 degrees, 0.1 %).
    assert!((chi_square_critical(10.0, 1e-3) / 29.588 - 1.0).abs() < 0.01);
    assert!((chi_square_critical(100.0, 1e-3) / 149.449 - 1.0).abs() < 0.01);
}

#[test]
fn the_ends_of_the_quantile_are_sane() {
    assert_eq!((sample_errors(0.3, 4096, 0.0), sample_errors(0.3, 4096, 1.0)), (0, 4096));
    assert_eq!((sample_errors(0.3, 0, 0.5), sample_errors(1.0 - f64::EPSILON / 2.0, 4096, 1e-3)), (0, 0));
    // u = 0 counts as 2^-54.
    assert_eq!(sample_errors(0.0, 4096, 0.0164), sample_errors(2f64.powi(-54), 4096, 0.0164));
}

proptest! {
    /// The table never falls, and one u never succeeds earlier at a higher rate, nor fails again after a success.
    #[test]
    fn outcomes_are_monotone(
        code in 0usize..10,
        ln_rber in -45.0f64..-0.694,
        step in 0.0f64..2.0,
        u in 0.0f64..1.0,
        scale_factor in 1.05f64..8.0,
    ) {
        // Built once for all cases.
        static TABLES: std::sync::OnceLock<Vec<FailTable>> = std::sync::OnceLock::new();
        let build = || CODES.iter().map(|&(bits, t, m)| FailTable::new(&ecc(bits, t), m)).collect();
        let table = &TABLES.get_or_init(build)[code];
        let (lower, higher) = (table.ln_p_fail(ln_rber), table.ln_p_fail(ln_rber + step));
        prop_assert!(lower <= higher + 1e-12 * (1.0 + lower.abs()), "{} {}", lower, higher);
        prop_assert!(higher <= 0.0);
        for u in [u, u * u * u * 1e-6, table.p_fail(ln_rber), table.p_fail(ln_rber).next_down().max(0.0)] {
            prop_assert_eq!(table.fails(u, ln_rber), u < table.p_fail(ln_rber), "{}", u);
        }
        let ladder = ReadLadder::new(&RereadConfig { scale_factor, max_retries: None }, table.clone());
        let first = ladder.first_success(u, ln_rber).expect("unlimited");
        prop_assert!(first <= ladder.first_success(u, ln_rber + step).expect("unlimited"));
        for attempt in 0..first + 5 {
            prop_assert_eq!(ladder.fails_at(u, ln_rber, attempt), attempt < first);
        }
    }

    /// The count of errors and the verdict of the ECC agree at the same u, for a codeword and for the worst of a page; and
    /// the count is the quantile by definition.
    #[test]
    fn counts_agree_with_verdicts(
        bits in 1u32..9000,
        ln_p in -25.0f64..-0.7,
        u in 0.0f64..1.0,
        tail in 0i32..50,
        codewords in 1u32..33,
    ) {
        let p = ln_p.exp();
        let u = (u * 0.5f64.powi(tail)).max(1e-16);
        let above = |k: u32| BinomialDistribution { trials: bits, p }.tails(k).ln_more.exp();
        let k = sample_errors(u, bits, p);
        prop_assert!(k <= bits && above(k) <= u * (1.0 + 1e-12));
        prop_assert!(k == 0 || above(k - 1) >= u * (1.0 - 1e-12));
        // The other end: few errors, where 1 - u is the small number.
        let v = 0.5f64.powi(tail + 2);
        let at_most = |k: u32| BinomialDistribution { trials: bits, p }.tails(k).ln_at_most.exp();
        let few = sample_errors(1.0 - v, bits, p);
        prop_assert!(at_most(few) >= v * (1.0 - 1e-12));
        prop_assert!(few == 0 || at_most(few - 1) <= v * (1.0 + 1e-12));
        let worst = sample_worst_errors(u, codewords, bits, p);
        prop_assert!(worst >= k);
        let page = |t: u32| ecc(bits, t).log_p_page_fail(p, codewords).exp();
        prop_assert!(page(worst) <= u * (1.0 + 1e-12));
        prop_assert!(worst == 0 || page(worst - 1) >= u * (1.0 - 1e-12));
    }
}
