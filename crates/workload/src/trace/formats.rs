//! Decoding one line or record of each format. A fault names the field; the caller adds file and line.

mod blkparse;
mod iolog;
mod tables;
mod vscsi;

pub(crate) use blkparse::is_device;
pub(crate) use iolog::version as iolog_version;
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
    last: u32,
}

impl DeviceTable {
    /// More devices than any trace has; keeps a damaged file from growing the table without bound.
    const MOST: usize = 1 << 16;

    /// The number of the device `name`.
    pub(crate) fn id(&mut self, name: &[u8]) -> Result<u32, Fault> {
        if self.names.get(self.last as usize).is_some_and(|last| &**last == name) {
            return Ok(self.last);
        }
        if let Some(&id) = self.index.get(name) {
            self.last = id;
            return Ok(id);
        }
        if self.names.len() == Self::MOST {
            return Err(super::fields::fault("device", name, "at most 65536 different devices"));
        }
        self.last = self.names.len() as u32;
        self.names.push(name.into());
        self.index.insert(name.into(), self.last);
        Ok(self.last)
    }
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
    scratch: Vec<u8>,
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
            scratch: Vec::new(),
        }
    }

    /// Decodes line `number` of a text format, counted from 1 without blank lines and comments.
    pub(crate) fn line(&mut self, line: &[u8], number: u64) -> Result<Parsed, Fault> {
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
    pub(crate) fn record(&mut self, bytes: &[u8]) -> Result<Parsed, Fault> {
        vscsi::record(self, bytes)
    }

    /// A record over a range of bytes or sectors, whichever the format uses.
    fn request(
        &mut self,
        time: u64,
        device: &[u8],
        op: Op,
        address: &[u8],
        size: &[u8],
    ) -> Result<Parsed, Fault> {
        use super::fields::{bytes, sectors, whole};
        let (start, length) = (whole("address", address)?, whole("size", size)?);
        let (lba, sectors) = match self.address_unit {
            AddressUnit::Sector => sectors(start, length, address, size)?,
            AddressUnit::Byte => {
                let (lba, sectors, rounded) = bytes(start, length, address, size)?;
                self.rounded += u64::from(rounded);
                (lba, sectors)
            }
        };
        let device = self.devices.id(device)?;
        Ok(Parsed::One(Record { time, device, lba, sectors, op, fua: false }))
    }
}

/// Splits at commas or, without any, at blanks, into exactly `N` fields; more are ignored if `more`.
pub(crate) fn split<const N: usize>(line: &[u8], comma: bool, more: bool) -> Result<[&[u8]; N], usize> {
    let mut fields = [&[] as &[u8]; N];
    let mut count = 0;
    let mut add = |field| {
        if let Some(slot) = fields.get_mut(count) {
            *slot = field;
        }
        count += 1;
    };
    if comma {
        let mut start = 0;
        for end in memchr::memchr_iter(b',', line) {
            add(line[start..end].trim_ascii());
            start = end + 1;
        }
        add(line[start..].trim_ascii());
    } else {
        line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).for_each(&mut add);
    }
    if count == N || (more && count > N) { Ok(fields) } else { Err(count) }
}
