//! Host requests per CPU-second of the whole simulator (workload, engine, drive, statistics), and bytes per mapping unit.
//!
//! `cargo run --release -p outlast-bench` measures all cases on the device on which other simulators were measured: 8
//! channels × 2 chips × 2 dies × 2 planes, 256 pages of 4 KiB, 32 GiB raw, 15 % of it spare, 4 KiB requests. Each line
//! carries a hash of the result: a change of speed that changes the hash has changed what is simulated.
//!
//! `--quick` runs everything at a hundredth of the size, to keep the benchmarks themselves from rotting; a name runs that case alone.

mod case;
mod scale;

use std::process::ExitCode;

#[allow(clippy::print_stdout, reason = "a benchmark prints")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| *wanted == name);
    println!("{}", case::HEADER);
    for case in case::all(quick).into_iter().chain(scale::all(quick)) {
        if !wanted(case.name.as_str()) && !wanted(case.group) {
            continue;
        }
        match case.measure() {
            Ok(line) => println!("{line}"),
            Err(message) => {
                println!("{}: {message}", case.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::{case, scale};

    /// At a hundredth of the size: a benchmark that no longer runs, or measures an empty run, is noticed by the tests.
    #[test]
    fn every_benchmark_runs_and_simulates_something() {
        for case in case::all(true).into_iter().chain(scale::all(true).into_iter().take(2)) {
            let line = case.measure().unwrap();
            let fields: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(fields[0], case.name);
            assert!(fields[1].parse::<u64>().unwrap() >= 20_000, "{line}");
            assert!(fields[2].parse::<f64>().unwrap() > 0.0, "{line}");
        }
    }
}
