//! Does a drive that was written and read go on as if it had never stopped? Random drives at random moments, with commands, recoveries,
//! collection, repairs and faults under way: the copy's state is the original's to the byte, at once and after both have gone on.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::Device;
use outlast_persist::{Damage as Unreadable, Reader, Restore, Writer, restore_foreign};
use outlast_settings::drive::SsdConfig;
use outlast_ssd::Ssd;
use outlast_units::Nanos;
use proptest::prelude::*;
use support::life::{Life, begun, drives};

pub(crate) fn written(ssd: &Ssd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    ssd.save(&mut writer);
    writer.end().unwrap();
    bytes
}

pub(crate) fn read(config: &SsdConfig, seed: u64, mut bytes: &[u8]) -> Result<Ssd, Unreadable> {
    let mut ssd = Ssd::new(config.clone(), seed).unwrap();
    let mut reader = Reader::new(&mut bytes);
    restore_foreign(&mut ssd, &mut reader)?;
    reader.end()?;
    Ok(ssd)
}

/// What the host of `life` knows, of a drive that was read from `bytes`.
fn twin(life: &Life, seed: u64, bytes: &[u8]) -> Life {
    life.with(read(&life.config, seed, bytes).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_drive_that_was_written_and_read_goes_on_as_if_it_had_not_been(
        config in drives(), seed: u64, before in 0u64..1500, after in 0u64..600, moment in 0u64..400_000,
    ) {
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let mut life = begun(config, seed);
        life.go_on(before);
        // Between two completions, too.
        let until = life.model.now + Nanos(moment);
        while life.model.now < until && life.model.step(until) {}
        let bytes = written(&life.model.ssd);
        let mut twin = twin(&life, seed, &bytes);
        twin.model.ssd.self_check().unwrap();
        prop_assert!(written(&twin.model.ssd) == bytes, "read and written again it is another");
        for one in [&mut life, &mut twin] {
            one.go_on(after);
        }
        prop_assert_eq!(life.figures(), twin.figures());
        prop_assert!(written(&life.model.ssd) == written(&twin.model.ssd), "they have gone on differently");
        twin.model.settle_down();
        twin.model.read_everything();
    }
}

/// State that is written as it lies: whoever forges a file can have the checksums right.
struct Raw<'a>(&'a [u8]);

impl Restore for Raw<'_> {
    const SHAPE: u64 = <Ssd as Restore>::SHAPE;

    fn save(&self, to: &mut Writer<'_>) {
        to.bytes(self.0);
    }

    fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), Unreadable> {
        Ok(())
    }
}

/// What blocks of a length and a checksum are made of.
fn content_of(mut blocks: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    while let Some((head, rest)) = blocks.split_first_chunk::<8>() {
        let length = u32::from_le_bytes(head[..4].try_into().unwrap()) as usize;
        content.extend_from_slice(&rest[..length]);
        blocks = &rest[length..];
    }
    content
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn forged_state_is_read_or_refused_but_never_a_panic(
        config in drives(), seed: u64, forgeries in prop::collection::vec((any::<u32>(), any::<u64>(), 1usize..9), 20),
    ) {
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let mut life = begun(config, seed);
        life.go_on(300);
        let content = content_of(&written(&life.model.ssd));
        let read = |content: &[u8]| {
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes);
            Raw(content).save(&mut writer);
            writer.end().unwrap();
            read(&life.config, seed, &bytes)
        };
        prop_assert!(read(&content).is_ok());
        for (place, value, width) in forgeries {
            let place = place as usize % (content.len() - 8);
            prop_assert!(read(&content[..place]).is_err(), "state ends after {place} bytes");
            let mut forged = content.clone();
            forged[place..place + width].copy_from_slice(&value.to_le_bytes()[..width]);
            // A forged number of no consequence is read, and such a drive can be saved and read again.
            if let Ok(ssd) = read(&forged) {
                prop_assert!(read(&content_of(&written(&ssd))).is_ok(), "read with {value:#x} at {place}, and not again");
            }
        }
    }
}
