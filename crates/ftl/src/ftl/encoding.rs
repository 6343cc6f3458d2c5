//! Codes of new superblocks, and superblocks whose code, or dies, are no longer those of new ones.

use super::Ftl;
use crate::policy::FtlPolicies;
use crate::streams::StreamCause;
use crate::stripes::LaneSet;
use crate::uses::SuperblockUses;
use outlast_decisions::{ChosenCode, StripeCodeQuestion, SuperblockState};
use outlast_media::ConfigError;
use outlast_settings::ftl::{CodeConfig, ProtectionConfig};
use outlast_units::{Pu, Stream, SuperblockId};

impl Ftl {
    /// The code that class `class` has now.
    pub(super) fn code(&self, class: u8) -> CodeConfig {
        self.codes.of_class()[usize::from(class)]
    }

    /// Gives superblocks of class `class` that are opened from now on code `code`; older ones keep theirs until they are moved
    /// ([`SuperblockView::is_outdated`](super::SuperblockView::is_outdated)).
    ///
    /// # Errors
    /// A code that does not suit the dies, or leaves too little room for the user data: then nothing has changed.
    pub fn set_code(&mut self, class: u8, code: CodeConfig) -> Result<(), ConfigError> {
        code.validate("code")?;
        if self.policies.by_figures.chooses(class) {
            let limit = "has codes by what superblocks have gone through, in device.protection.codes";
            return Err(ConfigError::new("class", class, limit));
        }
        let before = self.codes.of_class().to_vec();
        let mut codes = before.clone();
        codes[usize::from(class)] = code;
        self.take_codes(&codes)?;
        let superblocks = self.layout.superblocks() - self.superblocks.retired();
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
    pub(super) fn begin_codes(&mut self, protection: Option<&ProtectionConfig>) -> Result<(), ConfigError> {
        let none = CodeConfig { data: 1, parity: 0, block: None };
        let code = |class| protection.map_or(none, |protection| protection.code(class));
        self.take_codes(&(0..self.streams.classes()).map(code).collect::<Vec<_>>())?;
        if self.policies.choose_codes() {
            self.uses = Some(Box::new(SuperblockUses::new(self.superblocks.ids().len())));
        }
        protection.map_or(Ok(()), |protection| self.check_rules(protection))
    }

    /// Gives each class its code.
    pub(super) fn take_codes(&mut self, class_codes: &[CodeConfig]) -> Result<(), ConfigError> {
        self.codes.assign(class_codes, &self.layout, &self.streams, self.lanes.dead())?;
        self.review_room();
        Ok(())
    }

    /// Checks that the rules of `protection` suit the dies, and that none leaves a superblock less data than the strongest code of its class, by
    /// which room is counted.
    fn check_rules(&self, protection: &ProtectionConfig) -> Result<(), ConfigError> {
        let room = |code: CodeConfig, at: &str| {
            let counted = self.codes.room_of(code, &self.layout, self.lanes.dead());
            counted.map_err(|error| ConfigError { field: format!("{at}.data"), ..error })
        };
        for class in (0..self.streams.classes()).filter(|&class| protection.has_rules(class)) {
            let (strongest, at) = (protection.code(class), protection.rules_at(class));
            let least = self.codes.room_of(strongest, &self.layout, self.lanes.dead())?;
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

    /// True if figures of superblocks' uses are kept ([`Ftl::begin_use`], [`Ftl::end_use`], [`Ftl::count_uncorrectable`]).
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
        let (superblock, _) = self.within_superblock(pu);
        if let Some(uses) = &mut self.uses {
            uses.count_uncorrectable(superblock, units);
        }
    }

    /// Chooses the code of `superblock`, which `stream` has just opened, by the user's policy or the rules of the class. Room and memory are counted
    /// by the code of the class, so no choice may need more; without parity in the class there is nothing to choose.
    #[cold]
    pub(super) fn choose_code(&mut self, superblock: SuperblockId, stream: Stream) {
        let free = self.free_superblocks() + 1;
        let Self { policies, codes, layout, lanes, superblocks, streams, counts, uses, .. } = self;
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
        let least = codes.data_units(stream);
        let code = |(data, parity): ChosenCode| CodeConfig { data, parity, ..class };
        let room_of = |chosen: ChosenCode| codes.room_of(code(chosen), layout, lanes.dead());
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
        let FtlPolicies { code: policy, by_figures, .. } = &mut **policies;
        let chosen = match policy {
            Some(policy) => policy.decide(&question, check),
            None => by_figures.choose(&question).filter(|chosen| check(chosen).is_ok()),
        };
        // With lanes gone, a code with less parity may leave less room, which no policy can foresee: then the superblock gets the code of its class.
        let has_room =
            |&chosen: &ChosenCode| lanes.dead().is_none() || room_of(chosen).is_ok_and(|room| room >= least);
        let chosen = chosen.filter(has_room);
        if let Some(chosen) = chosen {
            let taken = codes.choose_for(superblock, code(chosen), layout);
            debug_assert!(taken.is_ok(), "a code that has room is taken");
        }
    }

    /// True if `superblock` is sealed and its code is not the one that its stream has now. Codes that are chosen superblock by superblock are never
    /// outdated: the user's policy is not asked again, and rules would choose the same, as figures change only with an erasure.
    #[inline]
    pub(super) fn is_outdated(&self, superblock: SuperblockId) -> bool {
        let stream = self.superblocks.opened_by(superblock);
        !self.policies.choose_codes_of(self.streams.class(stream))
            && self.superblocks.state(superblock) == SuperblockState::Sealed
            && !self.codes.is_current(superblock, stream)
            && self.streams.cause(stream) != StreamCause::Partial
    }

    /// Members that stripes of `superblock` have lost if it is sealed, else 0: those of lanes that are gone, and one for a loss of power.
    pub(super) fn members_lost(&self, superblock: SuperblockId) -> u32 {
        if self.superblocks.state(superblock) == SuperblockState::Sealed {
            self.members_lost_since(superblock)
        } else {
            0
        }
    }

    /// As [`Ftl::members_lost`], of a superblock that may not be sealed. Members that a loss of power took count as one, however many there are.
    pub(super) fn members_lost_since(&self, superblock: SuperblockId) -> u32 {
        let by_power = self.lanes.is_cut(superblock) && self.lacks_members(superblock);
        self.lanes_lost_since(superblock) + u32::from(by_power)
    }

    /// Lanes that are gone and were not when `superblock` was opened.
    fn lanes_lost_since(&self, superblock: SuperblockId) -> u32 {
        let Some(dead) = self.lanes.dead() else { return 0 };
        let opened = self.opened_gaps(superblock);
        let lanes = self.layout.lanes().indices();
        lanes.filter(|&lane| dead.contains(lane) && !opened.is_some_and(|gaps| gaps.contains(lane))).count()
            as u32
    }
}
