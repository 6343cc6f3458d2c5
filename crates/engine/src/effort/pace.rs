//! How fast this computer simulates now: a small run, timed by the processor's clock.

use crate::clock::Stopwatch;
use crate::progress::RunControl;
use crate::simulation::Simulation;
use outlast_scenario::parse_text;
use std::sync::OnceLock;

/// A drive of 256 MiB, filled, overwritten and under a mix of reads and writes: what the costs of [`super::cost`] are made of.
const SMALL_RUN: &str = r#"
[device.geometry]
channels = 4
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_size = "16KiB"
[device.timing]
read = "60us"
program = "700us"
erase = "3.5ms"
bus = "667MB/s"
[device.ftl]
mapping_unit = "4KiB"
over_provisioning = 0.14
[device.controller]
write_buffer = "1MiB"
[workload.synthetic]
pattern = "uniform"
read_percent = 70
size = "4KiB"
queue_depth = 32
requests = 40_000
[precondition]
fill = "sequential"
overwrite = "random"
"#;
/// Seconds that it took where the costs were fitted.
const THERE_S: f64 = 0.021;
/// Times that it is run; the least counts, as what else a computer does only adds.
const TIMES: usize = 2;

/// Seconds here for a second there. Measured once in a process.
pub(super) fn pace() -> f64 {
    static PACE: OnceLock<f64> = OnceLock::new();
    *PACE.get_or_init(|| {
        let times = (0..TIMES).filter_map(|_| small_run_s());
        let least = times.fold(f64::INFINITY, f64::min);
        // Without a measurement, this computer is taken to be like that one.
        if least.is_finite() { least / THERE_S } else { 1.0 }
    })
}

/// Processor time of the small run, in seconds, the building of its drive excluded.
fn small_run_s() -> Option<f64> {
    let (scenario, _) = parse_text(SMALL_RUN).ok()?;
    let mut simulation = Simulation::new(scenario).ok()?;
    let watch = Stopwatch::start();
    simulation.run(&mut |_| RunControl::Continue).ok()?;
    Some(watch.cpu_s())
}
