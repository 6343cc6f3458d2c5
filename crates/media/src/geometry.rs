//! Layout of the flash of a drive.

use crate::ConfigError;
use outlast_units::{Bytes, ChannelId, DieId, JsonSchema, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// Channels × chips × dies × planes × blocks × pages of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, outlast_persist::Persist)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Flash channels: buses that chips share.
    pub channels: u16,
    /// Chips (packages, "ways") on each channel.
    pub chips_per_channel: u16,
    /// Dies in each chip. A die works on one operation at a time.
    pub dies_per_chip: u16,
    /// Planes in each die. Planes of one die can work together on the same page row.
    pub planes_per_die: u16,
    /// Blocks in each plane, spare and bad ones included. A block is the unit of erasure.
    pub blocks_per_plane: u32,
    /// Pages in each block.
    pub pages_per_block: u32,
    /// User bytes in a page.
    pub page_size: Bytes,
    /// Spare (out-of-band) bytes in a page: they hold ECC and metadata and travel over the channel with the page.
    #[serde(default)]
    pub spare_per_page: Bytes,
}

/// Location of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieAddress {
    /// Channel.
    pub channel: ChannelId,
    /// Its chip on the channel.
    pub chip: u16,
    /// Its place in the chip.
    pub die: u16,
}

impl Geometry {
    /// Checks every count by itself. Relations to the mapping unit are checked by the FTL.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let at_least_one = [
            ("channels", u64::from(self.channels)),
            ("chips_per_channel", u64::from(self.chips_per_channel)),
            ("dies_per_chip", u64::from(self.dies_per_chip)),
            ("planes_per_die", u64::from(self.planes_per_die)),
            ("blocks_per_plane", u64::from(self.blocks_per_plane)),
            ("pages_per_block", u64::from(self.pages_per_block)),
        ];
        for (name, value) in at_least_one {
            if value == 0 {
                return Err(ConfigError::new(
                    &format!("device.geometry.{name}"),
                    value,
                    "must be at least 1",
                ));
            }
        }
        let dies =
            u64::from(self.channels) * u64::from(self.chips_per_channel) * u64::from(self.dies_per_chip);
        if dies > u64::from(u16::MAX) {
            return Err(ConfigError::new(
                "device.geometry",
                format!("{dies} dies"),
                format!("channels x chips x dies is limited to {}", u16::MAX),
            ));
        }
        if self.planes_per_die > 64 {
            let limit = "at most 64 planes work together in one die";
            return Err(ConfigError::new("device.geometry.planes_per_die", self.planes_per_die, limit));
        }
        if self.pages_per_block > 1 << 16 {
            let limit = "at most 65536 pages to a block";
            return Err(ConfigError::new("device.geometry.pages_per_block", self.pages_per_block, limit));
        }
        let page = self.page_size.0;
        if !page.is_multiple_of(SECTOR_BYTES) || page == 0 || page > 1 << 20 {
            let limit = "must be a multiple of 512 bytes, at most 1MiB";
            return Err(ConfigError::new("device.geometry.page_size", self.page_size, limit));
        }
        if self.spare_per_page > self.page_size {
            let limit = format!("is limited to the page size, {}", self.page_size);
            return Err(ConfigError::new("device.geometry.spare_per_page", self.spare_per_page, limit));
        }
        if self.checked_raw_bytes().is_none() {
            return Err(ConfigError::new("device.geometry", "raw capacity", "is limited to 2^64 - 1 bytes"));
        }
        Ok(())
    }

    fn checked_raw_bytes(&self) -> Option<u64> {
        u64::from(self.channels)
            .checked_mul(u64::from(self.chips_per_channel))?
            .checked_mul(u64::from(self.dies_per_chip))?
            .checked_mul(u64::from(self.planes_per_die))?
            .checked_mul(u64::from(self.blocks_per_plane))?
            .checked_mul(u64::from(self.pages_per_block))?
            .checked_mul(self.page_size.0)
    }

    /// All user bytes of all pages, bad and spare blocks included.
    pub fn raw_capacity(&self) -> Bytes {
        Bytes(self.checked_raw_bytes().unwrap_or(u64::MAX))
    }

    /// Dies in the drive.
    pub fn dies(&self) -> u16 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Planes in the drive.
    pub fn planes(&self) -> usize {
        usize::from(self.dies()) * usize::from(self.planes_per_die)
    }

    /// Location of die `die`. Dies are numbered channel by channel, chip by chip.
    pub fn locate(&self, die: DieId) -> DieAddress {
        let per_channel = self.chips_per_channel * self.dies_per_chip;
        let within = die.0 % per_channel;
        DieAddress {
            channel: ChannelId(die.0 / per_channel),
            chip: within / self.dies_per_chip,
            die: within % self.dies_per_chip,
        }
    }

    /// The number of the die at `address`: the inverse of [`Geometry::locate`].
    pub fn die_at(&self, address: DieAddress) -> DieId {
        DieId((address.channel.0 * self.chips_per_channel + address.chip) * self.dies_per_chip + address.die)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn small() -> Geometry {
        Geometry {
            channels: 3,
            chips_per_channel: 2,
            dies_per_chip: 4,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 16,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        }
    }

    #[test]
    fn locating_a_die_and_finding_it_again_is_a_bijection() {
        let geometry = small();
        for die in 0..geometry.dies() {
            assert_eq!(geometry.die_at(geometry.locate(DieId(die))), DieId(die));
        }
    }

    #[test]
    fn errors_of_limits_name_them() {
        let error = Geometry { channels: 0, ..small() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "device.geometry.channels = 0: must be at least 1");
        let error = Geometry { page_size: Bytes(1000), ..small() }.validate().unwrap_err();
        assert!(error.to_string().contains("page_size = 1000B"), "{error}");
        assert!(Geometry { channels: u16::MAX, chips_per_channel: u16::MAX, ..small() }.validate().is_err());
    }
}
