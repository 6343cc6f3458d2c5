//! Which code new superblocks get, and which old ones no longer have the code, or the dies, of new ones.

use super::Ftl;
use crate::config::CodeConfig;
use crate::streams::Cause;
use crate::superblocks::State;
use outlast_media::ConfigError;
use outlast_units::SuperblockId;

impl Ftl {
    /// The code that class `class` has now.
    pub(super) fn code(&self, class: u8) -> CodeConfig {
        self.codes.of_class()[usize::from(class)]
    }

    /// From now on superblocks of class `class` get code `code`; those that it has keep theirs until they are moved
    /// ([`SuperblockView::is_outdated`](super::SuperblockView::is_outdated)).
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
    pub(super) fn is_outdated(&self, superblock: SuperblockId) -> bool {
        let stream = self.superblocks.opened_by(superblock);
        self.superblocks.state(superblock) == State::Sealed
            && !self.codes.is_current(superblock, stream)
            && self.streams.cause(stream) != Cause::Partial
    }

    /// Lanes of `superblock`, which is sealed, that held data and are gone: so many members of its stripes are missing.
    pub(super) fn lanes_lost(&self, superblock: SuperblockId) -> u32 {
        if self.lanes.dead().is_none() || self.superblocks.state(superblock) != State::Sealed {
            return 0;
        }
        let opened = self.opened_gaps(superblock);
        let lanes = self.layout.lanes().indices();
        lanes
            .filter(|&lane| self.lanes.is_dead(lane) && !opened.is_some_and(|gaps| gaps.contains(lane)))
            .count() as u32
    }
}
