//! A recording in a file or a folder: its history, and the machine that was recorded, if one was.

use crate::drive::{self, Request, What};
use crate::error::TortureError;
use crate::history::History;
use crate::id::StateId;
use crate::plan::{Plan, PlanFacts, Spec};
use crate::source::{history_of_image, history_of_list, history_of_log_writes, list, log_writes};
use crate::state::CrashState;
use outlast_engine::{OnProgress, RunControl, RunProgress};
use outlast_serve::DeviceImage;
use outlast_units::Nanos;
use outlast_units::rng::SplitMix;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many instants of a drive are looked at for a model, at most: half a minute or so.
const INSTANTS: u64 = 50_000;
/// And of an array, for all that a model stands for together: a minute or two, since a member that is gone has to be read.
const INSTANTS_OF_ARRAY: u64 = 6_000;

/// What a recording was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A served machine: an image.
    Image,
    /// A log of `dm-log-writes`.
    LogWrites,
    /// A list of blocks.
    List,
}

impl Kind {
    /// What is at `path`, by its first bytes.
    fn of(path: &Path) -> Result<Self, TortureError> {
        /// Longer than a line of any list.
        const BEGINNING: u64 = 4096;
        let io = |source| TortureError::Io { path: path.to_owned(), source };
        let found = std::fs::metadata(path).map_err(io)?;
        if found.is_dir() {
            return Ok(Self::Image);
        }
        if !found.is_file() {
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

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::LogWrites => "dm-log-writes",
            Self::List => "list",
        }
    }
}

/// A recording.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    kind: Kind,
    history: History,
}

impl Recording {
    /// The recording at `path`: the folder of an image, a log of dm-log-writes, or a list of blocks.
    ///
    /// # Errors
    /// It is none. `None` where `progress` stopped it.
    pub fn open(path: &Path, progress: OnProgress<'_>) -> Result<Option<Self>, TortureError> {
        let kind = Kind::of(path)?;
        let history = match kind {
            Kind::Image => history_of_image(path, progress)?,
            Kind::LogWrites => Some(history_of_log_writes(path)?),
            Kind::List => Some(history_of_list(path)?),
        };
        Ok(history.map(|history| Self { path: path.to_owned(), kind, history }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it was made by.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What was asked and answered.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The states that `spec` asks for. `None` where `progress` stopped it.
    ///
    /// # Errors
    /// A setting that cannot be; a model of machines for a recording without one.
    pub fn plan(&self, spec: &Spec, progress: OnProgress<'_>) -> Result<Option<Plan>, TortureError> {
        Plan::new(&self.history, spec, |model| self.machine_states(model, spec, progress))
    }

    /// The state that is named so.
    ///
    /// # Errors
    /// The recording has no such state.
    pub fn state(&self, id: &StateId) -> Result<CrashState, TortureError> {
        match id {
            StateId::Lost { is_allowed, cut, lost } => {
                CrashState::parse(&self.history, *cut, lost, *is_allowed)
            }
            StateId::Machine { what, at } => {
                self.check_machine(what)?;
                let found = drive::state(&self.path, &self.history, &what.parse()?, *at, &mut go_on)?;
                found.ok_or_else(|| {
                    TortureError::state(id, "there is no such state: the array starts without force")
                })
            }
        }
    }

    /// Whether there is a machine that a model can run.
    fn check_machine(&self, model: &str) -> Result<(), TortureError> {
        if self.kind == Kind::Image {
            return Ok(());
        }
        let limit = format!(
            "needs the recording of a served drive; {} is a {}, of which there is contract",
            self.path.display(),
            self.kind.name()
        );
        Err(TortureError::Setting { name: "model", value: model.to_owned(), limit })
    }

    fn machine_states(
        &self,
        model: &str,
        spec: &Spec,
        progress: OnProgress<'_>,
    ) -> Result<Option<(Vec<CrashState>, PlanFacts)>, TortureError> {
        self.check_machine(model)?;
        let scenario = DeviceImage::scenario(&self.path)?;
        let (mut states, mut facts) = (Vec::new(), PlanFacts::default());
        let whats = What::of_model(model, &scenario, &spec.faults)?;
        let all = if scenario.array.is_some() { INSTANTS_OF_ARRAY } else { INSTANTS };
        let limit = Some(all / whats.len().max(1) as u64);
        for what in whats {
            let name = what.to_string();
            let request = Request { limit, seed: spec.seed, ..Request::new(&self.history, what) };
            let Some(found) = drive::classes(&self.path, &self.history, &request, progress)? else {
                return Ok(None);
            };
            facts.cuts += found.looked_at;
            facts.all_cuts += found.instants;
            facts.candidates += found.looked_at;
            facts.distinct += found.classes.len() as u64;
            facts.window_ns = (request.window.end - request.window.start).0;
            if !found.draws.is_empty() {
                facts.draws.insert(name, in_any_order(&found.draws, spec.seed));
            }
            states.extend(found.classes);
        }
        Ok(Some((states, facts)))
    }
}

/// Instants that were drawn, of which every beginning is a fair sample: they come in order of time.
fn in_any_order<T>(draws: &[(Nanos, T)], seed: u64) -> Vec<u64> {
    let mut rng = SplitMix::new(seed, "torture draws");
    let mut keyed: Vec<(u64, u64)> = draws.iter().map(|(at, _)| (rng.next_u64(), at.0)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, at)| at).collect()
}

fn go_on(_: &RunProgress) -> RunControl {
    RunControl::Continue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_instants_come_in_an_order_that_says_nothing() {
        let sorted: Vec<(Nanos, ())> = (0..1000).map(|at| (Nanos(at), ())).collect();
        let mut mixed = in_any_order(&sorted, 3);
        assert_eq!(mixed, in_any_order(&sorted, 3));
        // Of the first half, half are small: binomial with 500 draws, four standard deviations.
        let small = mixed[..500].iter().filter(|&&at| at < 500).count();
        assert!(small.abs_diff(250) < 45, "{small}");
        mixed.sort_unstable();
        assert!(mixed.into_iter().eq(0..1000));
    }
}
