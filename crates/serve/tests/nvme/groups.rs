//! Do reclaim groups on the wire have the places that the specification says?

use super::placement::{group_log, long, report, text, word};
use super::{HOST, NvmeServer, SocketLink};
use crate::initiator::{LinkWishes, WireCommand};
use crate::support::bytes;

/// Two reclaim groups: what is told of them, where writes go by the upper bit of their identifiers, and which reclaim unit an update leaves.
#[test]
fn an_identifier_names_a_group_in_its_upper_bits() {
    let placed = text()
        .replace("write_cache = \"volatile\"", "flash_cores = 2")
        .replace("configuration = 1", "configuration = 1\nplacement_handles = [2, 0, 1]")
        .replace("[[device.placement.configurations]]\nhandles = [\"initially-isolated\", \"persistently", {
            "[[device.placement.configurations]]\nreclaim_groups = 2\nhandles = [\"initially-isolated\", \"persistently"
        });
    let served = NvmeServer::new(&placed);
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    let page = group_log(&mut admin, 0x20, 512);
    let (first, second) = (&page[16..], &page[16 + 72..]);
    assert_eq!(
        (first[2], long(first, 4) as u32, long(first, 16)),
        (1 << 7 | 1 << 4, 1, 8 * 8 * 4096),
        "one group"
    );
    assert_eq!((second[2], long(second, 4) as u32), (1 << 7 | 1 << 4 | 1, 2), "RGIF, NRG");
    assert_eq!((word(second, 8), long(second, 16)), (3, 4 * 8 * 4096), "NRUH, RUNS of half the dies");
    let status = |io: &mut SocketLink| -> Vec<(u64, u64, u64)> {
        let page = io.run(WireCommand::handle_status(256)).unwrap().1;
        let one = |at: usize| (word(&page, at), word(&page, at + 2), long(&page, at + 8));
        (0..word(&page, 14) as usize).map(|unit| one(16 + unit * 32)).collect()
    };
    // The namespace's handles are 2 and 0, each in both groups.
    let (group, empty) = (1 << 15, 4 * 8 * 8);
    assert_eq!(
        status(&mut io),
        [(0, 2, empty), (group, 2, empty), (1, 0, empty), (1 | group, 0, empty)],
        "each refers to an empty reclaim unit"
    );
    let groups = |served: &NvmeServer| -> Vec<u64> {
        let report = report(served);
        report["groups"].as_array().unwrap().iter().map(|own| own["host_bytes"].as_u64().unwrap()).collect()
    };
    io.run(WireCommand::write(0, bytes(8, 1), false).placed(1 | 1 << 15)).unwrap();
    assert_eq!(groups(&served), [0, 4096]);
    io.run(WireCommand::write(8, bytes(8, 2), false).placed(1)).unwrap();
    io.run(WireCommand::write(16, bytes(8, 3), false)).unwrap();
    assert_eq!(groups(&served), [2 * 4096, 4096], "without an identifier, to the first group");
    let left = empty - 8;
    assert_eq!(status(&mut io), [(0, 2, left), (group, 2, empty), (1, 0, left), (1 | group, 0, left)]);
    // A unit of the second group is written to the first, and is read from there.
    io.run(WireCommand::write(0, bytes(8, 4), false).placed(0)).unwrap();
    assert_eq!(report(&served)["groups"][1]["valid_bytes"], 0);
    assert_eq!(io.run(WireCommand::read(0, 8)).unwrap().1, bytes(8, 4));
    // Events of the second placement handle are recorded.
    admin.run(WireCommand::new(0x09, 1, [0x1E, 1 << 16 | 1, 1, 0, 0, 0]).with_data(vec![0])).unwrap();
    io.run(WireCommand::write(24, bytes(8, 5), false).placed(1 | group as u16)).unwrap();
    io.run(WireCommand::update_handles(&[1 | 1 << 15, 0])).unwrap();
    let after = status(&mut io);
    assert_eq!([after[2].2, after[3].2], [left, empty], "the update is of one group");
    let page = admin.run(WireCommand::group_log(0x23, 64 * 4, 1)).unwrap().1;
    assert_eq!(page[0], 1, "that of the first placement handle is not enabled");
    let event = &page[64..];
    assert_eq!(
        (event[0], event[1], word(event, 2), event[12]),
        (0, 7, 1 | group, 1),
        "type, flags, PID, NSID"
    );
    assert_eq!((word(event, 32), word(event, 34)), (1, 0), "RGID, RUHID");
    assert_eq!(io.run(WireCommand::update_handles(&[2])).unwrap_err(), 0x002, "no such placement handle");
    assert_eq!(report(&served)["events"]["reclaim_unit_not_fully_written"], 2);
}
