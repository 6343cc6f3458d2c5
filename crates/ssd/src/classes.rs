//! Which class of protection a write belongs to.

use crate::config::SsdConfig;
use outlast_device::Command;
use outlast_units::SECTOR_BYTES;

/// Sectors from … to, and the class that they belong to.
type Range = (u64, u64, u8);

/// The rules of `device.protection.classes`.
#[derive(Clone, Debug)]
pub(crate) struct Classifier {
    /// The class of each stream hint that one asks for.
    hints: Vec<(u8, u8)>,
    /// In order of address.
    ranges: Vec<Range>,
    /// Bytes of a command, from … to.
    sizes: Vec<Range>,
    otherwise: u8,
}

impl Classifier {
    /// `None` where there is one class only.
    pub(crate) fn new(config: &SsdConfig) -> Option<Self> {
        let protection = config.protection.as_ref().filter(|own| own.classes.len() > 1)?;
        let classes = || (0u8..).zip(&protection.classes);
        let hints = classes().flat_map(|(class, own)| own.hints.iter().map(move |&hint| (hint, class)));
        let ranges = classes().flat_map(|(class, own)| {
            own.ranges
                .iter()
                .map(move |range| (range.from.0 / SECTOR_BYTES, range.to.0 / SECTOR_BYTES, class))
        });
        let sizes = classes().filter(|(_, own)| own.at_least.is_some() || own.at_most.is_some()).map(
            |(class, own)| {
                (
                    own.at_least.map_or(0, |bytes| bytes.0),
                    own.at_most.map_or(u64::MAX, |bytes| bytes.0),
                    class,
                )
            },
        );
        let mut ranges: Vec<Range> = ranges.collect();
        ranges.sort_unstable();
        Some(Self {
            hints: hints.collect(),
            ranges,
            sizes: sizes.collect(),
            otherwise: protection.default_class,
        })
    }

    /// The class of the unit that begins at `sector`, written by `command`.
    pub(crate) fn class(&self, command: &Command, sector: u64) -> u8 {
        let hint = command.stream.0;
        if let Some(&(_, class)) = self.hints.iter().find(|&&(own, _)| own == hint) {
            return class;
        }
        let after = self.ranges.partition_point(|&(from, ..)| from <= sector);
        if let Some(&(_, _, class)) =
            after.checked_sub(1).map(|at| &self.ranges[at]).filter(|range| sector < range.1)
        {
            return class;
        }
        let bytes = u64::from(command.sectors) * SECTOR_BYTES;
        let by_size = self.sizes.iter().find(|&&(from, to, _)| (from..=to).contains(&bytes));
        by_size.map_or(self.otherwise, |&(_, _, class)| class)
    }
}
