//! Codes by figures of superblocks' uses: the built-in choice of a superblock's code.

use outlast_decisions::{ChosenCode, StripeCodeQuestion};
use outlast_settings::ftl::{CodeRule, ProtectionConfig};

/// The rules of each class; empty if each class has one code.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByFigures(Vec<ClassRules>);

/// The rules of a class.
#[derive(Clone, Debug)]
struct ClassRules {
    /// The code if no rule holds.
    plain: ChosenCode,
    /// Rules from the weakest code to the strongest.
    rules: Vec<CodeRule>,
}

impl ByFigures {
    /// The rules in `protection` for each of `classes` classes.
    pub(crate) fn new(protection: Option<&ProtectionConfig>, classes: u8) -> Self {
        let Some(protection) = protection
            .filter(|protection| (0..protection.class_count()).any(|class| protection.has_rules(class)))
        else {
            return Self::default();
        };
        let of = |class| {
            let plain = protection.plain_code(class);
            ClassRules { plain: (plain.data, plain.parity), rules: protection.rules(class).to_vec() }
        };
        Self((0..classes).map(of).collect())
    }

    /// True if there are rules for any class.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if there are rules for class `class`.
    pub(crate) fn chooses(&self, class: u8) -> bool {
        self.0.get(usize::from(class)).is_some_and(|class_rules| !class_rules.rules.is_empty())
    }

    /// The code of the last rule that holds, or the plain code if none does; `None` without rules.
    pub(crate) fn choose(&self, opening: &StripeCodeQuestion) -> Option<ChosenCode> {
        let class_rules =
            self.0.get(usize::from(opening.class)).filter(|class_rules| !class_rules.rules.is_empty())?;
        let last = class_rules.rules.iter().rev().find(|rule| holds(rule, opening));
        Some(last.map_or(class_rules.plain, |rule| (rule.data, rule.parity)))
    }
}

/// True if all figures that `rule` gives have been reached.
fn holds(rule: &CodeRule, opening: &StripeCodeQuestion) -> bool {
    rule.pe_cycles.is_none_or(|least| opening.erases >= least)
        && rule.expected_errors.is_none_or(|least| opening.expected_errors >= least)
        && rule.rereads.is_none_or(|least| opening.rereads >= least)
        && rule.uncorrectable.is_none_or(|least| opening.uncorrectable >= least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn opening(erases: u32, expected_errors: f64, rereads: u32, uncorrectable: u32) -> StripeCodeQuestion {
        StripeCodeQuestion {
            superblock: 0,
            class: 0,
            cause: "host",
            erases,
            expected_errors,
            rereads,
            uncorrectable,
            data: 5,
            parity: 3,
            dead_lanes: 0,
            free: 1,
            superblocks: 8,
            clock: 0,
        }
    }

    #[test]
    fn the_strongest_code_counts_whose_figures_have_all_been_reached() {
        let worn = CodeRule { pe_cycles: Some(1000), data: 6, parity: 2, ..CodeRule::default() };
        let bad = CodeRule { uncorrectable: Some(1), pe_cycles: Some(500), data: 5, parity: 3, ..worn };
        let protection = ProtectionConfig { data: 7, codes: vec![worn, bad], ..ProtectionConfig::default() };
        let rules = ByFigures::new(Some(&protection), 1);
        for (erases, uncorrectable, code) in
            [(0, 9, (7, 1)), (999, 0, (7, 1)), (1000, 0, (6, 2)), (500, 1, (5, 3)), (2000, 1, (5, 3))]
        {
            assert_eq!(rules.choose(&opening(erases, 0.0, 0, uncorrectable)), Some(code));
        }
        assert!(rules.chooses(0) && !rules.chooses(1));
        assert!(ByFigures::new(Some(&ProtectionConfig::default()), 1).is_empty());
    }

    proptest! {
        /// Each figure by itself: the stronger code from its threshold on, and the weaker one again below it.
        #[test]
        fn a_figure_that_falls_gives_the_weaker_code_again(least in 1u32..50, figures in prop::collection::vec(0u32..50, 1..20), which in 0usize..4) {
            let mut rule = CodeRule { data: 6, parity: 2, ..CodeRule::default() };
            match which {
                0 => rule.pe_cycles = Some(least),
                1 => rule.expected_errors = Some(least.into()),
                2 => rule.rereads = Some(least),
                _ => rule.uncorrectable = Some(least),
            }
            let rules = ByFigures::new(Some(&ProtectionConfig { data: 7, codes: vec![rule], ..ProtectionConfig::default() }), 1);
            for figure in figures {
                let at = |number: usize| if number == which { figure } else { 0 };
                let code = rules.choose(&opening(at(0), at(1).into(), at(2), at(3)));
                prop_assert_eq!(code, Some(if figure >= least { (6, 2) } else { (7, 1) }));
            }
        }
    }
}
