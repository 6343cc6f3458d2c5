//! Which code new superblocks get, and which old ones no longer have the code, or the dies, of new ones.

use super::{Cause, Ftl, NO_CODE, State, Stream};
use crate::config::{CodeConfig, ProtectedStreams};
use crate::stripes::Stripes;
use outlast_media::ConfigError;
use outlast_units::SuperblockId;

impl Ftl {
    /// The code that class `class` has now.
    pub fn code(&self, class: u8) -> CodeConfig {
        self.class_codes[usize::from(class)]
    }

    /// The code that the superblock of program unit `pu` was opened with.
    pub fn code_of_pu(&self, pu: u32) -> CodeConfig {
        let none = CodeConfig { data: 1, parity: 0, block: None };
        let code = self.code[self.layout.place(pu).superblock.index()];
        self.code_configs.get(usize::from(code)).copied().unwrap_or(none)
    }

    /// Parity program units of stripes and blocks that may be open at once.
    pub fn open_parities(&self) -> u64 {
        let of = |stream: Stream| {
            let lanes = self.layout.lanes().len() as u64;
            self.stream_code(stream).map_or(0, |code| {
                u64::from(code.parity()) + if code.block_code().is_some() { lanes } else { 0 }
            })
        };
        (0..self.streams()).map(Stream).map(of).sum()
    }

    /// From now on superblocks of class `class` get code `code`; those that it has keep theirs until they are moved
    /// ([`Ftl::is_outdated`]).
    ///
    /// # Errors
    /// A code that does not suit the dies, or leaves too little room for the user data: then nothing has changed.
    pub fn set_code(&mut self, class: u8, code: CodeConfig) -> Result<(), ConfigError> {
        code.validate("code")?;
        let before = (self.class_codes.clone(), self.stream_code.clone());
        let mut codes = self.class_codes.clone();
        codes[usize::from(class)] = code;
        self.take_codes(&codes)?;
        if self.layout.superblocks() - self.retired < self.superblocks_needed() {
            let limit = format!(
                "leaves {} of user data in a superblock: {} superblocks would be needed, and there are {}",
                outlast_units::Bytes(u64::from(self.least_data_units()) * self.config.mapping_unit.0),
                self.superblocks_needed(),
                self.layout.superblocks() - self.retired
            );
            (self.class_codes, self.stream_code) = before;
            self.count_data_units();
            self.review_room();
            let shown = format!("({}, {})", code.data, code.parity);
            return Err(ConfigError::new("code", shown, limit));
        }
        Ok(())
    }

    /// Gives each class its code.
    pub(super) fn take_codes(&mut self, class_codes: &[CodeConfig]) -> Result<(), ConfigError> {
        let numbers =
            class_codes.iter().map(|&code| self.number_of(code)).collect::<Result<Vec<u8>, ConfigError>>()?;
        self.class_codes = class_codes.to_vec();
        self.stream_code = (0..self.streams())
            .map(Stream)
            .map(|stream| match self.cause_of(stream) {
                Cause::Partial => NO_CODE,
                Cause::Host | Cause::Scrub if self.protected == ProtectedStreams::Gathered => NO_CODE,
                _ => numbers[usize::from(self.class_of(stream))],
            })
            .collect();
        self.count_data_units();
        self.review_room();
        Ok(())
    }

    /// The number under which code `code` is kept.
    fn number_of(&mut self, code: CodeConfig) -> Result<u8, ConfigError> {
        let known = self.code_configs.iter().position(|&known| known == code);
        if let Some(number) = known {
            return Ok(number as u8);
        }
        let Some(stripes) = Stripes::new(code, &self.layout)? else { return Ok(NO_CODE) };
        if self.codes.len() == usize::from(NO_CODE) {
            let limit = "a drive has at most 255 different codes in its life";
            return Err(ConfigError::new("device.protection.data", code.data, limit));
        }
        self.codes.push(stripes);
        self.code_configs.push(code);
        Ok((self.codes.len() - 1) as u8)
    }

    /// Whether `superblock` is sealed and its code is not the one that its stream has now.
    #[inline]
    pub fn is_outdated(&self, superblock: SuperblockId) -> bool {
        let index = superblock.index();
        self.state[index] == State::Sealed
            && self.code[index] != self.stream_code[usize::from(self.opened_by[index].0)]
            && self.cause_of(self.opened_by[index]) != Cause::Partial
    }

    /// Whether `superblock` is sealed and leaves out dies that have been added since.
    pub fn is_narrow(&self, superblock: SuperblockId) -> bool {
        self.state[superblock.index()] == State::Sealed
            && self.opened_gaps(superblock).is_some_and(|gaps| {
                let lanes = 0..self.layout.lanes().len() as u32;
                lanes.into_iter().any(|lane| gaps.contains(lane) && !self.is_missing(superblock, lane))
            })
    }

    /// Lanes of `superblock`, which is sealed, that held data and are gone: so many members of its stripes are missing.
    pub fn lanes_lost(&self, superblock: SuperblockId) -> u32 {
        if self.dead_lanes.is_empty() || self.state[superblock.index()] != State::Sealed {
            return 0;
        }
        let opened = self.opened_gaps(superblock);
        let lanes = 0..self.layout.lanes().len() as u32;
        lanes
            .filter(|&lane| self.dead_lanes.contains(lane) && !opened.is_some_and(|gaps| gaps.contains(lane)))
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
        let sealed = (0..self.layout.superblocks()).map(SuperblockId).filter(|superblock| {
            self.state[superblock.index()] == State::Sealed
                && self.cause_of(self.opened_by[superblock.index()]) != Cause::Partial
        });
        sealed.fold((0, 0), |(outdated, all), superblock| {
            (outdated + u32::from(self.is_outdated(superblock)), all + 1)
        })
    }
}
