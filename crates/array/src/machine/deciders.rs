//! User policies that decide for the array: the only place where they are asked.

use super::Array;
use crate::passes::{HeldRate, PacedWork};
use crate::repairs::MemberRepair;
use outlast_decisions::{
    ArrayPolicies, DieRepairQuestion, LostRows, OrdersRows, QuestionPolicy, RebuildRateQuestion,
    RepairDecision, RepairWay, UserPolicy,
};
use outlast_device::Device;
use outlast_media::ConfigError;
use outlast_settings::array::RepairOrder;
use outlast_units::{ByteRate, Nanos, to_count};

/// Time between two questions about the pace, unless the settings give one; chosen freely.
const ASKED_EVERY: Nanos = Nanos::millis(10);
/// Longest time for which one decision may defer a repair: 1000 h, so that times do not overflow.
const LATER_MAX: Nanos = Nanos::secs(1000 * 3600);

/// The user policies of one array. They have state of their own: they are copied with the array, and made anew when it is restored.
#[derive(Clone, Debug)]
pub(super) struct ArrayDeciders {
    repair: Option<UserPolicy<dyn QuestionPolicy<DieRepairQuestion>>>,
    rebuild: Option<UserPolicy<dyn QuestionPolicy<RebuildRateQuestion>>>,
    order: Option<UserPolicy<dyn OrdersRows>>,
}

impl ArrayDeciders {
    /// The policies of a new array; `None` if the settings decide everything.
    pub(super) fn new(policies: &ArrayPolicies) -> Option<Box<Self>> {
        let deciders = Self {
            repair: policies.repair.as_ref().map(|loaded| UserPolicy::new("policies.repair", loaded)),
            rebuild: policies.rebuild.as_ref().map(|loaded| UserPolicy::new("policies.rebuild", loaded)),
            order: policies
                .repair_order
                .as_ref()
                .map(|loaded| UserPolicy::new("policies.repair_order", loaded)),
        };
        let any = deciders.repair.is_some() || deciders.rebuild.is_some() || deciders.order.is_some();
        any.then(|| Box::new(deciders))
    }

    fn has_failed(&self) -> bool {
        self.repair.as_ref().is_some_and(UserPolicy::has_failed)
            || self.rebuild.as_ref().is_some_and(UserPolicy::has_failed)
            || self.order.as_ref().is_some_and(UserPolicy::has_failed)
    }

    fn failure(&self) -> Option<ConfigError> {
        let repair = self.repair.as_ref().and_then(UserPolicy::failure);
        repair
            .or_else(|| self.rebuild.as_ref().and_then(UserPolicy::failure))
            .or_else(|| self.order.as_ref().and_then(UserPolicy::failure))
    }
}

/// Scores of rows in a built-in order.
fn built_in_scores(order: RepairOrder, rows: &LostRows) -> Vec<f64> {
    match order {
        RepairOrder::Address => vec![0.0; rows.len()],
        RepairOrder::Exposure => rows.exposure.iter().map(|&members| -f64::from(members)).collect(),
    }
}

/// The policy, unless it is absent or has failed.
fn working<P: ?Sized>(decider: Option<&mut UserPolicy<P>>) -> Option<&mut UserPolicy<P>> {
    decider.filter(|decider| !decider.has_failed())
}

impl<D: Device> Array<D> {
    /// True if a user policy has failed, so that the run is to end. Until it does, the settings decide.
    #[inline]
    pub fn has_policy_failed(&self) -> bool {
        self.deciders.as_ref().is_some_and(|deciders| deciders.has_failed())
    }

    /// The error of a user policy that has failed, if one has.
    pub fn policy_failure(&self) -> Option<ConfigError> {
        self.deciders.as_ref()?.failure()
    }

    /// The decision about the failed die of `record`, about which a user policy has been asked `before` times.
    pub(super) fn decide_repair(&mut self, now: Nanos, record: &MemberRepair, before: u32) -> RepairDecision {
        let decision = self.ask_about_repair(now, record, before);
        decision.unwrap_or(RepairDecision::Now(self.setup.config.repair.way))
    }

    fn ask_about_repair(&mut self, now: Nanos, record: &MemberRepair, before: u32) -> Option<RepairDecision> {
        if !self.may_put_off() {
            return None;
        }
        let &MemberRepair { member, die, noticed_at, .. } = record;
        let column = &self.members[member];
        let age = column.device.as_ref().map_or(0, |device| device.smart().percentage_used);
        let question = DieRepairQuestion {
            now_ns: now,
            told_ns: noticed_at,
            member: member.0.into(),
            die,
            percent_used: f64::from(age),
            dies: to_count(column.dies.len()),
            missing: self.availability().missing_members(),
            repairing: to_count(self.repairs.active().len()),
            spares: to_count(self.members.spares().len()),
            host_active: u8::from(!self.flight.is_host_idle()),
            last_host_ns: self.flight.last_host,
            asked: before,
        };
        let needs_die = self.identifies_before_recovery();
        let decider = self.deciders.as_mut()?.repair.as_mut()?;
        decider.decide(&question, |decision| checked_repair(*decision, needs_die))
    }

    /// True if a user policy decides about repairs.
    pub(super) fn may_put_off(&self) -> bool {
        let decider = self.deciders.as_ref().and_then(|deciders| deciders.repair.as_ref());
        decider.is_some_and(|decider| !decider.has_failed())
    }

    /// True if all lost rows of a member are identified before any of them is recovered.
    pub(super) fn identifies_before_recovery(&self) -> bool {
        let decider = self.deciders.as_ref().and_then(|deciders| deciders.order.as_ref());
        self.setup.config.repair.order == RepairOrder::Exposure
            || decider.is_some_and(|decider| !decider.has_failed())
    }

    /// Scores of rows, by a user policy or the settings; rows with the lowest score are recovered first.
    pub(super) fn score_rows(&mut self, rows: &LostRows) -> Vec<f64> {
        let decider = working(self.deciders.as_mut().and_then(|deciders| deciders.order.as_mut()));
        let scores = decider.and_then(|decider| {
            decider.ask(|policy| {
                let scores = policy.order(rows).and_then(|scores| checked_scores(scores, rows.len()));
                scores
                    .map_err(|error| format!("{error}; it saw {} rows of member {}", rows.len(), rows.member))
            })
        });
        scores.unwrap_or_else(|| built_in_scores(self.setup.config.repair.order, rows))
    }

    /// The rate that a user policy allows for work of a kind; the policy is asked once its last answer has expired. `None`: no policy, or
    /// it has failed, so the settings decide.
    pub(super) fn held_rate(&mut self, now: Nanos, work: PacedWork) -> Option<HeldRate> {
        working(self.deciders.as_mut()?.rebuild.as_mut())?;
        let held = *self.passes.rates.of(work);
        // The last answer still holds.
        if held.until > now {
            return Some(held);
        }
        let question = self.pace_question(now, work);
        let decider = self.deciders.as_mut()?.rebuild.as_mut()?;
        let rate = decider.decide(&question, |rate| checked_rate(*rate));
        // A failure takes effect at once: the settings decide from now on.
        if decider.has_failed() {
            return None;
        }
        let every = self.setup.config.background.own.unwrap_or(ASKED_EVERY);
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a rate beyond 2^64 bytes a second is as good as none"
        )]
        let rate = rate.and_then(|rate| ByteRate::new(rate as u64));
        let held = HeldRate { rate, until: now + every };
        *self.passes.rates.of(work) = held;
        Some(held)
    }

    fn pace_question(&self, now: Nanos, work: PacedWork) -> RebuildRateQuestion {
        let (kind, done, total) = match work {
            PacedWork::Rebuild => {
                ("rebuild", self.passes.under_way().map_or(0, |pass| pass.base.0), self.layout.groups)
            }
            PacedWork::Repair => {
                let repairs = || self.repairs.active().iter().filter(|repair| repair.way == RepairWay::Die);
                let done = repairs().map(|repair| u64::from(repair.ranges_done())).sum();
                ("repair", done, repairs().count() as u64 * u64::from(self.repair_ranges().count()))
            }
        };
        RebuildRateQuestion {
            now_ns: now,
            kind,
            done,
            total,
            missing: self.availability().missing_members(),
            host_active: u8::from(!self.flight.is_host_idle()),
            last_host_ns: self.flight.last_host,
            under_way: to_count(self.flight.hosts.used()),
        }
    }
}

fn checked_repair(decision: RepairDecision, needs_die: bool) -> Result<(), String> {
    match decision {
        RepairDecision::Later(span) if span == Nanos::ZERO || span > LATER_MAX => {
            Err(format!("put the repair off for {span}, which must be above 0 and at most 1000h"))
        }
        RepairDecision::Now(way) if needs_die && way != RepairWay::Die => Err(format!(
            "returned {}, and with array.repair.order = exposure or policies.repair_order it must be die",
            way.name()
        )),
        RepairDecision::Now(_) | RepairDecision::Later(_) => Ok(()),
    }
}

fn checked_rate(rate: f64) -> Result<(), String> {
    if rate.is_finite() && rate >= 1.0 {
        return Ok(());
    }
    Err(format!("returned {rate} bytes a second, which must be at least 1 and finite"))
}

fn checked_scores(scores: Vec<f64>, rows: usize) -> Result<Vec<f64>, String> {
    if scores.len() != rows {
        return Err(format!("returned {} scores for {rows} rows", scores.len()));
    }
    match scores.iter().position(|score| score.is_nan()) {
        Some(row) => Err(format!("returned NaN as the score of row {row}")),
        None => Ok(scores),
    }
}
