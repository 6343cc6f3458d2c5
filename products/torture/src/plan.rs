//! The crash states to be checked, and their order.

use crate::contract::{self, CandidateState, ContractSettings};
use crate::error::TortureError;
use crate::history::CommandHistory;
use crate::state::CrashState;
use outlast_units::SECTOR_BYTES;
use outlast_units::rng::SplitMix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A request for crash states.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSpec {
    /// Models that give states: `contract`, and those that simulate a device.
    pub models: Vec<String>,
    /// Seed of all draws.
    #[serde(default)]
    pub seed: u64,
    /// Bytes that a device writes as a whole; default 4096.
    pub tear: Option<u64>,
    /// Limit of states of each model.
    pub states: Option<u64>,
    /// Random subsets of lost pieces at every cut.
    #[serde(default = "default_random_subsets")]
    pub random: u32,
    /// Faults of the model `fault`: entries of `[[faults]]` without a time.
    #[serde(default)]
    pub faults: Vec<serde_json::Value>,
}

fn default_random_subsets() -> u32 {
    2
}

impl PlanSpec {
    /// Settings of the contract model.
    ///
    /// # Errors
    /// `tear` is not a multiple of a sector.
    pub fn contract(&self, history: &CommandHistory) -> Result<ContractSettings, TortureError> {
        let tear = self.tear.unwrap_or(contract::PIECE_SECTORS * SECTOR_BYTES);
        if tear == 0 || !tear.is_multiple_of(SECTOR_BYTES) {
            let limit = "must be a multiple of 512".to_owned();
            return Err(TortureError::Setting { name: "tear", value: tear.to_string(), limit });
        }
        let piece = tear / SECTOR_BYTES;
        Ok(ContractSettings { window: history.window(), piece, random: self.random, seed: self.seed })
    }
}

/// Counts of what was enumerated for one model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanFacts {
    /// Cuts that were examined; for a simulated device, instants.
    pub cuts: u64,
    /// Cuts or instants in the window.
    pub all_cuts: u64,
    /// States that were examined.
    pub candidates: u64,
    /// Distinct states among them.
    pub distinct: u64,
    /// Length of the window in nanoseconds; 0 in a recording without times.
    pub window_ns: u64,
    /// Draws, if only some instants of a simulated device were examined: by model, the instants drawn, uniformly in time, in order of drawing. Spans of
    /// states then cover only the stretches of time that a drawn instant fell into.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub draws: BTreeMap<String, Vec<u64>>,
}

/// A state that is to be checked.
#[derive(Clone, Debug)]
enum PlannedState {
    Contract(CandidateState),
    Ready(Box<CrashState>),
}

/// States to be checked: those of the contract in an order of which every prefix is a fair sample, those of simulated devices in order of time.
#[derive(Debug)]
pub struct StatePlan {
    settings: ContractSettings,
    items: Vec<PlannedState>,
    /// Counts by model.
    pub facts: BTreeMap<String, PlanFacts>,
}

impl StatePlan {
    /// The states of `history` that `spec` asks for. `simulate` enumerates those of a model that runs a simulated device; `None` where it is stopped.
    ///
    /// # Errors
    /// A setting that cannot be, or the error of `simulate`.
    pub fn new(
        history: &CommandHistory,
        spec: &PlanSpec,
        mut simulate: impl FnMut(&str) -> Result<Option<(Vec<CrashState>, PlanFacts)>, TortureError>,
    ) -> Result<Option<Self>, TortureError> {
        let settings = spec.contract(history)?;
        let (mut items, mut facts) = (Vec::new(), BTreeMap::new());
        for model in &spec.models {
            if model == "contract" {
                let states = contract::contract_states(history, &settings);
                let window =
                    history.time_of(settings.window.1).saturating_sub(history.time_of(settings.window.0));
                let counts = PlanFacts {
                    cuts: states.cuts,
                    all_cuts: states.all_cuts,
                    candidates: states.candidates,
                    distinct: states.distinct.len() as u64,
                    window_ns: if history.has_times { window.0 } else { 0 },
                    draws: BTreeMap::new(),
                };
                facts.insert(model.clone(), counts);
                items.extend(interleave_kinds(states.distinct, spec).into_iter().map(PlannedState::Contract));
            } else {
                let Some((states, counts)) = simulate(model)? else { return Ok(None) };
                facts.insert(model.clone(), counts);
                items.extend(states.into_iter().map(|state| PlannedState::Ready(Box::new(state))));
            }
        }
        Ok(Some(Self { settings, items, facts }))
    }

    /// Number of planned states.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if no state is planned.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The planned state number `index`.
    pub fn state(&self, history: &CommandHistory, index: usize) -> Option<CrashState> {
        Some(match self.items.get(index)? {
            PlannedState::Contract(candidate) => {
                contract::contract_state(history, &self.settings, *candidate)
            }
            PlannedState::Ready(state) => CrashState::clone(state),
        })
    }
}

/// Orders states so that each kind has its turn, in an order drawn by the seed within a kind; at most `spec.states`.
fn interleave_kinds(states: Vec<CandidateState>, spec: &PlanSpec) -> Vec<CandidateState> {
    let mut draw = SplitMix::new(spec.seed, "torture order");
    let mut kinds: BTreeMap<&str, Vec<(u64, CandidateState)>> = BTreeMap::new();
    for state in states {
        kinds.entry(state.kind_name()).or_default().push((draw.next_u64(), state));
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    for kind in &mut kinds {
        kind.sort_unstable();
    }
    let longest = kinds.iter().map(Vec::len).max().unwrap_or(0);
    let in_turns = (0..longest).flat_map(|turn| kinds.iter().filter_map(move |kind| kind.get(turn)));
    let wanted = spec.states.map_or(usize::MAX, |states| states as usize);
    in_turns.map(|&(_, state)| state).take(wanted).collect()
}
