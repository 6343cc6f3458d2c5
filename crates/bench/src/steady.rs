//! Check that preconditioning stops at the right moment: the write amplification at which it stops, compared with that after thirty drive writes,
//! over drives drawn at random: skews, spare spaces, victim policies and sizes.

use outlast_engine::{RunControl, Simulation, parse_text};
use outlast_settings::ftl::VictimPolicy;
use outlast_units::rng::SplitMix;
use std::fmt;

/// Drive writes after which a drive is taken to be where it will stay.
const TRUTH: f64 = 30.0;
/// Tolerated relative deviation of the write amplification from the truth.
const WITHIN: f64 = 0.05;
/// Seed of the drives unless another is asked for with `--seed=`.
const SEED: u64 = 1;

/// Name of a policy in a scenario.
fn policy_name(policy: VictimPolicy) -> String {
    let value = serde_json::to_value(policy).ok();
    value.and_then(|value| value.as_str().map(str::to_owned)).expect("every policy has a name")
}

/// A drive with its workload.
struct RandomDrive {
    skew: String,
    workload: String,
    policy: VictimPolicy,
    spare: f64,
    superblocks: u64,
    pages: u64,
    seed: u64,
}

impl RandomDrive {
    /// Small, so that many can be judged, with as many superblocks as real drives have.
    fn draw(rng: &mut SplitMix) -> Self {
        let theta = 0.8 + 0.2 * rng.unit();
        let hot = |of: f64, access: f64| {
            let skew = format!("{:.0}/{:.0}", access * 100.0, of * 100.0);
            (skew, format!("pattern = \"hotcold\", hot_fraction = {of}, hot_access = {access}"))
        };
        let (skew, workload) = match rng.below(8) {
            0 => ("uniform".to_owned(), "pattern = \"uniform\"".to_owned()),
            1 => hot(0.2, 0.8),
            2 => hot(0.1, 0.9),
            3 => hot(0.05, 0.95),
            4 | 5 => hot(0.1, 0.98),
            _ => (format!("zipf {theta:.3}"), format!("pattern = \"zipf\", zipf_theta = {theta}")),
        };
        let policy = VictimPolicy::ALL[rng.below(VictimPolicy::ALL.len() as u64) as usize];
        let spare = 0.07 * (0.5f64 / 0.07).powf(rng.unit());
        let superblocks = if spare < 0.1 { 160 + rng.below(96) } else { 100 + rng.below(156) };
        let pages = if superblocks < 128 { 8 } else { 4 };
        Self { skew, workload, policy, spare, superblocks, pages, seed: rng.below(1 << 30) }
    }

    fn scenario(&self, precondition: &str) -> String {
        let Self { workload, superblocks, pages, seed, .. } = self;
        let policy = policy_name(self.policy);
        let capacity = ((superblocks * pages * 8) as f64 / (1.0 + self.spare)) as u64 * 4;
        format!(
            "seed = {seed}\nworkload.synthetic = {{ {workload}, read_percent = 0, size = \"4KiB\", requests = 1000000 }}\n\
             run.timing = \"none\"\n\
             precondition = {{ overwrite = \"workload\"{precondition} }}\n\
             [device]\n\
             geometry = {{ channels = 4, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, \
             blocks_per_plane = {superblocks}, pages_per_block = {pages}, page_size = \"4KiB\" }}\n\
             timing = {{ read = \"60us\", program = \"700us\", erase = \"3.5ms\", bus = \"667MB/s\" }}\n\
             ftl = {{ capacity = \"{capacity}KiB\", gc.policy = \"{policy}\" }}\n"
        )
    }
}

impl fmt::Display for RandomDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spare = self.spare * 100.0;
        write!(
            f,
            "{:<10} {spare:>4.1} % {:<14} {:>11}",
            self.skew,
            policy_name(self.policy),
            self.superblocks
        )
    }
}

/// End of the preconditioning of one drive.
struct PreconditionEnd {
    reached: bool,
    drive_writes: f64,
    amplification: f64,
}

fn precondition(scenario: &str) -> Result<PreconditionEnd, String> {
    let (scenario, _) = parse_text(scenario).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    let result = simulation.run(&mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
    let state = result.summary.steady_state.precondition;
    Ok(PreconditionEnd {
        reached: state.reached == Some(true),
        drive_writes: state.drive_writes,
        amplification: state.write_amplification.unwrap_or(1.0),
    })
}

/// Sums over the drives of one policy, or over all.
#[derive(Default)]
struct PolicySums {
    costs: Vec<f64>,
    unreached: u32,
    missed: u32,
    worst: f64,
}

impl PolicySums {
    fn add(&mut self, found: &PreconditionEnd, error: f64) {
        self.costs.push(found.drive_writes);
        if found.reached {
            self.worst = self.worst.max(error.abs());
            self.missed += u32::from(error.abs() > WITHIN);
        } else {
            self.unreached += 1;
        }
    }
}

impl fmt::Display for PolicySums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut costs = self.costs.clone();
        costs.sort_by(f64::total_cmp);
        write!(
            f,
            "{:>3} drives: median {:.1} drive writes; {} not reached; {} called steady beyond {:.0} %, worst {:.1} %",
            costs.len(),
            costs.get(costs.len() / 2).copied().unwrap_or(0.0),
            self.unreached,
            self.missed,
            WITHIN * 100.0,
            self.worst * 100.0,
        )
    }
}

/// One line for each drive, one for each policy and one for all.
///
/// # Errors
/// A drive that cannot run, or is called steady and is not.
#[allow(clippy::print_stdout, reason = "a benchmark prints")]
pub(crate) fn measure(quick: bool, seed: Option<u64>) -> Result<(), String> {
    println!(
        "skew       spare  policy         superblocks  reached  drive writes     WAF  WAF at 30    error"
    );
    let mut rng = SplitMix::new(seed.unwrap_or(SEED), "bench.steady");
    let mut by_policy: Vec<PolicySums> = VictimPolicy::ALL.iter().map(|_| PolicySums::default()).collect();
    let mut all = PolicySums::default();
    for _ in 0..if quick { 20 } else { 200 } {
        let drive = RandomDrive::draw(&mut rng);
        let stopped = precondition(&drive.scenario(""))?;
        let to = TRUTH + 2.5;
        let long = format!(", min_drive_writes = {to}, max_drive_writes = {to}, round = 0.1, rounds = 50");
        let truth = precondition(&drive.scenario(&long))?;
        let error = stopped.amplification / truth.amplification - 1.0;
        all.add(&stopped, error);
        if let Some(sums) = VictimPolicy::ALL.iter().position(|&policy| policy == drive.policy) {
            by_policy[sums].add(&stopped, error);
        }
        println!(
            "{drive}  {:<7} {:>13.1} {:>7.3} {:>10.3} {:>+7.1} %",
            stopped.reached,
            stopped.drive_writes,
            stopped.amplification,
            truth.amplification,
            error * 100.0,
        );
    }
    for (&policy, sums) in VictimPolicy::ALL.iter().zip(by_policy) {
        println!("{:<14} {sums}", policy_name(policy));
    }
    println!("{:<14} {all}", "all");
    if all.missed == 0 {
        Ok(())
    } else {
        Err(format!("{} drives were called steady and were not", all.missed))
    }
}
