//! Codes of classes, streams and superblocks.
//!
//! A class of data is a code with streams of its own. With a code within blocks, each lane of a superblock is a line of its own, beside the stripes across
//! lanes. Codes and dies change while data is live, by relocation of the superblocks whose code is outdated (decision 0016).
//!
//! `ssd/src/placement/` chooses the class of a write, and `ssd/src/health/changes.rs` decides when a code or the dies change.

mod restored;

use crate::lane_set::LaneSet;
use crate::layout::SlotLayout;
use crate::streams::{StreamCause, StreamTable};
use crate::stripes::{PuRole, StripeLayout};
use outlast_media::ConfigError;
use outlast_settings::ftl::{CodeConfig, ProtectedStreams};
use outlast_units::{IndexVec, ModeId, Stream, SuperblockId, to_count};

/// Number of a code that stands for no parity.
const NO_CODE: u8 = u8::MAX;
/// Code that stands for no parity.
const NO_PARITY: CodeConfig = CodeConfig { data: 1, parity: 0, block: None };

/// Codes of a flash core, each with its division of a superblock into stripes.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct CodeTable {
    /// Every code that has been used since the beginning, in each mode.
    codes: Vec<(CodeConfig, ModeId, StripeLayout)>,
    of_class: Vec<CodeConfig>,
    /// Setting that says which streams get parity.
    #[persist(fixed)]
    protected: ProtectedStreams,
    /// Code of superblocks that each stream opens from now on: a number in `codes`, or [`NO_CODE`].
    of_stream: IndexVec<Stream, u8>,
    /// Code of each superblock since it was opened.
    of: IndexVec<SuperblockId, u8>,
    /// Data slots of a superblock that each stream opens.
    data_units: IndexVec<Stream, u32>,
}

impl CodeTable {
    /// No parity on any of `superblocks` superblocks, and no data slots: [`CodeTable::assign`] comes first.
    pub(crate) fn new(protected: ProtectedStreams, streams: usize, superblocks: usize) -> Self {
        Self {
            codes: Vec::new(),
            of_class: Vec::new(),
            protected,
            of_stream: IndexVec::filled(NO_CODE, streams),
            of: IndexVec::filled(NO_CODE, superblocks),
            data_units: IndexVec::filled(0, streams),
        }
    }

    /// Gives superblocks of each class that are opened from now on the code in `classes`.
    ///
    /// # Errors
    /// A code that does not suit the dies: then nothing has changed.
    pub(crate) fn assign(
        &mut self,
        classes: &[CodeConfig],
        layout: &SlotLayout,
        streams: &StreamTable,
        dead: Option<&LaneSet>,
    ) -> Result<(), ConfigError> {
        assert!(!classes.is_empty(), "data belongs to a class");
        // All are made before one is assigned, so that an error changes nothing.
        let of_stream = |stream| (classes[usize::from(streams.class(stream))], streams.mode(stream));
        let wanted: Vec<(CodeConfig, ModeId)> =
            classes.iter().map(|&code| (code, ModeId::FIRST)).chain(streams.all().map(of_stream)).collect();
        let numbers = wanted.iter().map(|&(code, mode)| self.number_of(code, mode, layout));
        let numbers = numbers.collect::<Result<Vec<u8>, ConfigError>>()?.split_off(classes.len());
        if layout.has_modes() {
            // A stream may open its next superblock in another mode.
            for (&code, mode) in
                classes.iter().flat_map(|code| layout.mode_ids().map(move |mode| (code, mode)))
            {
                self.number_of(code, mode, layout)?;
            }
        }
        self.of_class = classes.to_vec();
        let gathered = self.protected == ProtectedStreams::Gathered;
        for (stream, number) in (0..).map(Stream).zip(self.of_stream.iter_mut()) {
            *number = match streams.cause(stream) {
                StreamCause::Partial => NO_CODE,
                StreamCause::Host | StreamCause::Map if gathered => NO_CODE,
                // Data that is rebuilt after a failure had parity, and keeps it.
                StreamCause::Scrub if gathered && !streams.scrub_on_failure() => NO_CODE,
                _ => numbers[usize::from(stream.0)],
            };
        }
        self.count_data_units(layout, streams, dead);
        Ok(())
    }

    /// Number of code `code` in `mode`, which is added if it is new.
    #[allow(clippy::cast_possible_truncation, reason = "at most NO_CODE codes are kept")]
    fn number_of(&mut self, code: CodeConfig, mode: ModeId, layout: &SlotLayout) -> Result<u8, ConfigError> {
        if let Some(number) = self.codes.iter().position(|&(config, of, _)| (config, of) == (code, mode)) {
            return Ok(number as u8);
        }
        let Some(stripes) = StripeLayout::new(code, layout, mode)? else { return Ok(NO_CODE) };
        if self.codes.len() == usize::from(NO_CODE) {
            return Err(too_many(code));
        }
        debug_assert!(code.parity != 0 || code.block.is_some(), "a code without parity is kept as one");
        self.codes.push((code, mode, stripes));
        Ok((self.codes.len() - 1) as u8)
    }

    /// Counts data slots anew, without the lanes in `dead`. To be called after lanes have come or gone.
    pub(crate) fn count_data_units(
        &mut self,
        layout: &SlotLayout,
        streams: &StreamTable,
        dead: Option<&LaneSet>,
    ) {
        let counted = self
            .of_stream
            .indices()
            .map(|stream| data_units(layout, streams.mode(stream), self.of_stream(stream), dead));
        self.data_units = counted.collect();
    }

    /// Data slots that a superblock has when `stream` opens it now.
    #[inline]
    pub(crate) fn data_units(&self, stream: Stream) -> u32 {
        self.data_units[stream]
    }

    /// The most data slots that any stream's superblocks have.
    pub(crate) fn most_data_units(&self) -> u32 {
        self.data_units.iter().copied().max().unwrap_or(0)
    }

    /// Number of codes that have been used.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.codes.len()
    }

    /// The code of each class.
    pub(crate) fn of_class(&self) -> &[CodeConfig] {
        &self.of_class
    }

    /// Stripes of superblocks that `stream` opens now; `None` without parity.
    pub(crate) fn of_stream(&self, stream: Stream) -> Option<&StripeLayout> {
        self.stripes(self.of_stream[stream])
    }

    /// Stripes of `superblock`; `None` without parity.
    #[inline]
    pub(crate) fn of(&self, superblock: SuperblockId) -> Option<&StripeLayout> {
        self.stripes(self.of[superblock])
    }

    #[inline]
    fn stripes(&self, number: u8) -> Option<&StripeLayout> {
        self.codes.get(usize::from(number)).map(|(_, _, stripes)| stripes)
    }

    /// The code that `superblock` was opened with.
    pub(crate) fn config_of(&self, superblock: SuperblockId) -> CodeConfig {
        self.config(self.of[superblock])
    }

    fn config(&self, number: u8) -> CodeConfig {
        self.codes.get(usize::from(number)).map_or(NO_PARITY, |&(config, _, _)| config)
    }

    /// Has superblocks that `stream` opens from now on the code that they had, divided into stripes for the mode that `streams` has for it now.
    ///
    /// # Errors
    /// As [`CodeTable::room_of`].
    pub(crate) fn follow_mode(
        &mut self,
        stream: Stream,
        layout: &SlotLayout,
        streams: &StreamTable,
        dead: Option<&LaneSet>,
    ) -> Result<(), ConfigError> {
        let (number, mode) = (self.of_stream[stream], streams.mode(stream));
        if number != NO_CODE {
            self.of_stream[stream] = self.number_of(self.config(number), mode, layout)?;
        }
        self.data_units[stream] = data_units(layout, mode, self.of_stream(stream), dead);
        Ok(())
    }

    /// True if `superblock` has parity.
    #[inline]
    pub(crate) fn has_parity(&self, superblock: SuperblockId) -> bool {
        self.of[superblock] != NO_CODE
    }

    /// True if superblocks that `stream` opens now get parity.
    pub(crate) fn is_protected(&self, stream: Stream) -> bool {
        self.of_stream[stream] != NO_CODE
    }

    /// True if `superblock`, opened by `stream`, has the code that the stream would open it with now.
    pub(crate) fn is_current(&self, superblock: SuperblockId, stream: Stream) -> bool {
        self.config_of(superblock) == self.config(self.of_stream[stream])
    }

    /// Gives `superblock`, opened by `stream`, the code of the stream.
    pub(crate) fn assign_to(&mut self, superblock: SuperblockId, stream: Stream) {
        debug_assert!(
            self.of[superblock] == NO_CODE,
            "superblock {superblock} has a code before it is opened"
        );
        self.of[superblock] = self.of_stream[stream];
    }

    /// Data slots that a superblock in `mode` would have with code `code`.
    ///
    /// # Errors
    /// A code that does not suit the dies, or one too many.
    pub(crate) fn room_of(
        &self,
        code: CodeConfig,
        mode: ModeId,
        layout: &SlotLayout,
        dead: Option<&LaneSet>,
    ) -> Result<u32, ConfigError> {
        let known = self.codes.iter().find(|&&(config, of, _)| (config, of) == (code, mode));
        if let Some((_, _, stripes)) = known {
            return Ok(data_units(layout, mode, Some(stripes), dead));
        }
        if self.codes.len() == usize::from(NO_CODE) {
            return Err(too_many(code));
        }
        Ok(data_units(layout, mode, StripeLayout::new(code, layout, mode)?.as_ref(), dead))
    }

    /// Gives `superblock`, just opened in `mode`, code `code` instead of its stream's.
    ///
    /// # Errors
    /// As [`CodeTable::room_of`].
    pub(crate) fn choose_for(
        &mut self,
        superblock: SuperblockId,
        code: CodeConfig,
        mode: ModeId,
        layout: &SlotLayout,
    ) -> Result<(), ConfigError> {
        self.of[superblock] = self.number_of(code, mode, layout)?;
        Ok(())
    }

    /// Forgets the code of `superblock`, which has been erased.
    pub(crate) fn forget(&mut self, superblock: SuperblockId) {
        self.of[superblock] = NO_CODE;
    }

    /// Bytes for each superblock.
    pub(crate) const BYTES_EACH: usize = size_of::<u8>();

    /// Checks that no erased superblock has a code.
    ///
    /// # Errors
    /// The first superblock that has one and is erased.
    pub(crate) fn check(&self, is_erased: impl Fn(SuperblockId) -> bool) -> Result<(), String> {
        match self.of.iter_indexed().find(|&(superblock, &code)| code != NO_CODE && is_erased(superblock)) {
            None => Ok(()),
            Some((superblock, code)) => Err(format!("superblock {superblock} is erased and has code {code}")),
        }
    }
}

fn too_many(code: CodeConfig) -> ConfigError {
    let limit = "a drive has at most 255 different codes in its life";
    ConfigError::new("device.protection.data", code.data, limit)
}

/// Data slots of a superblock in `mode` with code `code`, without the lanes in `gaps`.
pub(crate) fn data_units(
    layout: &SlotLayout,
    mode: ModeId,
    code: Option<&StripeLayout>,
    gaps: Option<&LaneSet>,
) -> u32 {
    let pus = layout.data_pus(mode);
    let data = match (code, gaps) {
        (None, None) => pus,
        (None, Some(gaps)) => pus.saturating_sub(gaps.len() * layout.data_superpages(mode)),
        (Some(code), gaps) => {
            to_count(layout.pus_within(mode).filter(|&pu| code.role(pu, gaps) == PuRole::Data).count())
        }
    };
    debug_assert!(data <= pus, "more program units hold data than there are");
    data * layout.units_per_pu()
}

#[cfg(test)]
mod tests;
