//! Chips whose error rates are published: data with their sources.

use super::{ExponentialRber, ModelRange, PowerLaw, RberModel, TwoPoint};

/// Reliability of the numbers of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipTrust {
    /// Printed in the text of the source.
    Paper,
    /// Absent from the text at hand, but equal in two or more independent public implementations.
    Code,
    /// Absent from the text at hand; plausible and consistent with it, no more.
    Recalled,
}

/// A published chip.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedChip {
    /// The name by which a scenario asks for it.
    pub name: &'static str,
    /// Title for tables and figures.
    pub title: &'static str,
    /// Bits in a cell.
    pub bits_per_cell: u8,
    /// Error rates.
    pub model: RberModel,
    /// P/E cycles that the source treats as the end of its life.
    pub end_of_life_cycles: u32,
    /// Range in which the source measured or used the rates.
    pub range: ModelRange,
    /// Temperature of its retention times in °C; absent if the source does not say.
    pub reference_temperature: Option<f64>,
    /// Paper and table.
    pub source: &'static str,
    /// Reliability of the coefficients.
    pub trust: ChipTrust,
}

/// The chip of that name.
pub fn chip(name: &str) -> Option<&'static PublishedChip> {
    CHIPS.iter().find(|chip| chip.name == name)
}

/// All chips: HRM's three, mSAPL's one, Diff-RAID's twelve.
pub fn chips() -> &'static [PublishedChip] {
    &CHIPS
}

const HRM: &str = "Kim, Choi, Min, \"Design Tradeoffs for SSD Reliability\", FAST 2019, Table 2 (fitted there by simulated annealing)";
const MSAPL: &str = "mSAPL, Electronics 2020, Table 3 (constants A and B of Equation 1)";
const DIFF_RAID: &str = "Balakrishnan et al., \"Differential RAID\", EuroSys 2010, Table 1: RBER at 5000 and 10 000 cycles, after Grupp et al.";
const DIFF_RAID_IM: &str = "Balakrishnan et al., \"Differential RAID\", EuroSys 2010, Table 1: RBER at 5000 and 10 000 cycles, after Mielke et al.";

/// Figure 3 draws the model up to 10 000 cycles, 10 000 reads and a year; section 4.1 uses the 3x-nm chip up to 50 000 cycles. How far it was
/// measured the text does not say: "a limited number of RBER data samples".
const HRM_RANGE: ModelRange = ModelRange {
    cycles: Some([0.0, 10_000.0]),
    days: Some([0.0, 365.0]),
    reads: Some([0.0, 10_000.0]),
    temperature: None,
};

static CHIPS: [PublishedChip; 16] = [
    PublishedChip {
        name: "tlc-72-layer",
        title: "72-layer 3D TLC",
        bits_per_cell: 3,
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
        range: HRM_RANGE,
        reference_temperature: None,
        source: HRM,
        trust: ChipTrust::Code,
    },
    PublishedChip {
        name: "mlc-2y-nm",
        title: "2y-nm planar MLC",
        bits_per_cell: 2,
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
        range: HRM_RANGE,
        reference_temperature: None,
        source: HRM,
        trust: ChipTrust::Code,
    },
    PublishedChip {
        name: "mlc-3x-nm",
        title: "3x-nm planar MLC",
        bits_per_cell: 2,
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
        range: ModelRange { cycles: Some([0.0, 50_000.0]), ..HRM_RANGE },
        reference_temperature: None,
        source: HRM,
        trust: ChipTrust::Recalled,
    },
    PublishedChip {
        name: "msapl",
        title: "3x-nm planar MLC of mSAPL",
        bits_per_cell: 2,
        model: RberModel::Exponential(ExponentialRber { a: 1.09e-7, b: 3.01e-4 }),
        // "until about 19,000 P/E cycles" (text below Equation 5): the last wear state that the source compares.
        end_of_life_cycles: 19_000,
        range: ModelRange { cycles: Some([0.0, 19_000.0]), ..ModelRange::UNSAID },
        reference_temperature: None,
        source: MSAPL,
        trust: ChipTrust::Paper,
    },
    diff_raid("b-mlc8-1", "8-Gbit MLC of maker B, sample 1", 2.99e-7, 3.60e-7),
    diff_raid("b-mlc8-2", "8-Gbit MLC of maker B, sample 2", 1.78e-7, 3.58e-7),
    diff_raid("b-mlc32-1", "32-Gbit MLC of maker B, sample 1", 1.92e-6, 4.84e-6),
    diff_raid("b-mlc32-2", "32-Gbit MLC of maker B, sample 2", 8.17e-7, 2.62e-6),
    diff_raid("c-mlc64-1", "64-Gbit MLC of maker C, sample 1", 1.12e-6, 3.67e-6),
    diff_raid("c-mlc64-2", "64-Gbit MLC of maker C, sample 2", 1.85e-6, 9.51e-6),
    diff_raid("d-mlc32-1", "32-Gbit MLC of maker D, sample 1", 6.70e-7, 1.18e-5),
    diff_raid("d-mlc32-2", "32-Gbit MLC of maker D, sample 2", 7.14e-7, 2.16e-6),
    diff_raid("e-mlc8-1", "8-Gbit MLC of maker E, sample 1", 3.07e-8, 1.79e-7),
    diff_raid("e-mlc8-2", "8-Gbit MLC of maker E, sample 2", 1.93e-7, 6.70e-7),
    // "IM-1 is rated at 5,000 cycles", all others at 10 000.
    of_diff_raid("im-1", "MLC IM-1, rated at 5000 cycles", [5.50e-7, 1.16e-6], 5000, DIFF_RAID_IM),
    of_diff_raid("im-2", "MLC IM-2", [5.22e-8, 1.09e-7], 10_000, DIFF_RAID_IM),
];

const fn diff_raid(name: &'static str, title: &'static str, low_rber: f64, high_rber: f64) -> PublishedChip {
    of_diff_raid(name, title, [low_rber, high_rber], 10_000, DIFF_RAID)
}

const fn of_diff_raid(
    name: &'static str,
    title: &'static str,
    [low_rber, high_rber]: [f64; 2],
    end_of_life_cycles: u32,
    source: &'static str,
) -> PublishedChip {
    let model = TwoPoint { low_cycles: 5000.0, low_rber, high_cycles: 10_000.0, high_rber };
    PublishedChip {
        name,
        title,
        bits_per_cell: 2,
        model: RberModel::TwoPoint(model),
        end_of_life_cycles,
        range: ModelRange { cycles: Some([5000.0, 10_000.0]), ..ModelRange::UNSAID },
        reference_temperature: None,
        source,
        trust: ChipTrust::Paper,
    }
}
