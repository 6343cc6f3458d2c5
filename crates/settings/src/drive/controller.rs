//! Settings of the controller: processors, scheduling, write buffer, host.

use super::{CommandCosts, DecodeTimes, FlushPolicy, HostLatency, PausesConfig, QueuesConfig, Trims};
use outlast_media::{ConfigError, Geometry, at_most_a_second};
use outlast_units::{ByteRate, Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// The controller between host link and flash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerConfig {
    /// Flash cores. Mapping unit `u` belongs to core `u mod flash_cores`; each core owns an equal share of the dies.
    pub flash_cores: u16,
    /// Time of the master core for each host command.
    pub master_cost: Nanos,
    /// Time of the master core by command. Absent: `master_cost` for all of them.
    #[serde(skip_serializing_if = "CommandCosts::is_default")]
    pub command_costs: CommandCosts,
    /// A fixed time each way between the host and the drive's queue. Default: zero.
    #[serde(skip_serializing_if = "HostLatency::is_default")]
    pub host_latency: HostLatency,
    /// Time of a flash core for each mapping unit that the host reads.
    pub read_cost: Nanos,
    /// Time of a flash core for each mapping unit that the host writes or trims.
    pub write_cost: Nanos,
    /// Time of a flash core for each mapping unit that it relocates.
    pub relocation_cost: Nanos,
    /// Time of a flash core for each mapping unit that the host writes and each parity unit that it changes.
    pub encode_cost: Nanos,
    /// Time of a flash core, when a unit is rebuilt from its stripe or block, for each member that goes into it; the host waits
    /// for it.
    pub decode_cost: Nanos,
    /// Time of the hardware decoder of the error-correcting code. Default: none.
    #[serde(skip_serializing_if = "DecodeTimes::is_nothing")]
    pub decode: DecodeTimes,
    /// Buffer for host data on its way to flash, over all cores.
    pub write_buffer: Bytes,
    /// Whether a unit that the host writes again while it is in the buffer, in a program unit that is not full or is held back, is
    /// programmed once. Default: false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub coalesce: bool,
    /// Bytes of full program units that are held back in the buffer, over all cores, so that more writes coalesce; the oldest leave first.
    /// Default: 0, each goes to flash at once.
    #[serde(skip_serializing_if = "is_nothing")]
    pub hold_back: Bytes,
    /// Memory for units that the host has read: the most recently used ones stay, and are read without flash. Over all cores. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_cache: Option<Bytes>,
    /// Regular pauses in which no host write enters the buffer. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<PausesConfig>,
    /// When a write is acknowledged and what survives a loss of power.
    pub write_cache: WriteCache,
    /// How a flush, or a write with FUA, is handled if the buffer is volatile. Default: "honour".
    #[serde(skip_serializing_if = "FlushPolicy::is_default")]
    pub flush: FlushPolicy,
    /// Whether trims survive a loss of power if the buffer is not protected. Default: "kept".
    #[serde(skip_serializing_if = "Trims::is_default")]
    pub trims: Trims,
    /// Bound on flash operations of internal tasks (collection, wear levelling) in flight at once, over all cores.
    /// Absent: one for each die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_operations: Option<u32>,
    /// Think time of internal tasks: how long after each of their flash operations its place among `internal_operations` stays taken, while no
    /// die, channel or flash core is busy for it. Default: 0.
    #[serde(skip_serializing_if = "is_no_time")]
    pub think_time: Nanos,
    /// Host link bandwidth in each direction; absent: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<ByteRate>,
    /// Commands that the drive works on at once; further ones wait.
    pub queue_depth: u32,
    /// Submission queues and arbitration among them. Absent: one queue, first come, first served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuesConfig>,
    /// Whether firmware hands commands to the flash cores in the order in which they came, so that a write that waits for room in the buffer
    /// holds up all commands behind it. Default: false, each goes as far as it can.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_order: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_nothing(size: &Bytes) -> bool {
    size.0 == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_no_time(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// In the buffer, which capacitors protect: flush and FUA cost nothing, relocated data may wait in the buffer.
    Protected,
    /// In the buffer, which a loss of power empties: flush and FUA program what is buffered, padding the last pages.
    Volatile,
    /// On flash: every write behaves as FUA.
    Off,
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self {
            flash_cores: 1,
            master_cost: Nanos::ZERO,
            command_costs: CommandCosts::default(),
            host_latency: HostLatency::default(),
            read_cost: Nanos::ZERO,
            write_cost: Nanos::ZERO,
            relocation_cost: Nanos::ZERO,
            encode_cost: Nanos::ZERO,
            decode_cost: Nanos::ZERO,
            decode: DecodeTimes::default(),
            write_buffer: Bytes::mib(16),
            coalesce: false,
            hold_back: Bytes(0),
            read_cache: None,
            pauses: None,
            write_cache: WriteCache::Protected,
            flush: FlushPolicy::Honour,
            trims: Trims::Kept,
            internal_operations: None,
            think_time: Nanos::ZERO,
            link: None,
            queue_depth: 4096,
            queues: None,
            in_order: false,
        }
    }
}

impl ControllerConfig {
    /// Host reads that go before a waiting host program on a die that always has reads. Assumed: reads come first, and no stream of them
    /// starves a write or a flush.
    pub const PROGRAM_EVERY: u8 = 64;
    /// Operations of a never idle die of which one is of a background task (wear levelling, scrubbing, moving data to another code or away
    /// from failed dies), if there is one. Assumed: background work advances, and the host hardly notices it.
    pub const BACKGROUND_EVERY: u8 = 32;

    /// Checks the settings by themselves and the division of dies over cores.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self, geometry: &Geometry) -> Result<(), ConfigError> {
        if self.flash_cores == 0 || !geometry.dies().is_multiple_of(self.flash_cores) {
            let limit = format!("must divide the {} dies of the drive evenly", geometry.dies());
            return Err(ConfigError::new("device.controller.flash_cores", self.flash_cores, limit));
        }
        if self.queue_depth == 0 || self.queue_depth > 1 << 20 {
            let limit = "must be between 1 and 1048576";
            return Err(ConfigError::new("device.controller.queue_depth", self.queue_depth, limit));
        }
        self.check_promises()?;
        self.check_coalescing()?;
        self.check_host()?;
        if let Some(queues) = &self.queues {
            queues.validate(self.queue_depth)?;
        }
        self.decode.validate()?;
        if let Some(pauses) = &self.pauses {
            pauses.validate()?;
        }
        let times = [
            ("master_cost", self.master_cost),
            ("read_cost", self.read_cost),
            ("write_cost", self.write_cost),
            ("relocation_cost", self.relocation_cost),
            ("encode_cost", self.encode_cost),
            ("decode_cost", self.decode_cost),
            ("think_time", self.think_time),
        ];
        for (name, time) in times {
            at_most_a_second(&format!("device.controller.{name}"), time)?;
        }
        if self.internal_operations == Some(0) {
            let limit = "must be at least 1, or garbage collection could never run";
            return Err(ConfigError::new("device.controller.internal_operations", 0, limit));
        }
        Ok(())
    }
}
