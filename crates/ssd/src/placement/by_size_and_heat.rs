//! By size and heat: a class has the writes of commands of `at_least` to `at_most` bytes, into places that are `hot`. Of several classes
//! whose conditions a write meets, the first one has it.

use super::{Placement, Write};
use outlast_device::{Heat, heat_bytes};
use outlast_settings::ftl::ClassConfig;

/// The conditions of a class.
#[derive(Clone, Copy, Debug, PartialEq, outlast_persist::Persist)]
struct Rule {
    /// Least and most bytes of a command.
    least: u64,
    most: u64,
    /// How many times as often as the mean place the unit's place has been written; absent: however often.
    hot: Option<f64>,
    class: u8,
}

/// The rules in order of class.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct BySizeAndHeat {
    #[persist(fixed)]
    rules: Vec<Rule>,
    /// Absent where no rule asks for heat.
    heat: Option<Heat>,
}

impl Placement for BySizeAndHeat {
    fn new(classes: &[ClassConfig], sectors: u64) -> Option<Self> {
        let has_rule =
            |own: &ClassConfig| own.at_least.is_some() || own.at_most.is_some() || own.hot.is_some();
        let rule = |(class, own): (u8, &ClassConfig)| Rule {
            least: own.at_least.map_or(0, |bytes| bytes.0),
            most: own.at_most.map_or(u64::MAX, |bytes| bytes.0),
            hot: own.hot,
            class,
        };
        let rules: Vec<Rule> = (0u8..).zip(classes).filter(|(_, own)| has_rule(own)).map(rule).collect();
        let heat = rules.iter().any(|rule| rule.hot.is_some()).then(|| Heat::new(sectors));
        (!rules.is_empty()).then_some(Self { rules, heat })
    }

    fn class_of(&self, write: Write) -> Option<u8> {
        let is_hot = |hot: f64| self.heat.as_ref().is_some_and(|heat| heat.is_above(write.sector, hot));
        let meets =
            |rule: &&Rule| (rule.least..=rule.most).contains(&write.bytes) && rule.hot.is_none_or(is_hot);
        self.rules.iter().find(meets).map(|rule| rule.class)
    }

    fn note(&mut self, sector: u64) {
        if let Some(heat) = &mut self.heat {
            heat.note(sector);
        }
    }

    fn bytes_over(&self, sectors: u64) -> u64 {
        if self.heat.is_some() { heat_bytes(sectors) } else { 0 }
    }
}
