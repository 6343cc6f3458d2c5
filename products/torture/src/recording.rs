//! A recording in a file or a folder: its history and, in an image, the device that was recorded.

use crate::drive::{self, CrashModel, CrashSearch};
use crate::error::TortureError;
use crate::history::CommandHistory;
use crate::id::StateId;
use crate::plan::{PlanFacts, PlanSpec, StatePlan};
use crate::source::{history_of_image, history_of_list, history_of_log_writes, list, log_writes};
use crate::state::CrashState;
use outlast_engine::{OnProgress, RunControl, RunProgress};
use outlast_serve::DeviceImage;
use outlast_units::Nanos;
use outlast_units::rng::SplitMix;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Limit of instants examined for one model of a drive: at some 0.6 ms each, half a minute.
const INSTANTS: u64 = 50_000;
/// Limit for an array, over all members and starts of a model together: a minute or two, since the sectors of a missing member must be read.
const INSTANTS_OF_ARRAY: u64 = 6_000;

/// Kinds of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingKind {
    /// Image of a served device.
    Image,
    /// A log of `dm-log-writes`.
    LogWrites,
    /// A list of blocks.
    List,
}

impl RecordingKind {
    /// Detects the kind of the recording at `path` by its first bytes.
    fn detect(path: &Path) -> Result<Self, TortureError> {
        /// Longer than a line of any list.
        const BEGINNING: u64 = 4096;
        let io = |source| TortureError::Io { path: path.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(io)?;
        if metadata.is_dir() {
            return Ok(Self::Image);
        }
        if !metadata.is_file() {
            let why = "is neither a file nor a folder".to_owned();
            return Err(TortureError::Foreign { path: path.to_owned(), why });
        }
        let mut beginning = Vec::new();
        let file = File::options().read(true).open(path).map_err(io)?;
        file.take(BEGINNING).read_to_end(&mut beginning).map_err(io)?;
        if beginning.starts_with(&log_writes::MAGIC.to_le_bytes()) {
            return Ok(Self::LogWrites);
        }
        if list::is_list(&beginning) {
            return Ok(Self::List);
        }
        let why = "is not a recording: neither the folder of an image, nor a log of dm-log-writes, nor a list of blocks";
        Err(TortureError::Foreign { path: path.to_owned(), why: why.to_owned() })
    }

    /// Name of the kind, as facts and errors have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::LogWrites => "dm-log-writes",
            Self::List => "list",
        }
    }
}

/// An opened recording.
#[derive(Debug)]
pub struct OpenRecording {
    path: PathBuf,
    kind: RecordingKind,
    history: CommandHistory,
}

impl OpenRecording {
    /// Opens the recording at `path`: the folder of an image, a log of dm-log-writes, or a list of blocks. `None` where `progress` stopped it.
    ///
    /// # Errors
    /// There is no recording at `path`, or it is damaged.
    pub fn open(path: &Path, progress: OnProgress<'_>) -> Result<Option<Self>, TortureError> {
        let kind = RecordingKind::detect(path)?;
        let history = match kind {
            RecordingKind::Image => history_of_image(path, progress)?,
            RecordingKind::LogWrites => Some(history_of_log_writes(path)?),
            RecordingKind::List => Some(history_of_list(path)?),
        };
        Ok(history.map(|history| Self { path: path.to_owned(), kind, history }))
    }

    /// Path of the recording.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Kind of the recording.
    pub fn kind(&self) -> RecordingKind {
        self.kind
    }

    /// Commands and completions that were recorded.
    pub fn history(&self) -> &CommandHistory {
        &self.history
    }

    /// The states that `spec` asks for. `None` where `progress` stopped it.
    ///
    /// # Errors
    /// A setting that cannot be; a model that simulates a device, for a recording without one.
    pub fn plan(&self, spec: &PlanSpec, progress: OnProgress<'_>) -> Result<Option<StatePlan>, TortureError> {
        StatePlan::new(&self.history, spec, |model| self.device_states(model, spec, progress))
    }

    /// Makes the state named `id`.
    ///
    /// # Errors
    /// The recording has no such state.
    pub fn state(&self, id: &StateId) -> Result<CrashState, TortureError> {
        match id {
            StateId::Lost { is_allowed, cut, lost } => {
                CrashState::parse(&self.history, *cut, lost, *is_allowed)
            }
            StateId::Simulated { model, at } => {
                self.require_device(model)?;
                let state =
                    drive::find_state(&self.path, &self.history, &model.parse()?, *at, &mut never_stop)?;
                state.ok_or_else(|| {
                    TortureError::state(id, "there is no such state: the array starts without force")
                })
            }
        }
    }

    /// Refuses `model` for a recording that has no device to simulate.
    fn require_device(&self, model: &str) -> Result<(), TortureError> {
        if self.kind == RecordingKind::Image {
            return Ok(());
        }
        let limit = format!(
            "needs the recording of a served drive; {} is a {}, of which there is contract",
            self.path.display(),
            self.kind.name()
        );
        Err(TortureError::Setting { name: "model", value: model.to_owned(), limit })
    }

    fn device_states(
        &self,
        model: &str,
        spec: &PlanSpec,
        progress: OnProgress<'_>,
    ) -> Result<Option<(Vec<CrashState>, PlanFacts)>, TortureError> {
        self.require_device(model)?;
        let scenario = DeviceImage::scenario(&self.path)?;
        let (mut states, mut facts) = (Vec::new(), PlanFacts::default());
        let models = CrashModel::of_model(model, &scenario, &spec.faults)?;
        let budget = if scenario.array.is_some() { INSTANTS_OF_ARRAY } else { INSTANTS };
        let limit = Some(budget / models.len().max(1) as u64);
        for model in models {
            let name = model.to_string();
            let request = CrashSearch { limit, seed: spec.seed, ..CrashSearch::new(&self.history, model) };
            let Some(found) = drive::find_classes(&self.path, &self.history, &request, progress)? else {
                return Ok(None);
            };
            facts.cuts += found.examined;
            facts.all_cuts += found.instants;
            facts.candidates += found.examined;
            facts.distinct += found.classes.len() as u64;
            facts.window_ns = (request.window.end - request.window.start).0;
            if !found.draws.is_empty() {
                facts.draws.insert(name, shuffle_draws(&found.draws, spec.seed));
            }
            states.extend(found.classes);
        }
        Ok(Some((states, facts)))
    }
}

/// Shuffles draws, which come in order of time, so that every prefix is a fair sample.
fn shuffle_draws<T>(draws: &[(Nanos, T)], seed: u64) -> Vec<u64> {
    let mut rng = SplitMix::new(seed, "torture draws");
    let mut keyed: Vec<(u64, u64)> = draws.iter().map(|(at, _)| (rng.next_u64(), at.0)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, at)| at).collect()
}

fn never_stop(_: &RunProgress) -> RunControl {
    RunControl::Continue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_instants_are_shuffled() {
        let sorted: Vec<(Nanos, ())> = (0..1000).map(|at| (Nanos(at), ())).collect();
        let mut mixed = shuffle_draws(&sorted, 3);
        assert_eq!(mixed, shuffle_draws(&sorted, 3));
        // Of the first half, half are small: binomial with 500 draws, four standard deviations.
        let small = mixed[..500].iter().filter(|&&at| at < 500).count();
        assert!(small.abs_diff(250) < 45, "{small}");
        mixed.sort_unstable();
        assert!(mixed.into_iter().eq(0..1000));
    }
}
