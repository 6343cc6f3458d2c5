//! Losses that are too rare to be met: fixed-effort multilevel splitting (Garvels, "The splitting method in rare event simulation", 2000).
//!
//! The level of a path is the most pieces that any group misses. Stage j continues paths from where they first reached level j until they
//! reach level j + 1, lose data, or end. The probability of a loss is the product of the shares that get on, times that of the last.
//!
//! Two things make stages of 1e-4 cheap. In level j the drives whose failure leads on are not waited for: each length of time counts with the probability that one of them fails in it, and goes on
//! with the probability that none does (a conditional expectation, as in Glasserman's forced transitions). So every path gets on, with a
//! weight; the next stage begins with as many paths, drawn by weight.

use crate::machine::{LossCause, UnreadableData};
use crate::segments::HazardSegment;
use crate::statistics::{BATCHES, LossWeights, RareLosses};
use crate::{Fleet, FleetMachine};
use outlast_units::rng::{mix, sub_seed};

/// How many paths, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathEffort {
    /// Paths of each stage of each of ten independent repetitions.
    pub paths: u32,
    /// Years that a path lasts.
    pub years: u32,
    /// Hours of a year.
    pub year_hours: f64,
    /// Seed of all chance.
    pub seed: u64,
}

/// Probability of a loss by the end of each year.
///
/// With 95 % the true one is in the interval; the repetitions say how exact they are.
pub fn splitting(fleet: &Fleet, effort: &PathEffort) -> RareLosses {
    splitting_while(std::slice::from_ref(fleet), effort, |_| true).unwrap_or_default()
}

/// As [`splitting`], mean over fleets that are unlike each other: path by path, each in turn; repetitions begin with different ones, so that
/// the interval also says what the fleets differ by. `goes_on` gets the events and segments so far after each, and ends the search by false, with `None` as result.
pub fn splitting_while(
    fleets: &[Fleet],
    effort: &PathEffort,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Option<RareLosses> {
    let mut events = 0;
    let batches: Option<Vec<LossWeights>> =
        (0..BATCHES).map(|batch| repetition(fleets, effort, batch, &mut events, &mut goes_on)).collect();
    Some(RareLosses::of_batches(&batches?, events))
}

fn repetition(
    fleets: &[Fleet],
    effort: &PathEffort,
    batch: u64,
    events: &mut u64,
    goes_on: &mut impl FnMut(u64) -> bool,
) -> Option<LossWeights> {
    let seed = mix(sub_seed(effort.seed, "splitting") ^ mix(batch));
    let mut whole = LossWeights::new(effort.years as usize, effort.year_hours);
    let mut starts: Vec<FleetMachine> =
        turn_of(fleets, batch, effort.paths).map(|fleet| FleetMachine::new(fleet, seed)).collect();
    let mut reached = 1.0;
    let pieces = fleets.first().map_or(0, |fleet| fleet.plan.code.pieces());
    for level in 0..pieces as usize {
        let mut stage = SplitStage::new(level, effort);
        for path in 0..effort.paths {
            let mut machine = starts[path as usize % starts.len()].clone();
            machine.reseed(mix(seed ^ mix(level as u64 * 0x1_0000_0000 + u64::from(path))));
            if !stage.play(&mut machine, events, goes_on) {
                return None;
            }
        }
        let share = reached / f64::from(effort.paths);
        whole.add_part(&stage.losses, share);
        reached = share * stage.entrances.iter().map(|entrance| entrance.1).sum::<f64>();
        if stage.entrances.is_empty() {
            break;
        }
        starts = drawn(stage.entrances, effort.paths as usize, seed ^ mix(level as u64));
    }
    Some(whole)
}

/// The fleets with which the paths of a repetition begin: all of them if they are few, else those whose turn it is.
pub(crate) fn turn_of(fleets: &[Fleet], batch: u64, paths: u32) -> impl Iterator<Item = &Fleet> {
    let first = batch as usize * fleets.len() / BATCHES as usize;
    fleets.iter().cycle().skip(first).take(fleets.len().min(paths as usize))
}

/// As many machines as `count`, each as often as its weight says, by one draw for all (systematic resampling).
fn drawn(entrances: Vec<(FleetMachine, f64)>, count: usize, seed: u64) -> Vec<FleetMachine> {
    let total: f64 = entrances.iter().map(|entrance| entrance.1).sum();
    let offset = (mix(seed) >> 11) as f64 / (1u64 << 53) as f64;
    let (mut chosen, mut sum) = (Vec::with_capacity(count), 0.0);
    for (machine, weight) in entrances {
        sum += weight / total * count as f64;
        while (chosen.len() as f64) + offset < sum && chosen.len() < count {
            chosen.push(machine.clone());
        }
    }
    chosen
}

struct SplitStage<'a> {
    level: usize,
    horizon: f64,
    losses: LossWeights,
    /// One machine of each path that got on, and the weight with which the path did.
    entrances: Vec<(FleetMachine<'a>, f64)>,
    segment: HazardSegment,
}

impl<'a> SplitStage<'a> {
    fn new(level: usize, effort: &PathEffort) -> Self {
        Self {
            level,
            horizon: f64::from(effort.years) * effort.year_hours,
            losses: LossWeights::new(effort.years as usize, effort.year_hours),
            entrances: Vec::new(),
            segment: HazardSegment::default(),
        }
    }

    /// Plays a path of this stage to its end; false if `goes_on` ends it before. Counts its segments and steps, at least one.
    fn play(
        &mut self,
        machine: &mut FleetMachine<'a>,
        events: &mut u64,
        goes_on: &mut impl FnMut(u64) -> bool,
    ) -> bool {
        let read_failure = machine.fleet().plan.read_failure;
        let known = machine.losses().len();
        // The weight with which the path has come so far, and that of all ways in which it got on.
        let (mut weight, mut onward) = (1.0, 0.0);
        let mut entrance = None;
        if machine.level() > self.level {
            // A burst brought it beyond this level at once.
            self.entrances.push((machine.clone(), 1.0));
            *events += 1;
            return goes_on(*events);
        }
        loop {
            *events += 1;
            if !goes_on(*events) {
                return false;
            }
            let has_more = if machine.level() == self.level {
                self.segment.measure(machine, self.level, self.horizon);
                let hazard = self.segment.rate * self.segment.hours(machine);
                let share = -weight * (-hazard).exp_m1();
                if share > 0.0 {
                    let next = self.failed_within(machine, hazard);
                    self.take(next, known, share, &mut onward, &mut entrance);
                }
                weight *= (-hazard).exp();
                if read_failure > 0.0 && self.segment.ends_critically(machine) {
                    self.losses.add(self.segment.end, LossCause::Unreadable, weight * read_failure);
                    weight *= 1.0 - read_failure;
                }
                self.segment.play(machine, self.horizon)
            } else {
                machine.step(self.horizon, UnreadableData::Drawn)
            };
            if machine.losses().len() > known || machine.level() > self.level {
                self.take(machine.clone(), known, weight, &mut onward, &mut entrance);
                break;
            }
            if !has_more {
                break;
            }
        }
        if let Some(machine) = entrance {
            self.entrances.push((machine, onward));
        }
        true
    }

    /// The machine in which one of the segment's drives fails, or a burst hits some, before the segment ends.
    fn failed_within(&self, machine: &mut FleetMachine<'a>, hazard: f64) -> FleetMachine<'a> {
        // Exponential, given that it comes in time.
        let hours = -(machine.unit() * (-hazard).exp_m1()).ln_1p() / self.segment.rate;
        let seed = (machine.unit() * (1u64 << 53) as f64) as u64;
        let mut next = machine.clone();
        next.reseed(seed);
        next.pass((machine.now() + hours).min(self.segment.end));
        self.segment.strike(&mut next);
        next
    }

    /// Counts a machine that got on with `weight`: it has lost data, or is one from which the next stage may begin.
    fn take(
        &mut self,
        mut machine: FleetMachine<'a>,
        known: usize,
        weight: f64,
        onward: &mut f64,
        entrance: &mut Option<FleetMachine<'a>>,
    ) {
        if let Some(loss) = machine.losses().get(known) {
            self.losses.add(loss.at, loss.cause, weight);
            return;
        }
        *onward += weight;
        // Of several, each by its weight.
        if entrance.is_none() || machine.unit() * *onward < weight {
            *entrance = Some(machine);
        }
    }
}
