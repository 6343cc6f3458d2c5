//! Which code new superblocks get, and which old ones no longer have the code, or the dies, of new ones.

use super::Ftl;
use crate::config::CodeConfig;
use crate::streams::{Cause, Stream};
use crate::superblocks::State;
use outlast_media::ConfigError;
use outlast_units::{Pu, SuperblockId};

impl Ftl {
    /// The code that class `class` has now.
    pub fn code(&self, class: u8) -> CodeConfig {
        self.codes.of_class()[usize::from(class)]
    }

    /// The code that the superblock of program unit `pu` was opened with.
    pub fn code_of_pu(&self, pu: Pu) -> CodeConfig {
        self.codes.config_of(self.layout.within_superblock(pu).0)
    }

    /// Parity program units of stripes and blocks that may be open at once.
    pub fn open_parities(&self) -> u64 {
        let of = |stream: Stream| {
            let lanes = self.layout.lanes().len() as u64;
            self.codes.of_stream(stream).map_or(0, |code| {
                u64::from(code.parity()) + if code.block_code().is_some() { lanes } else { 0 }
            })
        };
        self.frontiers.streams().map(of).sum()
    }

    /// From now on superblocks of class `class` get code `code`; those that it has keep theirs until they are moved
    /// ([`Ftl::is_outdated`]).
    ///
    /// # Errors
    /// A code that does not suit the dies, or leaves too little room for the user data: then nothing has changed.
    pub fn set_code(&mut self, class: u8, code: CodeConfig) -> Result<(), ConfigError> {
        code.validate("code")?;
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

    /// Gives each class its code.
    pub(super) fn take_codes(&mut self, class_codes: &[CodeConfig]) -> Result<(), ConfigError> {
        self.codes.assign(class_codes, &self.layout, &self.streams, self.lanes.dead())?;
        self.review_room();
        Ok(())
    }

    /// Whether `superblock` is sealed and its code is not the one that its stream has now.
    #[inline]
    pub fn is_outdated(&self, superblock: SuperblockId) -> bool {
        let stream = self.superblocks.opened_by(superblock);
        self.superblocks.state(superblock) == State::Sealed
            && !self.codes.is_current(superblock, stream)
            && self.cause_of(stream) != Cause::Partial
    }

    /// Whether `superblock` is sealed and leaves out dies that have been added since.
    pub fn is_narrow(&self, superblock: SuperblockId) -> bool {
        self.superblocks.state(superblock) == State::Sealed
            && self.opened_gaps(superblock).is_some_and(|gaps| {
                let mut lanes = self.layout.lanes().indices();
                lanes.any(|lane| gaps.contains(lane) && !self.lanes.is_missing(superblock, lane))
            })
    }

    /// Lanes of `superblock`, which is sealed, that held data and are gone: so many members of its stripes are missing.
    pub fn lanes_lost(&self, superblock: SuperblockId) -> u32 {
        if self.lanes.dead().is_none() || self.superblocks.state(superblock) != State::Sealed {
            return 0;
        }
        let opened = self.opened_gaps(superblock);
        let lanes = self.layout.lanes().indices();
        lanes
            .filter(|&lane| self.lanes.is_dead(lane) && !opened.is_some_and(|gaps| gaps.contains(lane)))
            .count() as u32
    }

    /// How badly `superblock`, sealed, is off: members of its stripes that are gone, against those that may be.
    pub fn exposure(&self, superblock: SuperblockId) -> i64 {
        let parity = self.code_of(superblock).map_or(0, crate::stripes::Stripes::parity);
        let lost = self.lanes_lost(superblock);
        if lost == 0 { i64::MIN } else { i64::from(lost) - i64::from(parity) }
    }

    /// Superblocks whose code is [outdated](Ftl::is_outdated), and all that hold data.
    pub fn encoding_progress(&self) -> (u32, u32) {
        let sealed = self
            .superblocks
            .in_state(State::Sealed)
            .filter(|&superblock| self.cause_of(self.superblocks.opened_by(superblock)) != Cause::Partial);
        sealed.fold((0, 0), |(outdated, all), superblock| {
            (outdated + u32::from(self.is_outdated(superblock)), all + 1)
        })
    }
}
