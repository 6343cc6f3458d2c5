//! Codes of new superblocks, and superblocks whose code, or dies, are no longer those of new ones.

use crate::lane_set::LaneSet;
use crate::policy::CodePolicies;
use crate::space::{FlashSpace, PuStates};
use crate::streams::StreamCause;
use crate::uses::SuperblockUses;
use outlast_decisions::{ChosenCode, StripeCodeQuestion, SuperblockState};
use outlast_media::ConfigError;
use outlast_settings::ftl::{CodeConfig, ProtectionConfig};
use outlast_units::{LocalDie, ModeId, Pu, Stream, SuperblockId, to_count};

impl FlashSpace {
    /// True if the user's policy for codes has failed.
    pub(crate) fn has_policy_failed(&self) -> bool {
        self.code_policies.has_failed()
    }

    /// Error of the user's policy for codes, if it failed.
    pub(crate) fn policy_failure(&self) -> Option<ConfigError> {
        self.code_policies.failure()
    }

    /// Gives superblocks of class `class` that are opened from now on code `code`; older ones keep theirs until they are moved
    /// ([`SuperblockView::is_outdated`](crate::SuperblockView::is_outdated)).
    ///
    /// # Errors
    /// A code that does not suit the dies, or leaves too little room for the user data: then nothing has changed.
    pub fn set_code(&mut self, class: u8, code: CodeConfig) -> Result<(), ConfigError> {
        code.validate("code")?;
        if self.code_policies.by_figures.chooses(class) {
            let limit = "has codes by what superblocks have gone through, in device.protection.codes";
            return Err(ConfigError::new("class", class, limit));
        }
        let before = self.pus.codes.of_class().to_vec();
        let mut codes = before.clone();
        codes[usize::from(class)] = code;
        self.take_codes(&codes)?;
        let superblocks = self.pus.layout.superblocks() - self.pus.superblocks.retired();
        if superblocks < self.superblocks_needed() {
            let limit = format!(
                "leaves {} of user data in a superblock: {} superblocks would be needed, and there are {superblocks}",
                outlast_units::Bytes(u64::from(self.least_data_units()) * self.config.mapping_unit.0),
                self.superblocks_needed(),
            );
            self.take_codes(&before)?;
            let shown = format!("({}, {})", code.data, code.parity);
            return Err(ConfigError::new("code", shown, limit));
        }
        Ok(())
    }

    /// Assigns the codes that a drive begins with; if codes follow figures of superblocks, begins to keep these.
    pub(crate) fn begin_codes(&mut self, protection: Option<&ProtectionConfig>) -> Result<(), ConfigError> {
        let none = CodeConfig { data: 1, parity: 0, block: None };
        let code = |class| protection.map_or(none, |protection| protection.code(class));
        self.take_codes(&(0..self.pus.streams.classes()).map(code).collect::<Vec<_>>())?;
        if self.code_policies.choose_codes() {
            self.uses = Some(Box::new(SuperblockUses::new(self.pus.superblocks.ids().len())));
        }
        protection.map_or(Ok(()), |protection| self.check_rules(protection))
    }

    /// Gives each class its code.
    pub(crate) fn take_codes(&mut self, class_codes: &[CodeConfig]) -> Result<(), ConfigError> {
        self.pus.codes.assign(class_codes, &self.pus.layout, &self.pus.streams, self.pus.lanes.dead())?;
        self.review_room();
        Ok(())
    }

    /// Checks that the rules of `protection` suit the dies, and that none leaves a superblock less data than the strongest code of its class, by
    /// which room is counted.
    fn check_rules(&self, protection: &ProtectionConfig) -> Result<(), ConfigError> {
        let room = |code: CodeConfig, at: &str| {
            let counted =
                self.pus.codes.room_of(code, ModeId::FIRST, &self.pus.layout, self.pus.lanes.dead());
            counted.map_err(|error| ConfigError { field: format!("{at}.data"), ..error })
        };
        for class in (0..self.pus.streams.classes()).filter(|&class| protection.has_rules(class)) {
            let (strongest, at) = (protection.code(class), protection.rules_at(class));
            let least =
                self.pus.codes.room_of(strongest, ModeId::FIRST, &self.pus.layout, self.pus.lanes.dead())?;
            let rules = protection.rules(class).iter().enumerate();
            let each = rules.map(|(index, rule)| (format!("{at}[{index}]"), rule.code(strongest.block)));
            let plain = ("device.protection".to_owned(), protection.plain_code(class));
            for (at, code) in std::iter::once(plain).chain(each) {
                if room(code, &at)? < least {
                    let limit =
                        "leaves a superblock less data than the last of the codes, by which room is counted";
                    return Err(ConfigError::new(&format!("{at}.data"), code.data, limit));
                }
            }
        }
        Ok(())
    }

    /// True if figures of superblocks' uses are kept ([`FlashSpace::begin_use`](Self::begin_use), [`FlashSpace::end_use`](Self::end_use), [`FlashSpace::count_uncorrectable`](Self::count_uncorrectable)).
    #[inline]
    pub fn keeps_uses(&self) -> bool {
        self.uses.is_some()
    }

    /// Sets the wrong bits expected in the worst codeword of `superblock` as time begins.
    pub fn begin_use(&mut self, superblock: SuperblockId, expected_errors: f64) {
        if let Some(uses) = &mut self.uses {
            uses.begin(superblock, expected_errors);
        }
    }

    /// Ends a use of `superblock`, which is about to be erased: `expected_errors` in its worst codeword, `rereads` pages read again.
    pub fn end_use(&mut self, superblock: SuperblockId, expected_errors: f64, rereads: u32) {
        if let Some(uses) = &mut self.uses {
            uses.end(superblock, expected_errors, rereads);
        }
    }

    /// Counts `units` units of program unit `pu` that neither ECC nor re-reads recovered.
    pub fn count_uncorrectable(&mut self, pu: Pu, units: u32) {
        let (superblock, _) = self.pus.within_superblock(pu);
        if let Some(uses) = &mut self.uses {
            uses.count_uncorrectable(superblock, units);
        }
    }

    /// Chooses the code of `superblock`, which `stream` has just opened, by the user's policy or the rules of the class. Room and memory are counted
    /// by the code of the class, so no choice may need more; without parity in the class there is nothing to choose.
    #[cold]
    pub(crate) fn choose_code(&mut self, superblock: SuperblockId, stream: Stream) {
        let free = self.free_superblocks() + 1;
        let Self { code_policies: policies, pus, counts, uses, .. } = self;
        let PuStates { codes, layout, lanes, superblocks, streams, .. } = pus;
        if !codes.is_protected(stream) {
            return;
        }
        let class = codes.config_of(superblock);
        let last = uses.as_ref().map(|uses| uses.last(superblock)).unwrap_or_default();
        let question = StripeCodeQuestion {
            superblock: superblock.0,
            class: streams.class(stream),
            cause: streams.cause(stream).name(),
            erases: superblocks.cycles(superblock),
            expected_errors: last.expected_errors,
            rereads: last.rereads,
            uncorrectable: last.uncorrectable,
            data: class.data,
            parity: class.parity,
            dead_lanes: lanes.dead().map_or(0, LaneSet::len),
            free,
            superblocks: layout.superblocks() - superblocks.retired(),
            clock: counts.clock(),
        };
        let (least, mode) = (codes.data_units(stream), streams.mode(stream));
        let code = |(data, parity): ChosenCode| CodeConfig { data, parity, ..class };
        let room_of = |chosen: ChosenCode| codes.room_of(code(chosen), mode, layout, lanes.dead());
        let check = |&chosen: &ChosenCode| {
            let refusal = |problem: String| format!("returned {chosen:?}: {problem}");
            code(chosen).validate("code").map_err(|error| refusal(error.to_string()))?;
            let room = room_of(chosen).map_err(|error| refusal(error.to_string()))?;
            if chosen.1 > class.parity {
                let limit =
                    "has more parity than the code of its class, by which the controller's memory is counted";
                return Err(refusal(limit.to_owned()));
            }
            if room < least && lanes.dead().is_none() {
                return Err(refusal(format!(
                    "leaves a superblock less data than the code of its class ({room} units, not {least}), by which room is counted"
                )));
            }
            Ok(())
        };
        let CodePolicies { code: policy, by_figures } = &mut **policies;
        let chosen = match policy {
            Some(policy) => policy.decide(&question, check),
            None => by_figures.choose(&question).filter(|chosen| check(chosen).is_ok()),
        };
        // With lanes gone, a code with less parity may leave less room, which no policy can foresee: then the superblock gets the code of its class.
        let has_room =
            |&chosen: &ChosenCode| lanes.dead().is_none() || room_of(chosen).is_ok_and(|room| room >= least);
        let chosen = chosen.filter(has_room);
        if let Some(chosen) = chosen {
            let taken = codes.choose_for(superblock, code(chosen), mode, layout);
            debug_assert!(taken.is_ok(), "a code that has room is taken");
        }
    }

    /// True if `superblock` is sealed and its code is not the one that its stream has now. Codes that are chosen superblock by superblock are never
    /// outdated: the user's policy is not asked again, and rules would choose the same, as figures change only with an erasure.
    #[inline]
    pub(crate) fn is_outdated(&self, superblock: SuperblockId) -> bool {
        let stream = self.pus.superblocks.opened_by(superblock);
        !self.code_policies.choose_codes_of(self.pus.streams.class(stream))
            && self.pus.superblocks.state(superblock) == SuperblockState::Sealed
            && !self.pus.codes.is_current(superblock, stream)
            && self.pus.streams.cause(stream) != StreamCause::Partial
    }

    /// Data slots that a superblock has when `stream` opens it now.
    pub(crate) fn data_units(&self, stream: Stream) -> u32 {
        self.pus.codes.data_units(stream)
    }

    /// Data slots of the superblocks with the most parity in which data may rest.
    pub(crate) fn least_data_units(&self) -> u32 {
        let resting =
            self.data_streams().filter(|&stream| self.pus.streams.keeps_data(stream, &self.pus.layout));
        resting.map(|stream| self.pus.codes.data_units(stream)).min().unwrap_or(0)
    }

    /// The streams that write data, not parity.
    pub(crate) fn data_streams(&self) -> impl Iterator<Item = Stream> {
        let streams = self.frontiers.streams().filter(|&stream| self.is_in_use(stream));
        streams.filter(|&stream| self.pus.streams.cause(stream) != StreamCause::Partial)
    }

    /// Counts data slots anew. To be called when lanes have come or gone.
    pub(crate) fn count_data_units(&mut self) {
        self.pus.codes.count_data_units(&self.pus.layout, &self.pus.streams, self.pus.lanes.dead());
    }

    /// Dies that may fail before data is lost that is written to `class` from now on.
    pub fn failures_survived_by_new(&self, class: u8) -> u32 {
        let protected = self.pus.codes.is_protected(self.pus.streams.host_of_class(class));
        let lanes = to_count(self.pus.layout.lanes_of_die(LocalDie(0)).len().max(1));
        if protected { u32::from(self.pus.code(class).parity) / lanes } else { 0 }
    }

    /// True if superblocks of some stream hold more data than those that the data moves to, as when only moved data has parity.
    pub(crate) fn is_unequal(&self) -> bool {
        let moves_to = |stream| self.pus.streams.gc(self.pus.streams.class(stream));
        self.data_streams().any(|stream| self.data_units(stream) > self.data_units(moves_to(stream)))
    }
}
