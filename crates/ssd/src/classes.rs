//! Which class of protection a write belongs to.

use crate::config::SsdConfig;
use outlast_device::Command;
use outlast_ftl::ClassConfig;
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
    /// By size and heat, in order of class.
    rules: Vec<Rule>,
    otherwise: u8,
    heat: Option<Heat>,
}

/// Bytes of a command, and how hot the place must be.
#[derive(Clone, Copy, Debug)]
struct Rule {
    from: u64,
    to: u64,
    hot: Option<f64>,
    class: u8,
}

impl Classifier {
    /// `None` where there is one class only.
    pub(crate) fn new(config: &SsdConfig, sectors: u64) -> Option<Self> {
        let protection = config.protection.as_ref().filter(|own| own.classes.len() > 1)?;
        let classes = || (0u8..).zip(&protection.classes);
        let hints = classes().flat_map(|(class, own)| own.hints.iter().map(move |&hint| (hint, class)));
        let ranges = classes().flat_map(|(class, own)| {
            own.ranges
                .iter()
                .map(move |range| (range.from.0 / SECTOR_BYTES, range.to.0 / SECTOR_BYTES, class))
        });
        let ruled = |own: &ClassConfig| own.at_least.is_some() || own.at_most.is_some() || own.hot.is_some();
        let rules = classes().filter(|(_, own)| ruled(own)).map(|(class, own)| Rule {
            from: own.at_least.map_or(0, |bytes| bytes.0),
            to: own.at_most.map_or(u64::MAX, |bytes| bytes.0),
            hot: own.hot,
            class,
        });
        let rules: Vec<Rule> = rules.collect();
        let mut ranges: Vec<Range> = ranges.collect();
        ranges.sort_unstable();
        Some(Self {
            hints: hints.collect(),
            ranges,
            heat: rules.iter().any(|rule| rule.hot.is_some()).then(|| Heat::new(sectors)),
            rules,
            otherwise: protection.default_class,
        })
    }

    /// Bytes of the counts of writes over a drive of `sectors` sectors.
    pub(crate) fn bytes_over(&self, sectors: u64) -> u64 {
        if self.heat.is_some() { sectors.div_ceil(PLACE) * size_of::<u32>() as u64 } else { 0 }
    }

    /// The unit that begins at `sector` is being written: how hot its place is may depend on it.
    pub(crate) fn note(&mut self, sector: u64) {
        if let Some(heat) = &mut self.heat {
            heat.note(sector);
        }
    }

    /// The class of the unit that begins at `sector`, written by `command`.
    pub(crate) fn class(&self, command: &Command, sector: u64) -> u8 {
        let hint = command.stream.0;
        if let Some(&(_, class)) = self.hints.iter().find(|&&(own, _)| own == hint) {
            return class;
        }
        let after = self.ranges.partition_point(|&(from, ..)| from <= sector);
        let range = after.checked_sub(1).map(|at| self.ranges[at]);
        if let Some((_, _, class)) = range.filter(|&(_, to, _)| sector < to) {
            return class;
        }
        let bytes = u64::from(command.sectors) * SECTOR_BYTES;
        let is_hot = |hot: f64| self.heat.as_ref().is_some_and(|heat| heat.is_above(sector, hot));
        let fits = |rule: &&Rule| (rule.from..=rule.to).contains(&bytes) && rule.hot.is_none_or(is_hot);
        self.rules.iter().find(fits).map_or(self.otherwise, |rule| rule.class)
    }
}

/// How often each megabyte of the address space has been written lately.
#[derive(Clone, Debug)]
struct Heat {
    writes: Vec<u32>,
    total: u64,
}

/// The sectors of a megabyte.
const PLACE: u64 = (1 << 20) / SECTOR_BYTES;
/// When there have been so many writes for each place, all counts are halved: what was long ago matters little.
const MEMORY: u64 = 512;

impl Heat {
    fn new(sectors: u64) -> Self {
        Self { writes: vec![0; sectors.div_ceil(PLACE) as usize], total: 0 }
    }

    fn note(&mut self, sector: u64) {
        self.writes[(sector / PLACE) as usize] += 1;
        self.total += 1;
        if self.total >= MEMORY * self.writes.len() as u64 {
            self.writes.iter_mut().for_each(|count| *count /= 2);
            self.total = self.writes.iter().map(|&count| u64::from(count)).sum();
        }
    }

    fn is_above(&self, sector: u64, times: f64) -> bool {
        let own = f64::from(self.writes[(sector / PLACE) as usize]);
        own * self.writes.len() as f64 >= times * self.total as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_written_ten_times_as_often_is_hot_until_others_are() {
        let mut heat = Heat::new(100 * PLACE);
        for round in 0..1000 {
            heat.note(round % 100 * PLACE);
            for _ in 0..if round % 100 == 7 { 9 } else { 0 } {
                heat.note(7 * PLACE);
            }
        }
        // The mean place has been written 10.9 times, this one 100 times: 9.17 times as often.
        assert!(heat.is_above(7 * PLACE, 9.1) && !heat.is_above(7 * PLACE, 9.3));
        assert!(!heat.is_above(8 * PLACE, 1.0));
        for _ in 0..500_000 {
            heat.note(8 * PLACE);
        }
        assert!(!heat.is_above(7 * PLACE, 1.0) && heat.is_above(8 * PLACE, 90.0));
    }
}
