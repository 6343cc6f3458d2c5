//! Does a checkpoint that somebody has forged, with its checksums made right, ever end a device by a panic? Drives and arrays in the middle of their
//! service are written; a number of that is changed; what reads it refuses it in one line, or goes on to serve.

#![allow(
    clippy::unwrap_used,
    clippy::match_wild_err_arm,
    reason = "a test fails by panicking, and says of what"
)]

use crate::checkpoint::RandomHost;
use crate::support::{ARRAY, DRIVE, scenario};
use fuzzed::forged::{HEAD, blocks, content, forge, places};
use outlast_serve::ServedDevice;
use outlast_units::Lba;
use outlast_units::rng::SplitMix;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Forgeries of each kind of device at each moment, and moments.
const FORGERIES: u64 = 16;
const MOMENTS: u32 = 3;

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

fn kinds() -> Vec<(&'static str, String)> {
    let array = |more: &str| format!("{DRIVE}{ARRAY}{more}\n[array.log]\nsize = \"64KiB\"\n");
    vec![
        ("drive", DRIVE.to_owned()),
        (
            "drive with all",
            format!("{}{WITH_ALL}", DRIVE.replace("blocks_per_plane = 32", "blocks_per_plane = 64")),
        ),
        ("array", array("spares = 1")),
        ("array with a journal", array("consistency = \"journal\"")),
        ("array with a bitmap", array("consistency = \"bitmap\"")),
    ]
}

#[test]
fn a_forged_checkpoint_is_refused_in_one_line_or_serves() {
    let (mut refused, mut went_on) = (0, 0);
    for (seed, (name, text)) in (1..).zip(kinds()) {
        let scenario = scenario(&text);
        let mut device = ServedDevice::new(&scenario).unwrap();
        let (mut life, mut rng) = (RandomHost::new(seed), SplitMix::new(seed, "forgeries"));
        for moment in 0..MOMENTS {
            life.go_on(&mut device, 60 + 70 * moment);
            let mut file = Vec::new();
            device.write(&mut file).unwrap();
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
                    Ok(true) => went_on += 1,
                    Ok(false) => refused += 1,
                    Err(_) => panic!("{name}, moment {moment}, {what}"),
                }
            }
        }
    }
    assert!(refused > 50 && went_on > 50, "{refused} refused, {went_on} went on");
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
