//! The settings of a trace.

use super::columns::ColumnsSpec;
use super::trace_format::TraceFormat;
use crate::InputFile;
use outlast_device::PlacementId;
use outlast_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

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
    /// The file: plain, or packed by gzip, zstd, bzip2, xz or zip.
    pub file: String,
    /// Its format. Default: auto.
    pub format: TraceFormat,
    /// The columns of a table; with `format = "columns"`, which needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<ColumnsSpec>,
    /// Unit of the times of `ascii` (default: guessed, with a note), of a version 3 `fio-iolog` (default: us), and of `columns` and `commands` (default: s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// Unit of the addresses and sizes of `ascii` (default: guessed, with a note) and of `columns` (default: byte).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_unit: Option<AddressUnit>,
    /// Which event of `blkparse` is a request. Default: Q; in a trace that begins without one D, else C, with a note.
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
            columns: None,
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
