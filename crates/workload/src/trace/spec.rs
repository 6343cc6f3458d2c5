//! The settings of a trace.

use crate::InputFile;
use outlast_device::PlacementId;
use outlast_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The format of a trace file. Compression (gzip, zstd, none) is recognised by the file's first bytes, whatever its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// Recognised from the file's beginning.
    #[default]
    Auto,
    /// MSR Cambridge: `timestamp,host,disk,Read|Write,offset,size,response`; time in FILETIME ticks of 100 ns, addresses in
    /// bytes. A row index in front is accepted.
    Msr,
    /// SPC / `UMass` repository: `ASU,LBA,size,opcode,timestamp`; 512-byte LBAs, size in bytes, time in seconds. Commas or
    /// blanks.
    Spc,
    /// `MQSim`, `DiskSim` and `SSDSim`: `time device address size op` with op 1 = read, 0 = write.
    Ascii,
    /// The default text output of blkparse.
    Blkparse,
    /// fio's I/O log, version 2 or 3.
    FioIolog,
    /// fio's I/O log, version 2: times as `wait` actions. To write; to read, `fio-iolog` serves both.
    FioIologV2,
    /// `CloudPhysics` vscsiStats, binary, version 1 or 2.
    Vscsi,
    /// Alibaba block traces: `device_id,opcode,offset,length,timestamp`; bytes and microseconds.
    Alibaba,
    /// Disk events of Event Tracing for Windows as text, from xperf's dumper or SNIA IOTTA's Microsoft production servers:
    /// `DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, ...`; microseconds and bytes. The
    /// file's own header says which column is which.
    Etw,
}

impl TraceFormat {
    /// The names that a user may write, for messages.
    pub(crate) const NAMES: &'static str = "msr, spc, ascii, blkparse, fio-iolog, vscsi, alibaba, etw";

    /// Its spelling in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Msr => "msr",
            Self::Spc => "spc",
            Self::Ascii => "ascii",
            Self::Blkparse => "blkparse",
            Self::FioIolog => "fio-iolog",
            Self::FioIologV2 => "fio-iolog-v2",
            Self::Vscsi => "vscsi",
            Self::Alibaba => "alibaba",
            Self::Etw => "etw",
        }
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The unit of the recorded times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Windows FILETIME ticks of 100 ns.
    Filetime,
}

impl TimeUnit {
    /// Nanoseconds in one unit.
    pub const fn nanos(self) -> u64 {
        match self {
            Self::Ns => 1,
            Self::Us => 1_000,
            Self::Ms => 1_000_000,
            Self::S => 1_000_000_000,
            Self::Filetime => 100,
        }
    }
}

/// The unit of the recorded addresses and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AddressUnit {
    /// Sectors of 512 bytes.
    Sector,
    /// Bytes.
    Byte,
}

/// The event of blkparse that counts as a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum BlkEvent {
    /// Queued: what the software above asked for.
    #[default]
    Q,
    /// Issued to the driver, after merging and scheduling.
    D,
    /// Completed.
    C,
}

/// Treatment of a trace of several devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeviceLayout {
    /// Their address spaces are laid over each other: the same LBA of two devices is one LBA.
    #[default]
    Merge,
    /// Their address spaces are laid side by side in the order of appearance, each rounded up to 1 MiB. Costs one pass
    /// over the file when it is opened.
    Concat,
}

/// The name of a device as the trace has it: the disk number, the ASU, `hm_0` (MSR host and disk), "259,2" (blkparse), the
/// file name of a fio log, the device id, the number of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the name or number of a device")]
pub enum DeviceName {
    /// A number.
    Number(u64),
    /// A name.
    Name(String),
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// Treatment of addresses beyond the capacity. The run always reports the share of the requests concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AddressOverflow {
    /// Taken modulo the capacity, so that different data may come to lie on the same addresses. A request that would then cross
    /// the end is moved back to end there.
    Wrap,
    /// If the trace reaches beyond the capacity, the 1 MiB pieces that it touches are packed side by side in order of
    /// address, which keeps runs and distances within touched stretches; what still does not fit wraps. Costs one pass
    /// over the file when it is opened, and 8 bytes for each MiB touched.
    #[default]
    Fit,
    /// An error naming line, LBA and capacity; `refuse` means the same.
    #[serde(alias = "refuse")]
    Strict,
}

/// Treatment of a record that is earlier than the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnorderedRecords {
    /// An error naming both times.
    #[default]
    Error,
    /// Sorted within a window of 1024 records; later than that, an error.
    Sort,
    /// Given the time of the record before it.
    Clamp,
}

/// A recorded trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TraceSpec {
    /// The file: plain, gzip or zstd.
    pub file: String,
    /// Its format. Default: auto.
    pub format: TraceFormat,
    /// Unit of the times of `ascii` (default: guessed, with a note) and of a version 3 `fio-iolog` (default: us).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// Unit of the addresses and sizes of `ascii`. Default: guessed, with a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_unit: Option<AddressUnit>,
    /// Which event of `blkparse` is a request. Default: Q.
    pub event: BlkEvent,
    /// Treatment of several devices. Default: merge.
    pub devices: DeviceLayout,
    /// Only the records of this device. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceName>,
    /// Stream hints of writes by device of the trace, such as `{ "hm_0" = 1, "hm_1" = 2 }`: a host that tells its volumes apart, as mSAPL's.
    /// Default: none; writes to devices that are not named have hint 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub streams: BTreeMap<String, PlacementId>,
    /// Treatment of addresses beyond the capacity. Default: fit.
    pub addresses: AddressOverflow,
    /// Rounds requests out to this unit: start down, end up. Default: as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// Treatment of records that are out of order. Default: error.
    pub unordered: UnorderedRecords,
    /// Recorded times are multiplied by this: 2 takes twice as long, 0.5 half as long. 1e-6 to 1e6. Default: 1.
    pub time_scale: f64,
    /// Replays as a closed loop with so many requests in flight and ignores the recorded times. Default: open loop at the
    /// recorded times, counted from the first record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// How often the trace is replayed; each pass follows the one before after the mean gap between its records.
    /// Default: 1.
    pub repeat: u32,
    /// Leaves out so many records at the beginning. Default: 0.
    pub skip: u64,
    /// Takes at most so many records of each pass. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<u64>,
}

impl TraceSpec {
    /// Records held back by `unordered = "sort"`: far more than the queues of the machines that traces come from.
    pub(crate) const SORT_WINDOW: usize = 1024;

    /// The file that the trace is in.
    pub(crate) fn input_files(&self) -> Vec<InputFile> {
        vec![InputFile { setting: "workload.trace.file", path: self.file.clone() }]
    }
}

impl Default for TraceSpec {
    fn default() -> Self {
        Self {
            file: String::new(),
            format: TraceFormat::Auto,
            time_unit: None,
            address_unit: None,
            event: BlkEvent::Q,
            devices: DeviceLayout::Merge,
            device: None,
            streams: BTreeMap::new(),
            addresses: AddressOverflow::Fit,
            align: None,
            unordered: UnorderedRecords::Error,
            time_scale: 1.0,
            queue_depth: None,
            repeat: 1,
            skip: 0,
            head: None,
        }
    }
}
