//! A second translation layer on the same superblocks: zones that are appended to, read and reset. It has a table of zones and no table of pages, and
//! collects nothing. Compared with plain lists, with and without parity.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_ftl::{CodeAxis, FlashSpace, FtlOptions, SlotLayout, StreamCause, Translation};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::{FtlConfig, ProtectionConfig};
use outlast_units::{Bytes, DieId, Lpn, Ppn, Pu, Stream, SuperblockId};
use proptest::prelude::*;

const DIES: u16 = 4;
const UNIT: u64 = 512;
const ZONES: usize = 8;
/// Zones that may be open at once: streams of the host.
const OPEN: u8 = 3;

/// One zone: a superblock, and its program units in the order of writing.
#[derive(Clone, Debug, Default)]
struct Zone {
    superblock: Option<SuperblockId>,
    /// The stream that fills it while it is open.
    stream: Option<Stream>,
    /// Program units with data; the last may be partly written.
    pus: Vec<Pu>,
    written: u32,
}

/// The translation: zone to superblock.
#[derive(Clone, Debug)]
struct ZoneTable {
    zones: Vec<Zone>,
    sealed: Vec<SuperblockId>,
}

impl Translation for ZoneTable {
    fn opened(&mut self, _layout: &SlotLayout, superblock: SuperblockId, stream: Stream) {
        let zone = self.zones.iter_mut().find(|zone| zone.stream == Some(stream)).unwrap();
        assert_eq!(zone.superblock.replace(superblock), None, "a zone is one superblock");
    }

    fn sealed(&mut self, superblock: SuperblockId) {
        self.sealed.push(superblock);
    }

    /// A zone is read below its write pointer only, where no slot is without data.
    fn disown(&mut self, _first: Ppn, _count: u32) {}

    fn awaits_superblock(&self, _clock: u64) -> bool {
        false
    }
}

/// The layer: a space, and the zones on it.
struct ZonedLayer {
    space: FlashSpace,
    table: ZoneTable,
    free_streams: Vec<Stream>,
}

impl ZonedLayer {
    fn new(parity: u8) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: DIES,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: ZONES as u32 + 8,
            pages_per_block: 6,
            page_size: Bytes(2 * UNIT),
            spare_per_page: Bytes(0),
        };
        let config = FtlConfig {
            mapping_unit: Bytes(UNIT),
            capacity: Some(Bytes(UNIT)),
            streams: OPEN,
            ..FtlConfig::default()
        };
        let protection =
            ProtectionConfig { data: DIES - u16::from(parity), parity, ..ProtectionConfig::default() };
        let options = FtlOptions {
            keep_bytes: true,
            protection: (parity != 0).then_some(protection),
            ..FtlOptions::default()
        };
        let dies: Vec<DieId> = (0..DIES).map(DieId).collect();
        let space =
            FlashSpace::new(&geometry, &config, &DefectConfig::default(), &dies, 1, &options).unwrap();
        let table = ZoneTable { zones: vec![Zone::default(); ZONES], sealed: Vec::new() };
        let free_streams = space.streams().hosts().collect();
        Self { space, table, free_streams }
    }

    /// Programs `pu` and all parity that is due after it.
    fn program(&mut self, stream: Stream, pu: Pu) {
        self.space.programmed(pu, &mut self.table);
        while let Some(parity) = self.space.take_parity(stream, &mut self.table) {
            self.space.programmed(parity, &mut self.table);
        }
    }

    /// Ends the filling of a zone that is full: its stream is free for another.
    fn release(&mut self, zone: usize) {
        let superblock = self.table.zones[zone].superblock;
        if superblock.is_some_and(|superblock| self.table.sealed.contains(&superblock)) {
            self.free_streams.extend(self.table.zones[zone].stream.take());
        }
    }

    /// Appends a unit with `value` to `zone`; returns the offset that it got, or `None` if the zone is full or too many are open.
    fn append(&mut self, zone: usize, value: u64) -> Option<u32> {
        if self.table.zones[zone].superblock.is_some() && self.table.zones[zone].stream.is_none() {
            return None;
        }
        let stream = match self.table.zones[zone].stream {
            Some(stream) => stream,
            None => self.free_streams.pop()?,
        };
        self.table.zones[zone].stream = Some(stream);
        assert!(self.space.can_take(stream, &self.table), "a superblock is left for every zone");
        let slot = self.space.take_slot(stream, &mut self.table);
        self.space.add_valid(stream);
        let unit = self.space.make_unit(Lpn(zone as u32), &bytes_of(value)).unwrap();
        self.space.store(slot.ppn, unit);
        let (pu, within) = self.space.layout().pu_of(slot.ppn);
        let entry = &mut self.table.zones[zone];
        if within == 0 {
            entry.pus.push(pu);
        }
        let offset = entry.written;
        entry.written += 1;
        if slot.completes_pu {
            self.program(stream, pu);
            self.release(zone);
        }
        Some(offset)
    }

    /// The slot at `offset` of `zone`; `None` at and beyond the write pointer.
    fn lookup(&self, zone: usize, offset: u32) -> Option<Ppn> {
        let (entry, units) = (&self.table.zones[zone], self.space.layout().units_per_pu());
        (offset < entry.written)
            .then(|| self.space.layout().first_slot_of(entry.pus[(offset / units) as usize]) + offset % units)
    }

    fn read(&self, zone: usize, offset: u32) -> Option<u64> {
        self.lookup(zone, offset).map(|slot| {
            let mut bytes = vec![0; UNIT as usize];
            self.space.image(slot).unwrap().copy_to(0, &mut bytes);
            u64::from_le_bytes(bytes[..8].try_into().unwrap())
        })
    }

    /// Ends the filling of an open zone before it is full.
    fn finish(&mut self, zone: usize) {
        let Some(stream) = self.table.zones[zone].stream else { return };
        while let Some(pu) = self.space.pad_stripe(stream, &mut self.table) {
            self.program(stream, pu);
        }
        self.space.close(stream, &mut self.table);
        self.release(zone);
    }

    /// Erases the superblock of a zone, whose units are stale from now on.
    fn reset(&mut self, zone: usize) {
        self.finish(zone);
        let written = self.table.zones[zone].written;
        for offset in 0..written {
            let slot = self.lookup(zone, offset).unwrap();
            self.space.invalidate(slot);
        }
        let Zone { superblock, .. } = std::mem::take(&mut self.table.zones[zone]);
        if let Some(superblock) = superblock {
            self.table.sealed.retain(|&sealed| sealed != superblock);
            self.space.begin_relocation(superblock, self.space.streams().gc(0), StreamCause::Gc);
            self.space.erase(superblock, |_| false, &mut self.table);
        }
    }

    fn check(&self) {
        let units = |superblock| {
            let zone = self.table.zones.iter().find(|zone| zone.superblock == Some(superblock));
            zone.map_or(0, |zone| zone.written)
        };
        assert_eq!(self.space.check(units), Ok(()));
    }
}

fn bytes_of(value: u64) -> Vec<u8> {
    let mut bytes = vec![0; UNIT as usize];
    bytes[..8].copy_from_slice(&value.to_le_bytes());
    bytes
}

#[derive(Clone, Debug)]
enum Operation {
    /// Appends so many units, one after another.
    Append(usize, u32),
    Read(usize, u32),
    Finish(usize),
    Reset(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let zone = 0..ZONES;
    prop_oneof![
        6 => (zone.clone(), 1..20u32).prop_map(|(zone, count)| Operation::Append(zone, count)),
        2 => (zone.clone(), 0..60u32).prop_map(|(zone, offset)| Operation::Read(zone, offset)),
        1 => zone.clone().prop_map(Operation::Finish),
        2 => zone.prop_map(Operation::Reset),
    ]
}

proptest! {
    /// Zones give what was appended to them, in order, and nothing beyond; superblocks, parity and room stay sound.
    #[test]
    fn zones_on_superblocks_are_lists(parity in 0..2u8, operations in proptest::collection::vec(operation(), 1..80)) {
        let mut layer = ZonedLayer::new(parity);
        // The oracle: the values of each zone, and true if it takes more.
        let mut oracle: Vec<(Vec<u64>, bool)> = vec![(Vec::new(), true); ZONES];
        let capacity = 6 * 2 * u32::from(DIES - u16::from(parity)) as usize;
        let mut value = 0;
        for operation in operations {
            match operation {
                Operation::Append(zone, count) => for _ in 0..count {
                    value += 1;
                    let open = oracle.iter().filter(|(values, takes)| *takes && !values.is_empty()).count();
                    let (values, takes) = &mut oracle[zone];
                    let is_open = *takes && !values.is_empty();
                    let enters = *takes && (is_open || open < usize::from(OPEN));
                    let offset = layer.append(zone, value);
                    prop_assert_eq!(offset, enters.then_some(values.len() as u32));
                    if enters {
                        values.push(value);
                        *takes = values.len() < capacity;
                    }
                },
                Operation::Read(zone, offset) => {
                    prop_assert_eq!(layer.read(zone, offset), oracle[zone].0.get(offset as usize).copied());
                }
                Operation::Finish(zone) => {
                    layer.finish(zone);
                    if !oracle[zone].0.is_empty() {
                        oracle[zone].1 = false;
                    }
                }
                Operation::Reset(zone) => {
                    layer.reset(zone);
                    oracle[zone] = (Vec::new(), true);
                }
            }
        }
        layer.check();
        for (zone, (values, _)) in oracle.iter().enumerate() {
            for (offset, &value) in (0..).zip(values) {
                prop_assert_eq!(layer.read(zone, offset), Some(value));
                let slot = layer.lookup(zone, offset).unwrap();
                let rebuilt = layer.space.parity().rebuild(slot, CodeAxis::Dies, &all_of(&layer, slot));
                prop_assert_eq!(rebuilt.is_some(), parity != 0);
                if let Some(rebuilt) = rebuilt {
                    let mut bytes = vec![0; UNIT as usize];
                    rebuilt.copy_to(0, &mut bytes);
                    prop_assert_eq!(bytes, bytes_of(value));
                }
            }
        }
    }
}

/// The program units of the superblock of `slot`: those that a recovery of it may read.
fn all_of(layer: &ZonedLayer, slot: Ppn) -> Vec<Pu> {
    let layout = layer.space.layout();
    let each = layout.pus_per_superblock();
    let first = layout.superblock_of(slot).0 * each;
    Pu::each(Pu(first)..Pu(first + each)).collect()
}
