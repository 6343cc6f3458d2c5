//! Snapshots: any file is refused or read, and so is any state whose checksums are right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_engine::{parse_text, read_snapshot, settings_of, write_snapshot};
use outlast_persist::{Damage, Reader, Restore, Writer};
use outlast_ssd::Ssd;

/// A drive with a part of each kind, and as small as such a drive can be.
const DRIVE: &str = r#"
[device]
bytes = true
geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = 1, blocks_per_plane = 64, pages_per_block = 16, page_size = "4KiB" }
timing = { read = "60us", program = "700us", erase = "3.5ms", bus = "667MB/s" }
ftl = { capacity = "4MiB", spare_blocks = 4 }
controller = { write_buffer = "256KiB", write_cache = "volatile" }
protection = { data = 3, parity = 1 }
reliability = { chip = "tlc-72-layer" }
scrub = { patrol = "1h", reads = 1000 }
[workload.synthetic]
requests = 1
"#;

/// State that is written as it lies.
struct Raw<'a>(&'a [u8]);

impl Restore for Raw<'_> {
    const SHAPE: u64 = <Ssd as Restore>::SHAPE;

    fn save(&self, to: &mut Writer<'_>) {
        to.bytes(self.0);
    }

    fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), Damage> {
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    let (scenario, _) = parse_text(DRIVE).expect("a scenario");
    let settings = settings_of(&scenario);
    let drive = || Ssd::new(scenario.device.clone(), 1).expect("a drive");
    let read = |mut file: &[u8]| {
        read_snapshot(&mut file, settings, &(), &mut drive()).map_err(|error| error.to_string())
    };
    let _ = read(data);
    let mut file = Vec::new();
    write_snapshot(&mut file, settings, &Raw(data)).expect("memory can be written");
    if let Err(message) = read(&file) {
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    // What is a drive's own state, some of it changed.
    let mut own = Vec::new();
    write_snapshot(&mut own, settings, &drive()).expect("memory can be written");
    let place =
        data.iter().fold(0usize, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % own.len();
    let flip = data.first().copied().unwrap_or(0) | 1;
    own[place] ^= flip;
    assert!(read(&own).is_err(), "byte {place} is changed and nobody has noticed");
});
