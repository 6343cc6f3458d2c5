//! Does preconditioning stop at the right moment? The write amplification that it stops at beside that after thirty drive writes,
//! over skews, spare spaces, victim policies and sizes.

use outlast_engine::{Control, Simulation, parse_text};
use outlast_units::rng::SplitMix;

/// Drive writes after which a drive is taken to be where it will stay.
const TRUTH: f64 = 30.0;
/// How far the write amplification may lie from the truth.
const WITHIN: f64 = 0.05;

const SKEWS: [(&str, &str); 9] = [
    ("uniform", "pattern = \"uniform\""),
    ("70/30", "pattern = \"hotcold\", hot_fraction = 0.3, hot_access = 0.7"),
    ("80/20", "pattern = \"hotcold\", hot_fraction = 0.2, hot_access = 0.8"),
    ("90/10", "pattern = \"hotcold\", hot_fraction = 0.1, hot_access = 0.9"),
    ("95/5", "pattern = \"hotcold\", hot_fraction = 0.05, hot_access = 0.95"),
    ("jesd219", "pattern = \"jesd219\""),
    ("zipf 0.8", "pattern = \"zipf\", zipf_theta = 0.8"),
    ("zipf 0.9", "pattern = \"zipf\", zipf_theta = 0.9"),
    ("zipf 1.0", "pattern = \"zipf\", zipf_theta = 1.0"),
];
const SPARES: [f64; 5] = [0.07, 0.10, 0.15, 0.28, 0.50];

/// Where preconditioning of one drive ended.
struct End {
    reached: bool,
    drive_writes: f64,
    amplification: f64,
}

fn end(scenario: &str) -> Result<End, String> {
    let (scenario, _) = parse_text(scenario).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    let result = simulation.run(&mut |_| Control::Continue).map_err(|error| error.to_string())?;
    let state = result.summary.steady_state.precondition;
    Ok(End {
        reached: state.reached == Some(true),
        drive_writes: state.drive_writes,
        amplification: state.write_amplification.unwrap_or(1.0),
    })
}

/// One line for each case, and what they come to.
///
/// # Errors
/// A case that cannot run, or ends beyond what is promised.
#[allow(clippy::print_stdout, reason = "a benchmark prints")]
pub(crate) fn measure(quick: bool) -> Result<(), String> {
    println!("skew      spare policy  superblocks  units  reached  drive writes     WAF  WAF at 30    error");
    let mut rng = SplitMix::new(1, "bench.steady");
    let (mut costs, mut worst, mut worst_fifo, mut missed, mut wrong) = (Vec::new(), 0.0f64, 0.0f64, 0, 0);
    let repeats = if quick { 1 } else { 4 };
    for (skew, workload) in SKEWS {
        for spare in SPARES.into_iter().skip(if quick { 3 } else { 0 }) {
            for repeat in 0..repeats {
                let policy = if repeat < 3 { "greedy" } else { ["d-choices", "fifo"][rng.below(2) as usize] };
                let superblocks = if spare < 0.1 { 200 + rng.below(200) } else { 100 + rng.below(300) };
                let pages = 32 << rng.below(3);
                let units = superblocks * 8 * pages;
                let capacity = (units as f64 / (1.0 + spare)) as u64 * 4;
                let text = |precondition: &str| {
                    format!(
                        "seed = {repeat}\nworkload.synthetic = {{ {workload}, read_percent = 0, size = \"4KiB\", requests = 1000000 }}\n\
                         run.timing = \"none\"\n\
                         precondition = {{ overwrite = \"workload\"{precondition} }}\n\
                         [device]\n\
                         geometry = {{ channels = 4, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, \
                         blocks_per_plane = {superblocks}, pages_per_block = {pages}, page_size = \"4KiB\" }}\n\
                         timing = {{ read = \"60us\", program = \"700us\", erase = \"3.5ms\", bus = \"667MB/s\" }}\n\
                         ftl = {{ capacity = \"{capacity}KiB\", gc.policy = \"{policy}\" }}\n"
                    )
                };
                let found = end(&text(""))?;
                let long = format!(
                    ", min_drive_writes = {0}, max_drive_writes = {0}, round = 0.1, rounds = 50",
                    TRUTH + 2.5
                );
                let truth = end(&text(&long))?;
                let error = found.amplification / truth.amplification - 1.0;
                costs.push(found.drive_writes);
                if found.reached && policy == "fifo" {
                    // Not promised: what is cold comes round in a body for very long.
                    worst_fifo = worst_fifo.max(error.abs());
                } else if found.reached {
                    worst = worst.max(error.abs());
                    wrong += u32::from(error.abs() > WITHIN);
                } else {
                    missed += 1;
                }
                println!(
                    "{skew:<9} {:>4.0} % {policy:<9} {superblocks:>9} {:>6}  {:<7} {:>13.1} {:>7.3} {:>10.3} {:>+7.1} %",
                    spare * 100.0,
                    8 * pages,
                    found.reached,
                    found.drive_writes,
                    found.amplification,
                    truth.amplification,
                    error * 100.0,
                );
            }
        }
    }
    costs.sort_by(f64::total_cmp);
    println!(
        "{} cases: median {:.1} drive writes; {missed} not reached; worst error {:.1} %, of fifo {:.1} %; {wrong} beyond {:.0} %",
        costs.len(),
        costs[costs.len() / 2],
        worst * 100.0,
        worst_fifo * 100.0,
        WITHIN * 100.0
    );
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} cases were called steady and were not")) }
}
