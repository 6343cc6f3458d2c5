//! Rates of sequential transfers by closed forms, from the settings of a drive.

use outlast_models::bandwidth;
use outlast_settings::drive::SsdConfig;

/// Bytes a second at which a drive can be both read and written sequentially, into erased blocks; `None` outside the models' domain.
pub(crate) fn sequential_rate(config: &SsdConfig) -> Option<f64> {
    let (flash, link) = (flash_of(config), link_of(config));
    let read = flash.sequential_read(link).ok()?.bytes_per_s();
    Some(read.min(flash.sequential_write(link).ok()?.bytes_per_s()))
}

/// Bytes a second of the host's link; `None` if unlimited.
pub(crate) fn link_of(config: &SsdConfig) -> Option<f64> {
    config.controller.link.map(|link| link.bytes_per_s() as f64)
}

/// The drive as the argument of the closed forms of bandwidth.
pub(crate) fn flash_of(config: &SsdConfig) -> bandwidth::FlashParameters {
    let timing = &config.timing;
    bandwidth::FlashParameters {
        channels: f64::from(config.geometry.channels),
        dies: f64::from(config.geometry.dies()),
        planes: if config.ftl.multi_plane { f64::from(config.geometry.planes_per_die) } else { 1.0 },
        page_bytes: config.geometry.page_size.0 as f64,
        spare_bytes: config.geometry.spare_per_page.0 as f64,
        read_s: timing.read.mean_ns() * 1e-9,
        // One program operation writes all pages of a word line.
        program_s: timing.program.mean_ns() / f64::from(config.ftl.one_shot) * 1e-9,
        command_s: timing.command.as_secs_f64(),
        bus_bytes_per_s: timing.bus.bytes_per_s() as f64,
    }
}
