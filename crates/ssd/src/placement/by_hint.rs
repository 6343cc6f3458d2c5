//! By stream hint: a class has the writes whose commands carry one of its `hints`.

use super::{Placement, Write};
use outlast_settings::ftl::ClassConfig;

/// The class of each stream hint that a class asks for.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct ByHint(Vec<(u16, u8)>);

impl Placement for ByHint {
    fn new(classes: &[ClassConfig], _sectors: u64) -> Option<Self> {
        let of_class =
            |(class, own): (u8, &ClassConfig)| own.hints.clone().into_iter().map(move |hint| (hint, class));
        let hints: Vec<(u16, u8)> = (0u8..).zip(classes).flat_map(of_class).collect();
        (!hints.is_empty()).then_some(Self(hints))
    }

    fn class_of(&self, write: Write) -> Option<u8> {
        self.0.iter().find(|&&(hint, _)| hint == write.hint).map(|&(_, class)| class)
    }
}
