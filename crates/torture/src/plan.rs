//! Which states are to be checked, and in which order.

use crate::contract::{self, Candidate, Settings};
use crate::error::TortureError;
use crate::history::History;
use crate::state::CrashState;
use outlast_units::SECTOR_BYTES;
use outlast_units::rng::SplitMix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Models of states: `contract`, and those of machines.
    pub models: Vec<String>,
    /// What is drawn by.
    #[serde(default)]
    pub seed: u64,
    /// Bytes that a device writes whole; without it 4096.
    pub tear: Option<u64>,
    /// How many states of each model are wanted at most.
    pub states: Option<u64>,
    /// Random subsets at every cut.
    #[serde(default = "two")]
    pub random: u32,
    /// What breaks in the model `fault`: entries of `[[faults]]` without a time.
    #[serde(default)]
    pub faults: Vec<serde_json::Value>,
}

fn two() -> u32 {
    2
}

impl Spec {
    /// The settings of the contract.
    ///
    /// # Errors
    /// What cannot be.
    pub fn contract(&self, history: &History) -> Result<Settings, TortureError> {
        let tear = self.tear.unwrap_or(contract::PIECE * SECTOR_BYTES);
        if tear == 0 || !tear.is_multiple_of(SECTOR_BYTES) {
            let limit = "must be a multiple of 512".to_owned();
            return Err(TortureError::Setting { name: "tear", value: tear.to_string(), limit });
        }
        let piece = tear / SECTOR_BYTES;
        Ok(Settings { window: history.window(), piece, random: self.random, seed: self.seed })
    }
}

/// What was enumerated of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanFacts {
    /// Cuts, or for a machine the instants, that were looked at.
    pub cuts: u64,
    /// How many there are.
    pub all_cuts: u64,
    /// States that were looked at.
    pub candidates: u64,
    /// Different ones among them.
    pub distinct: u64,
    /// How long the window is, where there are times.
    pub window_ns: u64,
    /// Where not all instants of a machine were looked at: by the machine, the instants that were drawn, uniformly in time, in the order of drawing.
    /// The spans of its states are only of stretches that one of them met.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub draws: BTreeMap<String, Vec<u64>>,
}

/// A state that is to be checked.
#[derive(Clone, Debug)]
enum Item {
    Contract(Candidate),
    Ready(Box<CrashState>),
}

/// States to be checked: of the contract in an order of which every beginning is a fair sample, of machines in order of time.
#[derive(Debug)]
pub struct Plan {
    settings: Settings,
    items: Vec<Item>,
    /// By model, what was enumerated.
    pub facts: BTreeMap<String, PlanFacts>,
}

impl Plan {
    /// The states of `history` that `spec` asks for. `machine` enumerates those of a model that runs a machine; `None` where it is stopped.
    ///
    /// # Errors
    /// A setting that cannot be, or what `machine` returns.
    pub fn new(
        history: &History,
        spec: &Spec,
        mut machine: impl FnMut(&str) -> Result<Option<(Vec<CrashState>, PlanFacts)>, TortureError>,
    ) -> Result<Option<Self>, TortureError> {
        let settings = spec.contract(history)?;
        let (mut items, mut facts) = (Vec::new(), BTreeMap::new());
        for model in &spec.models {
            if model == "contract" {
                let states = contract::states(history, &settings);
                let window =
                    history.time_of(settings.window.1).saturating_sub(history.time_of(settings.window.0));
                let found = PlanFacts {
                    cuts: states.cuts,
                    all_cuts: states.all_cuts,
                    candidates: states.candidates,
                    distinct: states.distinct.len() as u64,
                    window_ns: if history.has_times { window.0 } else { 0 },
                    draws: BTreeMap::new(),
                };
                facts.insert(model.clone(), found);
                items.extend(fair(states.distinct, spec).into_iter().map(Item::Contract));
            } else {
                let Some((states, found)) = machine(model)? else { return Ok(None) };
                facts.insert(model.clone(), found);
                items.extend(states.into_iter().map(|state| Item::Ready(Box::new(state))));
            }
        }
        Ok(Some(Self { settings, items, facts }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number `index` of them.
    pub fn state(&self, history: &History, index: usize) -> Option<CrashState> {
        Some(match self.items.get(index)? {
            Item::Contract(candidate) => contract::state(history, &self.settings, *candidate),
            Item::Ready(state) => CrashState::clone(state),
        })
    }
}

/// In turns one of each kind, within a kind in an order drawn by the seed; as many as are wanted.
fn fair(states: Vec<Candidate>, spec: &Spec) -> Vec<Candidate> {
    let mut draw = SplitMix::new(spec.seed, "torture order");
    let mut kinds: BTreeMap<&str, Vec<(u64, Candidate)>> = BTreeMap::new();
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
