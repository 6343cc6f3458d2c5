//! A third translation layer on the same superblocks: a map of which only some pages are in memory. A look-up may answer that the page with the entry
//! is not loaded; the caller then has it read from flash, and a dirty page that leaves the memory is written there. Misses are compared with a list in
//! order of use, contents with a plain map.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_ftl::{FlashSpace, FtlOptions, SlotLayout, Translation};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::ftl::{FtlConfig, MapFlushConfig};
use outlast_units::{Bytes, DieId, Lpn, Ppn, Stream, SuperblockId};
use proptest::prelude::*;
use std::collections::BTreeMap;

const UNIT: usize = 512;
const ENTRIES: u32 = (UNIT / 4) as u32;
const PAGES: u32 = 12;
const UNITS: u32 = PAGES * ENTRIES;

/// Answer of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    Slot(Ppn),
    Unmapped,
    /// This page of the map must be read first.
    NotLoaded(u32),
}

/// A page of the map in memory.
#[derive(Clone, Debug)]
struct LoadedPage {
    entries: Vec<Ppn>,
    dirty: bool,
    used: u64,
}

/// The map: where each of its pages lies, and those in memory.
#[derive(Clone, Debug)]
struct PagedMap {
    /// Slot of the newest copy of each page on flash.
    directory: Vec<Ppn>,
    loaded: BTreeMap<u32, LoadedPage>,
    /// Most pages in memory.
    most: usize,
    clock: u64,
}

impl Translation for PagedMap {
    fn opened(&mut self, _layout: &SlotLayout, _superblock: SuperblockId, _stream: Stream) {}
    fn sealed(&mut self, _superblock: SuperblockId) {}
    fn disown(&mut self, _first: Ppn, _count: u32) {}

    /// A dirty page that must leave the memory goes before the host.
    fn awaits_superblock(&self, _clock: u64) -> bool {
        self.loaded.len() >= self.most
    }
}

impl PagedMap {
    fn lookup(&mut self, lpn: Lpn) -> Lookup {
        self.clock += 1;
        match self.loaded.get_mut(&(lpn.0 / ENTRIES)) {
            None => Lookup::NotLoaded(lpn.0 / ENTRIES),
            Some(page) => {
                page.used = self.clock;
                let slot = page.entries[(lpn.0 % ENTRIES) as usize];
                if slot.is_some() { Lookup::Slot(slot) } else { Lookup::Unmapped }
            }
        }
    }
}

struct PagedLayer {
    space: FlashSpace,
    map: PagedMap,
    /// Pages of the map read from flash or begun afresh, and written there.
    misses: u64,
    written: u64,
}

impl PagedLayer {
    /// A layer with room for 4,000 units beside the host's, so that nothing needs to be collected.
    fn new(most: usize) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 100,
            pages_per_block: 32,
            page_size: Bytes(UNIT as u64),
            spare_per_page: Bytes(0),
        };
        let map_flush = Some(MapFlushConfig { entry: Bytes(4), ..MapFlushConfig::default() });
        let config = FtlConfig {
            mapping_unit: Bytes(UNIT as u64),
            capacity: Some(Bytes(u64::from(UNITS) * UNIT as u64)),
            map_flush,
            ..FtlConfig::default()
        };
        let options = FtlOptions { keep_bytes: true, ..FtlOptions::default() };
        let (defects, dies) = (DefectConfig::default(), [DieId(0), DieId(1)]);
        let space = FlashSpace::new(&geometry, &config, &defects, &dies, UNITS.into(), &options).unwrap();
        let directory = vec![Ppn::NONE; PAGES as usize];
        let map = PagedMap { directory, loaded: BTreeMap::new(), most, clock: 0 };
        Self { space, map, misses: 0, written: 0 }
    }

    /// Puts a unit with `bytes` at the frontier of `stream`; programs it with its program unit.
    fn put(&mut self, stream: Stream, lpn: Lpn, bytes: &[u8], old: Ppn) -> Ppn {
        let slot = self.space.take_slot(stream, &mut self.map);
        self.space.add_valid(stream);
        if old.is_some() {
            self.space.invalidate(old);
        }
        let unit = self.space.make_unit(lpn, bytes).unwrap();
        self.space.store(slot.ppn, unit);
        if slot.completes_pu {
            let (pu, _) = self.space.layout().pu_of(slot.ppn);
            self.space.programmed(pu, &mut self.map);
        }
        slot.ppn
    }

    fn bytes_at(&self, slot: Ppn) -> Vec<u8> {
        let mut bytes = vec![0; UNIT];
        self.space.image(slot).unwrap().copy_to(0, &mut bytes);
        bytes
    }

    /// Loads page `page` of the map in place of the one used longest ago.
    fn load(&mut self, page: u32) {
        self.misses += 1;
        if self.map.loaded.len() == self.map.most {
            let (&oldest, _) = self.map.loaded.iter().min_by_key(|(_, page)| page.used).unwrap();
            let leaving = self.map.loaded.remove(&oldest).unwrap();
            if leaving.dirty {
                self.written += 1;
                let bytes: Vec<u8> = leaving.entries.iter().flat_map(|slot| slot.0.to_le_bytes()).collect();
                let (stream, old) =
                    (self.space.streams().map().unwrap(), self.map.directory[oldest as usize]);
                self.map.directory[oldest as usize] = self.put(stream, Lpn(UNITS + oldest), &bytes, old);
            }
        }
        let at = self.map.directory[page as usize];
        let entries = if at.is_some() {
            let bytes = self.bytes_at(at);
            let words = bytes.chunks_exact(4);
            words.map(|word| Ppn(u32::from_le_bytes(word.try_into().unwrap()))).collect()
        } else {
            vec![Ppn::NONE; ENTRIES as usize]
        };
        let used = self.map.clock;
        self.map.loaded.insert(page, LoadedPage { entries, dirty: false, used });
    }

    /// The slot of `lpn`, once its page of the map is loaded.
    fn find(&mut self, lpn: Lpn) -> Ppn {
        loop {
            match self.map.lookup(lpn) {
                Lookup::Slot(slot) => return slot,
                Lookup::Unmapped => return Ppn::NONE,
                Lookup::NotLoaded(page) => self.load(page),
            }
        }
    }

    fn write(&mut self, lpn: Lpn, value: u64) {
        let old = self.find(lpn);
        let mut bytes = vec![0; UNIT];
        bytes[..8].copy_from_slice(&value.to_le_bytes());
        let slot = self.put(self.space.streams().host(0, 0), lpn, &bytes, old);
        let page = self.map.loaded.get_mut(&(lpn.0 / ENTRIES)).unwrap();
        page.entries[(lpn.0 % ENTRIES) as usize] = slot;
        page.dirty = true;
    }

    fn read(&mut self, lpn: Lpn) -> Option<u64> {
        let slot = self.find(lpn);
        slot.is_some().then(|| u64::from_le_bytes(self.bytes_at(slot)[..8].try_into().unwrap()))
    }
}

proptest! {
    /// The layer misses as a list in order of use of as many pages does, and gives what was written, though entries live in the bytes on flash.
    #[test]
    fn a_map_in_pages_misses_as_a_list_in_order_of_use(
        most in 1..8usize,
        accesses in proptest::collection::vec((0..UNITS, proptest::bool::weighted(0.6)), 1..400),
    ) {
        let mut layer = PagedLayer::new(most);
        let mut values: BTreeMap<u32, u64> = BTreeMap::new();
        // Pages in memory with their dirt, used last first.
        let mut in_use: Vec<(u32, bool)> = Vec::new();
        let (mut misses, mut written) = (0, 0);
        for (value, &(lpn, writes)) in (1..).zip(&accesses) {
            let page = lpn / ENTRIES;
            let dirty = if let Some(at) = in_use.iter().position(|&(other, _)| other == page) {
                in_use.remove(at).1
            } else {
                misses += 1;
                false
            };
            in_use.insert(0, (page, dirty || writes));
            if in_use.len() > most {
                written += u64::from(in_use.pop().unwrap().1);
            }
            if writes {
                layer.write(Lpn(lpn), value);
                values.insert(lpn, value);
            } else {
                prop_assert_eq!(layer.read(Lpn(lpn)), values.get(&lpn).copied());
            }
            prop_assert_eq!((layer.misses, layer.written), (misses, written));
        }
        for lpn in 0..UNITS {
            prop_assert_eq!(layer.read(Lpn(lpn)), values.get(&lpn).copied());
        }
    }
}
