//! Does docs/reference/nvme.md list exactly what a controller advertises, each with a test of it that is there?

mod bits;
mod probes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use probes::{Probed, ProbedController};

/// The page with the tables.
const PAGE: &str = "docs/reference/nvme.md";

/// A row of a table.
struct ListedRow {
    code: String,
    /// Subsystems that advertise it, in words.
    subsystems: String,
    tests: Vec<String>,
}

#[allow(
    clippy::disallowed_methods,
    reason = "the table is a page of the documentation, and the tests are sources"
)]
fn read(path: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Rows of the tables by their heading: code, name, subsystems, tests.
fn listed() -> BTreeMap<String, Vec<ListedRow>> {
    let mut tables: BTreeMap<String, Vec<ListedRow>> = BTreeMap::new();
    let mut heading = String::new();
    for line in read(PAGE).lines() {
        if let Some(text) = line.strip_prefix("## ") {
            text.clone_into(&mut heading);
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [code, _, subsystems, tests] = cells[..] else { continue };
        if !code.starts_with('`') {
            continue;
        }
        let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let row = ListedRow {
            code: quoted(code).concat(),
            subsystems: subsystems.to_owned(),
            tests: quoted(tests),
        };
        tables.entry(heading.clone()).or_default().push(row);
    }
    tables
}

/// True if the words of a row name a kind of subsystem.
fn names(words: &str, kind: Probed) -> bool {
    words.split(", ").any(|word| match word {
        "all" => kind != Probed::Discovery,
        "without zones" => matches!(kind, Probed::Plain | Probed::Placement),
        "placement" => kind == Probed::Placement,
        "zones" => matches!(kind, Probed::Zones | Probed::Areas),
        "random write areas" => kind == Probed::Areas,
        "discovery" => kind == Probed::Discovery,
        other => panic!("{PAGE}: {other}"),
    })
}

#[test]
fn the_tables_list_exactly_what_a_controller_advertises() {
    let tables = listed();
    for kind in Probed::ALL {
        let found = ProbedController::new(kind).advertised();
        let headings: BTreeSet<&str> = tables.keys().map(String::as_str).collect();
        assert_eq!(headings, found.keys().copied().collect(), "headings of {PAGE}");
        for (heading, codes) in found {
            let rows = tables[heading].iter().filter(|row| names(&row.subsystems, kind));
            let rows: BTreeSet<String> = rows.map(|row| row.code.clone()).collect();
            assert_eq!(rows, codes, "{PAGE}, {heading}, subsystem: {kind:?}");
        }
    }
}

#[test]
fn every_row_of_the_tables_names_tests_that_are_there() {
    let mut rows = 0;
    for row in listed().into_values().flatten() {
        rows += 1;
        assert!(!row.tests.is_empty(), "{PAGE}: {} has no test", row.code);
        for test in row.tests {
            let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("{PAGE}: {test}"));
            let file = format!("crates/{file}.rs");
            assert!(read(&file).contains(&format!("fn {name}(")), "{PAGE}: {file} has no {name}");
        }
    }
    assert!(rows > 80, "{rows} rows are read");
}
