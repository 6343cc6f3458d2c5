//! Are zones on the wire those of the drive: what is told of them, their states and write pointers, and the status of what they refuse?

use super::{HOST, NQN, NvmeServer, SocketLink};
use crate::initiator::{LinkWishes, WireCommand, reported};
use crate::support::bytes;
use crate::support::client::{Client, READ, WRITE};

/// Ten zones of 64 blocks of 4096 bytes, of which three may be active and two open, by their size of 128 blocks.
pub(super) const ZONED: &str = r#"
name = "zoned"
seed = 7
[device.geometry]
channels = 4
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 1
blocks_per_plane = 24
pages_per_block = 8
page_size = "4KiB"
[device.timing]
read = "60us"
program = "700us"
erase = "3.5ms"
bus = "667MB/s"
[device.ftl]
mapping_unit = "4KiB"
[device.controller]
write_cache = "volatile"
[device.zones]
count = 10
size = "512KiB"
max_active = 3
max_open = 2
[precondition]
fill = "none"
overwrite = "none"
[workload.zoned]
size = "4KiB"
requests = 1
"#;

/// Blocks from zone to zone, and of a zone that can be written.
pub(super) const SIZE: u64 = 128;
pub(super) const CAPACITY: u64 = 64;

/// Codes of states and of actions.
pub(super) const EMPTY: u8 = 1;
pub(super) const IMPLICIT: u8 = 2;
const EXPLICIT: u8 = 3;
pub(super) const CLOSED: u8 = 4;
pub(super) const FULL: u8 = 0xE;
pub(super) const CLOSE: u32 = 1;
pub(super) const FINISH: u32 = 2;
pub(super) const OPEN: u32 = 3;
pub(super) const RESET: u32 = 4;
const OFFLINE: u32 = 5;

fn long(page: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(page[at..at + 8].try_into().unwrap())
}

fn number(page: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(page[at..at + 4].try_into().unwrap())
}

/// Links to a served drive: of administration and of I/O.
pub(super) fn links(served: &NvmeServer, wishes: LinkWishes) -> (SocketLink, SocketLink) {
    let mut admin = served.link(wishes);
    admin.connect(NQN, HOST, 0, 0xFFFF).unwrap();
    admin.enable_all_sets();
    let io = served.io(&admin, HOST, 1, wishes);
    (admin, io)
}

/// State and write pointer, counted from its start, of zone `zone`.
pub(super) fn state(io: &mut SocketLink, zone: u64) -> (u8, u64) {
    let page = io.run(WireCommand::report_zones(zone * SIZE, 0, true, 128)).unwrap().1;
    let (count, zones) = reported(&page);
    assert_eq!((count, zones[0].start, zones[0].capacity), (1, zone * SIZE, CAPACITY));
    let pointer = zones[0].write_pointer;
    (zones[0].state, if pointer == u64::MAX { pointer } else { pointer - zone * SIZE })
}

#[test]
fn what_linux_asks_for_before_it_uses_zones_is_there() {
    let served = NvmeServer::new(ZONED);
    let (mut admin, mut io) = links(&served, LinkWishes::default());
    let sets = admin.run(WireCommand::get_property(0, true)).unwrap().0 >> 37 & 0xFF;
    assert_eq!(sets, 1 | 1 << 6, "CAP.CSS: the NVM command set, and others");
    let of_set = |structure, namespace, set: u32| {
        WireCommand::identify(structure, namespace).with_dword(11, set << 24)
    };
    let page = admin.run(WireCommand::identify(0, 1)).unwrap().1;
    assert_eq!([long(&page, 0), long(&page, 8), long(&page, 16)], [1280, 640, 640], "NSZE, NCAP, NUSE");
    assert_eq!((page[25], page[26], page[130]), (0, 0, 12), "one format, of 4096 bytes");
    let page = admin.run(WireCommand::identify(3, 1)).unwrap().1;
    assert_eq!(page[20..25], [4, 1, 0, 0, 2], "the command set of the namespace");
    let page = admin.run(of_set(5, 1, 2)).unwrap().1;
    assert_eq!((number(&page, 0), number(&page, 4), number(&page, 8)), (0, 2, 1), "ZOC and OZCS, MAR, MOR");
    assert_eq!((long(&page, 2816), page[2824]), (SIZE, 0), "ZSZE, ZDES");
    assert!(admin.run(of_set(5, 1, 0)).unwrap().1.iter().all(|&byte| byte == 0));
    assert_eq!(admin.run(of_set(6, 0, 2)).unwrap().1[0], 0, "ZASL: as any transfer");
    for (set, first) in [(2, 1), (0, 0)] {
        assert_eq!(number(&admin.run(of_set(7, 0, set)).unwrap().1, 0), first, "list of set {set}");
    }
    assert_eq!(number(&admin.run(WireCommand::identify(2, 0)).unwrap().1, 0), 1);
    assert_eq!(admin.run(WireCommand::identify(0x1C, 0)).unwrap().1[..9], [5, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(admin.run(of_set(5, 1, 1)).unwrap_err(), 0x002, "no key-value command set");
    assert_eq!(admin.run(WireCommand::feature(0x19)).unwrap().0, 0);
    assert_eq!(admin.run(WireCommand::set_feature(0x19, 0)).unwrap().0, 0);
    assert_eq!(admin.run(WireCommand::set_feature(0x19, 1)).unwrap_err(), 0x12B);
    // Exactly the commands of the effects log of the command set are known.
    let log = |set: u32| WireCommand::log_page(5, 4096, 0).with_dword(14, set << 24);
    let effects = admin.run(log(2)).unwrap().1;
    assert_eq!(number(&effects, 1024 + 0x7D * 4), 3, "Zone Append is supported, and changes data");
    assert!(admin.run(log(0)).unwrap().1[1024..2048].iter().all(|&byte| byte == 0));
    assert_eq!(admin.run(log(1)).unwrap_err(), 0x002);
    for opcode in (0..=255_u8).filter(|&opcode| opcode != 0x7F) {
        let is_listed = effects[1024 + usize::from(opcode) * 4] & 1 != 0;
        assert_eq!(io.run(WireCommand::new(opcode, 1, [0; 6])) != Err(0x001), is_listed, "{opcode:#x}");
    }
    let page = admin.run(WireCommand::identify(1, 0)).unwrap().1;
    assert_eq!(page[520..522], [1 | 1 << 7, 0], "ONCS: Compare and Verify");
}

#[test]
fn a_host_of_the_nvm_command_set_alone_sees_no_zones() {
    let served = NvmeServer::new(ZONED);
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    assert_eq!(number(&admin.run(WireCommand::identify(2, 0)).unwrap().1, 0), 0);
    assert_eq!(admin.run(WireCommand::identify(0, 1)).unwrap_err(), 0x12C);
    assert_eq!(io.run(WireCommand::read_long(0, 1)).unwrap_err(), 0x12C);
    // NBD has no zones either: it reads, and writes nothing.
    let mut nbd = Client::open(&served.folder.path().join("nbd"), "drive");
    let refused = nbd.ask(WRITE, 0, 0, 4096, &[1; 4096]);
    let read = nbd.ask(READ, 0, 0, 4096, &[]);
    nbd.drain();
    assert_eq!(nbd.answers.remove(&refused).unwrap().0, 1, "EPERM");
    assert!(nbd.answers.remove(&read).unwrap() == (0, vec![0; 4096]));
}

#[test]
fn writes_and_appends_go_to_the_write_pointer_and_the_rest_has_the_status_of_the_specification() {
    let served = NvmeServer::new(ZONED);
    let (_admin, mut io) = links(&served, LinkWishes { in_capsule: 8192, ..LinkWishes::default() });
    let io = &mut io;
    assert_eq!(state(io, 0), (EMPTY, 0));
    io.run(WireCommand::write_long(0, bytes(8, 1))).unwrap();
    assert_eq!(state(io, 0), (IMPLICIT, 1));
    assert_eq!(io.run(WireCommand::append(0, bytes(32, 2))).unwrap().0, 1, "the first block written");
    assert_eq!(io.run(WireCommand::append(0, bytes(8, 3))).unwrap().0, 5);
    let read = io.run(WireCommand::read_long(0, 6)).unwrap().1;
    assert!(read == [bytes(8, 1), bytes(32, 2), bytes(8, 3)].concat());
    assert!(io.run(WireCommand::read_long(6, 2)).unwrap().1 == vec![0; 8192], "beyond the write pointer");
    io.run(WireCommand::range(0x05, 1, 4, 0).with_data(bytes(32, 2))).unwrap();
    assert_eq!(io.run(WireCommand::range(0x05, 0, 4, 0).with_data(bytes(32, 2))).unwrap_err(), 0x285);
    for (command, status, why) in [
        (WireCommand::write_long(5, bytes(8, 4)), 0x1BC, "elsewhere than at the write pointer"),
        (WireCommand::write_long(7, bytes(8, 4)), 0x1BC, "elsewhere than at the write pointer"),
        (WireCommand::append(1, bytes(8, 4)), 0x002, "no zone begins there"),
        (WireCommand::append(1280, bytes(8, 4)), 0x080, "beyond the namespace"),
        (WireCommand::append(0, bytes(59 * 8, 4)), 0x1B8, "beyond the capacity"),
        (WireCommand::write_long(6, bytes(59 * 8, 4)), 0x1B8, "beyond the capacity"),
        (WireCommand::read_long(127, 2), 0x1B8, "into the next zone"),
        (WireCommand::verify(127, 2), 0x1B8, "into the next zone"),
        (WireCommand::zone_action(1, OPEN), 0x002, "no zone begins there"),
        (WireCommand::zone_action(1280, OPEN), 0x080, "beyond the namespace"),
        (WireCommand::zone_action(0, OFFLINE), 0x1BF, "the zone is not read-only"),
        (WireCommand::zone_action(SIZE, CLOSE), 0x1BF, "the zone is not open"),
        (WireCommand::zone_action(0, 0), 0x002, "no such action"),
        (WireCommand::zone_action(0, 0x10), 0x002, "descriptors have no extension"),
        (WireCommand::zone_action(0, 0x11), 0x002, "no random write area"),
        (WireCommand::zone_action(0, OPEN | 1 << 9), 0x002, "no random write area"),
        (WireCommand::zone_action(0, RESET).of(2), 0x00B, "no such namespace"),
        (WireCommand::report_zones(0, 0, true, 64).with_dword(13, 1), 0x002, "no extended report"),
        (WireCommand::report_zones(0, 8, true, 64), 0x002, "no such state"),
        (WireCommand::report_zones(1280, 0, true, 64), 0x080, "beyond the namespace"),
        (WireCommand::write_zeroes(6, 1, false), 0x001, "not advertised"),
    ] {
        assert_eq!(io.run(command.clone()).unwrap_err(), status, "{why}: {:?}", &command.entry[..56]);
    }
    assert_eq!(state(io, 0), (IMPLICIT, 6), "what is refused changes nothing");
    io.run(WireCommand::write_long(6, bytes(58 * 8, 5))).unwrap();
    assert_eq!(state(io, 0), (FULL, u64::MAX));
    assert_eq!(io.run(WireCommand::append(0, bytes(8, 4))).unwrap_err(), 0x1B9);
    assert_eq!(io.run(WireCommand::write_long(64, bytes(8, 4))).unwrap_err(), 0x1B9);
    io.run(WireCommand::verify(0, 128)).unwrap();
    io.run(WireCommand::flush()).unwrap();
    io.run(WireCommand::zone_action(0, RESET)).unwrap();
    assert_eq!(state(io, 0), (EMPTY, 0));
    assert!(io.run(WireCommand::read_long(0, 64)).unwrap().1 == vec![0; 64 * 4096]);
}

#[test]
fn no_more_zones_are_open_or_active_than_is_told_and_select_all_acts_on_those_that_call_for_it() {
    let served = NvmeServer::new(ZONED);
    let (_admin, mut io) = links(&served, LinkWishes::default());
    let io = &mut io;
    let zone = |zone: u64| zone * SIZE;
    io.run(WireCommand::zone_action(zone(0), OPEN)).unwrap();
    io.run(WireCommand::zone_action(zone(1), OPEN)).unwrap();
    assert_eq!(io.run(WireCommand::zone_action(zone(2), OPEN)).unwrap_err(), 0x1BE, "two may be open");
    io.run(WireCommand::zone_action(zone(0), CLOSE)).unwrap();
    io.run(WireCommand::append(zone(2), bytes(8, 1))).unwrap();
    assert_eq!(io.run(WireCommand::append(zone(3), bytes(8, 1))).unwrap_err(), 0x1BD, "three may be active");
    let states: Vec<u8> = (0..4).map(|at| state(io, at).0).collect();
    assert_eq!(states, [CLOSED, EXPLICIT, IMPLICIT, EMPTY]);
    // Zones of a state, whole and as many as there is room for.
    let report = |io: &mut SocketLink, option, is_partial, bytes| {
        let page = io.run(WireCommand::report_zones(zone(0), option, is_partial, bytes)).unwrap().1;
        let (count, zones) = reported(&page);
        (count, zones.iter().map(|one| one.start / SIZE).collect::<Vec<_>>())
    };
    for (option, found) in [(1, (3..10).collect()), (2, vec![2]), (3, vec![1]), (4, vec![0]), (5, vec![])] {
        assert_eq!(report(io, option, true, 4096), (found.len() as u64, found), "option {option}");
    }
    assert_eq!(report(io, 1, false, 64 * 3), (7, vec![3, 4]), "the number of all, and two of them");
    assert_eq!(report(io, 1, true, 64 * 3), (2, vec![3, 4]), "the number of those returned");
    assert_eq!(report(io, 0, false, 64), (10, vec![]), "a head alone");
    let page = io.run(WireCommand::report_zones(zone(8) + 5, 0, true, 4096)).unwrap().1;
    assert_eq!(reported(&page).0, 2, "from the zone of the block on");
    io.run(WireCommand::all_zones(CLOSE)).unwrap();
    assert_eq!(report(io, 4, true, 4096), (3, vec![0, 1, 2]), "an empty zone that is closed stays active");
    assert_eq!(io.run(WireCommand::all_zones(OPEN)).unwrap_err(), 0x1BE, "three do not go");
    io.run(WireCommand::all_zones(FINISH)).unwrap();
    assert_eq!(report(io, 5, true, 4096), (3, vec![0, 1, 2]));
    io.run(WireCommand::all_zones(RESET)).unwrap();
    assert_eq!(report(io, 1, true, 4096).0, 10);
    io.run(WireCommand::all_zones(RESET)).unwrap();
}

/// The page of Identify, the status codes and the attributes of random write areas, and what is in one is read, and written again.
#[test]
fn random_write_areas_are_those_of_the_specification() {
    let scenario = ZONED.replace("\"volatile\"", "\"protected\"").replace(
        "max_open = 2",
        "max_open = 2\nrandom_write = { size = \"32KiB\", granularity = \"8KiB\", zones = 1 }",
    );
    let served = NvmeServer::new(&scenario);
    let (mut admin, mut io) = links(&served, LinkWishes { in_capsule: 8192, ..LinkWishes::default() });
    let io = &mut io;
    let page = admin.run(WireCommand::identify(5, 1).with_dword(11, 2 << 24)).unwrap().1;
    assert_eq!((page[2], number(&page, 44)), (1 << 1, 0), "OZCS, and NUMZRWA less one");
    assert_eq!(page[48..53], [2, 0, 8, 0, 1], "ZRWAFG, ZRWASZ and ZRWACAP");
    let (random, commit) = (1 << 9, 0x11);
    io.run(WireCommand::zone_action(0, OPEN | random)).unwrap();
    let zone = reported(&io.run(WireCommand::report_zones(0, 0, true, 128)).unwrap().1).1[0];
    assert_eq!((zone.state, zone.has_area), (EXPLICIT, true));
    for (lba, value) in [(3, 1), (0, 2), (3, 3)] {
        io.run(WireCommand::write_long(lba, bytes(8, value))).unwrap();
    }
    assert_eq!(state(io, 0), (EXPLICIT, 0), "nothing is committed");
    assert!(io.run(WireCommand::read_long(3, 1)).unwrap().1 == bytes(8, 3));
    let cases = [
        (WireCommand::append(0, bytes(8, 1)), 0x1B6, "an append"),
        (WireCommand::write_long(16, bytes(8, 1)), 0x1BC, "behind the window"),
        (WireCommand::zone_action(0, commit), 0x002, "half a granule"),
        (WireCommand::zone_action(9, commit), 0x1B8, "behind the area"),
        (WireCommand::zone_action(SIZE, commit), 0x002, "no area"),
        (WireCommand::zone_action(SIZE, OPEN | random), 0x1B7, "one zone has an area"),
        (WireCommand::all_zones(OPEN | random), 0x002, "for all zones"),
        (WireCommand::zone_action(0, RESET | random), 0x002, "of a reset"),
        (WireCommand::zone_action(1280, commit), 0x080, "behind the namespace"),
    ];
    for (command, expected, what) in cases {
        assert_eq!(io.run(command).unwrap_err(), expected, "{what}");
    }
    io.run(WireCommand::zone_action(3, commit)).unwrap();
    assert_eq!(state(io, 0), (EXPLICIT, 4));
    io.run(WireCommand::write_long(12, bytes(8, 4))).unwrap();
    assert_eq!(state(io, 0), (EXPLICIT, 6), "one block behind the area, two of a granule");
    for (lba, value) in [(0, 2), (3, 3), (12, 4)] {
        assert!(io.run(WireCommand::read_long(lba, 1)).unwrap().1 == bytes(8, value), "block {lba}");
    }
    assert!(io.run(WireCommand::read_long(1, 1)).unwrap().1 == vec![0; 4096], "nothing was written there");
    assert_eq!(io.run(WireCommand::write_long(5, bytes(8, 1))).unwrap_err(), 0x1BC, "it is committed");
    io.run(WireCommand::write_long(SIZE, bytes(8, 1))).unwrap();
    io.run(WireCommand::zone_action(0, RESET)).unwrap();
    assert_eq!(io.run(WireCommand::zone_action(SIZE, OPEN | random)).unwrap_err(), 0x1B6, "it is not empty");
    io.run(WireCommand::zone_action(0, OPEN | random)).unwrap();
}
