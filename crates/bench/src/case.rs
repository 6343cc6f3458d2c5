//! A scenario that is measured.

use outlast_engine::{RunControl, RunResult, Simulation, parse_text};
use outlast_units::rng::mix;

/// The columns of [`ScenarioCase::measure`].
pub(crate) const HEADER: &str = "\
case                 requests   req/CPU-s       goal   WAF    prep CPU-s  B/unit  peak MiB  result hash";

/// A scenario with its goal.
pub(crate) struct ScenarioCase {
    pub(crate) name: String,
    pub(crate) group: &'static str,
    /// Requests per CPU-second hoped for; 0 where there is no goal.
    pub(crate) goal: f64,
    pub(crate) scenario: String,
}

/// The device of the comparison with `gib` GiB of raw flash, and `rest` of the scenario.
pub(crate) fn scenario(gib: f64, rest: &str) -> String {
    scenario_of(gib, 256, 0.85, "", rest)
}

/// The same with `pages` pages to a block, of which the user has the share `user`, and with further settings of the device.
pub(crate) fn scenario_of(gib: f64, pages: u32, user: f64, device: &str, rest: &str) -> String {
    // 32 dies x 2 planes x 4 KiB = 256 KiB to a row of pages.
    let blocks = (gib * 4096.0 / f64::from(pages)).round();
    let capacity = (blocks * f64::from(pages) / 4.0 * user) as u64;
    format!(
        "{rest}\n\
         [device]\n{device}\
         geometry = {{ channels = 8, chips_per_channel = 2, dies_per_chip = 2, planes_per_die = 2, \
         blocks_per_plane = {blocks}, pages_per_block = {pages}, page_size = \"4KiB\" }}\n\
         timing = {{ read = \"60us\", program = \"700us\", erase = \"3.5ms\", bus = \"667MB/s\" }}\n\
         ftl = {{ capacity = \"{capacity}MiB\" }}\n"
    )
}

fn case(name: &str, goal: f64, gib: f64, rest: &str) -> ScenarioCase {
    ScenarioCase { name: name.to_owned(), group: "peers", goal, scenario: scenario(gib, rest) }
}

/// The cases that other simulators were measured on.
pub(crate) fn all(quick: bool) -> Vec<ScenarioCase> {
    let (gib, scale) = if quick { (2.0, 0.01) } else { (32.0, 1.0) };
    let requests = |millions: f64| (millions * 1e6 * scale) as u64;
    let synthetic = |requests: u64, reads: u32, rest: &str| {
        format!(
            "workload.synthetic = {{ pattern = \"uniform\", read_percent = {reads}, size = \"4KiB\", queue_depth = 32, \
             requests = {requests} }}\n{rest}"
        )
    };
    let filled = "precondition = { overwrite = \"none\" }\n";
    vec![
        case("random-write-gc", 2e6, gib, &synthetic(requests(6.0), 0, "")),
        case("mixed-70-30", 4e6, gib, &synthetic(requests(3.0), 70, filled)),
        case("random-read", 5e6, gib, &synthetic(requests(10.0), 100, filled)),
        case("untimed-write", 12e6, gib, &synthetic(requests(20.0), 0, "run.timing = \"none\"\n")),
    ]
}

impl ScenarioCase {
    pub(crate) fn measure(&self) -> Result<String, String> {
        let (scenario, _) = parse_text(&self.scenario).map_err(|error| error.to_string())?;
        let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
        let result = simulation.run(&mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
        Ok(self.line(&result))
    }

    fn line(&self, result: &RunResult) -> String {
        let summary = &result.summary;
        let requests = summary.host.reads + summary.host.writes;
        let rate = summary.throughput.requests_per_cpu_s;
        let waf = summary.write_amplification.as_ref().map_or(0.0, |waf| waf.total);
        format!(
            "{:<20} {requests:>9} {rate:>11.0} {:>10} {waf:>6.3} {:>11.2} {:>7.2} {:>9}  {:016x}",
            self.name,
            if self.goal > 0.0 { format!("{:.2}x", rate / self.goal) } else { "-".to_owned() },
            summary.time.precondition_cpu_s,
            summary.memory.mapping_bytes_per_unit,
            peak_rss_mib().map_or_else(|| "-".to_owned(), |mib| format!("{mib:.0}")),
            hash(result),
        )
    }
}

/// A hash of what was simulated, not of how long it took.
pub(crate) fn hash(result: &RunResult) -> u64 {
    let mut hash = 0;
    for (name, table) in &result.tables {
        hash = mix(hash ^ format!("{name}{table:?}").bytes().fold(0, |sum, byte| mix(sum ^ u64::from(byte))));
    }
    hash
}

/// Peak resident memory of this process, in MiB, where the system tells.
#[allow(clippy::disallowed_methods, reason = "a benchmark reports what the process used")]
fn peak_rss_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kib| kib / 1024.0)
}
