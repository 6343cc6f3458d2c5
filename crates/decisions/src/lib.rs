//! Decisions that user policies take in place of built-in ones.
//!
//! A decision has a trait: facts go in, a choice comes out, and nothing is changed. A [`LoadedPolicy`] travels with the
//! settings, and each part that decides makes a [`UserPolicy`] of its own from it. Decisions over tables (which superblock is collected: [`SuperblockChoice`]; which
//! lost rows are recovered first: [`OrdersRows`]) have traits of their own, with columns that are borrowed; those over a few values are [`PolicyQuestion`]s, and
//! one trait, [`QuestionPolicy`], is for all of them. [`DrivePolicies`] and [`ArrayPolicies`] are all that a drive and an array can be given.
//!
//! `outlast policies` lists the decisions; code in shared libraries can take three of them (decision 0072). Nothing else is open to the user's code: members
//! are rebuilt in order of address, and how a drive repairs a die internally is a setting.

mod array;
mod drive;
mod question;
mod superblocks;

pub use array::{
    ArrayPolicies, DieRepairQuestion, LostRows, OrdersRows, RebuildRateQuestion, RepairDecision, RepairWay,
};
pub use drive::{ChosenCode, DieHealthQuestion, DrivePolicies, HostShareQuestion, StripeCodeQuestion};
pub use question::{PolicyQuestion, QuestionPolicy, QuestionValue};
pub use superblocks::{
    CellColumns, NO_CANDIDATE, RandomDraws, SuperblockChoice, SuperblockColumns, SuperblockPolicy,
    SuperblockState,
};

use outlast_media::ConfigError;
use std::fmt;
use std::sync::Arc;

/// A policy that can be copied together with its state.
pub trait ForkPolicy {
    /// A copy in the same state, for a drive or an array that is forked.
    fn fork(&self) -> Box<Self>;
}

/// Makes policies of one kind, one for each part that decides by itself: a flash core, an array.
pub trait PolicyFactory<P: ?Sized>: Send + Sync {
    /// Name for messages, for example `mine.py:function`.
    fn name(&self) -> &str;

    /// A new policy, for one more part.
    ///
    /// # Errors
    /// The error of the user's code, in one line.
    fn make(&self) -> Result<Box<P>, String>;
}

/// A user policy as settings carry it. Two are equal if they are the same object.
pub struct LoadedPolicy<P: ?Sized>(Arc<dyn PolicyFactory<P>>);

impl<P: ?Sized> LoadedPolicy<P> {
    /// Wraps a factory, which makes a policy for each part that decides.
    pub fn new(maker: impl PolicyFactory<P> + 'static) -> Self {
        Self(Arc::new(maker))
    }
}

impl<P: ?Sized> Clone for LoadedPolicy<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: ?Sized> fmt::Debug for LoadedPolicy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loaded").field(&self.0.name()).finish()
    }
}

impl<P: ?Sized> PartialEq for LoadedPolicy<P> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A user policy for one decision of one part, and its first failure.
#[derive(Debug)]
pub struct UserPolicy<P: ?Sized> {
    /// The setting that names it, for messages.
    setting: &'static str,
    name: String,
    /// `None` if it could not be made.
    policy: Option<Box<P>>,
    /// The first error. From then on the policy is not asked any more, until the run ends.
    failure: Option<String>,
}

impl<P: ?Sized + ForkPolicy> Clone for UserPolicy<P> {
    fn clone(&self) -> Self {
        Self {
            setting: self.setting,
            name: self.name.clone(),
            policy: self.policy.as_ref().map(|policy| policy.fork()),
            failure: self.failure.clone(),
        }
    }
}

impl<P: ?Sized> UserPolicy<P> {
    /// Makes the policy for one part; if that fails, the failure ends the run once it begins.
    pub fn new(setting: &'static str, loaded: &LoadedPolicy<P>) -> Self {
        let (policy, failure) = match loaded.0.make() {
            Ok(policy) => (Some(policy), None),
            Err(error) => (None, Some(error)),
        };
        Self { setting, name: loaded.0.name().to_owned(), policy, failure }
    }

    /// The result of `ask`, applied to the policy; `None` if it has failed, now or before.
    pub fn ask<T>(&mut self, ask: impl FnOnce(&mut P) -> Result<T, String>) -> Option<T> {
        // The first failure is final, so that a broken policy does not change the rest of the run.
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

    /// True if the policy has failed.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The failure, for which the run must end.
    pub fn failure(&self) -> Option<ConfigError> {
        self.failure.as_ref().map(|error| ConfigError::new(self.setting, &self.name, error.clone()))
    }
}

impl<Q: PolicyQuestion> UserPolicy<dyn QuestionPolicy<Q>> {
    /// The answer to `question`, if `check` accepts it. `None`: the policy leaves the decision to the settings, or has failed.
    pub fn decide(
        &mut self,
        question: &Q,
        check: impl FnOnce(&Q::Answer) -> Result<(), String>,
    ) -> Option<Q::Answer> {
        self.ask(|policy| {
            let checked = policy.decide(question).and_then(|answer| {
                // An answer out of range counts as a failure of the policy.
                answer.as_ref().map_or(Ok(()), check)?;
                Ok(answer)
            });
            checked.map_err(|error| format!("{error}; it saw {}", question::in_words(question)))
        })?
    }
}

#[cfg(test)]
mod tests;
