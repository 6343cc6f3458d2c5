//! Input, memory and output of the decoders.

use super::etw::EtwHeader;
use super::vscsi_version::VscsiVersion;
use crate::trace::columns::ColumnLayout;
use crate::trace::fields::FieldFault;
use crate::trace::spec::{AddressUnit, BlkEvent};
use crate::trace::trace_format::TraceFormat;
use outlast_device::{Op, ZoneAction};
use std::collections::BTreeMap;

/// One recorded request, with time and address as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TraceRecord {
    /// Nanoseconds in the time of the trace, which may start anywhere.
    pub(crate) time: u64,
    /// Number of the device in order of appearance, an index of [`DeviceTable::names`].
    pub(crate) device: u32,
    pub(crate) lba: u64,
    pub(crate) sectors: u32,
    pub(crate) op: Op,
    pub(crate) fua: bool,
    /// Action of [`Op::ManageZone`].
    pub(crate) action: ZoneAction,
    /// Placement identifier of a write, where the trace has one.
    pub(crate) handle: u16,
}

impl TraceRecord {
    /// A read of nothing: what most formats leave as it is.
    pub(crate) const PLAIN: Self = Self {
        time: 0,
        device: 0,
        lba: 0,
        sectors: 0,
        op: Op::Read,
        fua: false,
        action: ZoneAction::Open,
        handle: 0,
    };
}

/// The requests of a line or record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParsedLine {
    /// None: a comment, a header, or another event.
    Skip,
    /// One.
    One(TraceRecord),
    /// Two: a flush and then this one, as the flag `REQ_PREFLUSH` of Linux demands.
    FlushThen(TraceRecord),
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

    /// Names that are compared one by one before the index is searched: most traces have no more.
    const FEW: usize = 4;

    /// The number of the device `name`.
    #[inline]
    pub(crate) fn id(&mut self, name: &[u8]) -> Result<u32, Box<FieldFault>> {
        match self.names.iter().take(Self::FEW).position(|listed| is_same(listed, name)) {
            Some(id) => Ok(id as u32),
            None => self.find_or_add(name),
        }
    }

    /// The number of the device `name`, which must be a whole number.
    #[inline]
    pub(crate) fn id_of_number(&mut self, name: &[u8]) -> Result<u32, Box<FieldFault>> {
        if let Some(id) = self.names.iter().take(Self::FEW).position(|listed| is_same(listed, name)) {
            return Ok(id as u32);
        }
        crate::trace::fields::whole("device", name)?;
        self.find_or_add(name)
    }

    /// The number of the device whose name is `host`, an underscore, and `disk`.
    #[inline]
    pub(crate) fn id_of_disk(&mut self, host: &[u8], disk: &[u8]) -> Result<u32, Box<FieldFault>> {
        let is_disk = |listed: &[u8]| match listed.split_at_checked(host.len()) {
            Some((first, [b'_', last @ ..])) => is_same(last, disk) && is_same(first, host),
            _ => false,
        };
        match self.names.iter().take(Self::FEW).position(|listed| is_disk(listed)) {
            Some(id) => Ok(id as u32),
            None => self.find_or_add(&[host, b"_", disk].concat()),
        }
    }

    /// The number of the device `name`, which is added if it is new.
    fn find_or_add(&mut self, name: &[u8]) -> Result<u32, Box<FieldFault>> {
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

/// True if two names are the same. At their few bytes a call of `memcmp` costs more than this loop.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

/// Settings and memory of a decoder.
#[derive(Clone, Debug)]
pub(crate) struct DecodeContext {
    pub(crate) format: TraceFormat,
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
    /// Sum of the waits so far, in nanoseconds, for the format that records waits.
    pub(crate) clock: u64,
    /// Columns of the events of Windows.
    pub(crate) etw: EtwHeader,
    /// Columns of a table.
    pub(crate) columns: ColumnLayout,
    /// Sectors from the start of one zone to that of the next, where the drive is known and has zones.
    pub(crate) zone_sectors: Option<u64>,
    /// True once blkparse's summary has begun.
    pub(crate) summary: bool,
}

impl DecodeContext {
    pub(crate) fn new(format: TraceFormat) -> Self {
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
            etw: EtwHeader::default(),
            columns: ColumnLayout::default(),
            zone_sectors: None,
            summary: false,
        }
    }

    /// First sector and length of an address and a size, which are bytes or sectors as the format has them.
    pub(super) fn range(&mut self, address: &[u8], size: &[u8]) -> Result<(u64, u32), Box<FieldFault>> {
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
