//! Does garbage collection cost what theory says?
//!
//! **The drive.** One die with two planes; a superblock is one block of each: N = 512 units of 4 KiB. There are 2000 of them,
//! so that what is not spare space at all times (one superblock held back, two open ones half empty on average: h = 2
//! superblocks) is 0.1 % of the raw space.
//!
//! **What theory leaves out.** With α = 1 + ρ, the closed form for large blocks is off by two known effects of the drive's
//! size, which the comments give for ρ = 0.07, where they are largest: the held-back space lowers ρ by α·h/2000, 1.5 % of it, and
//! as WAF ≈ 1/(2ρ) raises the result by 1.5 %; blocks of N pages rather than infinitely many act like α·(1 + 1/(2N)) and
//! lower it by 1.5 %. So each test compares twice: with the plain formula at the configured ρ within the 2 % that the
//! issue asks for, and with the formula for finite blocks at the effective ρ within what sampling leaves.
//!
//! **Sampling error.** A run collects V victims. The valid share u of a victim has a standard deviation below
//! sqrt(u(1 − u)/N), that of a block of independent pages; WAF = 1/(1 − u), so the relative standard error of WAF is at most
//! sqrt(u / ((1 − u)·N·V)): with V ≥ 8000 and ρ = 0.07 (u = 0.87) 0.13 %, and below that for larger ρ.
//!
//! **Steady state.** After the sequential fill, block ages forget the beginning over a few rotations of the drive. A rotation
//! is α/WAF drive writes; preconditioning takes 8 of them, measuring 4 (V = 8000).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_ftl::{ProgramCause, ReadCause};
use outlast_models::write_amplification::{fifo, greedy, greedy_finite_blocks};
use outlast_units::Bytes;
use support::{DriveText, Run, assert_close, run, scenario};

const SUPERBLOCKS: f64 = 2000.0;
const UNITS: f64 = 512.0;

/// A uniform random overwrite of the whole drive in its steady state; `more` is further TOML.
fn uniform(spare: f64, expected: f64, timing: &str, gc: &str, more: &str) -> Run {
    let rotation = (1.0 + spare) / expected;
    let requests = (4.0 * rotation * SUPERBLOCKS * UNITS / (1.0 + spare)) as u64;
    let text = format!(
        r#"
{drive}
[precondition]
min_drive_writes = {before}
max_drive_writes = {before}
round = 0.25
[run]
timing = "{timing}"
[workload.synthetic]
pattern = "uniform"
size = "4KiB"
queue_depth = 32
requests = {requests}
{more}
"#,
        drive = DriveText::channels(1).planes(2).blocks(2000, 256, "4KiB").spare(spare).gc(gc),
        before = (8.0 * rotation).max(0.25),
    );
    run(scenario(&text))
}

fn effective_spare(run: &Run) -> f64 {
    run.summary().device.effective_spare_factor.expect("spare space")
}

fn check_greedy(spare: f64, timing: &str) {
    let expected = greedy(spare).unwrap();
    let run = uniform(spare, expected, timing, "policy = \"greedy\"", "");
    let measured = run.write_amplification();
    let summary = run.summary();
    assert!(summary.gc.victims >= 7_900, "{} victims", summary.gc.victims);
    assert_close(&format!("greedy at {spare}, large blocks"), measured, expected, 0.02);
    // Six standard errors are 0.8 % at most, and Desnoyers' sum is good to about 0.2 % for 512 pages.
    let finite = greedy_finite_blocks(effective_spare(&run), UNITS).unwrap();
    assert_close(&format!("greedy at {spare}, blocks of 512"), measured, finite, 0.01);
    // What the report shows beside the measurement is the same law.
    let shown = summary.closed_form.greedy_waf.expect("uniform random writes have a closed form");
    assert_close("closed form in the result", shown, greedy(effective_spare(&run)).unwrap(), 1e-12);
    // WAF = 1 / (1 − u): an identity, up to what is begun and not finished (a superblock at either end, of 8000).
    let u = summary.gc.mean_valid.expect("there were victims");
    assert_close("1 / (1 - u)", measured, 1.0 / (1.0 - u), 0.005);
}

#[test]
fn greedy_is_what_xiang_and_kurkoski_say_at_7_percent() {
    check_greedy(0.07, "none");
}

#[test]
fn greedy_is_what_xiang_and_kurkoski_say_at_12_percent() {
    check_greedy(0.12, "none");
}

#[test]
fn greedy_is_what_xiang_and_kurkoski_say_at_20_percent() {
    check_greedy(0.2, "none");
}

#[test]
fn greedy_is_what_xiang_and_kurkoski_say_at_28_percent() {
    check_greedy(0.28, "none");
}

#[test]
fn greedy_is_what_xiang_and_kurkoski_say_at_50_percent() {
    check_greedy(0.5, "none");
}

#[test]
fn greedy_collection_costs_the_same_with_simulated_time() {
    check_greedy(0.28, "full");
}

/// FIFO's law holds for blocks of any size, so only the held-back space separates it from the configured ρ.
#[test]
fn fifo_collection_costs_what_desnoyers_predicts() {
    for spare in [0.12, 0.28] {
        let expected = fifo(spare).unwrap();
        let run = uniform(spare, expected, "none", "policy = \"fifo\"", "");
        let measured = run.write_amplification();
        assert_close(&format!("fifo at {spare}"), measured, expected, 0.02);
        assert_close(
            &format!("fifo at {spare}, effective"),
            measured,
            fifo(effective_spare(&run)).unwrap(),
            0.008,
        );
    }
}

/// One choice is a random victim, whose valid share is that of all sealed superblocks, 1/α: WAF = α/ρ. Each further choice can
/// only lower the minimum; all of them are greedy.
#[test]
fn more_choices_never_cost_more() {
    let spare = 0.28;
    let measured = |gc: &str| uniform(spare, greedy(spare).unwrap(), "none", gc, "");
    let choices: Vec<Run> = [1, 2, 4, 10]
        .into_iter()
        .map(|d| measured(&format!("policy = \"d-choices\", choices = {d}")))
        .collect();
    let random = &choices[0];
    let rho = effective_spare(random);
    // A wholly valid superblock drawn alone gives way to the emptiest of all. Superblocks are sealed at WAF/N per host write and
    // lose their first unit after U/N host writes, so the share f = WAF·U/N² of all is wholly valid: the mean u of victims
    // lies between that of all less f and that of all. Random victims have the largest spread of u, below 0.3 (ages are
    // exponential): over 14 000 victims 0.25 % of u, or 1.2 % of 1/(1 − u); negative correlation (what is not collected
    // now is emptier later) makes it less.
    let waf = random.write_amplification();
    let exposed = waf * random.summary().device.units as f64 / (UNITS * UNITS) / SUPERBLOCKS;
    let (low, high) = (1.0 / (rho / (1.0 + rho) + exposed), (1.0 + rho) / rho);
    assert!(waf > low * 0.988 && waf < high * 1.012, "a random victim: {waf}, expected {low} to {high}");
    let mut previous = f64::INFINITY;
    for (run, d) in choices.iter().zip([1, 2, 4, 10]) {
        let waf = run.write_amplification();
        assert!(waf < previous, "{d} choices: {waf}, fewer: {previous}");
        previous = waf;
    }
    let best = measured("policy = \"greedy\"").write_amplification();
    // Ten choices are greedy except for a few percent (Van Houdt 2013); never better beyond sampling error.
    assert!(previous > best * 0.995 && previous < best * 1.1, "10 choices: {previous}, greedy: {best}");
}

/// Cost-benefit was made for skew: it lets hot superblocks ripen. FIFO ignores all of it.
#[test]
fn cost_benefit_does_not_lose_to_fifo_under_skew() {
    let skew = |gc: &str| {
        let mut scenario = scenario(&uniform_text_of_skew(gc));
        scenario.name = gc.to_owned();
        run(scenario).write_amplification()
    };
    let (cost_benefit, fifo) = (skew("policy = \"cost-benefit\""), skew("policy = \"fifo\""));
    assert!(cost_benefit < fifo, "cost-benefit {cost_benefit}, fifo {fifo}");
    // And it should use the skew: uniform writes would cost greedy's law.
    assert!(cost_benefit < greedy(0.2).unwrap(), "{cost_benefit}");
}

/// 80 % of the writes to 20 % of the space, 500 superblocks of 256 units.
fn uniform_text_of_skew(gc: &str) -> String {
    format!(
        r#"
{drive}
[precondition]
overwrite = "workload"
min_drive_writes = 4
max_drive_writes = 4
[run]
timing = "none"
[workload.synthetic]
pattern = "hotcold"
hot_fraction = 0.1
hot_access = 0.9
requests = 400000
"#,
        drive = DriveText::channels(1).blocks(500, 256, "4KiB").spare(0.2).gc(gc)
    )
}

/// The unit that the page-level law knows is the mapping unit: sixteen to a page must give the same.
#[test]
fn several_units_to_a_page_obey_the_same_law() {
    let spare = 0.28;
    let text = format!(
        r#"
{drive}
[precondition]
min_drive_writes = 4
max_drive_writes = 4
[run]
timing = "none"
[workload.synthetic]
requests = 1500000
"#,
        drive = DriveText::channels(1).dies(2).planes(2).blocks(1000, 64, "16KiB").spare(spare)
    );
    let run = run(scenario(&text));
    assert_eq!(run.summary().device.units_per_superblock, 1024);
    let finite = greedy_finite_blocks(effective_spare(&run), 1024.0).unwrap();
    assert_close("four units to a page", run.write_amplification(), finite, 0.01);
    assert_eq!(run.summary().host.bytes_written, Bytes::kib(4).0 * 1_500_000);
}

/// Preconditioning with the workload's own writes must not repeat the same random addresses in every pass: what the first pass
/// left out stayed cold for ever, and the write amplification settled at half of what theory says. A pass here touches a
/// third of the drive. A round is 43 superblocks' worth of host writes, so the mean of five scatters by well below 1 %; 5 % leaves room for the
/// drive's few superblocks (the formula is given the effective spare space) and not for the mistake, which was 50 %.
#[test]
fn preconditioning_by_a_short_workload_reaches_the_same_state_as_by_random_writes() {
    let text = format!(
        r#"
{drive}
[precondition]
overwrite = "workload"
min_drive_writes = 6.0
max_drive_writes = 6.0
[run]
timing = "none"
[workload.synthetic]
pattern = "uniform"
size = "4KiB"
queue_depth = 1
requests = 70000
"#,
        drive = DriveText::channels(1).planes(2).blocks(512, 256, "4KiB").spare(0.2)
    );
    let run = run(scenario(&text));
    let rounds = run.table("precondition").f64("write_amplification");
    let last = &rounds[rounds.len() - 5..];
    let mean = last.iter().sum::<f64>() / last.len() as f64;
    assert_close("after six drive writes", mean, greedy(effective_spare(&run)).unwrap(), 0.05);
}

/// Pages read to level wear count as such also without time.
#[test]
fn reads_of_wear_levelling_have_their_own_cause_without_time() {
    let run = uniform(0.2, 3.2, "none", "policy = \"greedy\" }\nwear_leveling = { static_gap = 1", "");
    let by_cause = &run.summary().flash.by_cause;
    assert!(by_cause.programs[ProgramCause::WearLeveling] > 0.0, "nothing was levelled");
    // A unit is a page here, so every page moved was read once.
    assert_close(
        "levelling",
        by_cause.reads[ReadCause::WearLeveling] as f64,
        by_cause.programs[ProgramCause::WearLeveling],
        1e-12,
    );
    assert_close(
        "collection",
        by_cause.reads[ReadCause::Gc] as f64,
        by_cause.programs[ProgramCause::Gc],
        1e-12,
    );
}
