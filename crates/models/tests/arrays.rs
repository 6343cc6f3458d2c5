//! Do UBER, data loss, die failures and two-level codes agree with the papers, with mpmath and with enumeration?
#![allow(clippy::unreadable_literal, clippy::excessive_precision, reason = "tables as printed")]

use outlast_models::array_loss::{
    FailedDevice, expected_second_failures, ln_any_failure, ln_data_loss, ln_data_loss_of_array,
    ln_data_loss_with_parity, ln_double_failure, ln_read_failure,
};
use outlast_models::dies::{
    balanced_spaces, extra_space, isolated_increase, shared_increase, spare_of, survivable_failures,
};
use outlast_models::two_level::{ln_rectangles, ln_uper_of_patterns};
use outlast_models::uper::ln_mds_uper;
use outlast_models::{SectorCode, chip, chips};

/// Bits of the 80 GB that Diff-RAID's devices hold.
const DEVICE_BITS: f64 = 80e9 * 8.0;

fn sector() -> SectorCode {
    SectorCode::new(4148, 4, 4096).expect("a sector")
}

fn near(actual: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((actual / expected - 1.0).abs() <= tolerance, "{what}: {actual:e} not {expected:e}");
}

/// Diff-RAID, Table 1: chip, UBER at 5000 and at 10 000 cycles, as printed.
const TABLE_1: [(&str, f64, f64); 12] = [
    ("b-mlc8-1", 2.26e-20, 6.80e-20),
    ("b-mlc8-2", 0.0, 0.0),
    ("b-mlc32-1", 6.31e-17, 6.40e-15),
    ("b-mlc32-2", 7.47e-19, 2.99e-16),
    ("c-mlc64-1", 4.36e-18, 1.61e-15),
    ("c-mlc64-2", 5.26e-17, 1.85e-13),
    ("d-mlc32-1", 4.40e-19, 5.31e-13),
    ("d-mlc32-2", 6.03e-19, 1.14e-16),
    ("e-mlc8-1", 2.82e-21, 4.44e-20),
    ("e-mlc8-2", 0.0, 4.40e-19),
    ("im-1", 1.17e-19, 5.32e-18),
    ("im-2", 2.20e-20, 1.28e-19),
];

#[test]
fn uber_reproduces_diff_raids_table_where_that_is_not_noise() {
    let mut compared = 0;
    for (name, low, high) in TABLE_1 {
        for (cycles, printed) in [(5000.0, low), (10_000.0, high)] {
            let exact = sector().uber(chip(name).unwrap().model.rber(cycles, 0.0, 0.0)).unwrap();
            if printed > 1e-18 {
                near(exact, printed, 0.032, name);
                compared += 1;
            } else {
                // 2^-53 over 4096 bits, 2.7e-20, is the least step of the original's subtraction from 1.
                let step = 0.5 * f64::EPSILON / 4096.0;
                let off = (exact - printed).abs();
                assert!(off < 8.0 * step, "{name} at {cycles}: {exact:e}, printed {printed:e}");
                assert!(exact > 0.0 && exact < 1e-18);
            }
        }
    }
    assert_eq!(compared, 10);
}

#[test]
fn uber_is_a_codewords_tail_over_its_bits() {
    // log(up(4148, 4, p)) of crates/media/tests/reliability_binomial.rs, mpmath.
    for (rber, ln_tail) in
        [(1.18e-5, -19.91576663214463), (1e-9, -66.7543282059137), (1e-20, -193.39650486808637)]
    {
        let ln = sector().ln_uber(rber).unwrap();
        assert!((ln - (ln_tail - 4096f64.ln())).abs() < 1e-12 * ln.abs(), "{rber}: {ln}");
        near(sector().uber(rber).unwrap(), ln.exp(), 1e-11, "plain");
    }
    near(sector().uber(1.0).unwrap(), 1.0 / 4096.0, 1e-15, "all bits wrong");
    assert!(sector().ln_uber(0.0).unwrap().is_infinite() && sector().uber(-0.1).is_err());
    assert!(SectorCode::new(4096, 4, 4097).is_err() && SectorCode::new(4096, 4097, 4096).is_err());
}

/// Products of a few survivors and few bits, in plain arithmetic that still has its digits.
#[test]
fn data_loss_is_one_minus_the_product() {
    let rates: [f64; 3] = [1e-3, 2e-2, 5e-4];
    let ln: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let expected = 1.0 - (1.0 - rates[0]).powi(7) * (1.0 - rates[1]).powi(3) * (1.0 - rates[2]).powi(100);
    near(ln_data_loss(&ln, &[7.0, 3.0, 100.0]).unwrap().exp(), expected, 1e-13, "product");
    // Far below what 1 minus a product can tell: the sum of bits times rate.
    let far = ln_data_loss(&[-900.0, -901.0], &[1e12, 1e12]).unwrap();
    assert!((far - (-900.0 + 1e12f64.ln() + (-1f64).exp().ln_1p())).abs() < 1e-10, "{far}");
    // `python3 -c "from mpmath import *; mp.dps=60; print(log(-expm1(4*mpf(6.4e11)*log1p(-mpf(5.31e-13)))))"`
    let worn = ln_data_loss(&[5.31e-13f64.ln(); 4], &[DEVICE_BITS; 4]).unwrap();
    assert!((worn - -0.2968238547355478).abs() < 1e-10, "{worn}");
    assert!(ln_data_loss(&[], &[]).is_err() && ln_data_loss(&[-1.0], &[1.0, 2.0]).is_err());
    assert!(ln_data_loss(&[0.1], &[1.0]).unwrap_err().to_string().contains("ln_uber = 0.1"));
}

#[test]
fn the_loss_of_any_device_is_the_mean_over_all() {
    let ln: Vec<f64> = [1e-12f64, 1e-15, 1e-16].iter().map(|rate| rate.ln()).collect();
    let bits = 1e9;
    let oldest = ln_data_loss_of_array(&ln, bits, FailedDevice::Oldest).unwrap().exp();
    near(oldest, 1e9 * 1.1e-15, 1e-5, "the two young ones");
    let any = ln_data_loss_of_array(&ln, bits, FailedDevice::Any).unwrap().exp();
    let by_hand: f64 =
        [1.1e-15f64, 1e-12 + 1e-16, 1e-12 + 1e-15].iter().map(|sum| -(-sum * bits).exp_m1()).sum();
    near(any, by_hand / 3.0, 1e-9, "mean of three");
    assert!(ln_data_loss_of_array(&ln[..1], bits, FailedDevice::Any).is_err());
}

/// With parity to spare: 40 stripes of 3 chunks of 5 bits, against plain arithmetic.
#[test]
fn data_loss_with_parity_to_spare() {
    let rates: [f64; 3] = [0.01, 0.02, 0.03];
    let ln: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let bad: Vec<f64> = rates.iter().map(|rate| 1.0 - (1.0 - rate).powi(5)).collect();
    let at_most_one = (1.0 - bad[0]) * (1.0 - bad[1]) * (1.0 - bad[2])
        + bad[0] * (1.0 - bad[1]) * (1.0 - bad[2])
        + (1.0 - bad[0]) * bad[1] * (1.0 - bad[2])
        + (1.0 - bad[0]) * (1.0 - bad[1]) * bad[2];
    let expected = 1.0 - at_most_one.powi(40);
    near(ln_data_loss_with_parity(&ln, 5.0, 40.0, 1).unwrap().exp(), expected, 1e-12, "one to spare");
    let none = ln_data_loss_with_parity(&ln, 5.0, 40.0, 0).unwrap();
    near(none.exp(), ln_data_loss(&ln, &[200.0; 3]).unwrap().exp(), 1e-12, "none to spare");
}

/// Figure 1(b): "about 8 times and 31 times when the die defect rate is 25 PPM and 100 PPM", 512 dies against 64.
#[test]
fn die_failures_of_large_drives() {
    let base = ln_any_failure(64.0, 25e-6).unwrap();
    near((ln_any_failure(512.0, 25e-6).unwrap() - base).exp(), 8.0, 0.01, "25 ppm");
    near((ln_any_failure(512.0, 100e-6).unwrap() - base).exp(), 31.0, 0.01, "100 ppm");
    near(
        ln_any_failure(64.0, 25e-6).unwrap().exp(),
        1.0 - (1.0 - 25e-6f64).powi(64),
        1e-10,
        "by the product",
    );
    assert!((ln_any_failure(1e9, 1e-300).unwrap() - (1e9f64.ln() + 1e-300f64.ln())).abs() < 1e-12);
    assert!(ln_any_failure(8.0, 1.5).is_err());
}

/// Section 3: double failures 64 times, read failures 52 times as likely with sixteen 32-TB SSDs as with 512-GB ones.
#[test]
fn rebuilds_of_large_drives() {
    let (small, large) = (512e9, 32e12);
    let rebuild = |bytes: f64| bytes / 1e9 / 3600.0;
    let double = |bytes: f64| expected_second_failures(rebuild(bytes), 1.5e6, 16.0).unwrap();
    near(double(large) / double(small), 62.5, 1e-12, "with decimal terabytes");
    near(double(64.0 * small) / double(small), 64.0, 1e-12, "with 64 times the dies");
    let read = |bytes: f64| ln_read_failure(1e-16f64.ln(), 15.0 * bytes * 8.0).unwrap().exp();
    near(read(large) / read(small), 52.0, 0.005, "fifteen whole survivors are read");
    // Equation 1 is the first term of the probability.
    near(ln_double_failure(8.8, 1.5e6, 16.0).unwrap().exp(), 8.8 * 15.0 / 1.5e6, 5e-5, "small");
    assert!(expected_second_failures(1e6, 1e6, 16.0).unwrap() > 1.0);
    assert!(ln_double_failure(1e6, 1e6, 16.0).unwrap() < 0.0);
    assert!(ln_double_failure(1.0, 0.0, 16.0).is_err() && ln_double_failure(1.0, 1.0, 1.0).is_err());
}

/// Figure 4: more than 1000 times the data loss with twenty-four 32-TB SSDs as with four of 512 GB. The text gives the parts
/// (a rebuild happens, and a double or a read failure in it; dies cause 3 % of the failures of a small SSD), not their sum.
#[test]
fn data_loss_of_large_arrays() {
    let loss = |devices: f64, bytes: f64| {
        let failures = 0.005 * (0.97 + 0.03 * bytes / 512e9);
        let rebuild = ln_any_failure(devices, failures).unwrap().exp();
        let double = ln_double_failure(bytes / 1e9 / 3600.0, 8760.0 / failures, devices).unwrap().exp();
        let read = ln_read_failure(1e-16f64.ln(), (devices - 1.0) * bytes * 8.0).unwrap().exp();
        rebuild * (double + read - double * read)
    };
    assert!(loss(24.0, 32e12) > 1000.0 * loss(4.0, 512e9));
}

/// Reparo, Tables 1 and 2, in percent as printed.
#[test]
fn space_utilisation_to_the_digit() {
    let table_1 = [(4, "33.33"), (8, "14.29"), (16, "6.67"), (32, "3.23"), (64, "1.59"), (128, "0.79")];
    let table_2 = [(4, "6.67"), (8, "3.23"), (16, "1.59"), (32, "0.79"), (64, "0.39"), (128, "0.20")];
    for (dies, printed) in table_1 {
        assert_eq!(format!("{:.2}", 100.0 * isolated_increase(f64::from(dies)).unwrap()), printed, "{dies}");
    }
    for (dies, printed) in table_2 {
        assert_eq!(
            format!("{:.2}", 100.0 * shared_increase(4.0, f64::from(dies)).unwrap()),
            printed,
            "{dies}"
        );
    }
}

/// Reparo, Figure 8: 60 of logical space over 16 dies of 6; Equation 4 is the root of Equation 3.
#[test]
fn the_division_of_space_after_a_failure() {
    let extra = extra_space(15.0, 16.0).unwrap();
    near(extra, 1.0, 1e-15, "one LBA to each helper");
    near((15.0 + extra) / (4.0 * 6.0), (15.0 - 3.0 * extra) / (3.0 * 6.0), 1e-15, "Equation 3");
    let spaces = balanced_spaces(60.0, &[4.0, 4.0, 4.0, 3.0]).unwrap();
    assert_eq!(spaces, [16.0, 16.0, 16.0, 12.0]);
    near(16.0 / 24.0, 0.67, 0.006, "as in the text");
    // "In the case of four die failures [in one core of 64 dies] … only 0.06% apart from the ideal adjustment": Equation 4
    // applied four times leaves the victim with that much more logical space than it should have.
    let ideal = balanced_spaces(1.0, &[64.0, 64.0, 64.0, 60.0]).unwrap()[3];
    let by_equation = 0.25 - 4.0 * 3.0 * extra_space(0.25, 256.0).unwrap();
    near(by_equation / ideal - 1.0, 0.0006, 0.02, "0.06 %");
    assert!(extra_space(15.0, 1.0).is_err() && balanced_spaces(60.0, &[0.0, 0.0]).is_err());
}

#[test]
fn failures_that_spare_space_survives() {
    // Utilisation 0.9: of a core's 16 dies one may fail; of the 64 of four cores six.
    for (utilisation, dies, most) in [(0.9, 16.0, 1.0), (0.9, 64.0, 6.0), (0.9, 10.0, 0.0), (0.5, 4.0, 1.0)] {
        assert!((survivable_failures(utilisation, dies).unwrap() - most).abs() < 0.5, "{utilisation} {dies}");
        assert!(
            utilisation * dies / (dies - most) < 1.0
                && utilisation * dies / (dies - most - 1.0) > 1.0 - 1e-12
        );
    }
    near(spare_of(0.8).unwrap(), 0.25, 1e-15, "spare");
    assert!(survivable_failures(1.0, 4.0).is_err() && spare_of(0.0).is_err());
}

/// Patterns of bad pages, by size, that single parity in each row and column cannot recover: tries all of them.
fn unrecoverable(rows: usize, columns: usize) -> Vec<u64> {
    let pages = rows * columns;
    let mut counts = vec![0; pages + 1];
    for pattern in 0u32..1 << pages {
        let mut bad = pattern;
        loop {
            let row = |r: usize| (0..columns).fold(0, |mask, c| mask | 1u32 << (r * columns + c)) & bad;
            let column = |c: usize| (0..rows).fold(0, |mask, r| mask | 1u32 << (r * columns + c)) & bad;
            let single =
                (0..rows).map(row).chain((0..columns).map(column)).find(|line| line.is_power_of_two());
            match single {
                Some(page) => bad &= !page,
                None => break,
            }
        }
        if bad != 0 {
            counts[pattern.count_ones() as usize] += 1;
        }
    }
    counts
}

#[test]
fn two_level_codes_by_enumeration() {
    for (rows, columns) in [(2usize, 2usize), (3, 3), (3, 4), (2, 6)] {
        let counts = unrecoverable(rows, columns);
        let pages = rows * columns;
        assert_eq!(counts[..4], [0, 0, 0, 0]);
        let rectangles = ln_rectangles(rows as u32, columns as u32).unwrap().exp();
        assert!((rectangles - counts[4] as f64).abs() < 1e-9, "{rows}x{columns}: {counts:?}");
        let ln_counts: Vec<f64> = counts.iter().map(|&count| (count as f64).ln()).collect();
        for p in [0.3f64, 0.01, 1e-6] {
            // Summed over single patterns' probabilities.
            let expected: f64 = (0u32..)
                .zip(&counts)
                .map(|(bad, &count)| {
                    count as f64 * p.powf(bad.into()) * (1.0 - p).powf(pages as f64 - f64::from(bad))
                })
                .sum::<f64>()
                / pages as f64;
            near(ln_uper_of_patterns(&ln_counts, p.ln()).unwrap().exp(), expected, 1e-12, "sum");
        }
        // Far out only the rectangles are left.
        let far = ln_uper_of_patterns(&ln_counts, -400.0).unwrap();
        assert!((far - (rectangles.ln() - 1600.0 - (pages as f64).ln())).abs() < 1e-11);
        // Every page bad is lost whatever the code.
        near(ln_uper_of_patterns(&ln_counts, 0.0).unwrap().exp(), 1.0 / pages as f64, 1e-12, "all bad");
    }
}

/// Flexible's order of schemes at a page error rate of 1e-6: two levels are best, since all patterns of three bad pages of
/// the group are recovered; (6,2) next.
#[test]
fn schemes_in_the_papers_order() {
    let ln_page = 1e-6f64.ln();
    let mut counts = vec![f64::NEG_INFINITY; 8 * 64 + 1];
    counts[4] = ln_rectangles(8, 64).unwrap();
    let two_levels = ln_uper_of_patterns(&counts, ln_page).unwrap();
    let (one, two) = (ln_mds_uper(7, 1, ln_page).unwrap(), ln_mds_uper(6, 2, ln_page).unwrap());
    assert!(two_levels < two && two < one && one < ln_page);
    counts[4] = 1e9f64.ln() * 3.0;
    assert!(ln_uper_of_patterns(&counts, ln_page).unwrap_err().to_string().contains("C(pages, i)"));
    assert!(ln_uper_of_patterns(&[], -1.0).is_err() && ln_rectangles(1, 8).is_err());
}

/// The devices of Diff-RAID's Figure 8 at the moment of replacement: (80, 5, 5, 5, 5) against RAID-5, by chip.
#[test]
fn uneven_parity_is_more_reliable() {
    let ages = [10_000.0, 5750.0, 4312.5, 2875.0, 1437.5];
    let (mut ten_times, mut twice) = (0, 0);
    for chip in chips().iter().filter(|chip| chip.source.contains("Differential RAID")) {
        let ln_uber = |age: f64| sector().ln_uber(chip.model.rber(age, 0.0, 0.0)).unwrap();
        let uneven: Vec<f64> = ages.iter().map(|&age| ln_uber(age)).collect();
        let even = ln_data_loss(&[ln_uber(10_000.0); 4], &[DEVICE_BITS; 4]).unwrap();
        let gain = |failed| even - ln_data_loss_of_array(&uneven, DEVICE_BITS, failed).unwrap();
        ten_times += u32::from(gain(FailedDevice::Oldest) >= 10f64.ln());
        twice += u32::from(gain(FailedDevice::Any) >= 2f64.ln());
        assert!(gain(FailedDevice::Oldest) > 0.0 && gain(FailedDevice::Any) > 0.0);
    }
    // The paper has 7 and 9 of 12: its rates of the better chips are noise, which hides what uneven parity gains there.
    assert_eq!((ten_times, twice), (11, 12));
}
