//! Losses that are too rare to be met: balanced failure biasing (Shahabuddin, "Importance sampling for the simulation of highly reliable
//! Markovian systems", Management Science 40(3), 1994), in continuous time and with repairs of any length.
//!
//! A fleet is played as it is. Each time that a group begins to miss a piece, the same moment is continued some times in a world in which the drives of the
//! groups that miss most fail as often as not before the next event, each as likely as the others. Whatever happens there is weighed by how
//! much likelier it was than in the real world, until nothing is missing or data are lost. A path ends with its own first loss, so that the sum is the probability
//! of a loss: each moment counts with the chance that nothing was lost before it.

use crate::machine::LossCause;
use crate::segments::HazardSegment;
use crate::splitting::{PathEffort, turn_of};
use crate::statistics::{BATCHES, LossWeights, RareLosses};
use crate::{Fleet, FleetMachine};
use outlast_units::rng::{mix, sub_seed};

/// Share of segments in which a drive is made to fail.
const FAILS: f64 = 0.5;
/// Continuations of each moment at which a piece begins to be missing.
const CONTINUATIONS: u32 = 16;

/// Probability of a loss by the end of each year.
pub fn biasing(fleet: &Fleet, effort: &PathEffort) -> RareLosses {
    biasing_while(std::slice::from_ref(fleet), effort, |_| true).unwrap_or_default()
}

/// As [`biasing`], mean over fleets that are unlike each other, as in [`crate::splitting::splitting_while`]. `goes_on` gets the events so far after each path, and ends the search by false, with `None` as result.
pub fn biasing_while(
    fleets: &[Fleet],
    effort: &PathEffort,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Option<RareLosses> {
    let mut events = 0;
    let batches: Option<Vec<LossWeights>> = (0..BATCHES)
        .map(|batch| {
            let seed = mix(sub_seed(effort.seed, "biasing") ^ mix(batch));
            let mut losses = LossWeights::new(effort.years as usize, effort.year_hours);
            let starts: Vec<&Fleet> = turn_of(fleets, batch, effort.paths).collect();
            for (path, fleet) in (0..effort.paths).zip(starts.into_iter().cycle()) {
                let seed = mix(seed ^ mix(u64::from(path)));
                if !play(fleet, effort, seed, &mut losses, &mut events, &mut goes_on) {
                    return None;
                }
            }
            let mut whole = LossWeights::new(effort.years as usize, effort.year_hours);
            whole.add_part(&losses, 1.0 / f64::from(effort.paths));
            Some(whole)
        })
        .collect();
    Some(RareLosses::of_batches(&batches?, events))
}

/// One path. While nothing is missing the first failure is not waited for, as in splitting: each length of time counts with the probability
/// that a drive fails in it. False if `goes_on` ends it before.
fn play(
    fleet: &Fleet,
    effort: &PathEffort,
    seed: u64,
    losses: &mut LossWeights,
    events: &mut u64,
    goes_on: &mut impl FnMut(u64) -> bool,
) -> bool {
    let horizon = f64::from(effort.years) * effort.year_hours;
    let mut machine = FleetMachine::new(fleet, seed);
    let mut segment = HazardSegment::default();
    loop {
        *events += 1;
        if !goes_on(*events) {
            return false;
        }
        if !machine.losses().is_empty() {
            // Counted by the continuations of the moment that led to it.
            return true;
        }
        if machine.level() > 0 {
            // A burst, or a failure that was not forced: the path goes on without counting what the continuations count.
            if !machine.step(horizon, crate::machine::UnreadableData::Drawn) {
                return true;
            }
            continue;
        }
        segment.measure(&mut machine, 0, horizon);
        let hazard = segment.rate * segment.hours(&machine);
        if hazard > 0.0 {
            let share = -(-hazard).exp_m1();
            let hours = -(machine.unit() * (-hazard).exp_m1()).ln_1p() / segment.rate;
            let mut begun = machine.clone();
            begun.reseed((machine.unit() * (1u64 << 53) as f64) as u64);
            begun.pass((machine.now() + hours).min(segment.end));
            segment.strike(&mut begun);
            // Expected number of such moments: one for each time that it happens, of which the path itself plays `share`.
            continued(&begun, share, horizon, &mut machine, losses, events);
            if machine.unit() < share {
                machine = begun;
                continue;
            }
        }
        let has_more = segment.play(&mut machine, horizon);
        if machine.level() > 0 || !machine.losses().is_empty() {
            let begun = machine.clone();
            continued(&begun, 1.0, horizon, &mut machine, losses, events);
        }
        if !has_more {
            return true;
        }
    }
}

/// Continues a moment some times, and adds the losses to which that leads.
fn continued(
    begun: &FleetMachine,
    weight: f64,
    horizon: f64,
    chance: &mut FleetMachine,
    losses: &mut LossWeights,
    events: &mut u64,
) {
    for _ in 0..CONTINUATIONS {
        let mut machine = begun.clone();
        machine.reseed((chance.unit() * (1u64 << 53) as f64) as u64);
        *events += biased(&mut machine, weight / f64::from(CONTINUATIONS), horizon, losses);
    }
}

/// Plays a machine until nothing is missing, with failures as frequent as repairs. Returns how many segments that took.
fn biased(machine: &mut FleetMachine, mut weight: f64, horizon: f64, losses: &mut LossWeights) -> u64 {
    let read_failure = machine.fleet().plan.read_failure;
    let mut segments = 0;
    let mut segment = HazardSegment::default();
    loop {
        segments += 1;
        if let Some(loss) = machine.losses().first() {
            losses.add(loss.at, loss.cause, weight);
            return segments;
        }
        let level = machine.level();
        if level == 0 {
            return segments;
        }
        segment.measure(machine, level, horizon);
        let hours = segment.hours(machine);
        if segment.rate > 0.0 && hours > 0.0 {
            if machine.unit() < FAILS {
                // A burst is one more choice, where one could hit.
                let choices = segment.drives.len() + usize::from(segment.burst_rate > 0.0);
                let index = (machine.unit() * choices as f64) as usize;
                let is_burst = index == segment.drives.len();
                let after = machine.unit() * hours;
                // Density of this drive failing first, over that with which it was made to: uniform in drive and time.
                let rate = if is_burst { segment.burst_rate } else { segment.rate_at(index) };
                let real = rate * (-segment.rate * after).exp();
                weight *= real * choices as f64 * hours / FAILS;
                machine.pass(machine.now() + after);
                if weight == 0.0 {
                    return segments;
                }
                if is_burst {
                    segment.strike_by_burst(machine);
                } else {
                    machine.fail_by_age(segment.drives[index]);
                }
                continue;
            }
            weight *= (-segment.rate * hours).exp() / (1.0 - FAILS);
        }
        if read_failure > 0.0 && segment.ends_critically(machine) {
            losses.add(segment.end, LossCause::Unreadable, weight * read_failure);
            weight *= 1.0 - read_failure;
        }
        if !segment.play(machine, horizon) {
            return segments;
        }
    }
}
