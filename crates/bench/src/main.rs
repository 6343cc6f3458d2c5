//! Host requests per CPU-second of the whole simulator (workload, engine, drive, statistics), and bytes per mapping unit.
//!
//! `cargo run --release -p outlast-bench` measures all cases on the device on which other simulators were measured: 8
//! channels × 2 chips × 2 dies × 2 planes, 256 pages of 4 KiB, 32 GiB raw, 15 % of it spare, 4 KiB requests. Each line
//! carries a hash of the result: a change of speed that changes the hash has changed what is simulated.
//!
//! `array` is an array beside its members by themselves, `traces` the reading of traces by format. Erasure codes are measured beside libisal, see [`codes`]; `cells` and `models` are not cases of
//! the whole but the cost of one error rate, and of one closed form.
//!
//! `data` is writes that carry data, in memory and kept on disk, see [`data`]; the cases `bytes-*` write none. `forks` measures the clone of a drive, `snapshot` writing a
//! drive to a file and a run that resumes from it, `log` the log of a served drive, see [`log`], and
//! `torture` the search for crash states at each instant, see [`torture`].
//!
//! `serve`, only when named, holds a served drive against nbdkit's memory plugin and qemu-nbd, see [`serve`]; `wires` is the part of it that holds NVMe/TCP
//! against NBD.
//!
//! `steady`, which runs only when named, holds the write amplification at which preconditioning stops against that after thirty drive
//! writes.
//!
//! `threads`, also only when named, holds a run on one thread against the same on all processors.
//!
//! `hashes` runs a battery of everything that can be simulated and compares a hash of each result with a committed table, see [`hashes`].
//! `instructions` counts instructions and cache misses under callgrind, see [`instructions`].
//!
//! `--quick` runs everything at a hundredth of the size, to keep the benchmarks themselves from rotting; a name runs that case alone.

mod array;
mod case;
mod cells;
mod codes;
mod data;
mod errors;
mod hashes;
mod instructions;
mod log;
mod models;
mod protection;
mod scale;
mod serve;
mod snapshot;
mod steady;
mod threads;
mod torture;
mod traces;

use std::process::ExitCode;

/// A benchmark that returns its result as a line; the argument is true for a quick run.
type BenchFn<'a> = &'a dyn Fn(bool) -> Result<String, String>;

#[allow(clippy::print_stdout, reason = "a benchmark prints")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("hashes") => return hashes::main(&arguments[1..]),
        Some("instructions") => return instructions::main(&arguments[1..]),
        _ => {}
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let seed = arguments.iter().find_map(|argument| argument.strip_prefix("--seed=")?.parse().ok());
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| *wanted == name);
    let steady = |quick| steady::measure(quick, seed).map(|()| String::new());
    let named_only = names.iter().any(|name| *name == "steady");
    let lines: [(&str, bool, BenchFn<'_>); 11] = [
        ("cells", wanted("cells"), &|quick| Ok(cells::measure(quick))),
        ("models", wanted("models"), &|quick| Ok(models::measure(quick))),
        ("traces", wanted("traces"), &traces::measure),
        ("steady", named_only, &steady),
        ("array", wanted("array"), &array::measure),
        ("forks", wanted("forks"), &data::forks),
        ("log", wanted("log"), &log::measure),
        ("snapshot", wanted("snapshot"), &snapshot::measure),
        ("torture", wanted("torture"), &torture::measure),
        ("serve", names.iter().any(|name| *name == "serve"), &serve::measure),
        ("wires", names.iter().any(|name| *name == "wires"), &serve::protocols),
    ];
    for (name, _, measure) in lines.iter().filter(|(_, wanted, _)| *wanted) {
        match measure(quick) {
            Ok(line) if line.is_empty() => {}
            Ok(line) => println!("{line}"),
            Err(message) => {
                println!("{name}: {message}");
                return ExitCode::FAILURE;
            }
        }
    }
    if names.iter().any(|name| *name == "threads") {
        match threads::measure(quick) {
            Ok(lines) => println!("{lines}"),
            Err(message) => {
                println!("threads: {message}");
                return ExitCode::FAILURE;
            }
        }
    }
    let cases: Vec<_> = case::all(quick)
        .into_iter()
        .chain(errors::all(quick))
        .chain(protection::all(quick))
        .chain(scale::all(quick))
        .collect();
    let mut cases = cases.iter().filter(|case| wanted(case.name.as_str()) || wanted(case.group)).peekable();
    if cases.peek().is_some() {
        println!("{}", case::HEADER);
    }
    for case in cases {
        match case.measure() {
            Ok(line) => println!("{line}"),
            Err(message) => {
                println!("{}: {message}", case.name);
                return ExitCode::FAILURE;
            }
        }
    }
    for case in data::all(quick)
        .iter()
        .chain(&data::on_disk(quick))
        .filter(|case| wanted(&case.name) || wanted("data"))
    {
        match case.measure() {
            Ok(line) => println!("{line}"),
            Err(message) => {
                println!("{}: {message}", case.name);
                return ExitCode::FAILURE;
            }
        }
    }
    if wanted("codes") {
        println!("{}", codes::header());
        for (shape, work) in codes::cases() {
            match codes::measure(shape, work, quick) {
                Ok(line) => println!("{line}"),
                Err(message) => {
                    println!("codes: {message}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::{array, case, codes, data, log, scale, snapshot, torture, traces};

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
    /// Each format has a figure for one pass, and one for two.
    #[test]
    fn the_benchmark_of_traces_runs() {
        let line = traces::measure(true).unwrap();
        assert_eq!(line.matches(" and ").count(), 1 + traces::FORMATS.len(), "{line}");
    }

    #[test]
    fn the_benchmark_of_arrays_runs() {
        assert!(array::measure(true).unwrap().contains("coarse"));
    }

    /// Content read back is compared with a map as it comes.
    #[test]
    fn every_benchmark_with_data_reads_back_what_it_wrote() {
        let cases = data::all(true);
        let mut on_disk = data::on_disk(true).into_iter();
        assert_eq!((cases.len(), on_disk.len()), (6, 5));
        for case in cases {
            let found = case.run().unwrap();
            assert!(found.text.contains("content") && case.requests >= 2_500, "{}", found.text);
            let same = on_disk.next().map(|case| case.run().unwrap().text);
            assert!(same.is_none_or(|same| same == found.text), "{} on disk is another drive", case.name);
        }
    }

    #[test]
    fn the_benchmark_of_instants_runs() {
        assert!(torture::measure(true).unwrap().starts_with("torture: 200 blocks of 4 KiB touched, "));
    }

    #[test]
    fn the_benchmark_of_forks_runs() {
        assert!(data::forks(true).unwrap().starts_with("forks: 102 MiB"));
    }

    #[test]
    fn the_benchmark_of_the_log_runs() {
        assert!(log::measure(true).unwrap().starts_with("log: "));
    }

    /// A run from the snapshot gives the same.
    #[test]
    fn the_benchmark_of_snapshots_runs() {
        assert!(snapshot::measure(true).unwrap().starts_with("snapshot: a drive of 2 GiB in "));
    }

    /// Each line of the codes has figures of the portable kernel at least, and the kernels agree (or it would panic).
    #[test]
    fn every_benchmark_of_codes_runs() {
        for (shape, work) in codes::cases() {
            let line = codes::measure(shape, work, true).unwrap();
            let fields: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(fields.len(), 2 + outlast_codes::CodeKernel::ALL.len() + 4, "{line}");
            assert!(fields[2].parse::<f64>().unwrap() > 0.0, "{line}");
        }
    }
}
