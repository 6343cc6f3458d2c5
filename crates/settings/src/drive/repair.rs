//! Settings of the repair of failed dies.

use super::{SsdConfig, WriteCache};
use outlast_media::ConfigError;
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// How a drive handles a die that fails: Reparo (Hong et al., "Reparo: A Fast RAID Recovery Scheme for Ultra-large SSDs", ACM Transactions
/// on Storage 17(3), 2021). Its variants are IDR (`isolated`, `l2p-one-core`), CDR (`cooperative`, `l2p-all-cores`) and CDR*
/// (`cooperative`, `p2l-block`).
///
/// The costs of the identifier are calibrated once, for entries of 4 KiB and the four cores of a PM1643 (sections 5.1 and 7.2.1): one core
/// takes half an hour and more for the table of a 32-TB drive, so that its repair is 14.7 times as fast as a rebuild in 8.8 hours; four
/// cores, which also find the units that are to move, are twice as fast at 4 TB, and between 3.1 times (Figure 11) and 1 / (1 − 0.76) times
/// (Figure 10c) at 32 TB, which gives `scan_cost`, `copy_cost` and `found_cost`; block lists are 48 % faster than that at 16 TB and 44 % at 32 TB, which gives `mark_cost` and
/// `marked_scan_cost`. Where an entry stands for more than 4 KiB (`pages_per_entry`), they grow as it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepairConfig {
    /// Which dies take over from the failed die.
    pub scheme: RepairScheme,
    /// How the failed data is found.
    pub identifier: Identifier,
    /// Flash cores that look through the mapping table together, that of the die among them; for the identifier `l2p-all-cores` only.
    /// Between 1 and `controller.flash_cores`. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_cores: Option<u16>,
    /// How data moves to the core to which it now belongs, where the scheme is `cooperative`.
    pub migration: Migration,
    /// Bad blocks of a die, found while it is in use, above which it counts as failed: `N_bad^die` of section 4.2.1; at least 1. A die
    /// of which every block in use is bad has failed in any case.
    /// Default: 32, assumed: about the 2.5 % of a die's blocks that data sheets allow, for a die of about 1300 blocks.
    pub bad_blocks: u32,
    /// Dies, numbered channel by channel, that failed and were repaired before the drive is filled, in that order: for studies of what
    /// a repaired drive is like. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repaired_dies: Vec<u16>,
    /// Pages of 4 KiB that an entry of the mapping table stands for, by which the calibrated costs of the identifier are multiplied: 1 of
    /// a drive with entries of 4 KiB, 16 where a scenario has entries of 64 KiB for the sake of time; 0: identification is free. At most
    /// 65536. Default: 1.
    pub pages_per_entry: u32,
    /// Who rebuilds failed data that the drive's own stripes can give.
    pub rebuild: Rebuild,
    /// Moving data off a die that is expected to fail. Absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predict: Option<PredictConfig>,
}

/// Who takes the place of a failed die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepairScheme {
    /// The other dies of its core (section 4.2.3).
    Isolated,
    /// The dies of all cores: a part of the core's logical space goes to the others (section 5.2).
    #[default]
    Cooperative,
}

/// How the logical addresses on a failed die are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Identifier {
    /// The core of the die looks through the mapping table (section 4.2.2).
    L2pOneCore,
    /// All cores look through it (section 5.1).
    L2pAllCores,
    /// From the spare area of the pages of the neighbouring die (section 6.1).
    P2lPage,
    /// From the last page of the blocks of the neighbouring die, which is kept for this (section 6.2).
    #[default]
    P2lBlock,
}

impl Identifier {
    /// Whether it reads lists of the neighbouring die.
    #[inline]
    pub fn reads_lists(self) -> bool {
        matches!(self, Self::P2lPage | Self::P2lBlock)
    }
}

/// How data moves to the core to which it now belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Migration {
    /// It is reported as failed, and the host writes it again (section 5.2.3).
    #[default]
    Host,
    /// The cores pass it to each other, beside the host's commands (the future work of section 9).
    Device,
}

/// Who rebuilds failed data that the drive's own stripes can give. What they cannot give is always for the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rebuild {
    /// Whoever is expected to be faster. The drive reads `k` program units of a stripe of `k` data, on dies that work at the same time:
    /// `k` · (sense + transfer) / dies of the core. The host reads at least one other device and writes the result: twice the link
    /// time of the same bytes; without a limit on the link, the drive does it.
    #[default]
    Cheapest,
    /// The drive, by relocation; the host is told only of what the drive cannot rebuild.
    Device,
    /// The host: it is told of all, as data that can still be read.
    Host,
}

/// When a die is expected to fail: as soon as one of the limits is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PredictConfig {
    /// Bad blocks of the die, found while it is in use; below `bad_blocks`. Default: 8 (assumed).
    pub bad_blocks: u32,
    /// Units of the die that its own ECC and re-reads could not correct within an hour; 0: do not count. Default: 0.
    pub uncorrectable: u32,
}

impl Default for RepairConfig {
    fn default() -> Self {
        Self {
            scheme: RepairScheme::default(),
            identifier: Identifier::default(),
            search_cores: None,
            migration: Migration::default(),
            bad_blocks: 32,
            repaired_dies: Vec::new(),
            pages_per_entry: 1,
            rebuild: Rebuild::default(),
            predict: None,
        }
    }
}

impl PredictConfig {
    /// Time over which `uncorrectable` units are counted. Assumed: long enough to see a die fail, too short to add up its whole life.
    pub const WINDOW: Nanos = Nanos::secs(3600);
}

impl Default for PredictConfig {
    fn default() -> Self {
        Self { bad_blocks: 8, uncorrectable: 0 }
    }
}

impl RepairConfig {
    const fn cost(&self, ns: u64) -> Nanos {
        Nanos(ns * self.pages_per_entry as u64)
    }

    /// Time of a flash core for each entry of the mapping table that it looks at: 260 ns (calibrated, see [`RepairConfig`]).
    pub const fn scan_cost(&self) -> Nanos {
        self.cost(260)
    }

    /// Time of the victim core for each entry that it moves to memory that all cores share: 2 ns (calibrated).
    pub const fn copy_cost(&self) -> Nanos {
        self.cost(2)
    }

    /// Time of the victim core for each failed unit found in the mapping table: 3300 ns (calibrated).
    pub const fn found_cost(&self) -> Nanos {
        self.cost(3300)
    }

    /// Time of the victim core to mark the entry of each failed unit that a list names: 1800 ns (calibrated).
    pub const fn mark_cost(&self) -> Nanos {
        self.cost(1800)
    }

    /// Time of a flash core for each entry that it looks at for its mark only; all cores share them: 194 ns (calibrated).
    pub const fn marked_scan_cost(&self) -> Nanos {
        self.cost(194)
    }

    /// Checks the settings by themselves and against the drive's.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn validate(&self, device: &SsdConfig) -> Result<(), ConfigError> {
        if self.pages_per_entry > 1 << 16 {
            let limit = "must be at most 65536";
            return Err(ConfigError::new("device.repair.pages_per_entry", self.pages_per_entry, limit));
        }
        if self.bad_blocks == 0 {
            return Err(ConfigError::new("device.repair.bad_blocks", 0, "must be at least 1"));
        }
        if let Some(cores) = self.search_cores {
            let all = device.controller.flash_cores;
            if self.identifier != Identifier::L2pAllCores {
                let limit = "must be absent unless device.repair.identifier = l2p-all-cores";
                return Err(ConfigError::new("device.repair.search_cores", cores, limit));
            }
            if cores == 0 || cores > all {
                let limit = format!("must be between 1 and {all}, the flash cores");
                return Err(ConfigError::new("device.repair.search_cores", cores, limit));
            }
        }
        if self.scheme == RepairScheme::Cooperative && device.controller.write_cache != WriteCache::Protected
        {
            let limit = "must be isolated where the write buffer is not protected: a unit may not be in two cores' buffers when \
                         power fails";
            return Err(ConfigError::new("device.repair.scheme", "cooperative", limit));
        }
        let dies = device.geometry.dies();
        for (index, &die) in self.repaired_dies.iter().enumerate() {
            if die >= dies || self.repaired_dies[..index].contains(&die) || device.absent_dies.contains(&die)
            {
                let limit = format!("must be different dies below {dies} that are not absent");
                return Err(ConfigError::new(&format!("device.repair.repaired_dies[{index}]"), die, limit));
            }
        }
        if let Some(predict) = &self.predict
            && (predict.bad_blocks == 0 || predict.bad_blocks >= self.bad_blocks)
        {
            let limit = format!("must be between 1 and {}, one below bad_blocks", self.bad_blocks - 1);
            return Err(ConfigError::new("device.repair.predict.bad_blocks", predict.bad_blocks, limit));
        }
        Ok(())
    }
}
