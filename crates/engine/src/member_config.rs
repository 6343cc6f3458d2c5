//! The settings of an array's drives.

use outlast_scenario::Scenario;
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::SsdConfig;

/// The settings of device `index` of the array: the scenario's, with the overrides of `array.member`.
pub(crate) fn config_of(scenario: &Scenario, array: &ArrayConfig, index: u16) -> SsdConfig {
    let mut config = scenario.device.clone();
    let Some(overrides) = array.member(index) else { return config };
    if let Some(capacity) = overrides.capacity {
        // The two settings exclude each other.
        (config.ftl.capacity, config.ftl.over_provisioning) = (Some(capacity), None);
    }
    if let (Some(cycles), Some(reliability)) = (overrides.pe_cycles, &mut config.reliability) {
        reliability.initial.pe_cycles = cycles;
        // A spread wider than the mean would give blocks fewer than zero cycles.
        reliability.initial.pe_spread = reliability.initial.pe_spread.min(f64::from(cycles));
    }
    config
}

/// `config` without initial wear and age: the settings of a drive from the factory.
pub(crate) fn as_new(mut config: SsdConfig) -> SsdConfig {
    if let Some(reliability) = &mut config.reliability {
        reliability.initial = outlast_media::InitialState::default();
    }
    config
}
