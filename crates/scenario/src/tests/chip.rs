//! Chips of one's own.

use super::{SMALL, files};
use crate::{Scenario, ScenarioError, parse_text};
use outlast_settings::drive::ChipChoice;

const CHIP: &str = "pe_cycles,retention,rber\n1000,0,1e-3\n1000,30d,2e-3\n3000,0,2e-3\n3000,30d,5e-3\n";

fn with(reliability: &str, overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let text = format!("{SMALL}\n[device.reliability]\n{reliability}\n");
    let known =
        [("lab/s.toml", text.as_str()), ("lab/mine.csv", CHIP), ("other.csv", "pe_cycles,rber\n5,1e-3\n")];
    files(&known, &["lab/s.toml"], overrides).map(|(scenario, _)| scenario)
}

const MINE: &str = "chip = \"mine.csv\"\nfit = \"interpolate\"";

#[test]
fn a_chip_file_is_found_beside_its_scenario_and_kept_in_it() {
    let scenario = with(MINE, &[]).unwrap();
    let reliability = scenario.device.reliability.as_ref().unwrap();
    assert_eq!(reliability.chip.as_ref().map(ChipChoice::name), Some("lab/mine.csv"));
    assert!((reliability.rber_model().unwrap().rber(3000.0, 30.0, 0.0) - 5e-3).abs() < 1e-12);
    // Written out it needs the file no more.
    let (again, _) = parse_text(&scenario.to_toml().unwrap()).unwrap();
    assert_eq!(again, scenario);
}

#[test]
fn another_chip_or_another_fit_is_computed_again() {
    let scenario = with(MINE, &[]).unwrap();
    let text = scenario.to_toml().unwrap();
    let anew = |setting: &str, value: &str| {
        let known =
            [("s.toml", text.as_str()), ("lab/mine.csv", CHIP), ("other.csv", "pe_cycles,rber\n5,1e-3\n")];
        files(&known, &["s.toml"], &[(setting, value)]).unwrap().0.device.reliability.unwrap()
    };
    let other = anew("device.reliability.chip", "other.csv");
    assert_eq!(other.chip.as_ref().and_then(ChipChoice::fitted).unwrap().rows, 1);
    let warmer = anew("device.reliability.reference_temperature", "55");
    assert_eq!(warmer.chip.as_ref().and_then(ChipChoice::fitted).unwrap().temperature, Some(55.0));
    let known = [("s.toml", text.as_str())];
    let changes = [("device.reliability.chip", "im-2"), ("device.reliability.fit", "null")];
    let published = files(&known, &["s.toml"], &changes).unwrap().0.device.reliability.unwrap();
    assert_eq!(published.chip, Some(ChipChoice::from("im-2")));
}

#[test]
fn errors_in_a_chip_file_are_one_line() {
    let message = |reliability: &str| with(reliability, &[]).unwrap_err().to_string();
    for (reliability, expected) in [
        (
            "chip = \"gone.csv\"",
            "lab/gone.csv: cannot be read: no such file (asked for by lab/s.toml:21: device.reliability.chip)",
        ),
        ("chip = \"mine.csv\"", "lab/mine.csv: retention = one value above 0: must have two values above 0"),
        (
            "chip = \"im-2\"\nfit = \"interpolate\"",
            "lab/s.toml:22: device.reliability.fit = interpolate: must be absent unless chip is a file",
        ),
        (
            "chip = \"tlc-72-layer\"\ntemperature = 40",
            "device.reliability.reference_temperature = absent: must be given with temperature",
        ),
        (
            "chip = \"tlc-72-layer\"\ntemperature = 400",
            "device.reliability.temperature = 400: must be between -100 and 300",
        ),
    ] {
        let message = message(reliability);
        assert!(message.contains(expected), "{message}");
    }
    let bad = [
        ("s.toml", "extends = \"demo\"\n[device.reliability]\nchip = \"bad.csv\"\n"),
        ("bad.csv", "pe_cycles,rber\n1,x\n"),
    ];
    let message = files(&bad, &["s.toml"], &[]).unwrap_err().to_string();
    assert_eq!(message, "bad.csv:2: rber = x: must be a number between 0 and 0.5");
}

/// A year at 30 °C is 500 hours at 52 °C by JESD218's table, within the half degree that it rounds by.
#[test]
fn temperature_scales_the_time_of_retention() {
    let model = |more: &str| {
        let scenario = with(&format!("chip = \"tlc-72-layer\"\n{more}"), &[]).unwrap();
        scenario.device.reliability.unwrap().rber_model().unwrap().into_owned()
    };
    let (own, same) = (model(""), model("temperature = 30\nreference_temperature = 30"));
    assert_eq!(own, same);
    let hot = model("temperature = 52\nreference_temperature = 30");
    let retention =
        |model: &outlast_media::reliability::RberModel, days: f64| model.parts(3000.0, days, 0.0).retention;
    let ratio = retention(&hot, 500.0 / 24.0) / retention(&own, 365.0);
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    assert_eq!(hot.rber(3000.0, 0.0, 500.0).to_bits(), own.rber(3000.0, 0.0, 500.0).to_bits());
}

#[test]
fn settings_beyond_the_range_of_the_chip_are_reported() {
    let told = |reliability: &str| with(reliability, &[]).unwrap().beyond_range();
    let within = format!("{MINE}\ninitial = {{ pe_cycles = 3000, age = \"30d\" }}");
    assert_eq!(told(&within), Vec::<String>::new());
    let beyond = format!("{MINE}\ninitial = {{ pe_cycles = 4000, age = \"60d\", block_reads = 5 }}");
    assert_eq!(
        told(&beyond),
        [
            "device.reliability.initial.pe_cycles = 4000: beyond the 1000 to 3000 P/E cycles for which the error rates of lab/mine.csv are known.",
            "device.reliability.initial.age = 60: beyond the 0 to 30 days for which the error rates of lab/mine.csv are known.",
            "device.reliability.initial.block_reads = 5: beyond the 0 to 0 reads for which the error rates of lab/mine.csv are known.",
        ]
    );
    let cold = "chip = \"im-2\"\ntemperature = 40\nreference_temperature = 30\ninitial.pe_cycles = 7000";
    assert_eq!(
        told(cold),
        [
            "device.reliability.temperature = 40: has no effect, because the error rates of im-2 know no retention."
        ]
    );
}
