//! Settings of earlier versions.

use super::{SMALL, file};
use crate::retired::{RETIRED, RetiredFate};
use crate::{migrate, parse_text};

/// Messages of loading `text`, line by line.
fn refusals(text: &str) -> Vec<String> {
    file(text).unwrap_err().to_string().lines().map(str::to_owned).collect()
}

#[test]
fn a_retired_setting_is_refused_with_what_replaced_it() {
    for (text, expected) in [
        (
            "run.histogram_digits = 3",
            "s.toml:1: run.histogram_digits: is no setting any more: it is always 3 now (`outlast scenario migrate` rewrites a file)",
        ),
        (
            "device.hazards = { die_per_year = 1 }",
            "s.toml:1: device.hazards.die_per_year: is no setting any more: write device.hazards.per_year.die (`outlast scenario migrate` rewrites a file)",
        ),
        (
            "[device.repair]\nscan_cost = \"520ns\"",
            "s.toml:2: device.repair.scan_cost: is no setting any more: it is 260 ns for each page of device.repair.pages_per_entry; write that (`outlast scenario migrate` rewrites a file)",
        ),
    ] {
        assert_eq!(refusals(text), [expected]);
    }
    let two = refusals("run = { max_windows = 5, member_uber = 1e-15 }");
    assert_eq!(two.len(), 2, "{two:?}");
    let measured =
        refusals("[device.reliability]\nchip = \"a.csv\"\n[device.reliability.measured]\nof = \"a.csv\"\n");
    assert!(measured.len() == 1 && measured[0].contains("table of device.reliability.chip"), "{measured:?}");
    for form in ["two-point", "grid"] {
        let refused = refusals(&format!("device.reliability.model = {{ form = \"{form}\", rber = [1e-3] }}"));
        assert!(refused.len() == 1 && refused[0].contains("any more; write"), "{refused:?}");
    }
}

#[test]
fn an_override_of_a_retired_setting_is_refused_too() {
    let refused =
        super::files(&[("s.toml", SMALL)], &["s.toml"], &[("device.controller.program_every", "3")]);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("device.controller.program_every: is no setting any more"), "{message}");
}

/// A retired name must not be a setting again: its old meaning would be refused, or taken for the new one.
#[test]
fn no_retired_name_is_in_use() {
    for retired in RETIRED.iter().filter(|retired| !matches!(retired.fate, RetiredFate::Fitted)) {
        let (table, key) = retired.name.rsplit_once('.').unwrap();
        let refused =
            parse_text(&format!("extends = \"demo\"\n[{table}]\n{key} = 1\n")).unwrap_err().to_string();
        assert!(refused.contains("is no setting any more"), "{refused}");
    }
}

const OLD: &str = r#"# A drive of the year before.
name = "old"  # kept

[run]
histogram_digits = 3
max_windows = 64  # few
window = "5ms"

[device]
controller = { program_every = 64, queue_depth = 8, background_every = 2 }
hazards = { page_per_year = 2e4, program_failure = 1e-3 }
repair = { scan_cost = "4160ns", scheme = "isolated", copy_cost = "32ns" }

[device.timing.suspend]
program = true
program_limit = 3

[device.reliability.model]
form = "two-point"
low_cycles = 1_000
low_rber = 1e-4
high_cycles = 2000
high_rber = 1e-3
"#;

#[test]
fn a_file_is_migrated_and_keeps_the_rest() {
    let migrated = migrate("old.toml", OLD).unwrap();
    let expected = r#"# A drive of the year before.
name = "old"  # kept

[run]
window = "5ms"

[device]
controller = { queue_depth = 8 }
hazards = { per_year.page = 2e4, per_operation.program = 1e-3 }
repair = { pages_per_entry = 16, scheme = "isolated" }

[device.timing.suspend]
program = true

[device.reliability.model]
form = "exponential"
"#;
    assert!(migrated.text.starts_with(expected), "{}", migrated.text);
    let model: Vec<f64> = migrated.text[expected.len()..]
        .lines()
        .zip(["a = ", "b = "])
        .map(|(line, name)| line.strip_prefix(name).unwrap().parse().unwrap())
        .collect();
    assert_eq!(model.len(), 2, "{}", migrated.text);
    for (cycles, rber) in [(1000.0, 1e-4), (2000.0, 1e-3)] {
        assert!((model[0] * (model[1] * cycles).exp() / rber - 1.0).abs() < 1e-12);
    }
    assert_eq!(
        migrated.notes,
        [
            "old.toml:6: run.max_windows = 64: went; it is always 10000 now",
            "old.toml:10: device.controller.background_every = 2: went; it is always 32 now",
            "old.toml:16: device.timing.suspend.program_limit = 3: went; it is always that of limit now",
        ]
    );
    let again = migrate("old.toml", &migrated.text).unwrap();
    assert_eq!((again.text, again.notes), (migrated.text, Vec::new()));
}

#[test]
fn what_cannot_be_migrated_is_told() {
    let text = "[device.repair]\nscan_cost = \"1us\"\nfound_cost = \"3300ns\"\n\n[device.reliability]\nmodel = { form = \"grid\", cycles = [0], rber = [1e-3] }\n";
    let migrated = migrate("s.toml", text).unwrap();
    assert!(
        migrated.text.contains("form = \"grid\"") && !migrated.text.contains("_cost"),
        "{}",
        migrated.text
    );
    assert_eq!(migrated.notes.len(), 2, "{:?}", migrated.notes);
    assert!(migrated.notes[0].contains("not one multiple"), "{:?}", migrated.notes);
    assert!(migrated.notes[1].contains("rows of a chip's file"), "{:?}", migrated.notes);
}

#[test]
fn a_fitted_chip_beside_its_file_goes_with_its_tables() {
    let text = "[device.reliability]\nchip = \"a.csv\"\n\n[device.reliability.measured]\nof = \"a.csv\"\nrows = 3\n\n[device.reliability.measured.model]\nform = \"grid\"\nrber = [\n  1e-3,\n  2e-3,\n]\n\n[device.reliability.ecc]\nstrength = 8\n";
    let migrated = migrate("s.toml", text).unwrap();
    assert_eq!(
        migrated.text,
        "[device.reliability]\nchip = \"a.csv\"\n\n\n\n[device.reliability.ecc]\nstrength = 8\n"
    );
    assert_eq!(migrated.notes, ["s.toml: device.reliability.measured went: the chip's file is read again"]);
}

#[test]
fn what_is_no_toml_is_not_migrated() {
    assert_eq!(migrate("s.toml", "a = [").unwrap_err().to_string().split(':').next(), Some("s.toml"));
}
