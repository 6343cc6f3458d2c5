//! What a decoder needs to know and to remember, and what it gives.

use super::etw::Header;
use super::version::Version;
use crate::trace::fields::Fault;
use crate::trace::spec::{AddressUnit, BlkEvent, Format};
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

    /// The number of the device `name`, which must be a whole number.
    #[inline]
    pub(crate) fn id_of_number(&mut self, name: &[u8]) -> Result<u32, Box<Fault>> {
        if let Some(id) = self.names.iter().take(Self::FEW).position(|known| is_same(known, name)) {
            return Ok(id as u32);
        }
        crate::trace::fields::whole("device", name)?;
        self.id_of_many(name)
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
            return Err(crate::trace::fields::fault("device", name, "at most 65536 different devices"));
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
    pub(crate) vscsi: Version,
    pub(crate) devices: DeviceTable,
    /// Records that were rounded out to whole sectors.
    pub(crate) rounded: u64,
    /// The time so far of a format that records waits.
    pub(crate) clock: u64,
    /// What the columns of Windows's events are.
    pub(crate) etw: Header,
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
            vscsi: Version::One,
            devices: DeviceTable::default(),
            rounded: 0,
            clock: 0,
            etw: Header::default(),
            summary: false,
        }
    }

    /// The range of an address and a size in bytes or sectors, whichever the format uses.
    pub(super) fn range(&mut self, address: &[u8], size: &[u8]) -> Result<(u64, u32), Box<Fault>> {
        use crate::trace::fields::{bytes, sectors, whole};
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
