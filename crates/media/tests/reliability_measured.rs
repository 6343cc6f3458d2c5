//! Chips of one's own: what is made of measurements, and what is refused.

use outlast_media::reliability::measured::{FitForm, FitSettings, fit};
use outlast_media::reliability::{PowerLaw, RberModel, acceleration};
use outlast_units::rng::mix;
use proptest::prelude::*;
use std::fmt::Write as _;

const LAW: PowerLaw =
    PowerLaw { epsilon: 4e-4, alpha: 2e-9, beta: 4e-7, gamma: 3e-9, k: 1.6, m: 0.8, n: 0.45, p: 0.3, q: 1.1 };
const CYCLES: [f64; 5] = [100.0, 500.0, 1000.0, 2000.0, 3000.0];

/// Conditions of a usual characterisation: wear alone, wear and age, wear and reads.
fn conditions() -> Vec<[f64; 3]> {
    let mut all = Vec::new();
    for cycles in CYCLES {
        all.push([cycles, 0.0, 0.0]);
        all.extend([1.0, 7.0, 30.0, 90.0, 365.0].map(|days| [cycles, days, 0.0]));
        all.extend([1e3, 1e4, 3e4, 1e5].map(|reads| [cycles, 0.0, reads]));
    }
    all
}

fn reading(fit: FitForm) -> FitSettings {
    FitSettings { fit, ..FitSettings::default() }
}

/// A sum of twelve uniform numbers is normal enough here.
fn normal(seed: u64) -> f64 {
    (0..12).map(|i| (mix(seed ^ mix(i)) >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

fn exact(model: &RberModel) -> String {
    let mut text = "pe_cycles,retention_days,reads,rber\n".to_owned();
    for [c, t, r] in conditions() {
        let _ = writeln!(text, "{c},{t},{r},{:e}", model.rber(c, t, r));
    }
    text
}

#[test]
fn a_power_law_without_noise_is_found_again() {
    let model = RberModel::PowerLaw(LAW);
    let found = fit("x.csv", &exact(&model), &reading(FitForm::PowerLaw)).unwrap();
    assert!(found.measured.rms_log10 < 1e-5, "{}", found.measured.rms_log10);
    let RberModel::PowerLaw(law) = &found.measured.model else { panic!("{found:?}") };
    for (name, found, given) in
        [("k", law.k, LAW.k), ("m", law.m, LAW.m), ("n", law.n, LAW.n), ("q", law.q, LAW.q)]
    {
        assert!((found - given).abs() < 2e-3, "{name}: {found} {given}");
    }
}

/// Counts of errors, 40 files: each parameter's true value lies within 1.645 standard errors in nine cases of ten. Of 40 × 9 intervals
/// (which hang together by file) between 80 and 97 % hold.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let model = RberModel::PowerLaw(LAW);
    let truth = [
        ("epsilon", LAW.epsilon.ln()),
        ("alpha", LAW.alpha.ln()),
        ("k", LAW.k),
        ("beta", LAW.beta.ln()),
        ("m", LAW.m),
        ("n", LAW.n),
        ("gamma", LAW.gamma.ln()),
        ("p", LAW.p),
        ("q", LAW.q),
    ];
    let (mut held, mut all) = (0, 0);
    for file in 0..40u64 {
        let mut text = "pe_cycles,retention_days,reads,errors,bits\n".to_owned();
        for (index, [c, t, r]) in conditions().into_iter().enumerate() {
            let mean = model.rber(c, t, r) * 1e7;
            let errors = (mean + mean.sqrt() * normal(mix(file) ^ index as u64)).round();
            writeln!(text, "{c},{t},{r},{errors},10000000").unwrap();
        }
        let found = fit("x.csv", &text, &reading(FitForm::PowerLaw)).unwrap();
        for (name, true_value) in truth {
            let own = found.estimates.iter().find(|estimate| estimate.name == name).unwrap();
            let value = if own.is_relative { own.value.ln() } else { own.value };
            all += 1;
            held += u32::from(own.error.is_some_and(|error| (value - true_value).abs() <= 1.645 * error));
        }
    }
    let share = f64::from(held) / f64::from(all);
    assert!((0.80..=0.97).contains(&share), "{held} of {all}");
}

#[test]
fn an_exponential_is_found_again() {
    let text = "pe_cycles,rber\n0,1.09e-7\n1000,1.4728e-7\n10000,2.2109e-6\n19000,3.3189e-5\n";
    let found = fit("x.csv", text, &reading(FitForm::Exponential)).unwrap();
    let RberModel::Exponential(form) = &found.measured.model else { panic!("{found:?}") };
    assert!((form.a / 1.09e-7 - 1.0).abs() < 1e-3 && (form.b / 3.01e-4 - 1.0).abs() < 1e-3, "{form:?}");
}

/// Blocks that differ by a factor of e^±0.2 and count a million errors each: the spread is seen, and no single row decides.
#[test]
fn what_differs_by_more_than_counting_is_told() {
    let model = RberModel::PowerLaw(LAW);
    let mut text = "pe_cycles,retention_days,reads,errors,bits\n".to_owned();
    for (index, [c, t, r]) in conditions().into_iter().enumerate() {
        let errors = (model.rber(c, t, r) * (0.2 * normal(index as u64)).exp() * 1e9).round();
        writeln!(text, "{c},{t},{r},{errors},1000000000").unwrap();
    }
    let found = fit("x.csv", &text, &reading(FitForm::PowerLaw)).unwrap();
    // 0.2 in natural logarithms is 0.087; a standard deviation of 41 degrees of freedom is known to 11 %, and thrice that is taken.
    assert!(
        (found.spread_log10 / (0.2 / std::f64::consts::LN_10) - 1.0).abs() < 0.33,
        "{}",
        found.spread_log10
    );
}

#[test]
fn page_types_are_told_apart_and_ordered() {
    let model = RberModel::PowerLaw(LAW);
    let factors = [("msb", 1.5), ("lsb", 0.6), ("csb", 0.9)];
    let mut text = "pe_cycles,retention_days,reads,page_type,rber\n".to_owned();
    for [c, t, r] in conditions() {
        for (name, factor) in factors {
            writeln!(text, "{c},{t},{r},{name},{:e}", model.rber(c, t, r) * factor).unwrap();
        }
    }
    for form in [FitForm::PowerLaw, FitForm::Interpolate] {
        let found = fit("x.csv", &text, &reading(form)).unwrap();
        assert_eq!(found.types, ["lsb", "csb", "msb"]);
        let types = found.measured.page_types.unwrap();
        for (found, given) in types.factors.iter().zip([0.6, 0.9, 1.5]) {
            assert!((found - given).abs() < 1e-4, "{form}: {:?}", types.factors);
        }
        assert!(found.measured.rms_log10 < 1e-4, "{form}: {}", found.measured.rms_log10);
    }
}

/// A bake at a higher temperature counts as the longer time that it stands for.
#[test]
fn rows_of_other_temperatures_count_as_longer_times() {
    let model = RberModel::PowerLaw(LAW);
    let factor = acceleration(1.1, 40.0, 70.0);
    let mut text = "pe_cycles,retention_days,temperature,rber\n".to_owned();
    for cycles in CYCLES {
        for days in [0.0, 1.0, 30.0, 365.0] {
            writeln!(text, "{cycles},{days},40,{:e}", model.rber(cycles, days, 0.0)).unwrap();
            writeln!(text, "{cycles},{},70,{:e}", days / factor, model.rber(cycles, days, 0.0)).unwrap();
        }
    }
    let found = fit("x.csv", &text, &reading(FitForm::PowerLaw)).unwrap();
    assert_eq!(found.measured.temperature, Some(40.0));
    assert!(found.measured.rms_log10 < 1e-5, "{}", found.measured.rms_log10);
    let other = FitSettings { activation_energy: 0.6, ..FitSettings::default() };
    assert!(fit("x.csv", &text, &other).unwrap().measured.rms_log10 > 0.02);
}

#[test]
fn a_grid_is_exact_at_what_was_measured() {
    let model = RberModel::PowerLaw(LAW);
    let found = fit("x.csv", &exact(&model), &reading(FitForm::Interpolate)).unwrap();
    for (row, fitted) in found.rows.iter().zip(&found.fitted) {
        assert!((fitted / row.rber - 1.0).abs() < 1e-11, "{row:?}: {fitted}");
    }
    // Neither reads of aged data nor aged data that was read was measured: what each adds is added.
    let rber = |c, t, r| found.measured.model.rber(c, t, r);
    let sum = rber(1000.0, 90.0, 0.0) + rber(1000.0, 0.0, 1e4) - rber(1000.0, 0.0, 0.0);
    assert!((rber(1000.0, 90.0, 1e4) / sum - 1.0).abs() < 1e-11);
    // Outside, the edge.
    assert!(rber(9e3, 0.0, 0.0).to_bits() == rber(3e3, 0.0, 0.0).to_bits());
}

fn message(text: &str, form: FitForm) -> String {
    let error = fit("x.csv", text, &reading(form)).expect_err("nothing to fit");
    format!("{}: {}", error.line.map_or_else(|| "whole".to_owned(), |line| line.to_string()), error.error)
}

#[test]
fn what_is_wrong_is_said_by_line_column_value_and_limit() {
    for (text, expected) in [
        ("", "whole: pe_cycles = absent: must be a column: the file is empty"),
        ("pe_cycles,rber\n", "1: rows = 0: must be at least 1"),
        ("rber\n1e-3", "1: pe_cycles = absent: must be a column"),
        ("pe_cycles,errors\n1,2", "1: bits = absent: must be a column where errors is one"),
        ("pe_cycles,rber,bits\n1,2,3", "1: rber = given: excludes the columns errors and bits"),
        (
            "pe_cycles,rber,retension\n1,2,3",
            "1: column = retension: unknown column; known are pe_cycles, retention,",
        ),
        ("pe_cycles,rber,rber\n1,2,3", "1: column = rber: stands twice in the header"),
        (
            "pe_cycles,retention,retention_days,rber\n",
            "1: retention_days = given: excludes the column retention",
        ),
        ("# chip 7\n\npe_cycles,rber\n1,1e-3\n2", "5: cells = 1: must be 2, as the header has"),
        ("pe_cycles,rber\n-1,1e-3", "2: pe_cycles = -1: must be a number between 0 and 10000000"),
        ("pe_cycles,rber\n1,0.6", "2: rber = 0.6: must be a number between 0 and 0.5"),
        ("pe_cycles,rber\n1,nan", "2: rber = nan: must be a number between 0 and 0.5"),
        ("pe_cycles,rber\n1,0", "2: rber = 0: must be above 0 and at most 0.5"),
        (
            "pe_cycles,retention,rber\n1,30,1e-3",
            "2: retention = 30: must be a time such as \"500h\" or \"90d\"",
        ),
        ("pe_cycles,errors,bits\n1,6,10", "2: errors = 6: must be at most half of the 10 bits"),
        ("pe_cycles,errors,bits\n1,1.5,10", "2: errors = 1.5: must be a whole number"),
        ("pe_cycles,page_type,rber\n1,,1e-3", "2: page_type = \"\": must be a name such as lsb"),
        ("pe_cycles,rber\n0,1e-3\n9,2e-3", "whole: pe_cycles = 0 and one more: must have two values above 0"),
        (
            "pe_cycles,reads,rber\n1,0,1e-3\n1,9,2e-3",
            "whole: reads = one value above 0: must have two values above 0",
        ),
    ] {
        let message = message(text, FitForm::PowerLaw);
        assert!(message.starts_with(expected), "{text:?}: {message}");
    }
    let aged = "pe_cycles,retention,rber\n1,0,1e-3\n5,3d,2e-3";
    assert!(message(aged, FitForm::Exponential).starts_with("whole: retention = above 0: must be 0 for fit"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any text at all.
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = fit("x.csv", &text, &FitSettings::default());
    }

    /// Texts that are nearly right.
    #[test]
    fn no_table_panics(
        rows in prop::collection::vec((0u32..4, 0u32..3, 0u32..3, 0u32..4, 0u32..100), 1..25),
        form in prop::sample::select(vec![FitForm::PowerLaw, FitForm::Exponential, FitForm::Interpolate]),
    ) {
        let mut text = "pe_cycles,retention_days,reads,page_type,errors,bits\n".to_owned();
        for (c, t, r, page_type, errors) in rows {
            writeln!(text, "{},{},{},{page_type},{errors},1000", c * 700, t * 20, r * 5000).unwrap();
        }
        if let Ok(found) = fit("x.csv", &text, &reading(form)) {
            prop_assert!(found.fitted.iter().all(|rate| rate.is_finite() && *rate >= 0.0));
            found.measured.model.validate("model").unwrap();
        }
    }

    /// However noisy the rows, the grid falls nowhere; and where the rows never fall it meets each of them.
    #[test]
    fn grids_never_fall(
        rows in prop::collection::vec((0u32..5, 0u32..4, 0u32..4, 1e-6..1e-2f64), 1..40),
        look in prop::collection::vec((0.0..6000.0f64, 0.0..120.0f64, 0.0..40_000.0f64, 0u32..3, 0.0..1.0f64), 50),
    ) {
        let mut text = "pe_cycles,retention_days,reads,rber\n".to_owned();
        for (c, t, r, rate) in &rows {
            writeln!(text, "{},{},{},{rate:e}", c * 1000, t * 30, r * 10_000).unwrap();
        }
        let found = fit("x.csv", &text, &reading(FitForm::Interpolate)).unwrap();
        let model = &found.measured.model;
        model.validate("model").unwrap();
        for (c, t, r, axis, part) in look {
            let mut less = [c, t, r];
            less[axis as usize] *= part;
            let (here, there) = (model.rber(c, t, r), model.rber(less[0], less[1], less[2]));
            prop_assert!(there <= here * (1.0 + 1e-12), "{less:?}: {there} above {here}");
        }
        let places: Vec<[f64; 3]> = found.rows.iter().map(|row| [row.cycles, row.days, row.reads]).collect();
        let below = |a: usize, b: usize| (0..3).all(|i| places[a][i] <= places[b][i]);
        let rises = (0..places.len()).all(|a| {
            (0..places.len()).all(|b| a == b || !below(a, b) || (!below(b, a) && found.rows[a].rber <= found.rows[b].rber))
        });
        if rises {
            for (row, fitted) in found.rows.iter().zip(&found.fitted) {
                prop_assert!((fitted / row.rber - 1.0).abs() < 1e-11, "{row:?}: {fitted}");
            }
        }
    }
}
