//! Results that a refactoring must not change: a hash of the whole result of each of some two hundred small runs, of everything that can be
//! simulated. The committed table is `crates/bench/hashes.txt`; a change of it is a change of what is simulated.

mod battery;
pub(crate) mod digest;
mod layers;
mod published;
mod random;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use battery::NamedCase;

use std::collections::BTreeMap;
use std::process::ExitCode;
use table::HashTable;

/// The committed table.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/hashes.txt");

/// Action on the hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HashMode {
    /// Print them.
    Print,
    /// Compare them with the table.
    Check,
    /// Make the table from them.
    Write,
    /// Print the texts that are hashed, for a comparison line by line.
    Show,
}

impl HashMode {
    fn of(arguments: &[String]) -> Self {
        let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
        match (has("--show"), has("--write"), has("--check")) {
            (true, ..) => Self::Show,
            (_, true, _) => Self::Write,
            (_, _, true) => Self::Check,
            _ => Self::Print,
        }
    }
}

/// `outlast-bench hashes [--show|--write|--check] [NAME…]`: of all cases, or of those whose names contain one of `NAME…`.
#[allow(clippy::print_stdout, reason = "a benchmark prints")]
pub(crate) fn main(arguments: &[String]) -> ExitCode {
    let mode = HashMode::of(arguments);
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let mut cases = battery::all();
    let every = cases.len();
    cases.retain(|case| names.is_empty() || names.iter().any(|name| case.name.contains(name.as_str())));
    let mut failures = 0;
    let mut hashes = BTreeMap::new();
    for (case, result) in cases.iter().zip(battery::run(&cases)) {
        match result {
            Ok(text) => {
                if mode == HashMode::Show {
                    println!("==== {}\n{text}", case.name);
                }
                hashes.insert(case.name.clone(), digest::hash(&text));
            }
            Err(why) => {
                failures += 1;
                println!("{}: {why}", case.name);
            }
        }
    }
    failures += conclude(mode, &hashes, cases.len() == every, failures);
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does with the hashes what `mode` says; returns what went wrong. `whole`: they are of all cases; `failures` had none.
#[allow(clippy::print_stdout, reason = "a benchmark prints")]
fn conclude(mode: HashMode, hashes: &HashTable, whole: bool, failures: usize) -> usize {
    let complaints = match mode {
        HashMode::Print => {
            print!("{}", table::text(hashes));
            Vec::new()
        }
        HashMode::Show => Vec::new(),
        HashMode::Write if failures == 0 && whole => table::write(TABLE, hashes).err().into_iter().collect(),
        HashMode::Write => {
            vec!["the table is written only when all cases are run, and run to their end".to_owned()]
        }
        HashMode::Check => match table::read(TABLE) {
            Ok(expected) => table::differences(&expected, hashes, whole),
            Err(why) => vec![why],
        },
    };
    for complaint in &complaints {
        println!("{complaint}");
    }
    if mode == HashMode::Check {
        println!("{} of {} cases differ from crates/bench/hashes.txt", complaints.len(), hashes.len());
    }
    complaints.len()
}
