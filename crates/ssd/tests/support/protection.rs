//! Random protection.

use outlast_settings::drive::SsdConfig;
use outlast_settings::ftl::{
    ClassConfig, CodeRule, PartialConfig, PartialPlace, ProtectedStreams, ProtectionConfig,
};
use outlast_units::Nanos;
use proptest::prelude::*;

pub(crate) fn choices() -> impl Strategy<Value = Choices> {
    let streams = prop::sample::select(vec![ProtectedStreams::All, ProtectedStreams::Gathered]);
    let places = prop::sample::select(vec![
        PartialPlace::None,
        PartialPlace::Inline,
        PartialPlace::Blocks,
        PartialPlace::Cache,
    ]);
    (1u16..4, 0u8..3, streams, places, prop::option::weighted(0.4, 1u16..4), any::<bool>())
}

/// Data, parity, streams, place of partial parity, code within blocks, whether there are classes.
pub(crate) type Choices = (u16, u8, ProtectedStreams, PartialPlace, Option<u16>, bool);

/// Protection of a drive with four dies and blocks of more than `rows` rows.
pub(crate) fn protected(
    (data, parity, streams, place, block, classes): Choices,
    rows: u16,
) -> ProtectionConfig {
    let block = block.map(|block| block.min(rows));
    // A code within blocks and one over dies must divide groups of superpages evenly.
    let (data, block) = match (parity, block) {
        (0, block) => (1, Some(block.unwrap_or(1))),
        (parity, Some(block)) => (4 - u16::from(parity), Some(block)),
        (parity, None) => (data.min(4 - u16::from(parity)), None),
    };
    let class = |parity: u8, hint: u16| ClassConfig {
        parity: Some(parity),
        data: Some(4 - u16::from(parity)),
        hints: vec![hint],
        ..ClassConfig::default()
    };
    ProtectionConfig {
        data,
        parity,
        streams,
        block,
        partial: PartialConfig { place, timeout: Nanos::millis(2), ..PartialConfig::default() },
        classes: if classes { vec![class(0, 0), class(1, 1), class(2, 2)] } else { Vec::new() },
        ..ProtectionConfig::default()
    }
}

/// One protected drive in three without classes gives superblocks that have gone through little a weaker code.
pub(crate) fn chooses_by_figures(config: &mut SsdConfig, seed: u64) {
    let errs = config.reliability.is_some();
    let Some(protection) = &mut config.protection else { return };
    if !seed.is_multiple_of(3)
        && seed.is_multiple_of(2)
        && protection.classes.is_empty()
        && protection.parity != 0
    {
        let strong = CodeRule { data: protection.data, parity: protection.parity, ..CodeRule::default() };
        protection.codes = vec![
            CodeRule { uncorrectable: Some(1), ..strong },
            CodeRule { pe_cycles: (!errs).then_some(3), rereads: errs.then_some(2), ..strong },
        ];
        protection.data += 1;
        protection.parity -= 1;
    }
}
