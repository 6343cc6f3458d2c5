//! Running a case under callgrind, and reading its output.

use super::cases::CountedCase;
use super::table::{CacheMisses, CallCosts, CostRow};
use std::collections::BTreeMap;
use std::process::Command;

/// The caches that are simulated, whatever the machine has: those of a server core of 2023.
const CACHES: [&str; 4] = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=49152,12,64", "--LL=2097152,16,64"];

/// The rows of one case; with misses, which take as long again, where `caches` are to be simulated.
#[allow(clippy::disallowed_methods, reason = "callgrind leaves a file, which is read and removed")]
pub(super) fn measure(case: &CountedCase, caches: bool) -> Result<Vec<CostRow>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let file = std::env::temp_dir().join(format!("outlast-callgrind.{}.{}", std::process::id(), case.name));
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .args(if caches { &CACHES[..] } else { &[] })
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["instructions", "--run", &case.name])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("{}; {}", printed.trim(), String::from_utf8_lossy(&output.stderr)));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()));
    let _ = std::fs::remove_file(&file);
    let text = text?;
    let mut words = printed.split_whitespace();
    let hash = words.next().and_then(|hash| u64::from_str_radix(hash, 16).ok());
    let hash = hash.ok_or_else(|| format!("said \"{}\"", printed.trim()))?;
    let counts = words.filter_map(|count| count.parse::<u64>().ok());
    let row = |(part, count): (&super::cases::CountedFunction, u64)| {
        let costs = inclusive(&text, part.marker)?;
        Ok(CostRow { name: part.row.clone(), costs: costs.per(count), hash })
    };
    case.parts.iter().zip(counts).map(row).collect()
}

/// Inclusive cost of all calls of the function whose name ends with `marker`. `text` is callgrind's own format, see
/// "Callgrind Format Specification" in valgrind's manual: a name is spelt out where it first appears and is a number afterwards, and the
/// line after `calls=` has the inclusive costs of these calls.
pub(super) fn inclusive(text: &str, marker: &str) -> Result<CallCosts, String> {
    let events: Vec<&str> = text
        .lines()
        .find_map(|line| line.strip_prefix("events: "))
        .ok_or("callgrind's file names no events")?
        .split_whitespace()
        .collect();
    let mut names: BTreeMap<&str, bool> = BTreeMap::new();
    let (mut called, mut calls) = (false, false);
    let mut sums: Option<Vec<u64>> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn=")) {
            let (number, name) = name.split_once(')').unwrap_or((name, ""));
            let is = *names.entry(number).or_insert_with(|| is_marker(name, marker));
            called = is && line.starts_with('c');
        } else if line.starts_with("calls=") {
            calls = true;
        } else if calls {
            calls = false;
            if called {
                let sums = sums.get_or_insert_with(|| vec![0; events.len()]);
                for (sum, cost) in sums.iter_mut().zip(line.split_whitespace().skip(1)) {
                    *sum += cost.parse::<u64>().map_err(|_| format!("callgrind's line \"{line}\""))?;
                }
            }
            called = false;
        }
    }
    let sums = sums.ok_or_else(|| format!("{marker} was not called, or was inlined"))?;
    let of = |names: &[&str]| {
        events.iter().zip(&sums).filter(|(event, _)| names.contains(event)).map(|(_, &sum)| sum as f64).sum()
    };
    let misses = || CacheMisses { d1: of(&["D1mr", "D1mw"]), ll: of(&["DLmr", "DLmw", "ILmr"]) };
    Ok(CallCosts { instructions: of(&["Ir"]), misses: events.contains(&"D1mr").then(misses) })
}

/// True if `name` is the function of the marker, without generic arguments and recursion suffix.
fn is_marker(name: &str, marker: &str) -> bool {
    let name = name.trim();
    let name = name.split_once('\'').map_or(name, |(name, _recursion)| name);
    let plain: String = {
        let mut depth = 0u32;
        let keep = |&c: &char| {
            match c {
                '<' => depth += 1,
                '>' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        };
        name.chars().filter(keep).collect()
    };
    plain.trim_end_matches("::").replace("::::", "::").ends_with(marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: &str = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n\
        fn=(1) bench::main\n12 5\n\
        cfn=(2) outlast_engine::precondition::prepare\ncalls=1 60\n13 1000 200 100 0 7 3 1 2 1\n\
        cfn=(3) outlast_engine::run::LegRunner<M>::run\ncalls=1 70\n+1 5000 900\n\n\
        fn=(3)\n70 20\ncfn=(4) outlast_engine::run::LegRunner<M>::run_untimed\ncalls=3 9\n+2 77\n\
        fn=(5) other\n9 9\ncfn=(3)\ncalls=2 70\n* 50\n";

    #[test]
    fn the_cost_of_a_marker_is_that_of_all_its_calls() {
        let run = inclusive(FOUND, "run::LegRunner::run").unwrap();
        assert_eq!(run, CallCosts { instructions: 5050.0, misses: Some(CacheMisses { d1: 0.0, ll: 0.0 }) });
        let prepared = inclusive(FOUND, "precondition::prepare").unwrap();
        assert_eq!(
            prepared,
            CallCosts { instructions: 1000.0, misses: Some(CacheMisses { d1: 10.0, ll: 4.0 }) }
        );
        let plain = FOUND.replace(" Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw", "");
        let prepared = inclusive(&plain, "precondition::prepare").unwrap();
        assert_eq!(prepared, CallCosts { instructions: 1000.0, misses: None });
        assert!(inclusive(FOUND, "precondition::gone").unwrap_err().contains("was not called"));
        assert!(inclusive("", "x").is_err());
    }

    #[test]
    fn a_marker_matches_any_generic_arguments() {
        for name in ["a::play", "a::play::<b::Ssd>", "a::play'2", "outlast::a::play::<x::Y<Z>>"] {
            assert!(is_marker(name, "a::play"), "{name}");
        }
        assert!(is_marker("run::LegRunner<M>::run", "run::LegRunner::run"));
        assert!(is_marker("<run::LegRunner<_>>::run", "run") && !is_marker("a::player", "a::play"));
    }
}
