//! A recording in a file or a folder: its history, and the machine that was recorded, if one was.

use crate::error::TortureError;
use crate::history::History;
use crate::id::StateId;
use crate::plan::{Plan, PlanFacts, Spec};
use crate::source::history_of_image;
use crate::state::CrashState;
use outlast_engine::OnProgress;
use std::path::{Path, PathBuf};

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
            StateId::Machine { what, .. } => Err(self.no_model(what)),
        }
    }

    fn machine_states(
        &self,
        model: &str,
        _spec: &Spec,
    ) -> Result<(Vec<CrashState>, PlanFacts), TortureError> {
        Err(self.no_model(model))
    }

    fn no_model(&self, model: &str) -> TortureError {
        let limit = format!("is no model of states; there is contract for {}", self.path.display());
        TortureError::Setting { name: "model", value: model.to_owned(), limit }
    }
}
