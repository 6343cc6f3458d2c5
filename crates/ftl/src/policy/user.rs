//! Policies of the user's: code behind an interface, instead of a policy in the list.

use super::ByFigures;
use outlast_decisions::{
    CellColumns, DrivePolicies, HostShareQuestion, LoadedPolicy, QuestionPolicy, RandomDraws,
    StripeCodeQuestion, SuperblockChoice, SuperblockColumns, UserPolicy,
};
use outlast_media::ConfigError;
use outlast_settings::ftl::ProtectionConfig;
use outlast_units::SuperblockId;

/// The user's policies on one flash core, except for codes.
#[derive(Clone, Debug)]
pub(crate) struct FtlPolicies {
    pub(crate) gc: Option<SuperblockUserPolicy>,
    /// Choices of `gc` in a row from which nothing was gained, while no superblock was free for the host.
    pub(crate) without_gain: u32,
    pub(crate) wear: Option<SuperblockUserPolicy>,
    pub(crate) scrub: Option<SuperblockUserPolicy>,
    pub(crate) pacing: Option<UserPolicy<dyn QuestionPolicy<HostShareQuestion>>>,
    /// Valid units as policies see them where superblocks hold different amounts of data; kept for its memory.
    pub(crate) shares: Vec<u32>,
    /// Figures of cells, if a policy needs them and they were shown.
    pub(crate) cells: Option<Box<CellColumns>>,
}

/// The user's policy for one decision about superblocks on one flash core.
pub(crate) type SuperblockUserPolicy = UserPolicy<dyn SuperblockChoice>;

impl FtlPolicies {
    pub(crate) fn new(policies: &DrivePolicies) -> Self {
        Self {
            gc: load_policy("policies.gc", policies.gc.as_ref()),
            without_gain: 0,
            wear: load_policy("policies.wear_leveling", policies.wear_leveling.as_ref()),
            scrub: load_policy("policies.scrub", policies.scrub.as_ref()),
            pacing: load_policy("policies.pacing", policies.pacing.as_ref()),
            shares: Vec::new(),
            cells: None,
        }
    }

    fn about_superblocks(&self) -> impl Iterator<Item = &SuperblockUserPolicy> {
        [&self.gc, &self.wear, &self.scrub].into_iter().flatten()
    }

    pub(crate) fn need_cells(&self) -> bool {
        self.about_superblocks().filter_map(UserPolicy::policy).any(SuperblockChoice::sees_cells)
    }

    /// Error of the first policy that failed; `code`: that of the policy for codes, which comes before pacing.
    pub(crate) fn failure(&self, code: Option<ConfigError>) -> Option<ConfigError> {
        let first = self.about_superblocks().find_map(UserPolicy::failure);
        first.or(code).or_else(|| self.pacing.as_ref()?.failure())
    }

    pub(crate) fn have_failed(&self) -> bool {
        self.about_superblocks().any(UserPolicy::has_failed)
            || self.pacing.as_ref().is_some_and(UserPolicy::has_failed)
    }
}

/// Policies that choose the code of a superblock as it is opened.
#[derive(Clone, Debug)]
pub(crate) struct CodePolicies {
    /// The user's policy.
    pub(crate) code: Option<UserPolicy<dyn QuestionPolicy<StripeCodeQuestion>>>,
    /// Rules of the settings for codes, for classes that no policy of the user's decides.
    pub(crate) by_figures: ByFigures,
}

impl CodePolicies {
    /// The user's policy, and the rules of `protection` for each of `classes` classes.
    pub(crate) fn new(policies: &DrivePolicies, protection: Option<&ProtectionConfig>, classes: u8) -> Self {
        Self {
            code: load_policy("policies.code", policies.code.as_ref()),
            by_figures: ByFigures::new(protection, classes),
        }
    }

    /// True if superblocks of one class may get different codes.
    #[inline]
    pub(crate) fn choose_codes(&self) -> bool {
        self.code.is_some() || !self.by_figures.is_empty()
    }

    /// True if superblocks of class `class` may get different codes.
    pub(crate) fn choose_codes_of(&self, class: u8) -> bool {
        self.code.is_some() || self.by_figures.chooses(class)
    }

    /// Error of the user's policy, if it failed.
    pub(crate) fn failure(&self) -> Option<ConfigError> {
        self.code.as_ref()?.failure()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.code.as_ref().is_some_and(UserPolicy::has_failed)
    }
}

fn load_policy<P: ?Sized>(setting: &'static str, loaded: Option<&LoadedPolicy<P>>) -> Option<UserPolicy<P>> {
    loaded.map(|policy| UserPolicy::new(setting, policy))
}

/// The choice of `policy`; `must`: it may not decline while space can be gained. `None`, too, once it has failed.
pub(crate) fn choose(
    policy: &mut SuperblockUserPolicy,
    view: &SuperblockColumns<'_>,
    draws: &mut RandomDraws<'_>,
    must: bool,
) -> Option<SuperblockId> {
    policy.ask(|choice_of| {
        let choice = choice_of.choose(view, draws).and_then(|choice| check_choice(choice, view, must));
        choice.map_err(|error| format!("{error}; {}", state_of(view)))
    })?
}

/// Choices without gain that a policy of collection may make in a row, times the superblocks: one that goes round them all has come to each so often,
/// and one that draws them has missed one in all of these with a probability of e^-16.
const ROUNDS_WITHOUT_GAIN: u32 = 16;

/// Has `policy` of collection fail that chose `victim`, if by choices like this the host would wait for ever.
pub(crate) fn check_gain(
    policy: &mut SuperblockUserPolicy,
    view: &SuperblockColumns<'_>,
    victim: SuperblockId,
    without_gain: &mut u32,
) {
    *without_gain = if view.valid(victim) < view.units { 0 } else { *without_gain + 1 };
    if *without_gain > ROUNDS_WITHOUT_GAIN * view.superblocks() {
        let told = format!(
            "returned {without_gain} superblocks in a row from which nothing is gained, though no superblock is free for the host; {}",
            state_of(view)
        );
        let _: Option<()> = policy.ask(|_| Err(told));
    }
}

fn check_choice(
    choice: Option<SuperblockId>,
    view: &SuperblockColumns<'_>,
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

/// The view of the policy, in a few words.
fn state_of(view: &SuperblockColumns<'_>) -> String {
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
