//! Time to write a prepared drive to a file and to resume a run from it, compared with preparing it.

use crate::case::{hash, scenario};
use outlast_engine::{RunControl, Scenario, Simulation, parse_text};
use std::fs::File;
use std::time::Instant;

#[allow(clippy::disallowed_methods, reason = "a benchmark measures wall time")]
fn now() -> Instant {
    Instant::now()
}

fn run(scenario: Scenario) -> Result<(f64, u64), String> {
    let start = now();
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    let built = start.elapsed().as_secs_f64();
    let result = simulation.run(&mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
    Ok((built + result.summary.time.precondition_wall_s, hash(&result)))
}

/// A line for a drive of 32 GiB, filled and half overwritten: built and read until its run begins, the best of three.
///
/// # Errors
/// The drive cannot be prepared, or its file not written or read; or the run from it gives something else.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let gib = if quick { 2.0 } else { 32.0 };
    let text = "workload.synthetic = { pattern = \"uniform\", read_percent = 50, size = \"4KiB\", queue_depth = 32, requests = 20_000 }\n\
                precondition = { min_drive_writes = 0.5, max_drive_writes = 0.5 }\n";
    let (prepared, _) = parse_text(&scenario(gib, text)).map_err(|error| error.to_string())?;
    let path = std::env::temp_dir().join(format!("outlast-bench.{}.outlast", std::process::id()));
    let line = beside(&prepared, &path, gib);
    // Whatever came of it, the file is not left behind.
    let _ = std::fs::remove_file(&path);
    line
}

fn beside(prepared: &Scenario, path: &std::path::Path, gib: f64) -> Result<String, String> {
    let (preparing, expected) = run(prepared.clone())?;
    let mut from = prepared.clone();
    from.precondition.from = Some(path.display().to_string());
    let mut simulation = Simulation::new(prepared.clone()).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    simulation.snapshot(&mut bytes, &mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
    #[allow(clippy::disallowed_methods, reason = "a benchmark writes the file that it reads")]
    let mut file = File::create(path).map_err(|error| error.to_string())?;
    std::io::Write::write_all(&mut file, &bytes).map_err(|error| error.to_string())?;
    let (mut loading, mut both) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let (seconds, found) = run(from.clone())?;
        if found != expected {
            return Err("a run from a snapshot is another than one that has prepared its drive".to_owned());
        }
        loading = loading.min(seconds);
        #[allow(clippy::disallowed_methods, reason = "a benchmark writes files")]
        let mut to = File::create(path.with_extension("again")).map_err(|error| error.to_string())?;
        let start = now();
        let mut simulation = Simulation::new(from.clone()).map_err(|error| error.to_string())?;
        simulation.snapshot(&mut to, &mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
        both = both.min(start.elapsed().as_secs_f64());
        std::fs::remove_file(path.with_extension("again")).map_err(|error| error.to_string())?;
    }
    Ok(format!(
        "snapshot: a drive of {gib} GiB in {:.1} MiB: prepared in {preparing:.2} s, read in {loading:.3} s (built anew before that), \
         read and written again in {both:.3} s; hash {expected:016x}",
        bytes.len() as f64 / f64::from(1 << 20)
    ))
}
