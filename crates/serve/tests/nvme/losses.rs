//! Does a host hear of a lost die, and exactly of what is lost with it?

use std::collections::BTreeSet;

use outlast_units::SECTOR_BYTES;
use serde_json::{Value, json};

use super::{HOST, NvmeServer, SocketLink};
use crate::initiator::{LinkWishes, WireCommand};
use crate::support::{DRIVE, bytes};

/// Blocks that a list of Get LBA Status names.
pub(super) fn listed(page: &[u8]) -> BTreeSet<u64> {
    let count = u32::from_le_bytes(page[..4].try_into().unwrap()) as usize;
    let descriptors = page[8..].chunks_exact(16).take(count);
    descriptors
        .flat_map(|one| {
            let first = u64::from_le_bytes(one[..8].try_into().unwrap());
            first..first + u64::from(u32::from_le_bytes(one[8..12].try_into().unwrap()))
        })
        .collect()
}

/// A drive that asks its host for what it has lost.
const REPAIR: &str = "
[device.repair]
scheme = \"isolated\"
bad_blocks = 4
";

/// Sectors that the drive itself wants written again, by its control socket.
fn wanted_by_the_drive(served: &NvmeServer) -> BTreeSet<u64> {
    let runs = served.ask(json!({ "do": "lba_status" }));
    let sectors = |run: &Value, field: &str| run[field].as_u64().unwrap() / SECTOR_BYTES;
    runs.as_array()
        .unwrap()
        .iter()
        .flat_map(|run| (0..sectors(run, "length")).map(|at| sectors(run, "offset") + at))
        .collect()
}

/// A drive full of data loses a die; what the host hears of it and can do about it.
fn lose_a_die(text: &str, asks_host: bool) {
    let served = NvmeServer::new(text);
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    admin.run(WireCommand::set_feature(0x0B, 0xFF)).unwrap();
    let blocks = served.ask(json!({ "do": "state" }))["machine"]["capacity"].as_u64().unwrap() / SECTOR_BYTES;
    for lba in (0..blocks).step_by(8) {
        io.run(WireCommand::write(lba, bytes(8, lba), false)).unwrap();
    }
    io.run(WireCommand::flush()).unwrap();
    let event = admin.send(WireCommand::event_request());
    let status = |admin: &mut SocketLink, first: u64| {
        let page = admin.run(WireCommand::lba_status(first, 0, 1 << 20)).unwrap().1;
        assert_eq!(page[4], 2, "the list is complete");
        listed(&page)
    };
    assert_eq!(status(&mut admin, 0), BTreeSet::new());
    served.ask(json!({ "do": "fault", "fault": { "kind": "die", "die": 3 } }));
    // Reads meet the failure, and a drive with repair finds out that the die is gone.
    let mut lost = BTreeSet::new();
    for lba in (0..blocks).step_by(8) {
        match io.run(WireCommand::read(lba, 8)) {
            Ok((_, data)) => assert!(data == bytes(8, lba)),
            Err(status) => {
                assert_eq!(status, 0x281);
                lost.extend(lba..lba + 8);
            }
        }
    }
    assert!(!lost.is_empty(), "the drive has no parity");
    assert_eq!(admin.wait(event).unwrap().0, 0x02_0001, "the health log is to be read");
    let health = admin.run(WireCommand::log_page(2, 512, 0)).unwrap().1;
    assert_eq!(health[0] & 4, 4, "reliability is degraded");
    assert_eq!(
        u64::from_le_bytes(health[160..168].try_into().unwrap()),
        lost.len() as u64 / 8,
        "media errors"
    );
    let list = status(&mut admin, 0);
    assert_eq!(list, lost, "exactly what cannot be read");
    assert_eq!(wanted_by_the_drive(&served), if asks_host { list.clone() } else { BTreeSet::new() });
    assert_eq!(status(&mut admin, blocks / 2), list.range(blocks / 2..).copied().collect());
    // What is written again is whole again.
    for lba in list.iter().filter(|lba| *lba % 8 == 0) {
        io.run(WireCommand::write(*lba, bytes(8, lba + 1), true)).unwrap();
    }
    assert_eq!(status(&mut admin, 0), BTreeSet::new());
    for lba in list.iter().filter(|lba| *lba % 8 == 0) {
        assert!(io.run(WireCommand::read(*lba, 8)).unwrap().1 == bytes(8, lba + 1));
    }
}

#[test]
fn a_failed_die_is_an_event_a_warning_and_a_list_of_exactly_what_is_lost() {
    lose_a_die(DRIVE, false);
}

#[test]
fn the_list_is_that_of_a_drive_that_asks_its_host_for_repair() {
    lose_a_die(&format!("{DRIVE}{REPAIR}"), true);
}
