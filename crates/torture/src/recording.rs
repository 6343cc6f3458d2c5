//! A recording in a file or a folder: its history, and the machine that was recorded, if one was.

use crate::drive::{self, Request, What};
use crate::error::TortureError;
use crate::history::History;
use crate::id::StateId;
use crate::plan::{Plan, PlanFacts, Spec};
use crate::source::history_of_image;
use crate::state::CrashState;
use outlast_engine::{Control, OnProgress, Progress};
use outlast_serve::Image;
use std::path::{Path, PathBuf};

/// How many instants of a machine are looked at, at most: a minute or so.
const INSTANTS: u64 = 50_000;

/// What a recording was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A served machine: an image.
    Image,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
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
    /// The recording at `path`: the folder of an image.
    ///
    /// # Errors
    /// It is none. `None` where `progress` stopped it.
    pub fn open(path: &Path, progress: OnProgress<'_>) -> Result<Option<Self>, TortureError> {
        let history = history_of_image(path, progress)?;
        Ok(history.map(|history| Self { path: path.to_owned(), kind: Kind::Image, history }))
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

    /// The states that `spec` asks for.
    ///
    /// # Errors
    /// A setting that cannot be; a model of machines for a recording without one.
    pub fn plan(&self, spec: &Spec) -> Result<Plan, TortureError> {
        Plan::new(&self.history, spec, |model| self.machine_states(model, spec))
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
                let found = drive::state(&self.path, &self.history, &what.parse()?, *at, &mut go_on)?;
                found.ok_or_else(|| {
                    TortureError::state(id, "there is no such state: the array starts without force")
                })
            }
        }
    }

    fn machine_states(&self, model: &str, spec: &Spec) -> Result<(Vec<CrashState>, PlanFacts), TortureError> {
        let scenario = Image::scenario(&self.path)?;
        let (mut states, mut facts) = (Vec::new(), PlanFacts::default());
        for what in What::of_model(model, &scenario, &spec.faults)? {
            let request =
                Request { limit: Some(INSTANTS), seed: spec.seed, ..Request::new(&self.history, what) };
            let Some(found) = drive::classes(&self.path, &self.history, &request, &mut go_on)? else {
                continue;
            };
            facts.cuts += found.looked_at;
            facts.all_cuts += found.instants;
            facts.candidates += found.looked_at;
            facts.distinct += found.classes.len() as u64;
            facts.window_ns = (request.window.end - request.window.start).0;
            states.extend(found.classes);
        }
        Ok((states, facts))
    }
}

fn go_on(_: &Progress) -> Control {
    Control::Continue
}
