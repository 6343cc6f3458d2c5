//! Checkpoints that somebody has forged, with their checksums made right, never end a device by a panic. Drives and arrays in the middle of their
//! service are written; a number of that is changed; what reads it refuses it in one line, or goes on to serve.
//!
//! Seeds are fixed, so that one run is like another; nightly runs draw others (`OUTLAST_FORGED_SEEDS`).

#![allow(
    clippy::unwrap_used,
    clippy::match_wild_err_arm,
    reason = "a test fails by panicking, and says of what"
)]

use crate::checkpoint::RandomHost;
use crate::support::{ARRAY, DRIVE, scenario};
use fuzzed::forged::{ForgeryCounts, HEAD, blocks, content, forge, forged_by, places};
use outlast_serve::ServedDevice;
use outlast_units::Lba;
use outlast_units::rng::SplitMix;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Forgeries of each kind of device at each moment, and moments.
const FORGERIES: u64 = 8;
const MOMENTS: u32 = 2;

/// A drive with redundancy of its own, cells that age, and scrubs.
const WITH_ALL: &str = r#"
[device.protection]
data = 3
parity = 1
[device.reliability]
chip = "tlc-72-layer"
[device.scrub]
patrol = "1h"
patrol_errors = 30
reads = 1000
"#;

const KINDS: [&str; 5] = ["drive", "drive with all", "array", "array with a journal", "array with a bitmap"];

/// Seeds that have found faults, of checkpoints as they were then, with what was forged.
const FIXED: [(u64, &str); 12] = [
    // Units of a victim that are still to be read: beyond its superblock.
    (39, "drive"),
    // The row that a lane of blocks has reached.
    (53, "drive"),
    // The state of a victim's erasure.
    (96, "drive"),
    // The copy that a page goes back to: another page's.
    (107, "drive"),
    // The bounds of a stripe, and parity that is due.
    (82, "drive with all"),
    (1127, "drive with all"),
    // The request that the bytes of a read are for, and the row of an operation.
    (77, "array"),
    (105, "array"),
    // A read without the record that its tag names, and a time beyond the horizon of events.
    (48, "array with a journal"),
    (170, "array with a journal"),
    // The tag of a stale unit, and the program unit of an operation.
    (105, "array with a bitmap"),
    (39, "array with a bitmap"),
];

fn scenario_of(kind: &str) -> String {
    let array = |more: &str| format!("{DRIVE}{ARRAY}{more}\n[array.log]\nsize = \"64KiB\"\n");
    match kind {
        "drive" => DRIVE.to_owned(),
        "drive with all" => {
            format!("{}{WITH_ALL}", DRIVE.replace("blocks_per_plane = 32", "blocks_per_plane = 64"))
        }
        "array" => array("spares = 1"),
        "array with a journal" => array("consistency = \"journal\""),
        _ => array("consistency = \"bitmap\""),
    }
}

#[test]
fn a_forged_checkpoint_is_refused_in_one_line_or_serves() {
    let mut counts = ForgeryCounts::default();
    for (seed, kind) in forged_by(&FIXED, &KINDS) {
        let scenario = scenario(&scenario_of(kind));
        let mut device = ServedDevice::new(&scenario).unwrap();
        let (mut life, mut rng) = (RandomHost::new(seed), SplitMix::new(seed, "forgeries"));
        for moment in 0..MOMENTS {
            life.go_on(&mut device, 60 + 70 * moment);
            let mut file = Vec::new();
            device.write(&mut file).unwrap();
            // What nobody has forged is always taken.
            serves(ServedDevice::read(&scenario, &mut &file[..], None).unwrap(), life.clone());
            let (head, state) = (&file[..HEAD], content(&file[HEAD..]));
            let places = places(&state);
            for _ in 0..FORGERIES {
                let mut forged = state.clone();
                let what = forge(&mut forged, &places, &mut rng);
                let bytes = [head, &blocks(&forged)].concat();
                let try_it = || match ServedDevice::read(&scenario, &mut &bytes[..], None) {
                    Ok(device) => {
                        serves(device, life.clone());
                        true
                    }
                    Err(error) => {
                        assert_eq!(error.to_string().lines().count(), 1, "{error}");
                        false
                    }
                };
                match catch_unwind(AssertUnwindSafe(try_it)) {
                    Ok(is_taken) => counts.count(is_taken),
                    Err(_) => panic!("{kind}, seed {seed}, moment {moment}, {what}"),
                }
            }
        }
    }
    counts.require_both();
}

fn serves(mut device: ServedDevice, mut life: RandomHost) {
    life.go_on(&mut device, 250);
    let capacity = device.identify().capacity.0;
    drop((device.state(), device.extents(Lba(0), capacity / 512)));
    device.peek(Lba(0), capacity / 512, &mut Vec::new());
    device.fork().mount_at_once();
    let mut again = Vec::new();
    device.write(&mut again).unwrap();
}
