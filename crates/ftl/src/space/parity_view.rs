//! View of parity for callers.

use crate::space::{CodeAxis, FlashSpace, LineMember};
use crate::streams::StreamCause;
use outlast_decisions::SuperblockState;
use outlast_media::UnitBytes;
use outlast_settings::ftl::{CodeConfig, PartialPlace};
use outlast_units::{Ppn, Pu, Stream, to_count};

/// Codes, and the lines of program units that they protect.
#[derive(Clone, Copy, Debug)]
pub struct ParityView<'a> {
    space: &'a FlashSpace,
}

impl FlashSpace {
    /// Parity.
    #[inline]
    pub fn parity(&self) -> ParityView<'_> {
        ParityView { space: self }
    }
}

impl<'a> ParityView<'a> {
    /// The code that class `class` has now.
    pub fn code(self, class: u8) -> CodeConfig {
        self.space.pus.code(class)
    }

    /// The code that the superblock of program unit `pu` was opened with.
    pub fn code_of_pu(self, pu: Pu) -> CodeConfig {
        self.space.pus.codes.config_of(self.space.pus.layout.within_superblock(pu).0)
    }

    /// The code of what `stream` writes next: that of its open superblock where each may get another, else that of its class.
    pub fn code_of_stream(self, stream: Stream) -> CodeConfig {
        let class = self.space.pus.streams.class(stream);
        let frontier = &self.space.frontiers[stream];
        if self.space.code_policies.choose_codes_of(class) && !frontier.is_full() {
            return self.space.pus.codes.config_of(frontier.superblock());
        }
        self.space.pus.code(class)
    }

    /// Parity program units of stripes and blocks that may be open at once.
    pub fn open_units(self) -> u64 {
        let of = |stream: Stream| {
            let lanes = self.space.pus.layout.lanes().len() as u64;
            self.space.pus.codes.of_stream(stream).map_or(0, |code| {
                u64::from(code.parity()) + if code.block_code().is_some() { lanes } else { 0 }
            })
        };
        self.space.frontiers.streams().filter(|&stream| self.space.is_in_use(stream)).map(of).sum()
    }

    /// Superblocks whose code is [outdated](crate::SuperblockView::is_outdated), and all that hold data.
    pub fn outdated(self) -> (u32, u32) {
        let sealed = self.space.pus.superblocks.in_state(SuperblockState::Sealed).filter(|&superblock| {
            self.space.pus.streams.cause(self.space.pus.superblocks.opened_by(superblock))
                != StreamCause::Partial
        });
        sealed.fold((0, 0), |(outdated, all), superblock| {
            (outdated + u32::from(self.space.is_outdated(superblock)), all + 1)
        })
    }

    /// Place of covers of stripes that are not yet full; `None` in a drive without parity.
    pub fn partial_place(self) -> Option<PartialPlace> {
        self.space.pus.partials.place()
    }

    /// Number of members of the line of program unit `pu` along `axis` that it takes to rebuild another; `None` without parity along `axis`.
    pub fn line_needs(self, pu: Pu, axis: CodeAxis) -> Option<u32> {
        let line = self.space.pus.line(pu, axis)?;
        Some(to_count(self.space.pus.members(line).filter(|&(_, index)| index < line.data).count()))
    }

    /// The other members of the line of program unit `pu` along `axis`, with the place of each; none without parity along `axis`.
    pub fn line_of(self, pu: Pu, axis: CodeAxis) -> impl Iterator<Item = LineMember> + use<'a> {
        let line = self.space.pus.line(pu, axis);
        line.into_iter().flat_map(move |line| {
            self.space
                .pus
                .members(line)
                .filter(move |&(other, _)| other != pu)
                .map(move |(other, index)| self.space.pus.member(line, other, index))
        })
    }

    /// True if the cover of the open stripe of program unit `pu` gives its unit `unit`, without members that are `is_broken`, which cannot be read.
    ///
    /// # Panics
    /// If bytes are kept and the cover gives others than were written.
    pub fn cover_gives(self, pu: Pu, unit: u32, is_broken: impl Fn(Pu) -> bool) -> bool {
        self.space.cover_gives(pu, unit, is_broken)
    }

    /// The unit of slot `slot` rebuilt along `axis` from other members: those in `had` (program units that
    /// were read, or were in the controller's memory when the recovery began), and those that are not on flash. For drives that
    /// keep bytes. `None` if no bytes are kept, the slot has no parity that way, or these members do not suffice.
    pub fn rebuild(self, slot: Ppn, axis: CodeAxis, had: &[Pu]) -> Option<UnitBytes> {
        self.space.contents.rebuild(&self.space.pus, slot, axis, had)
    }
}
