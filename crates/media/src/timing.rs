//! Durations of flash operations.

use crate::{CellMode, ConfigError, Geometry};
use outlast_units::{ByteRate, Bytes, JsonSchema, ModeId, Nanos, Row};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

mod suspend;

pub use suspend::{ArrayWork, SuspendConfig};

/// Latencies of the flash array and the bandwidth of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// tR: from the array into the page register. One time, or one for each page type in turn (LSB, CSB, MSB).
    pub read: PageTimes,
    /// tPROG: from the page register into the array. One time, or one for each page type in turn; where a word line is programmed in one shot
    /// (`ftl.one_shot`), one time, for all its pages together.
    pub program: PageTimes,
    /// tBERS: erasure of a block (of all planes of a die together, when they work together).
    pub erase: Nanos,
    /// Bandwidth of one channel.
    pub bus: ByteRate,
    /// Time that the command and address cycles of one operation hold the channel.
    #[serde(default)]
    pub command: Nanos,
    /// Suspension of a program or erase by a host read; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<SuspendConfig>,
    /// True if the planes of a die may each sense a page of its own. Default: "together".
    #[serde(default, skip_serializing_if = "PlaneReads::is_together")]
    pub plane_reads: PlaneReads,
    /// tRCBSY: the time that what has been sensed takes into the cache register, from where it leaves over the channel while the array senses
    /// the next page. Absent: there is no such register, and a die, or a plane that reads by itself, is held until its data has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Nanos>,
    /// Which data goes first over a channel. Default: "fifo".
    #[serde(default, skip_serializing_if = "ChannelOrder::is_fifo")]
    pub channel: ChannelOrder,
}

/// Which data goes first over a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelOrder {
    /// The transfer that has waited longest.
    #[default]
    Fifo,
    /// Transfers of read data go before waiting data to be programmed, at most 16 times before the same data; a transfer under way is
    /// not interrupted.
    ReadsFirst,
}

impl ChannelOrder {
    /// Number of read transfers that may go before the same data to be programmed.
    pub const MOST_READS: u8 = 16;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_fifo(&self) -> bool {
        *self == Self::Fifo
    }
}

/// Which reads a die may work on at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneReads {
    /// One; it senses pages of one row on all planes that it wants.
    #[default]
    Together,
    /// As many as are on different planes, each with pages of its own (independent or asynchronous plane reads). Programs and erases take the
    /// whole die.
    Independent,
}

impl PlaneReads {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_together(&self) -> bool {
        *self == Self::Together
    }
}

/// One time for every page, or a cycle of times by page type: page `p` of a block takes entry `p mod length`.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum PageTimes {
    /// Every page takes the same time.
    Same(Nanos),
    /// Page types alternate from page to page (lower, upper; LSB, CSB, MSB; …).
    ByType(Vec<Nanos>),
}

impl PageTimes {
    /// The time of page `page` of a block.
    ///
    /// # Panics
    /// If the list is empty, which validation refuses.
    pub fn of_page(&self, page: u32) -> Nanos {
        match self {
            Self::Same(time) => *time,
            Self::ByType(times) => times[page as usize % times.len()],
        }
    }

    /// The mean over page types, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        match self {
            Self::Same(time) => time.0 as f64,
            Self::ByType(times) => times.iter().map(|t| t.0 as f64).sum::<f64>() / times.len() as f64,
        }
    }

    fn validate(&self, field: &str) -> Result<(), ConfigError> {
        match self {
            Self::ByType(times) if times.is_empty() || times.len() > 8 => Err(ConfigError::new(
                field,
                format!("{} times", times.len()),
                "takes one to eight page types",
            )),
            _ => Ok(()),
        }
    }
}

impl Serialize for PageTimes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Same(time) => time.serialize(serializer),
            Self::ByType(times) => times.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PageTimes {
    // Not `#[serde(untagged)]`: that would lose the message of the inner error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = PageTimes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"60us\", or a list with one for each page type")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<PageTimes, E> {
                text.parse().map(PageTimes::Same).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<PageTimes, E> {
                Nanos::deserialize(de::value::I64Deserializer::new(value)).map(PageTimes::Same)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<PageTimes, E> {
                Nanos::deserialize(de::value::U64Deserializer::new(value)).map(PageTimes::Same)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<PageTimes, A::Error> {
                let mut times = Vec::new();
                while let Some(time) = seq.next_element()? {
                    times.push(time);
                }
                Ok(PageTimes::ByType(times))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Timing {
    /// Checks the times by themselves.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.read.validate("device.timing.read")?;
        self.program.validate("device.timing.program")?;
        at_most_a_second("device.timing.command", self.command)?;
        at_most_a_second("device.timing.cache_read", self.cache_read.unwrap_or(Nanos::ZERO))?;
        self.suspend.as_ref().map_or(Ok(()), SuspendConfig::validate)
    }
}

/// Checks a time that is added up many times, so that sums cannot overflow.
///
/// # Errors
/// More than a second.
pub fn at_most_a_second(field: &str, time: Nanos) -> Result<(), ConfigError> {
    if time > Nanos::secs(1) {
        return Err(ConfigError::new(field, time, "must be at most 1s"));
    }
    Ok(())
}

/// A time in the width of the table.
fn narrow(field: &str, time: Nanos) -> Result<u32, ConfigError> {
    u32::try_from(time.0)
        .map_err(|_| ConfigError::new(field, time, format!("is limited to {}", Nanos(u64::from(u32::MAX)))))
}

/// Timing looked up by mode, page and unit count, computed once: no division on the hot path.
#[derive(Clone, Debug)]
pub struct TimingTable {
    /// Pages of a block: the stride of modes in `read` and `program`.
    rows: u32,
    /// tR of each page of a block, mode by mode.
    read: Vec<u32>,
    /// tPROG of each page of a block, mode by mode; where several are programmed together, that of all of them is the first one's.
    program: Vec<u32>,
    /// Channel time of the data of 0, 1, 2, … units.
    transfer: Vec<u32>,
    /// tBERS.
    erase: Nanos,
    /// Channel time of command and address cycles.
    command: Nanos,
}

impl TimingTable {
    /// The table for transfers of up to `max_units` units of `unit` bytes (with their share of the spare area), where each `one_shot` pages
    /// are programmed together. Its only mode is that of `timing`.
    ///
    /// # Errors
    /// A time above 4.29 s, which no flash operation takes and the table cannot hold; or times of pages that are programmed together.
    pub fn new(
        timing: &Timing,
        geometry: &Geometry,
        unit: Bytes,
        max_units: u32,
        one_shot: u32,
    ) -> Result<Self, ConfigError> {
        let with_spare = |units: u32| {
            let user = u128::from(unit.0) * u128::from(units);
            let whole = user * u128::from(geometry.page_size.0 + geometry.spare_per_page.0);
            Bytes(whole.div_ceil(u128::from(geometry.page_size.0)) as u64)
        };
        let transfer = (0..=max_units)
            .map(|units| narrow("device.timing.bus", timing.bus.time_for(with_spare(units))))
            .collect::<Result<Vec<_>, _>>()?;
        narrow("device.timing.erase", timing.erase)?;
        let mut table = Self {
            rows: geometry.pages_per_block,
            read: Vec::new(),
            program: Vec::new(),
            transfer,
            erase: timing.erase,
            command: timing.command,
        };
        table.add_times(&timing.read, &timing.program, one_shot)?;
        Ok(table)
    }

    /// Adds the times of a further mode, which gets the next number.
    ///
    /// # Errors
    /// As [`TimingTable::new`].
    pub fn add_mode(&mut self, mode: &CellMode) -> Result<(), ConfigError> {
        self.add_times(&mode.read, &mode.program, mode.one_shot)
    }

    fn add_times(&mut self, read: &PageTimes, program: &PageTimes, one_shot: u32) -> Result<(), ConfigError> {
        if let (PageTimes::ByType(times), 2..) = (program, one_shot) {
            let given = format!("{} times", times.len());
            let limit = "takes one time where device.ftl.one_shot programs several pages together";
            return Err(ConfigError::new("device.timing.program", given, limit));
        }
        for page in 0..self.rows {
            self.read.push(narrow("device.timing.read", read.of_page(page))?);
            let program = narrow("device.timing.program", program.of_page(page))?;
            self.program.push(if page.is_multiple_of(one_shot) { program } else { 0 });
        }
        Ok(())
    }

    /// Place of page `row` of a block in mode `mode` in the lists of times.
    #[inline]
    fn place(&self, mode: ModeId, row: Row) -> usize {
        debug_assert!(row.0 < self.rows, "row {row} of a block of {} rows", self.rows);
        (u32::from(mode.0) * self.rows + row.0) as usize
    }
    /// tR of page `row` of a block in mode `mode`.
    #[inline]
    pub fn read(&self, mode: ModeId, row: Row) -> Nanos {
        Nanos(u64::from(self.read[self.place(mode, row)]))
    }
    /// tPROG of page `row` of a block in mode `mode`.
    #[inline]
    pub fn program(&self, mode: ModeId, row: Row) -> Nanos {
        Nanos(u64::from(self.program[self.place(mode, row)]))
    }
    /// Channel time of the data of `units` units, their share of the spare area included.
    #[inline]
    pub fn transfer(&self, units: u32) -> Nanos {
        Nanos(u64::from(self.transfer[units as usize]))
    }
    /// tBERS.
    #[inline]
    pub fn erase(&self) -> Nanos {
        self.erase
    }
    /// Channel time of the command and address cycles of an operation.
    #[inline]
    pub fn command(&self) -> Nanos {
        self.command
    }
}
