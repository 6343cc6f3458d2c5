//! A policy that is not in the list: code of the user's, behind an interface.

use super::{CellColumns, Draws, VictimPolicy, View};
use outlast_media::ConfigError;
use outlast_units::SuperblockId;
use std::fmt;
use std::sync::Arc;

/// Which superblock is emptied next: a decision that sees a view of the superblocks and changes nothing. Garbage collection asks for the
/// one that gains space, static wear levelling for one whose data has lain too long, scrubbing for those whose data goes bad.
///
/// The built-in policies of collection are those of [`VictimPolicy`].
pub trait SuperblockChoice: fmt::Debug + Send + Sync {
    /// A candidate of `view`; `None` where none is worth it now. Anything random is drawn from `draws`, so that runs repeat.
    ///
    /// # Errors
    /// What went wrong, in one line: the run ends.
    fn choose(&mut self, view: &View<'_>, draws: &mut Draws<'_>) -> Result<Option<SuperblockId>, String>;

    /// Whether it is to see [`View::cells`], which takes a look at every block.
    fn sees_cells(&self) -> bool {
        false
    }

    /// Another one in the same state, for a drive that is forked.
    fn fork(&self) -> Box<dyn SuperblockChoice>;
}

/// Makes a policy for each flash core.
pub trait MakesChoice: Send + Sync {
    /// What messages call it.
    fn name(&self) -> &str;

    /// One for another flash core.
    ///
    /// # Errors
    /// What went wrong, in one line.
    fn make(&self) -> Result<Box<dyn SuperblockChoice>, String>;
}

/// A policy of the user's, in the place of a built-in one.
#[derive(Clone)]
pub struct OwnChoice(Arc<dyn MakesChoice>);

impl OwnChoice {
    /// Of what makes one for each flash core.
    pub fn new(maker: impl MakesChoice + 'static) -> Self {
        Self(Arc::new(maker))
    }
}

/// Code of the user's that decides in the place of built-in policies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnPolicies {
    /// Which superblock garbage collection takes, in the place of `gc.policy`.
    pub gc: Option<OwnChoice>,
    /// Which superblock static wear levelling moves, in the place of `wear_leveling.static_gap`.
    pub wear_leveling: Option<OwnChoice>,
    /// Which superblock scrubbing moves, beside its built-in policies.
    pub scrub: Option<OwnChoice>,
}

impl fmt::Debug for OwnChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnChoice").field(&self.0.name()).finish()
    }
}

impl PartialEq for OwnChoice {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The user's policies on one flash core.
#[derive(Clone, Debug)]
pub(crate) struct Deciders {
    pub(crate) gc: Option<Own>,
    pub(crate) wear: Option<Own>,
    pub(crate) scrub: Option<Own>,
    /// Valid units as policies see them where superblocks hold different amounts of data; kept for its memory.
    pub(crate) shares: Vec<u32>,
    /// What the cells have gone through, where some policy asks to see it and it was shown.
    pub(crate) cells: Option<Box<CellColumns>>,
}

impl Deciders {
    pub(crate) fn new(own: &OwnPolicies) -> Self {
        let begun = |setting, own: &Option<OwnChoice>| own.as_ref().map(|own| Own::new(setting, own));
        Self {
            gc: begun("policies.gc", &own.gc),
            wear: begun("policies.wear_leveling", &own.wear_leveling),
            scrub: begun("policies.scrub", &own.scrub),
            shares: Vec::new(),
            cells: None,
        }
    }

    pub(crate) fn see_cells(&self) -> bool {
        self.all().any(|own| own.policy.sees_cells())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Own> {
        [&self.gc, &self.wear, &self.scrub].into_iter().flatten()
    }
}

/// The user's policy for one decision on one flash core.
#[derive(Debug)]
pub(crate) struct Own {
    /// The setting that names it.
    setting: &'static str,
    name: String,
    policy: Box<dyn SuperblockChoice>,
    /// What it did that it must not. From then on it is not asked any more, until the run is ended.
    failure: Option<String>,
}

impl Clone for Own {
    fn clone(&self) -> Self {
        Self {
            setting: self.setting,
            name: self.name.clone(),
            policy: self.policy.fork(),
            failure: self.failure.clone(),
        }
    }
}

impl Own {
    /// Of a core that is being put together; what goes wrong ends the run that it is for.
    fn new(setting: &'static str, own: &OwnChoice) -> Self {
        let name = own.0.name().to_owned();
        match own.0.make() {
            Ok(policy) => Self { setting, name, policy, failure: None },
            Err(error) => {
                Self { setting, name, policy: Box::new(VictimPolicy::Greedy), failure: Some(error) }
            }
        }
    }

    /// Its choice; `must`: space that can be gained has to be gained now. `None`, too, once it has failed.
    pub(crate) fn choose(
        &mut self,
        view: &View<'_>,
        draws: &mut Draws<'_>,
        must: bool,
    ) -> Option<SuperblockId> {
        if self.failure.is_some() {
            return None;
        }
        match self.policy.choose(view, draws).and_then(|choice| checked(choice, view, must)) {
            Ok(choice) => choice,
            Err(error) => {
                self.failure = Some(format!("{error}; {}", state_of(view)));
                None
            }
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Why the run must end, if it must.
    pub(crate) fn failure(&self) -> Option<ConfigError> {
        self.failure.as_ref().map(|error| ConfigError::new(self.setting, &self.name, error.clone()))
    }
}

fn checked(
    choice: Option<SuperblockId>,
    view: &View<'_>,
    must: bool,
) -> Result<Option<SuperblockId>, String> {
    match choice {
        None if must && view.gains() => {
            Err("returned None though no superblock is free for the host".to_owned())
        }
        Some(superblock) if superblock.0 >= view.superblocks() => {
            Err(format!("returned superblock {superblock}, and there are {}", view.superblocks()))
        }
        Some(superblock) if !view.is_candidate(superblock) => {
            Err(format!("returned superblock {superblock}, which is free, open, being collected or retired"))
        }
        other => Ok(other),
    }
}

/// What the policy saw, in a few words.
fn state_of(view: &View<'_>) -> String {
    let (candidates, least) =
        view.candidates().fold((0u32, u32::MAX), |(count, least), (_, valid)| (count + 1, least.min(valid)));
    if candidates == 0 {
        return format!(
            "it saw no candidate among {} superblocks, at clock {}",
            view.superblocks(),
            view.clock
        );
    }
    format!(
        "it saw {candidates} candidates among {} superblocks of {} units, the emptiest with {least} valid, at clock {}",
        view.superblocks(),
        view.units,
        view.clock
    )
}
