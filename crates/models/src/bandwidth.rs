//! Sequential bandwidth limits of a drive: the least of what its dies, its channels and its host link can do.

use crate::DomainError;
use crate::error::{not_negative, positive};

/// Geometry and times of a drive's flash, in plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlashParameters {
    /// Channels in the drive.
    pub channels: f64,
    /// Dies in the drive.
    pub dies: f64,
    /// Planes of a die that work together: 1 without multi-plane operations.
    pub planes: f64,
    /// User bytes of a page.
    pub page_bytes: f64,
    /// Spare bytes of a page, which travel with it.
    pub spare_bytes: f64,
    /// Mean tR, in seconds.
    pub read_s: f64,
    /// Mean tPROG, in seconds.
    pub program_s: f64,
    /// Time that the command of one operation holds die and channel, in seconds.
    pub command_s: f64,
    /// Bandwidth of a channel, in bytes per second.
    pub bus_bytes_per_s: f64,
}

/// Largest bandwidth of each part of a drive, in user bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandwidthLimits {
    /// All dies together.
    pub dies: f64,
    /// All channels together.
    pub channels: f64,
    /// The host link; infinite if unlimited.
    pub link: f64,
}

/// The part of a drive that limits its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// The dies.
    Dies,
    /// The channels.
    Channels,
    /// The host link.
    Link,
}

impl BandwidthLimits {
    /// The bandwidth of the drive: the least of the limits.
    pub fn bytes_per_s(&self) -> f64 {
        self.dies.min(self.channels).min(self.link)
    }

    /// The part that limits it; of equal limits the one nearer to the host.
    pub fn bottleneck(&self) -> Bottleneck {
        if self.link <= self.channels.min(self.dies) {
            Bottleneck::Link
        } else if self.channels <= self.dies {
            Bottleneck::Channels
        } else {
            Bottleneck::Dies
        }
    }
}

impl FlashParameters {
    /// Seconds that the pages of one operation and its command hold the channel.
    fn transfer_s(&self) -> f64 {
        self.command_s + self.planes * (self.page_bytes + self.spare_bytes) / self.bus_bytes_per_s
    }

    fn check(&self) -> Result<(), DomainError> {
        positive("channels", self.channels)?;
        positive("dies", self.dies)?;
        positive("planes", self.planes)?;
        positive("page_bytes", self.page_bytes)?;
        positive("bus_bytes_per_s", self.bus_bytes_per_s)?;
        not_negative("spare_bytes", self.spare_bytes)?;
        not_negative("read_s", self.read_s)?;
        not_negative("program_s", self.program_s)?;
        not_negative("command_s", self.command_s)?;
        Ok(())
    }

    /// Limits of operations that hold the cell array for `array_s` seconds in addition to command and transfer.
    fn limits(&self, array_s: f64, link_bytes_per_s: Option<f64>) -> Result<BandwidthLimits, DomainError> {
        self.check()?;
        let bytes = self.planes * self.page_bytes;
        let transfer_s = self.transfer_s();
        Ok(BandwidthLimits {
            dies: self.dies * bytes / (array_s + transfer_s),
            channels: self.channels * bytes / transfer_s,
            link: link_bytes_per_s.map_or(Ok(f64::INFINITY), |link| positive("link_bytes_per_s", link))?,
        })
    }

    /// Limits of long sequential reads.
    ///
    /// A die is held from its command through sensing to the end of its transfer (no cache read), so one operation of p
    /// planes takes it `c + tR + p·(page + spare)/bus` and takes the channel the same without tR; `bytes = p·page`. Hence
    /// `dies·bytes / (c + tR + transfer)` and `channels·bytes / (c + transfer)`. The bound is reached when requests enough
    /// are queued that every die, or every channel, always has one.
    ///
    /// # Errors
    /// A count, size or bandwidth that is not above zero, or a negative time.
    pub fn sequential_read(&self, link_bytes_per_s: Option<f64>) -> Result<BandwidthLimits, DomainError> {
        self.limits(self.read_s, link_bytes_per_s)
    }

    /// Limits of long sequential writes into erased blocks: as [`FlashParameters::sequential_read`] with tPROG, which follows the
    /// transfer. Erasure is not counted: it takes tBERS once for all pages of a block, see
    /// [`FlashParameters::sequential_write_with_erase`].
    ///
    /// # Errors
    /// As [`FlashParameters::sequential_read`].
    pub fn sequential_write(&self, link_bytes_per_s: Option<f64>) -> Result<BandwidthLimits, DomainError> {
        self.limits(self.program_s, link_bytes_per_s)
    }

    /// Limits of endless sequential writes, where every page row also costs its share of an erasure,
    /// `tBERS / pages_per_block` of the die.
    ///
    /// # Errors
    /// As [`FlashParameters::sequential_read`].
    pub fn sequential_write_with_erase(
        &self,
        erase_s: f64,
        pages_per_block: f64,
        link_bytes_per_s: Option<f64>,
    ) -> Result<BandwidthLimits, DomainError> {
        let share_s = not_negative("erase_s", erase_s)? / positive("pages_per_block", pages_per_block)?;
        self.limits(self.program_s + share_s, link_bytes_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLASH: FlashParameters = FlashParameters {
        channels: 8.0,
        dies: 32.0,
        planes: 2.0,
        page_bytes: 4096.0,
        spare_bytes: 0.0,
        read_s: 75e-6,
        program_s: 750e-6,
        command_s: 0.0,
        bus_bytes_per_s: 333e6,
    };

    #[test]
    fn limits_agree_with_a_calculation_by_hand() {
        // 8192 B / 333 MB/s = 24.6006 us; 32·8192 B / 99.6006 us = 2632 MB/s; 8·333 MB/s = 2664 MB/s.
        let read = FLASH.sequential_read(None).unwrap();
        assert!((read.dies / 2.631_951e9 - 1.0).abs() < 1e-5, "{read:?}");
        assert!((read.channels / 2.664e9 - 1.0).abs() < 1e-12, "{read:?}");
        assert_eq!(read.bottleneck(), Bottleneck::Dies);
        // 32·8192 B / 774.6006 us = 338.4 MB/s.
        let write = FLASH.sequential_write(Some(1e9)).unwrap();
        assert!((write.bytes_per_s() / 3.384_247e8 - 1.0).abs() < 1e-5, "{write:?}");
        assert_eq!(FLASH.sequential_read(Some(1e9)).unwrap().bottleneck(), Bottleneck::Link);
    }

    #[test]
    fn the_parallel_parts_add_up() {
        let twice = FlashParameters { dies: 64.0, ..FLASH };
        let (one, two) = (FLASH.sequential_read(None).unwrap(), twice.sequential_read(None).unwrap());
        assert!(
            (two.dies / one.dies - 2.0).abs() < 1e-12 && (two.channels / one.channels - 1.0).abs() < 1e-12
        );
        assert_eq!(two.bottleneck(), Bottleneck::Channels);
    }

    #[test]
    fn erasure_slows_a_die_by_its_share() {
        let write = FLASH.sequential_write(None).unwrap();
        let endless = FLASH.sequential_write_with_erase(3.8e-3, 256.0, None).unwrap();
        let expected = 774.600_6 / (774.600_6 + 3_800.0 / 256.0);
        assert!((endless.dies / write.dies / expected - 1.0).abs() < 1e-6);
    }

    #[test]
    fn arguments_outside_the_domain_are_refused() {
        assert!(FlashParameters { dies: 0.0, ..FLASH }.sequential_read(None).is_err());
        assert!(FlashParameters { read_s: -1.0, ..FLASH }.sequential_read(None).is_err());
        assert!(FLASH.sequential_write(Some(0.0)).is_err());
        assert!(FLASH.sequential_write_with_erase(1.0, 0.0, None).is_err());
    }
}
