//! Chips whose error rates are published: data with their sources.

use super::{Exponential, PowerLaw, RberModel, TwoPoint};

/// How sure the numbers of a chip are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// They stand in the text of the source.
    Paper,
    /// The text at hand lacks them; two or more independent public implementations carry the same.
    Code,
    /// Not in the text at hand; plausible and consistent with what the text says, no more.
    Recalled,
}

/// A published chip.
#[derive(Clone, Debug, PartialEq)]
pub struct Chip {
    /// The name by which a scenario asks for it.
    pub name: &'static str,
    /// Its error rates.
    pub model: RberModel,
    /// P/E cycles that the source treats as the end of its life.
    pub end_of_life_cycles: u32,
    /// Paper and table.
    pub source: &'static str,
    /// How sure the coefficients are.
    pub trust: Trust,
}

/// The chip of that name.
pub fn chip(name: &str) -> Option<&'static Chip> {
    CHIPS.iter().find(|chip| chip.name == name)
}

/// All chips: HRM's three, mSAPL's one, Diff-RAID's twelve.
pub fn chips() -> &'static [Chip] {
    &CHIPS
}

const HRM: &str = "Kim, Choi, Min, \"Design Tradeoffs for SSD Reliability\", FAST 2019, Table 2 (fitted there by simulated annealing)";
const MSAPL: &str = "mSAPL, Electronics 2020, Table 3 (constants A and B of Equation 1)";
const DIFF_RAID: &str = "Balakrishnan et al., \"Differential RAID\", EuroSys 2010, Table 1: RBER at 5000 and 10 000 cycles, after Grupp et al.";
const DIFF_RAID_IM: &str = "Balakrishnan et al., \"Differential RAID\", EuroSys 2010, Table 1: RBER at 5000 and 10 000 cycles, after Mielke et al.";

static CHIPS: [Chip; 16] = [
    Chip {
        name: "tlc-72-layer",
        model: RberModel::PowerLaw(PowerLaw {
            epsilon: 1.48e-3,
            alpha: 3.90e-10,
            beta: 6.28e-5,
            gamma: 3.73e-9,
            k: 2.05,
            m: 0.14,
            n: 0.54,
            p: 0.33,
            q: 1.71,
        }),
        end_of_life_cycles: 5000,
        source: HRM,
        trust: Trust::Code,
    },
    Chip {
        name: "mlc-2y-nm",
        model: RberModel::PowerLaw(PowerLaw {
            epsilon: 8.34e-5,
            alpha: 3.30e-11,
            beta: 5.56e-19,
            gamma: 6.26e-13,
            k: 1.71,
            m: 2.49,
            n: 3.33,
            p: 1.76,
            q: 0.47,
        }),
        end_of_life_cycles: 10_000,
        source: HRM,
        trust: Trust::Code,
    },
    Chip {
        name: "mlc-3x-nm",
        model: RberModel::PowerLaw(PowerLaw {
            epsilon: 5.06e-8,
            alpha: 1.05e-14,
            beta: 9.31e-14,
            gamma: 4.17e-15,
            k: 2.16,
            m: 1.80,
            n: 0.80,
            p: 1.07,
            q: 1.45,
        }),
        end_of_life_cycles: 50_000,
        source: HRM,
        trust: Trust::Recalled,
    },
    Chip {
        name: "msapl",
        model: RberModel::Exponential(Exponential { a: 1.09e-7, b: 3.01e-4 }),
        // "until about 19,000 P/E cycles" (text below Equation 5): the last wear state that the source compares.
        end_of_life_cycles: 19_000,
        source: MSAPL,
        trust: Trust::Paper,
    },
    diff_raid("b-mlc8-1", 2.99e-7, 3.60e-7),
    diff_raid("b-mlc8-2", 1.78e-7, 3.58e-7),
    diff_raid("b-mlc32-1", 1.92e-6, 4.84e-6),
    diff_raid("b-mlc32-2", 8.17e-7, 2.62e-6),
    diff_raid("c-mlc64-1", 1.12e-6, 3.67e-6),
    diff_raid("c-mlc64-2", 1.85e-6, 9.51e-6),
    diff_raid("d-mlc32-1", 6.70e-7, 1.18e-5),
    diff_raid("d-mlc32-2", 7.14e-7, 2.16e-6),
    diff_raid("e-mlc8-1", 3.07e-8, 1.79e-7),
    diff_raid("e-mlc8-2", 1.93e-7, 6.70e-7),
    // "IM-1 is rated at 5,000 cycles", all others at 10 000.
    Chip { end_of_life_cycles: 5000, source: DIFF_RAID_IM, ..diff_raid("im-1", 5.50e-7, 1.16e-6) },
    Chip { source: DIFF_RAID_IM, ..diff_raid("im-2", 5.22e-8, 1.09e-7) },
];

const fn diff_raid(name: &'static str, low_rber: f64, high_rber: f64) -> Chip {
    let model = TwoPoint { low_cycles: 5000.0, low_rber, high_cycles: 10_000.0, high_rber };
    Chip {
        name,
        model: RberModel::TwoPoint(model),
        end_of_life_cycles: 10_000,
        source: DIFF_RAID,
        trust: Trust::Paper,
    }
}
