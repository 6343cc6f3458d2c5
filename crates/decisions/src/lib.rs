//! Decisions that code of the user's takes in the place of built-in policies.
//!
//! A decision has a trait: what is known goes in, a choice comes out, and nothing is changed. What the user gives is [`Loaded`]: it travels with the
//! settings, and each part that decides makes a [`Decider`] of its own of it. Decisions over tables (which superblock is collected: [`SuperblockChoice`]; which
//! lost rows are recovered first: [`OrdersRows`]) have traits of their own, with columns that are borrowed; those over a few values are [`Question`]s, and
//! one trait, [`Decides`], is for all of them. [`OwnPolicies`] and [`OwnDecisions`] are all that a drive and an array can be given.
//!
//! `outlast policies` lists the decisions; code in shared libraries can take three of them (decision 0072). Nothing else is open to the user's code: members
//! are rebuilt in order of address, and how a drive repairs a die internally is a setting.

mod array;
mod drive;
mod question;
mod superblocks;

pub use array::{Failure, LostRows, OrdersRows, OwnDecisions, Pace, RepairDecision, RepairWay};
pub use drive::{ChosenCode, Collecting, Opening, OwnPolicies};
pub use question::{Decides, Question, Value};
pub use superblocks::{CellColumns, Draws, NO_CANDIDATE, OwnChoice, State, SuperblockChoice, View};

use outlast_media::ConfigError;
use std::fmt;
use std::sync::Arc;

/// A policy that can be copied with what it remembers.
pub trait Forks {
    /// Another one in the same state, for a drive that is forked.
    fn fork(&self) -> Box<Self>;
}

/// Makes policies of one kind, one for each part that decides by itself: a flash core, an array.
pub trait Makes<P: ?Sized>: Send + Sync {
    /// What messages call it.
    fn name(&self) -> &str;

    /// One for another part.
    ///
    /// # Errors
    /// What went wrong, in one line.
    fn make(&self) -> Result<Box<P>, String>;
}

/// A policy of the user's, as settings carry it.
pub struct Loaded<P: ?Sized>(Arc<dyn Makes<P>>);

impl<P: ?Sized> Loaded<P> {
    /// Of what makes one for each part that decides.
    pub fn new(maker: impl Makes<P> + 'static) -> Self {
        Self(Arc::new(maker))
    }
}

impl<P: ?Sized> Clone for Loaded<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: ?Sized> fmt::Debug for Loaded<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loaded").field(&self.0.name()).finish()
    }
}

impl<P: ?Sized> PartialEq for Loaded<P> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A policy of the user's for one decision of one part.
#[derive(Debug)]
pub struct Decider<P: ?Sized> {
    /// The setting that names it.
    setting: &'static str,
    name: String,
    /// Absent where it could not be made.
    policy: Option<Box<P>>,
    /// What it did that it must not. From then on it is not asked any more, until the run is ended.
    failure: Option<String>,
}

impl<P: ?Sized + Forks> Clone for Decider<P> {
    fn clone(&self) -> Self {
        Self {
            setting: self.setting,
            name: self.name.clone(),
            policy: self.policy.as_ref().map(|policy| policy.fork()),
            failure: self.failure.clone(),
        }
    }
}

impl<P: ?Sized> Decider<P> {
    /// For a part that is being put together; what goes wrong ends the run that it is for.
    pub fn new(setting: &'static str, loaded: &Loaded<P>) -> Self {
        let (policy, failure) = match loaded.0.make() {
            Ok(policy) => (Some(policy), None),
            Err(error) => (None, Some(error)),
        };
        Self { setting, name: loaded.0.name().to_owned(), policy, failure }
    }

    /// What `ask` has of the policy; `None` where it has failed, now or before.
    pub fn ask<T>(&mut self, ask: impl FnOnce(&mut P) -> Result<T, String>) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        match ask(self.policy.as_mut()?) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    /// The policy, if there is one.
    pub fn policy(&self) -> Option<&P> {
        self.policy.as_deref()
    }

    /// Whether it did what it must not.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Why the run must end, if it must.
    pub fn failure(&self) -> Option<ConfigError> {
        self.failure.as_ref().map(|error| ConfigError::new(self.setting, &self.name, error.clone()))
    }
}

impl<Q: Question> Decider<dyn Decides<Q>> {
    /// The answer to `question`, of which `check` says what is wrong with it, if anything is; `None`: as without a policy.
    pub fn decide(
        &mut self,
        question: &Q,
        check: impl FnOnce(&Q::Answer) -> Result<(), String>,
    ) -> Option<Q::Answer> {
        self.ask(|policy| {
            let checked = policy.decide(question).and_then(|answer| {
                answer.as_ref().map_or(Ok(()), check)?;
                Ok(answer)
            });
            checked.map_err(|error| format!("{error}; it saw {}", question::told(question)))
        })?
    }
}

#[cfg(test)]
mod tests;
