//! The price of a request in instructions and simulated cache misses, which other programs on the machine do not change as they change
//! seconds. callgrind runs each case and tells what its markers, functions that are never inlined, cost with all that they call: the run
//! without its preparation, the preparation by itself. The committed tables are `crates/bench/instructions.txt`, and of a release
//! `crates/bench/instructions-release.txt`; `bests.txt` has the fewest instructions of any commit.
//! ([0035](../../../../docs/decisions/0035-speed-is-gated-by-instructions.md))

mod bests;
mod build;
mod callgrind;
mod cases;
mod table;

use cases::CountedCase;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use table::{CostRow, CostTable};

/// The folder of the committed tables.
const TABLES: &str = env!("CARGO_MANIFEST_DIR");

/// The paths of the committed table of a profile, and of its bests.
fn files(profile: &str) -> (String, String) {
    let of = if profile == "ci" { String::new() } else { format!("-{profile}") };
    (format!("{TABLES}/instructions{of}.txt"), format!("{TABLES}/bests{of}.txt"))
}

/// `outlast-bench instructions [--check [--without-caches]|--write] [NAME…]`: of all cases, or of those whose names contain one of `NAME…`.
/// Without simulated caches, whose misses hold nobody to anything, the same instructions are counted in half the time.
/// `instructions --run NAME` is what callgrind is given to run.
#[allow(clippy::print_stdout, reason = "a benchmark prints")]
pub(crate) fn main(arguments: &[String]) -> ExitCode {
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    if has("--run") {
        return run(&names);
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is absent: instructions are not counted");
        return ExitCode::SUCCESS;
    }
    let mut cases = cases::all();
    let every = cases.len();
    cases.retain(|case| names.is_empty() || names.iter().any(|name| case.name.contains(name.as_str())));
    let (found, mut failures) = count(&cases, has("--write") || !has("--without-caches"));
    let found = CostTable { build: build::of_this_program(), rows: found };
    let whole = cases.len() == every && failures == 0;
    if has("--check") && !has("--write") {
        failures += check(&found, whole);
    } else {
        print!("{}", found.text());
        if has("--write") && whole {
            failures += write(&found);
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one case, as callgrind's child; prints how often what it measures was done, and the hash of the result.
#[allow(clippy::print_stdout, reason = "a benchmark prints")]
fn run(names: &[&String]) -> ExitCode {
    let cases = cases::all();
    let Some(case) = names.first().and_then(|&name| cases.iter().find(|case| case.name == *name)) else {
        println!("there is no such case");
        return ExitCode::FAILURE;
    };
    match case.run() {
        Ok(done) => {
            let counts: Vec<String> = done.counts.iter().map(u64::to_string).collect();
            println!("{:016x} {}", done.hash, counts.join(" "));
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The rows of all cases in their order, and how many cases failed.
#[allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "cases have nothing to do with each other"
)]
fn count(cases: &[CountedCase], caches: bool) -> (Vec<CostRow>, usize) {
    let next = Mutex::new(0..cases.len());
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some(index) = next.lock().ok().and_then(|mut next| next.next()) {
            let result = callgrind::measure(&cases[index], caches);
            if let Ok(mut results) = results.lock() {
                results.push((index, result));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|&(index, _)| index);
    let mut rows = Vec::new();
    let mut failures = cases.len() - results.len();
    for (index, result) in results {
        match result {
            Ok(own) => rows.extend(own),
            Err(why) => {
                failures += 1;
                println!("{}: {why}", cases[index].name);
            }
        }
    }
    (rows, failures)
}

/// Writes the tables; returns how many could not be written.
fn write(found: &CostTable) -> usize {
    let (table, best) = files(&build::profile());
    // Without a file of bests, this commit's are the first.
    let bests = bests::read(&best).unwrap_or_default().with(found);
    [table::write(&table, found), bests::write(&best, &bests)].iter().filter(|done| done.is_err()).count()
}

/// Prints what was found beside the committed tables; returns in how many rows it is worse, or another result.
#[allow(clippy::print_stdout, reason = "a benchmark prints")]
fn check(found: &CostTable, whole: bool) -> usize {
    let (table, best) = files(&build::profile());
    let (expected, bests) = match table::read(&table).and_then(|table| Ok((table, bests::read(&best)?))) {
        Ok(read) => read,
        Err(why) => {
            println!("{why}");
            return 1;
        }
    };
    let verdict = expected.compare(&bests, found, whole);
    for line in &verdict.lines {
        println!("{line}");
    }
    verdict.failures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_tables_are_of_the_toolchain_and_profile_of_the_checkout() {
        let toolchain = include_str!("../../../../rust-toolchain.toml");
        let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'));
        let (table, best) = files("ci");
        let (table, bests) = (table::read(&table).unwrap(), bests::read(&best).unwrap());
        let build = &table.build;
        assert!(build.starts_with(&format!("rustc {} ", channel.unwrap())), "{build}: count anew");
        let profile = format!("profile ci ({:08x}),", build::checksum("ci"));
        assert!(build.contains(&profile), "{build}: {profile} is in Cargo.toml; count anew");
        assert!(bests.cover(&table), "bests.txt lacks rows of instructions.txt, or is of another build");
        let crept = table.rows.iter().filter_map(|row| bests.creep(&row.name, row.costs.instructions));
        assert_eq!(crept.collect::<Vec<_>>(), Vec::<String>::new());
    }
}
