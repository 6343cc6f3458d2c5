//! Is flexible data placement on the wire that of the drive: its handles, its statistics to the last byte, its events?

use serde_json::{Value, json};

use super::{HOST, NvmeServer, SocketLink};
use crate::initiator::{LinkWishes, WireCommand};
use crate::support::{DRIVE, bytes};

/// Three handles, of which the first namespace may use two, and the second the last.
const PLACED: &str = r#"
[[device.placement.configurations]]
handles = ["initially-isolated"]
[[device.placement.configurations]]
handles = ["initially-isolated", "persistently-isolated", "initially-isolated"]
[device.placement]
configuration = 1
[[namespace]]
capacity = "2MiB"
placement_handles = [2, 0]
[[namespace]]
capacity = "1MiB"
block_size = "4KiB"
placement_handles = [1]
"#;

pub(super) fn text() -> String {
    let drive = DRIVE.replace("blocks_per_plane = 32", "blocks_per_plane = 64");
    format!("{drive}overwrite = \"none\"\nfill = \"none\"\n{PLACED}").replace("max_drive_writes = 1.0\n", "")
}

pub(super) fn word(page: &[u8], at: usize) -> u64 {
    u16::from_le_bytes(page[at..at + 2].try_into().unwrap()).into()
}

pub(super) fn long(page: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(page[at..at + 8].try_into().unwrap())
}

pub(super) fn group_log(admin: &mut SocketLink, page: u32, bytes: u32) -> Vec<u8> {
    admin.run(WireCommand::group_log(page, bytes, 0)).unwrap().1
}

pub(super) fn report(served: &NvmeServer) -> Value {
    served.ask(json!({ "do": "metrics" }))["placement"].clone()
}

#[test]
fn what_linux_asks_for_before_it_uses_handles_is_there() {
    let served = NvmeServer::new(&text());
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    let page = admin.run(WireCommand::identify(1, 0)).unwrap().1;
    assert_eq!(long(&page, 96) & (1 << 4 | 1 << 19), 1 << 4 | 1 << 19, "endurance groups, FDPS");
    assert_eq!((word(&page, 340), page[256] & 1 << 5), (1, 1 << 5), "ENDGIDMAX, directives");
    assert_eq!(word(&admin.run(WireCommand::identify(0, 2)).unwrap().1, 102), 1, "ENDGID");
    assert_eq!(admin.run(WireCommand::identify(0x19, 0)).unwrap().1[..4], [1, 0, 1, 0]);
    // Enabled, with configuration 1; neither is the host's to change.
    let feature = |set: u8| WireCommand::new(set, 0, [0x1D, 1, 1 | 1 << 8, 0, 0, 0]);
    assert_eq!(admin.run(feature(0x0A)).unwrap().0, 1 | 1 << 8);
    assert_eq!(admin.run(feature(0x09)).unwrap_err(), 0x00C);
    assert_eq!(admin.run(WireCommand::new(0x0A, 0, [0x1D, 2, 0, 0, 0, 0])).unwrap_err(), 0x002, "group 2");
    let page = admin.run(WireCommand::new(0x1A, 1, [1023, 1, 0, 0, 0, 0]).returning(4096)).unwrap().1;
    assert_eq!((page[0], page[32]), (0b101, 0b101), "Identify and Data Placement are supported and enabled");
    // Enabled with the endurance group, the directive can be neither enabled nor disabled by itself.
    for is_enabled in [0, 1] {
        let send = WireCommand::new(0x19, 1, [0, 1, 2 << 8 | is_enabled, 0, 0, 0]);
        assert_eq!(admin.run(send).unwrap_err(), 0x002);
    }
    // Two configurations: one handle, three handles; one reclaim group.
    let page = group_log(&mut admin, 0x20, 512);
    assert_eq!((word(&page, 0), word(&page, 4), page[18]), (1, 16 + 72 + 80, 1 << 7 | 1 << 4));
    let second = &page[16 + 72..];
    assert_eq!((word(second, 0), long(second, 4) as u32, word(second, 8)), (80, 1, 3), "length, NRG, NRUH");
    assert_eq!([second[64], second[68], second[72]], [1, 2, 1], "isolation");
    // A superblock of eight dies of eight pages.
    assert_eq!(long(second, 16), 8 * 8 * 4096, "RUNS");
    let page = group_log(&mut admin, 0x21, 64);
    assert_eq!((word(&page, 0), page[8], page[16], page[24]), (3, 1, 1, 1));
    assert_eq!(
        admin.run(WireCommand::log_page(0x20, 512, 0)).unwrap_err(),
        0x002,
        "no endurance group is named"
    );
    // Placement handles of each namespace, in its blocks.
    let page = io.run(WireCommand::handle_status(256)).unwrap().1;
    assert_eq!((word(&page, 14), word(&page, 18), word(&page, 50)), (2, 2, 0), "handles 2 and 0");
    let page = io.run(WireCommand::handle_status(256).of(2)).unwrap().1;
    assert_eq!((word(&page, 14), word(&page, 16), word(&page, 18)), (1, 0, 1));
}

#[test]
fn writes_go_through_their_handles_and_the_logs_are_the_drives_own() {
    let served = NvmeServer::new(&text());
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    let handles = |served: &NvmeServer| -> Vec<u64> {
        let report = report(served);
        report["handles"].as_array().unwrap().iter().map(|own| own["host_bytes"].as_u64().unwrap()).collect()
    };
    for lba in 0..4 {
        io.run(WireCommand::write(lba * 8, bytes(8, lba), false).placed(1)).unwrap();
    }
    assert_eq!(handles(&served), [4 * 4096, 0, 0], "identifier 1 of the first namespace is handle 0");
    io.run(WireCommand::write(64, bytes(8, 9), false)).unwrap();
    io.run(WireCommand::write(72, bytes(8, 9), false).placed(0)).unwrap();
    let second = |value| WireCommand::range(0x01, 0, 1, 0).of(2).with_data(bytes(8, 3)).placed(value);
    io.run(second(0)).unwrap();
    assert_eq!(handles(&served), [4 * 4096, 4096, 2 * 4096]);
    // An identifier that the namespace does not have goes through its first handle, whichever that is, and is an event.
    io.run(second(1)).unwrap();
    io.run(WireCommand::write(80, bytes(8, 9), false).placed(7)).unwrap();
    assert_eq!(handles(&served), [4 * 4096, 2 * 4096, 3 * 4096]);
    assert_eq!(report(&served)["events"]["invalid_placement_identifier"], 2);
    // A type of directive that is not there.
    let streams = WireCommand::write(80, bytes(8, 9), false).with_dword(12, 1 << 20);
    assert_eq!(io.run(streams).unwrap_err(), 0x002);
    // Copy places what it writes, too.
    io.run(WireCommand::copy(&[(0, 8)], 88).with_dword(12, 2 << 20).with_dword(14, 1 << 16)).unwrap();
    assert_eq!(handles(&served)[0], 5 * 4096);
    io.run(WireCommand::flush()).unwrap();
    // Until collection moves data: the second handle's namespace is written over and over.
    for round in 0..12_u64 {
        for lba in 0..256 {
            let data = bytes(8, round << 8 | lba);
            io.run(WireCommand::range(0x01, lba * 37 % 256, 1, 0).of(2).with_data(data).placed(0)).unwrap();
            io.run(WireCommand::write(lba * 101 % 512 * 8, bytes(8, lba), false).placed((lba % 2) as u16))
                .unwrap();
        }
    }
    io.run(WireCommand::flush()).unwrap();
    let own = report(&served);
    let page = group_log(&mut admin, 0x22, 64);
    for (at, field) in [(0, "host_bytes_written"), (16, "media_bytes_written"), (32, "media_bytes_erased")] {
        assert_eq!(long(&page, at), own["statistics"][field].as_u64().unwrap(), "{field}");
        assert!(long(&page, at) > 0 && long(&page, at + 8) == 0, "{field}");
    }
    check_extended_log(&served, &mut admin, &own);
    // The endurance group has the health log's figures, in thousands of millions of bytes.
    let (page, health) =
        (group_log(&mut admin, 0x09, 512), admin.run(WireCommand::log_page(2, 512, 0)).unwrap().1);
    assert_eq!(page[96..128], health[64..96], "commands");
    assert_eq!(
        (page[3..6].to_vec(), long(&page, 80)),
        (health[3..6].to_vec(), 1),
        "spare and used, media units"
    );
    assert_eq!(
        long(&page, 160),
        served.ask(json!({ "do": "state" }))["machine"]["capacity"].as_u64().unwrap()
    );
    // The status of handles has what still fits, in blocks of the namespace.
    let status = io.run(WireCommand::handle_status(256)).unwrap().1;
    let remaining = |handle: usize| own["handles"][handle]["remaining_bytes"].as_u64().unwrap();
    assert_eq!((long(&status, 24), long(&status, 56)), (remaining(2) / 512, remaining(0) / 512));
    let status = io.run(WireCommand::handle_status(256).of(2)).unwrap().1;
    assert_eq!(long(&status, 24), remaining(1) / 4096);
}

/// The extended health log has the media bytes of the statistics `own`, and the OCP's identifier; at least what collection moved was read.
fn check_extended_log(served: &NvmeServer, admin: &mut SocketLink, own: &Value) {
    let extended = admin.run(WireCommand::log_page(0xC0, 512, 0)).unwrap().1;
    assert_eq!(long(&extended, 0), own["statistics"]["media_bytes_written"].as_u64().unwrap());
    assert!(long(&extended, 16) > 0 && long(&extended, 88) & 0xFFFF_FFFF > 0, "read, cycles");
    assert_eq!(long(&extended, 504), 0xAFD5_14C9_7C6F_4F9C);
    let spare = served.ask(json!({ "do": "smart" }))["available_spare"].as_u64().unwrap();
    assert_eq!((word(&extended, 38), word(&extended, 494)), (spare, 3));
    let part = admin.run(WireCommand::log_page(0xC0, 16, 496)).unwrap().1;
    assert_eq!(part, extended[496..], "an offset into the page");
}

#[test]
fn a_handle_update_gives_an_empty_reclaim_unit_and_events_are_logged_once_enabled() {
    let served = NvmeServer::new(&text());
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    let events = |admin: &mut SocketLink| {
        let page = admin.run(WireCommand::group_log(0x23, 64 * 8, 1)).unwrap().1;
        let count = page[0] as usize;
        (0..count).map(|at| page[64 + at * 64]).collect::<Vec<u8>>()
    };
    io.run(WireCommand::write(0, bytes(8, 1), false).placed(9)).unwrap();
    assert_eq!(events(&mut admin), [0; 0], "not enabled");
    let feature = |set: u8, types: &[u8]| {
        let asked = (types.len().max(6) as u32) << 16;
        WireCommand::new(
            set,
            1,
            [0x1E, if set == 9 { (types.len() as u32) << 16 } else { asked }, 1, 0, 0, 0],
        )
    };
    let supported = |admin: &mut SocketLink| {
        let (count, page) = admin.run(feature(0x0A, &[]).returning(16)).unwrap();
        assert_eq!(count, 6);
        page[..12].to_vec()
    };
    assert_eq!(supported(&mut admin), [0, 0, 1, 0, 2, 0, 3, 0, 0x80, 0, 0x81, 0]);
    assert_eq!(admin.run(feature(0x09, &[0x55]).with_data(vec![0x55])).unwrap_err(), 0x002);
    admin.run(feature(0x09, &[0, 3]).with_data(vec![0, 3])).unwrap();
    assert_eq!(supported(&mut admin), [0, 1, 1, 0, 2, 0, 3, 1, 0x80, 0, 0x81, 0]);
    assert_eq!(events(&mut admin), [0; 0], "what was before it was enabled is none");
    io.run(WireCommand::write(8, bytes(8, 1), false).placed(9)).unwrap();
    io.run(WireCommand::flush()).unwrap();
    let status = io.run(WireCommand::handle_status(64)).unwrap().1;
    assert!(long(&status, 24) < 8 * 8 * 8, "the reclaim unit of the first handle has been begun");
    io.run(WireCommand::update_handles(&[0])).unwrap();
    io.run(WireCommand::flush()).unwrap();
    assert_eq!(events(&mut admin), [0, 3]);
    let page = admin.run(WireCommand::group_log(0x23, 64 * 3, 1)).unwrap().1;
    let fields = |event: &[u8]| (event[1], word(event, 2), event[12], word(event, 32), word(event, 34));
    assert_eq!(
        fields(&page[64..]),
        (7, 0, 1, 0, 2),
        "flags, PID, NSID, RGID, RUHID of the unit that was left"
    );
    assert_eq!(fields(&page[128..]), (3, 9, 1, 0, 0), "the identifier that there is not");
    assert_eq!(report(&served)["events"]["reclaim_unit_not_fully_written"], 1);
    assert_eq!(io.run(WireCommand::update_handles(&[0, 2])).unwrap_err(), 0x002, "no such placement handle");
    assert_eq!(report(&served)["events"]["reclaim_unit_not_fully_written"], 1, "and none was updated");
    // Another host sees the same log.
    let mut other = served.admin("other", LinkWishes::default());
    assert_eq!(events(&mut other), [0, 3]);
}

#[test]
fn a_drive_without_handles_advertises_and_answers_nothing_of_them() {
    let served = NvmeServer::new(DRIVE);
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    let page = admin.run(WireCommand::identify(1, 0)).unwrap().1;
    assert_eq!((long(&page, 96) as u32, page[256] & 1 << 5, word(&page, 340)), (1, 0, 0));
    for page in [0x09, 0x20, 0x21, 0x22, 0x23] {
        assert_eq!(admin.run(WireCommand::group_log(page, 64, 0)).unwrap_err(), 0x109);
    }
    assert_eq!(admin.run(WireCommand::new(0x0A, 0, [0x1D, 1, 0, 0, 0, 0])).unwrap_err(), 0x002);
    assert_eq!(io.run(WireCommand::handle_status(64)).unwrap_err(), 0x001);
    assert_eq!(io.run(WireCommand::write(0, bytes(8, 1), false).placed(0)).unwrap_err(), 0x002);
}

/// A configuration of reclaim units of two superblocks with a time limit: what is told of it, and of the time that is left.
#[test]
fn the_size_and_the_time_limit_of_reclaim_units_are_told() {
    let placed = text().replace(
        "handles = [\"initially-isolated\", \"persistently-isolated\"",
        "superblocks = 2\ntime_limit = \"90s\"\nhandles = [\"initially-isolated\", \"persistently-isolated\"",
    );
    let served = NvmeServer::new(&placed);
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    let page = group_log(&mut admin, 0x20, 512);
    let second = &page[16 + 72..];
    assert_eq!((long(second, 16), long(second, 24) as u32), (2 * 8 * 8 * 4096, 90), "RUNS, ERUTL");
    assert_eq!((long(&page, 16 + 16), long(&page, 16 + 24) as u32), (8 * 8 * 4096, 0), "of the other one");
    let status = |io: &mut SocketLink| {
        let page = io.run(WireCommand::handle_status(64)).unwrap().1;
        (u32::from_le_bytes(page[16 + 4..16 + 8].try_into().unwrap()), long(&page, 24))
    };
    assert_eq!(status(&mut io), (0, 2 * 8 * 8 * 8), "an empty reclaim unit, whose time does not run");
    io.run(WireCommand::write(0, bytes(8, 1), false).placed(0)).unwrap();
    io.run(WireCommand::flush()).unwrap();
    let (time, blocks) = status(&mut io);
    assert!((1..=90).contains(&time), "EARUTR is {time} s");
    assert!(blocks < 2 * 8 * 8 * 8 && blocks > 8 * 8 * 8, "RUAMW is {blocks}");
}
