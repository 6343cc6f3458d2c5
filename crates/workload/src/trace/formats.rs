//! Decoding one line or record of each format. A fault names the field; the caller adds file and line.

mod blkparse;
mod iolog;
mod split;
mod tables;
mod vscsi;

pub(crate) use blkparse::is_device;
pub(crate) use iolog::version as iolog_version;
pub(crate) use split::{Words, split};
pub(crate) use vscsi::{Version as VscsiVersion, version as vscsi_version};

use super::fields::Fault;
use super::{AddressUnit, BlkEvent, Format};
use outlast_device::Op;
use std::collections::BTreeMap;

/// One recorded request, as it is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Record {
    /// Nanoseconds in the trace's own time.
    pub(crate) time: u64,
    pub(crate) device: u32,
    pub(crate) lba: u64,
    pub(crate) sectors: u32,
    pub(crate) op: Op,
    pub(crate) fua: bool,
}

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// Nothing that is a request.
    Skip,
    /// A request.
    One(Record),
    /// A flush and then a request (a write with a flush before it).
    FlushThen(Record),
}

/// The devices seen so far, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceTable {
    pub(crate) names: Vec<Box<[u8]>>,
    index: BTreeMap<Box<[u8]>, u32>,
}

impl DeviceTable {
    /// More devices than any trace has; keeps a damaged file from growing the table without bound.
    const MOST: usize = 1 << 16;

    /// Names that are compared one by one before the index is asked: most traces have no more.
    const FEW: usize = 4;

    /// The number of the device `name`.
    #[inline]
    pub(crate) fn id(&mut self, name: &[u8]) -> Result<u32, Box<Fault>> {
        match self.names.iter().take(Self::FEW).position(|known| is_same(known, name)) {
            Some(id) => Ok(id as u32),
            None => self.id_of_many(name),
        }
    }

    /// The number of the device whose name is `host`, an underscore, and `disk`.
    #[inline]
    pub(crate) fn id_of_disk(&mut self, host: &[u8], disk: &[u8]) -> Result<u32, Box<Fault>> {
        let is = |known: &[u8]| match known.split_at_checked(host.len()) {
            Some((first, [b'_', last @ ..])) => is_same(last, disk) && is_same(first, host),
            _ => false,
        };
        match self.names.iter().take(Self::FEW).position(|known| is(known)) {
            Some(id) => Ok(id as u32),
            None => self.id_of_many(&[host, b"_", disk].concat()),
        }
    }

    fn id_of_many(&mut self, name: &[u8]) -> Result<u32, Box<Fault>> {
        if let Some(&id) = self.index.get(name) {
            return Ok(id);
        }
        if self.names.len() == Self::MOST {
            return Err(super::fields::fault("device", name, "at most 65536 different devices"));
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.index.insert(name.into(), id);
        Ok(id)
    }
}

/// Whether two names are the same. They have a few bytes, for which a call of `memcmp` costs more than it does.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

/// What a decoder needs to know and to remember.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) format: Format,
    /// Nanoseconds in a unit of the recorded times.
    pub(crate) unit: u64,
    pub(crate) address_unit: AddressUnit,
    pub(crate) event: BlkEvent,
    /// Version of a fio log.
    pub(crate) iolog: u8,
    pub(crate) vscsi: VscsiVersion,
    pub(crate) devices: DeviceTable,
    /// Records that were rounded out to whole sectors.
    pub(crate) rounded: u64,
    /// The time so far of a format that records waits.
    pub(crate) clock: u64,
    /// Whether blkparse's summary has begun.
    pub(crate) summary: bool,
}

impl Context {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            unit: 1,
            address_unit: AddressUnit::Byte,
            event: BlkEvent::Q,
            iolog: 3,
            vscsi: VscsiVersion::One,
            devices: DeviceTable::default(),
            rounded: 0,
            clock: 0,
            summary: false,
        }
    }

    /// Decodes line `number` of a text format, counted from 1 without blank lines and comments.
    pub(crate) fn line(&mut self, line: &[u8], number: u64) -> Result<Parsed, Box<Fault>> {
        match self.format {
            Format::Msr => tables::msr(self, line, number),
            Format::Spc => tables::spc(self, line),
            Format::Ascii => tables::ascii(self, line),
            Format::Alibaba => tables::alibaba(self, line, number),
            Format::Blkparse => blkparse::event(self, line),
            Format::FioIolog | Format::FioIologV2 => iolog::action(self, line, number),
            Format::Vscsi | Format::Auto => Err(super::fields::fault("format", line, "a text format")),
        }
    }

    /// Decodes a record of vSCSI.
    pub(crate) fn record(&mut self, bytes: &[u8]) -> Result<Parsed, Box<Fault>> {
        vscsi::record(self, bytes)
    }

    /// The range of an address and a size in bytes or sectors, whichever the format uses.
    fn range(&mut self, address: &[u8], size: &[u8]) -> Result<(u64, u32), Box<Fault>> {
        use super::fields::{bytes, sectors, whole};
        let (start, length) = (whole("address", address)?, whole("size", size)?);
        match self.address_unit {
            AddressUnit::Sector => sectors(start, length, address, size),
            AddressUnit::Byte => {
                let (lba, sectors, rounded) = bytes(start, length, address, size)?;
                self.rounded += u64::from(rounded);
                Ok((lba, sectors))
            }
        }
    }
}
