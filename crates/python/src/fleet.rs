//! Fleets of drives: plans, lives that are played, and losses that are too rare to be met.

use crate::errors::{InternalError, ScenarioError};
use crate::guard::unlocked;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use outlast_fleet::biasing::biasing_while;
use outlast_fleet::crude::{counted_life, life};
use outlast_fleet::splitting::{PathEffort, splitting_while};
use outlast_fleet::{Fleet, FleetError, FleetSettings, GroupPlacement, IntervalEstimate};
use pyo3::prelude::*;
use serde_json::{Value, json};

fn refused(error: FleetError) -> PyErr {
    ScenarioError::new_err(error.0)
}

fn unread(error: &serde_json::Error) -> PyErr {
    InternalError::new_err(format!("a plan that the package has made cannot be read: {error}"))
}

/// Looks for a signal (Ctrl-C) some times a second, and ends what takes too many events; the events so far are the clock.
struct SignalLook {
    next: u64,
    most: u64,
    is_spent: bool,
    failure: Option<PyErr>,
}

impl SignalLook {
    const EVENTS: u64 = 1 << 16;

    const fn new(most: u64) -> Self {
        Self { next: Self::EVENTS, most, is_spent: false, failure: None }
    }

    /// True if the play goes on.
    fn goes_on(&mut self, events: u64) -> bool {
        if events >= self.next {
            self.next = events + Self::EVENTS;
            self.failure = Python::attach(|py| py.check_signals().err());
        }
        self.is_spent |= events > self.most;
        self.failure.is_none() && !self.is_spent
    }

    /// Findings; `None` if it took too many events. Without a signal a play comes to one of these ends.
    fn found<T>(self, outcome: Option<T>) -> PyResult<Option<T>> {
        match (outcome, self.failure) {
            (_, Some(failure)) => Err(failure),
            (Some(found), None) => Ok(Some(found)),
            (None, None) if self.is_spent => Ok(None),
            (None, None) => Err(InternalError::new_err("a fleet was left without a reason")),
        }
    }
}

/// Moments of failures, and the drives.
type FailureColumns<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>);

/// A fleet that can be played.
#[pyclass(frozen, module = "outlast._core")]
struct FleetPlan {
    fleet: Fleet,
}

#[pymethods]
impl FleetPlan {
    /// Of settings as JSON, and where drives and pieces are.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "one column each")]
    fn new(
        py: Python<'_>,
        settings: &str,
        node: Vec<u32>,
        rack: Vec<u32>,
        site: Vec<u32>,
        groups: PyReadonlyArray1<'_, u32>,
        age: Vec<f64>,
        batch: Vec<u32>,
    ) -> PyResult<Self> {
        let plan: FleetSettings = serde_json::from_str(settings).map_err(|error| unread(&error))?;
        let groups = groups.as_slice()?.to_vec();
        let fleet = unlocked(py, || {
            Fleet::new(FleetSettings { node, rack, site, groups, age, batch, ..plan }).map_err(refused)
        })?;
        Ok(Self { fleet })
    }

    #[getter]
    fn drives(&self) -> usize {
        self.fleet.drives()
    }

    #[getter]
    fn groups(&self) -> usize {
        self.fleet.groups()
    }

    /// Without the pieces of this set of bits, can data of a group not be read?
    fn is_lost(&self, missing: u64) -> bool {
        self.fleet.is_lost(missing)
    }

    #[getter]
    fn is_disjoint(&self) -> bool {
        self.fleet.is_disjoint()
    }

    /// Events per hour in the mean of one group alone, about.
    fn event_rate_of(&self, group: usize) -> PyResult<f64> {
        Ok(self.fleet.one_group(group).map_err(refused)?.event_rate())
    }

    /// Events per hour in the mean, about.
    #[getter]
    fn event_rate(&self) -> f64 {
        self.fleet.event_rate()
    }

    /// The life of the `number`-th fleet of `seed`, as JSON; `None` if it takes more than `most_events`, or `2^16` if these are fewer.
    fn life(
        &self,
        py: Python<'_>,
        years: u32,
        year_hours: f64,
        seed: u64,
        number: u64,
        most_events: u64,
    ) -> PyResult<Option<String>> {
        unlocked(py, || {
            let mut look = SignalLook::new(most_events);
            let life =
                counted_life(&self.fleet, years, year_hours, seed, number, |events| look.goes_on(events));
            let Some(life) = look.found(life)? else { return Ok(None) };
            let tally = &life.tally;
            let causes: serde_json::Map<String, Value> =
                life.causes.iter().map(|(cause, count)| (cause.name(), json!(count))).collect();
            Ok(Some(
                json!({
                    "first_loss": life.first_loss,
                    "losses": life.losses,
                    "causes": causes,
                    "groups_lost": life.groups_lost,
                    "failures_by_age": tally.failures_by_age,
                    "dies": tally.dies,
                    "dies_repaired": tally.dies_repaired,
                    "bursts": tally.bursts,
                    "contagions": tally.contagions,
                    "retirements": tally.retirements,
                    "pieces_rebuilt": tally.pieces_rebuilt,
                    "pieces_along": tally.pieces_along,
                    "hours_at_level": tally.hours_at_level,
                    "group_hours_degraded": tally.group_hours_degraded,
                    "events": tally.events,
                })
                .to_string(),
            ))
        })
    }

    /// Moments in hours and drives of all failures in the life of the `number`-th fleet of `seed`.
    fn failures<'py>(
        &self,
        py: Python<'py>,
        hours: f64,
        seed: u64,
        number: u64,
    ) -> PyResult<FailureColumns<'py>> {
        let (times, drives): (Vec<f64>, Vec<u32>) =
            unlocked(py, || Ok(life(&self.fleet, hours, seed, number).failures.into_iter().unzip()))?;
        Ok((times.into_pyarray(py), drives.into_pyarray(py)))
    }

    /// Losses by the end of each year of one of these groups, mean over them, by a rare-event method, as JSON; `None` if it takes more than
    /// `most_events`.
    #[allow(clippy::too_many_arguments, reason = "one number each")]
    fn rare(
        &self,
        py: Python<'_>,
        method: &str,
        paths: u32,
        years: u32,
        year_hours: f64,
        seed: u64,
        groups: Vec<usize>,
        most_events: u64,
    ) -> PyResult<Option<String>> {
        if !["splitting", "biasing"].contains(&method) {
            return Err(ScenarioError::new_err(format!("method = {method}: splitting or biasing")));
        }
        if groups.is_empty() || paths == 0 || years == 0 || !year_hours.is_finite() || year_hours <= 0.0 {
            return Err(ScenarioError::new_err("groups, paths, years and their hours: above 0"));
        }
        unlocked(py, || {
            let (mut look, effort) =
                (SignalLook::new(most_events), PathEffort { paths, years, year_hours, seed });
            let alone: Result<Vec<Fleet>, FleetError> =
                groups.iter().map(|&group| self.fleet.one_group(group)).collect();
            let alone = alone.map_err(refused)?;
            let goes_on = |events| look.goes_on(events);
            let rare = if method == "splitting" {
                splitting_while(&alone, &effort, goes_on)
            } else {
                biasing_while(&alone, &effort, goes_on)
            };
            let Some(rare) = look.found(rare)? else { return Ok(None) };
            let of =
                |found: &IntervalEstimate| json!([found.mean, found.standard_error, found.low, found.high]);
            let causes: Vec<Value> =
                rare.causes.iter().map(|(cause, share)| json!([cause.name(), share])).collect();
            let by_year: Vec<Value> = rare.by_year.iter().map(of).collect();
            Ok(Some(json!({"by_year": by_year, "causes": causes, "events": rare.events}).to_string()))
        })
    }
}

/// Drives of each group, one after the other, by a placement as JSON.
#[pyfunction]
fn fleet_place<'py>(
    py: Python<'py>,
    placement: &str,
    domain_of: Vec<u32>,
    width: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let placement: GroupPlacement = serde_json::from_str(placement).map_err(|error| unread(&error))?;
    let groups = unlocked(py, || placement.groups(&domain_of, width, seed).map_err(refused))?;
    Ok(groups.into_pyarray(py))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FleetPlan>()?;
    module.add_function(wrap_pyfunction!(fleet_place, module)?)
}
