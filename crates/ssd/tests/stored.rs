//! Is a drive whose bytes are kept elsewhere the drive that it is with its bytes in memory?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::Device;
use outlast_media::{ByteStore, StoreAddress};
use outlast_persist::{Reader, Restore, Writer};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use support::life::{begun, drives};

/// A store that looks closely: nothing is read or given up that is not there.
#[derive(Debug, Default)]
struct Shelf {
    places: Mutex<Vec<Option<Vec<u8>>>>,
}

impl Shelf {
    /// How much is kept, and for how much there is room.
    fn held(&self) -> (usize, usize) {
        let places = self.places.lock().unwrap();
        (places.iter().flatten().count(), places.len())
    }
}

impl ByteStore for Shelf {
    fn put(&self, bytes: &[u8]) -> Option<StoreAddress> {
        let mut places = self.places.lock().unwrap();
        let free = places.iter().position(Option::is_none).unwrap_or(places.len());
        if free == places.len() {
            places.push(None);
        }
        places[free] = Some(bytes.to_vec());
        Some(StoreAddress(free as u32))
    }

    fn get(&self, place: StoreAddress, from: usize, to: &mut [u8]) {
        let places = self.places.lock().unwrap();
        let bytes = places[place.0 as usize].as_ref().expect("what is read is kept");
        to.copy_from_slice(&bytes[from..from + to.len()]);
    }

    fn free(&self, place: StoreAddress, length: usize) {
        let bytes = self.places.lock().unwrap()[place.0 as usize].take();
        assert_eq!(bytes.expect("what is given up was kept").len(), length);
    }
}

fn written(ssd: &Ssd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    ssd.save(&mut writer);
    writer.end().unwrap();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// A drive and one with a store live the same life: through commands, collection, parity and its repair, losses of power and failures. In the
    /// middle they are forked, and the one with a store is also written, read again, and given one late.
    #[test]
    fn a_drive_with_a_store_is_the_drive_without_to_the_byte(
        config in drives(), seed: u64, before in 0u64..900, after in 0u64..500,
    ) {
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let (shelf, other) = (Arc::new(Shelf::default()), Arc::new(Shelf::default()));
        let store = |shelf: &Arc<Shelf>| shelf.clone() as Arc<dyn ByteStore>;
        let mut plain = begun(config, seed);
        let mut stored = plain.clone();
        stored.model.ssd.keep_contents_in(&store(&shelf));
        plain.go_on(before);
        stored.go_on(before);
        let bytes = written(&plain.model.ssd);
        prop_assert!(written(&stored.model.ssd) == bytes, "the same commands give another drive");

        let mut read = Ssd::new(plain.config.clone(), seed).unwrap();
        read.keep_contents_in(&store(&other));
        let mut reader = bytes.as_slice();
        read.restore(&mut Reader::new(&mut reader)).unwrap();
        let mut late = plain.clone();
        late.model.ssd.keep_contents_in(&store(&other));
        let mut lives = vec![stored.with(read), late, stored.clone(), stored, plain.clone(), plain];
        // Forks have another future.
        for fork in [2, 4] {
            lives[fork].rng = SplitMix::new(seed, "fork");
        }
        for life in &mut lives {
            life.go_on(after);
            life.model.ssd.self_check().unwrap();
        }
        let (figures, bytes) = (lives[5].figures(), written(&lives[5].model.ssd));
        for same in [0, 1, 3] {
            prop_assert_eq!(&lives[same].figures(), &figures);
            // What firmware has in its memory is there twice where contents have moved away from it.
            let is = written(&lives[same].model.ssd) == bytes;
            prop_assert!(is || same == 1, "life {} has gone on differently", same);
        }
        prop_assert_eq!(lives[2].figures(), lives[4].figures());
        prop_assert!(written(&lives[2].model.ssd) == written(&lives[4].model.ssd), "forks have gone on differently");
        for life in &mut lives {
            life.model.settle_down();
            life.model.read_everything();
        }
        // A failure among the first commands leaves a drive without spare blocks that takes no writes.
        let programs = lives[3].model.ssd.counters().programs;
        prop_assert!(before < 300 || programs == 0 || shelf.held().1 > 0, "the store is used");
        drop(lives);
        prop_assert_eq!((shelf.held().0, other.held().0), (0, 0), "what nobody refers to is given up");
    }
}
