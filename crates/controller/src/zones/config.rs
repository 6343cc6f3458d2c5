//! How settings divide a drive into zones.

use outlast_device::{RandomWriteAreas, ZoneLayout, ZoneLimits};
use outlast_media::ConfigError;
use outlast_settings::zones::ZonesConfig;
use outlast_units::{Bytes, SECTOR_BYTES};

/// Most bytes that all zones may take of the addresses, those between them included: 2^63.
const MOST_BYTES: u64 = 1 << 63;

/// The division into zones by `config`, of a drive whose superblocks hold `superblock` bytes of data over all flash cores together.
///
/// # Errors
/// Zones smaller than what is written of them.
pub fn zone_layout(
    config: &ZonesConfig,
    superblock: Bytes,
    unit: Bytes,
) -> Result<(ZoneLayout, ZoneLimits), ConfigError> {
    let capacity = Bytes(superblock.0 * u64::from(config.superblocks));
    let size = config.size.unwrap_or(Bytes(capacity.0.next_power_of_two()));
    if size < capacity {
        let limit =
            format!("must be at least the capacity of a zone, {capacity}: its superblocks without parity");
        return Err(ConfigError::new("device.zones.size", size, limit));
    }
    if !size.0.is_multiple_of(unit.0) {
        let limit = format!("must be a multiple of the mapping unit, {unit}");
        return Err(ConfigError::new("device.zones.size", size, limit));
    }
    let count = u64::from(config.count);
    if size.0.checked_mul(count).is_none_or(|all| all > MOST_BYTES) {
        let most = Bytes(MOST_BYTES / count);
        let limit = format!("must be at most {most}: {count} zones end at 8 EiB at the latest");
        return Err(ConfigError::new("device.zones.size", size, limit));
    }
    let layout = ZoneLayout {
        zones: config.count,
        size: size.0 / SECTOR_BYTES,
        capacity: capacity.0 / SECTOR_BYTES,
        block: (unit.0 / SECTOR_BYTES) as u32,
    };
    let active = config.max_active;
    Ok((layout, ZoneLimits { open: config.max_open.unwrap_or(active), active }))
}

/// Write streams of the host on a drive with such zones: one for each that may be active, and one more for a zone that is not active any more, of which
/// writes wait for a reset or a finish that came before them. Without it they would wait for zones that need not take another write.
pub fn zone_streams(config: &ZonesConfig) -> u8 {
    debug_assert!(config.max_active < 255, "as validated");
    config.max_active as u8 + 1
}

/// Random write areas by `config`, of zones divided as in `layout`; `None` where there are none.
///
/// # Errors
/// Areas larger than a zone, or that are no multiple of what they are committed by.
pub fn random_write_areas(
    config: &ZonesConfig,
    layout: &ZoneLayout,
) -> Result<Option<RandomWriteAreas>, ConfigError> {
    let Some(own) = &config.random_write else { return Ok(None) };
    let unit = Bytes(u64::from(layout.block) * SECTOR_BYTES);
    let capacity = Bytes(layout.capacity * SECTOR_BYTES);
    let granularity = own.granularity.unwrap_or(unit);
    if granularity.0 == 0 || !granularity.0.is_multiple_of(unit.0) || granularity > own.size {
        let limit =
            format!("must be a multiple of the mapping unit, {unit}, and at most the size, {}", own.size);
        return Err(ConfigError::new("device.zones.random_write.granularity", granularity, limit));
    }
    if !own.size.0.is_multiple_of(granularity.0) || own.size > capacity {
        let limit = format!(
            "must be a multiple of the granularity, {granularity}, and at most the capacity of a zone, {capacity}"
        );
        return Err(ConfigError::new("device.zones.random_write.size", own.size, limit));
    }
    let most = Bytes(u64::from(u16::MAX) * unit.0);
    if own.size > most {
        let limit = format!("must be at most {most}: its blocks are counted in 16 bits");
        return Err(ConfigError::new("device.zones.random_write.size", own.size, limit));
    }
    Ok(Some(RandomWriteAreas {
        size: own.size.0 / SECTOR_BYTES,
        granularity: granularity.0 / SECTOR_BYTES,
        zones: own.zones.unwrap_or(config.max_active),
    }))
}
