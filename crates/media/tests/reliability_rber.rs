//! Are the error rates those of the papers, and the factors those of their distributions?
#![allow(clippy::unreadable_literal, clippy::excessive_precision, reason = "tables as mpmath printed them")]

use outlast_media::reliability::normal::inverse_normal;
use outlast_media::reliability::{
    BlockVariation, ChipTrust, Ecc, ExponentialRber, PageTypes, PowerLaw, RberModel, TwoPoint, chip, chips,
    open_unit,
};
use proptest::prelude::*;

/// Chip, [cycles, days, reads], [floor, wear, retention, disturbance]. The coefficients are exact doubles here:
/// `python3 -c "from mpmath import *; mp.dps=40; print(mpf(3.90e-10)*mpf(5000)**mpf(2.05))"`, and likewise each term of HRM's
/// Equation 1.
const POINTS: [(&str, [f64; 3], [f64; 4]); 13] = [
    ("tlc-72-layer", [0.0, 0.0, 0.0], [0.00148, 0.0, 0.0, 0.0]),
    (
        "tlc-72-layer",
        [1000.0, 30.0, 1000.0],
        [0.00148, 0.0005508896424028735, 0.001036585480314474, 0.004917097634815398],
    ),
    ("tlc-72-layer", [5000.0, 0.0, 0.0], [0.00148, 0.014926332642622678, 0.0, 0.0]),
    ("tlc-72-layer", [5000.0, 0.0, 10000.0], [0.00148, 0.014926332642622678, 0.0, 0.4289127271166266]),
    (
        "tlc-72-layer",
        [5000.0, 90.0, 10000.0],
        [0.00148, 0.014926332642622678, 0.0023502085367666575, 0.4289127271166266],
    ),
    (
        "mlc-2y-nm",
        [2000.0, 30.0, 1000.0],
        [8.34e-05, 1.4563817645384722e-05, 7.64633390245591e-06, 1.0384536701642903e-05],
    ),
    ("mlc-2y-nm", [10000.0, 365.0, 0.0], [8.34e-05, 0.00022830422040324898, 1.727865885869822, 0.0]),
    ("mlc-2y-nm", [10000.0, 0.0, 10000.0], [8.34e-05, 0.00022830422040324898, 0.0, 0.000520684120710272]),
    (
        "mlc-2y-nm",
        [5000.0, 90.0, 100.0],
        [8.34e-05, 6.978348385802489e-05, 0.0029049432917002014, 1.765068404044098e-05],
    ),
    (
        "mlc-3x-nm",
        [10000.0, 30.0, 1000.0],
        [5.06e-08, 4.5834162385217484e-06, 2.2420571819963256e-05, 1.778836593402642e-06],
    ),
    ("mlc-3x-nm", [50000.0, 0.0, 0.0], [5.06e-08, 0.00014823969352392662, 0.0, 0.0]),
    ("mlc-3x-nm", [50000.0, 365.0, 0.0], [5.06e-08, 0.00014823969352392662, 0.002998679014391834, 0.0]),
    (
        "mlc-3x-nm",
        [50000.0, 90.0, 10000.0],
        [5.06e-08, 0.00014823969352392662, 0.000978339743340764, 0.00028056530171297024],
    ),
];

/// u, z with Φ(z) = u: `findroot(lambda z: log(ncdf(z)) - log(u), -sqrt(-2*log(u)))` of mpmath with 60 digits.
const NORMAL: [(f64, f64); 17] = [
    (0.5, 0.0),
    (0.075, -1.439531470938456),
    (0.0750001, -1.4395307645017297),
    (0.925, 1.4395314709384561),
    (0.3, -0.5244005127080408),
    (0.9, 1.2815515655446006),
    (0.99, 2.3263478740408408),
    (0.001, -3.0902323061678136),
    (1e-05, -4.264890793922825),
    (1e-10, -6.361340902404057),
    (1.4e-11, -6.656723091518184),
    (1.38e-11, -6.658838502850766),
    (1e-15, -7.941345326170997),
    (1e-20, -9.262340089798407),
    (1e-100, -21.273453560965326),
    (1e-300, -37.0470962993612),
    (0.9999999999999999, 8.209536151601387),
];

fn model(name: &str) -> &'static RberModel {
    &chip(name).expect("a chip of the list").model
}

#[test]
fn the_three_chips_of_hrm_have_the_rates_of_equation_1() {
    for (name, [cycles, days, reads], expected) in POINTS {
        let parts = model(name).parts(cycles, days, reads);
        let actual = [parts.floor, parts.wear, parts.retention, parts.disturbance];
        for (actual, expected) in actual.into_iter().zip(expected) {
            assert!(
                (actual - expected).abs() <= 1e-13 * expected,
                "{name} {cycles} {days} {reads}: {parts:?}"
            );
        }
        assert!((parts.total() - expected.iter().sum::<f64>()).abs() <= 1e-13 * parts.total());
    }
}

/// Statements of HRM's text about its chips, independent of the coefficients.
#[test]
fn the_texts_statements_hold() {
    // "100% error rate after 1 year", and beyond: 1.7 of retention.
    let year = model("mlc-2y-nm").parts(10_000.0, 365.0, 0.0).retention;
    assert!((year - 1.7).abs() < 0.05, "{year}");
    let saturated = model("mlc-2y-nm").saturated(10_000.0, 365.0, 0.0);
    assert!(saturated.saturated && (saturated.rber - 0.5).abs() < f64::EPSILON);
    // TLC at 5K: 0.0164, so 67 errors in 4096 bits, and 85 % of codewords within 75-bit ECC (Fig. 5).
    let tlc = model("tlc-72-layer").saturated(5000.0, 0.0, 0.0);
    assert!(!tlc.saturated && (tlc.rber - 0.0164).abs() < 5e-5, "{tlc:?}");
    let code = Ecc { strength: Some(75), ..Ecc::default() };
    let within = code.log_p_correctable(tlc.rber).exp();
    assert!((within - 0.85).abs() < 0.01, "{within}");
    // Fig. 3: disturbance dominates the TLC, retention the 2y-nm MLC, over the ranges of the figure.
    let tlc = model("tlc-72-layer");
    assert!(tlc.parts(10_000.0, 365.0, 0.0).retention < tlc.parts(10_000.0, 0.0, 10_000.0).disturbance);
    let mlc = model("mlc-2y-nm");
    assert!(
        mlc.parts(10_000.0, 365.0, 0.0).retention > 1000.0 * mlc.parts(10_000.0, 0.0, 10_000.0).disturbance
    );
    // "the overall error rate increases with the newer and denser flash memories".
    let fresh_10k =
        ["mlc-3x-nm", "mlc-2y-nm", "tlc-72-layer"].map(|name| model(name).rber(10_000.0, 0.0, 0.0));
    assert!(fresh_10k.is_sorted(), "{fresh_10k:?}");
}

#[test]
fn the_exponential_forms_pass_through_their_points() {
    // mpmath: mpf(1.09e-7) * exp(mpf(3.01e-4) * 16000).
    let msapl = model("msapl").rber(16_000.0, 90.0, 1e6);
    assert!((msapl / 1.3458254068993899e-05 - 1.0).abs() < 1e-12, "{msapl:e}");
    let diff_raid = chips().iter().filter(|chip| matches!(chip.model, RberModel::TwoPoint(_)));
    assert_eq!(diff_raid.clone().count(), 12);
    for chip in diff_raid {
        let RberModel::TwoPoint(points) = &chip.model else { unreachable!("filtered") };
        let at = |cycles| chip.model.rber(cycles, 0.0, 0.0);
        assert!((at(5000.0) / points.low_rber - 1.0).abs() < 1e-12);
        assert!((at(10_000.0) / points.high_rber - 1.0).abs() < 1e-12);
        let curve = RberModel::Exponential(points.curve());
        assert!((at(17_000.0) / curve.rber(17_000.0, 0.0, 0.0) - 1.0).abs() < 1e-12);
        // Exponential: the middle is the geometric mean.
        assert!((at(7500.0).powi(2) / (points.low_rber * points.high_rber) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn every_chip_is_valid_sourced_and_named_once() {
    for chip in chips() {
        chip.model.validate("chip").unwrap();
        assert!(chip.source.contains("Table") && chip.end_of_life_cycles >= 5000);
        assert_eq!(chips().iter().filter(|other| other.name == chip.name).count(), 1);
        let text = serde_json::to_string(&chip.model).unwrap();
        assert_eq!(serde_json::from_str::<RberModel>(&text).unwrap(), chip.model);
    }
    assert_eq!(chip("mlc-3x-nm").unwrap().trust, ChipTrust::Recalled);
    assert_eq!(chip("im-1").unwrap().end_of_life_cycles, 5000);
    assert!(chip("qlc").is_none());
}

#[test]
fn bad_coefficients_are_refused_by_name() {
    let RberModel::PowerLaw(good) = model("tlc-72-layer").clone() else { unreachable!("a power law") };
    let refused = |model: RberModel| model.validate("device.errors.model").unwrap_err().field;
    let power = |change: fn(&mut PowerLaw)| {
        let mut law = good.clone();
        change(&mut law);
        refused(RberModel::PowerLaw(law))
    };
    assert_eq!(power(|law| law.beta = -1e-9), "device.errors.model.beta");
    assert_eq!(power(|law| law.q = -0.1), "device.errors.model.q");
    assert_eq!(power(|law| law.epsilon = f64::NAN), "device.errors.model.epsilon");
    assert_eq!(power(|law| law.k = f64::INFINITY), "device.errors.model.k");
    let exponential = |a, b| refused(RberModel::Exponential(ExponentialRber { a, b }));
    assert_eq!(exponential(0.0, 1e-4), "device.errors.model.a");
    assert_eq!(exponential(0.6, 1e-4), "device.errors.model.a");
    assert_eq!(exponential(1e-7, f64::NAN), "device.errors.model.b");
    let two = |low_cycles, low_rber, high_cycles, high_rber| {
        refused(RberModel::TwoPoint(TwoPoint { low_cycles, low_rber, high_cycles, high_rber }))
    };
    assert_eq!(two(5e3, 1e-6, 5e3, 1e-5), "device.errors.model.high_cycles");
    assert_eq!(two(5e3, 1e-5, 1e4, 1e-6), "device.errors.model.high_rber");
    assert_eq!(two(-1.0, 1e-6, 1e4, 1e-5), "device.errors.model.low_cycles");
    assert!(
        serde_json::from_str::<RberModel>(r#"{"form": "exponential", "a": 1e-7, "b": 0, "c": 1}"#).is_err()
    );
    assert!(serde_json::from_str::<RberModel>(r#"{"form": "linear", "a": 1e-7}"#).is_err());
}

#[test]
fn the_age_at_which_a_rate_is_reached_is_found() {
    let tlc = model("tlc-72-layer");
    let reads = tlc.reads_to_reach(0.02, 5000.0, 0.0).unwrap();
    assert!((tlc.rber(5000.0, 0.0, reads) / 0.02 - 1.0).abs() < 1e-10, "{reads}");
    let days = tlc.days_to_reach(0.02, 5000.0, 10.0).unwrap();
    assert!((tlc.rber(5000.0, days, 10.0) / 0.02 - 1.0).abs() < 1e-10, "{days}");
    let cycles = model("mlc-2y-nm").cycles_to_reach(0.5, 365.0, 0.0).unwrap();
    assert!((model("mlc-2y-nm").rber(cycles, 365.0, 0.0) / 0.5 - 1.0).abs() < 1e-10, "{cycles}");
    assert_eq!(tlc.reads_to_reach(0.01, 5000.0, 0.0), Some(0.0));
    assert_eq!(model("msapl").days_to_reach(1e-3, 1000.0, 0.0), None);
}

#[test]
fn the_inverse_normal_agrees_with_mpmath() {
    for (u, z) in NORMAL {
        let actual = inverse_normal(u);
        // The distance of u to 1/2 or to 1 is itself rounded only where u is: these are exact doubles.
        assert!((actual - z).abs() <= 4e-15 * z.abs(), "u = {u}: {actual}, expected {z}");
    }
}

#[test]
fn block_factors_are_log_normal_with_mean_1_and_belong_to_their_block() {
    let variation = BlockVariation { sigma: 0.3 };
    let factors: Vec<f64> = (0..100_000).map(|block| variation.factor(7, block)).collect();
    let count = factors.len() as f64;
    let mean = factors.iter().sum::<f64>() / count;
    // Variance of a log-normal of mean 1: e^(σ²) − 1. Five standard errors.
    assert!((mean - 1.0).abs() < 5.0 * ((0.09f64.exp_m1()) / count).sqrt(), "{mean}");
    let logs: Vec<f64> = factors.iter().map(|factor| factor.ln()).collect();
    let mean_log = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean_log).powi(2)).sum::<f64>() / count;
    assert!((mean_log + 0.045).abs() < 5.0 * 0.3 / count.sqrt(), "{mean_log}");
    // Variance of a normal's sample variance: 2σ⁴/n.
    assert!((variance - 0.09).abs() < 5.0 * 0.09 * (2.0 / count).sqrt(), "{variance}");
    assert_eq!(factors[17].to_bits(), variation.factor(7, 17).to_bits());
    assert_ne!(factors[17].to_bits(), variation.factor(8, 17).to_bits());
    assert_eq!(BlockVariation::default().factor(7, 17).to_bits(), 1f64.to_bits());
    assert!(open_unit(0) > 0.0 && open_unit(u64::MAX) < 1.0);
    for sigma in [-0.1, 2.1, f64::NAN] {
        assert_eq!(
            BlockVariation { sigma }.validate("device.errors.blocks").unwrap_err().field,
            "device.errors.blocks.sigma"
        );
    }
}

#[test]
fn page_type_factors_average_to_1() {
    let types: PageTypes = serde_json::from_str(r#"{"factors": [1, 2, 3]}"#).unwrap();
    let factors: Vec<f64> = types.ln_factors().iter().map(|ln| ln.exp()).collect();
    assert!((factors.iter().sum::<f64>() - 3.0).abs() < 1e-14 && (factors[2] - 1.5).abs() < 1e-14);
    for factors in [vec![], vec![1.0; 9], vec![1.0, 0.0], vec![f64::NAN]] {
        assert!(PageTypes { factors }.validate("pages").is_err());
    }
}

proptest! {
    /// No rate falls with wear, age or reads, and each is a number.
    #[test]
    fn rates_never_fall(
        index in 0usize..16,
        cycles in 0f64..1e5, days in 0f64..4e3, reads in 0f64..1e7,
        more in (0f64..1e4, 0f64..1e3, 0f64..1e6),
    ) {
        let model = &chips()[index].model;
        let rber = model.rber(cycles, days, reads);
        prop_assert!(rber > 0.0);
        for higher in [(cycles + more.0, days, reads), (cycles, days + more.1, reads), (cycles, days, reads + more.2)] {
            prop_assert!(model.rber(higher.0, higher.1, higher.2) >= rber * (1.0 - 1e-13));
        }
        let saturated = model.saturated(cycles, days, reads);
        prop_assert!(saturated.rber <= 0.5 && saturated.saturated == (rber > 0.5));
    }
}
