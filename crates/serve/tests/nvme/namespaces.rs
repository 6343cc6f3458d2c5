//! Are namespaces ranges of one drive, each with its own size, blocks and figures, and none able to touch another?

use serde_json::{Value, json};

use super::losses::listed;
use super::{HOST, NvmeServer};
use crate::initiator::{LinkWishes, WireCommand};
use crate::support::client::{Client, READ};
use crate::support::{DRIVE, bytes, scenario};

/// Three namespaces, the second of blocks of 4096 bytes, the third write-protected, and some capacity that belongs to none.
const NAMESPACES: &str = r#"
[[namespace]]
capacity = "1MiB"
[[namespace]]
capacity = "512KiB"
block_size = "4KiB"
[[namespace]]
capacity = "256KiB"
read_only = true
"#;

const SECOND: u64 = 1 << 20;
const THIRD: u64 = SECOND + (512 << 10);

fn text() -> String {
    format!("{DRIVE}{NAMESPACES}")
}

fn long(page: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(page[at..at + 8].try_into().unwrap())
}

#[test]
fn namespaces_are_told_and_numbered_from_one() {
    let served = NvmeServer::new(&text());
    let mut admin = served.admin(HOST, LinkWishes::default());
    let capacity = served.ask(json!({ "do": "state" }))["machine"]["capacity"].as_u64().unwrap();
    let page = admin.run(WireCommand::identify(1, 0)).unwrap().1;
    assert_eq!((long(&page, 516) as u32, long(&page, 280)), (3, capacity), "NN and TNVMCAP");
    assert_eq!(long(&page, 296), capacity - THIRD - (256 << 10), "UNVMCAP");
    for (structure, after, expected) in
        [(2, 0, vec![1, 2, 3]), (2, 1, vec![2, 3]), (2, 3, vec![]), (7, 0, vec![1, 2, 3])]
    {
        let page = admin.run(WireCommand::identify(structure, after)).unwrap().1;
        let numbers: Vec<u32> = page
            .chunks_exact(4)
            .map(|place| u32::from_le_bytes(place.try_into().unwrap()))
            .take_while(|&one| one > 0)
            .collect();
        assert_eq!(numbers, expected, "structure {structure} after {after}");
    }
    let mut names = Vec::new();
    for (number, blocks, shift, is_protected) in [(1, 2048, 9, 0), (2, 128, 12, 0), (3, 512, 9, 1)] {
        let page = admin.run(WireCommand::identify(0, number)).unwrap().1;
        assert_eq!([long(&page, 0), long(&page, 8)], [blocks; 2], "namespace {number}");
        let format = 128 + usize::from(page[26] & 0xF) * 4;
        assert_eq!((page[25], page[format + 2], page[99]), (1, shift, is_protected), "namespace {number}");
        names.push(page[104..120].to_vec());
    }
    names.dedup();
    assert_eq!(names.len(), 3, "each has a name of its own");
    for number in [0, 4, 0xFFFF_FFFF] {
        assert_eq!(admin.run(WireCommand::identify(0, number)).unwrap_err(), 0x00B);
    }
}

#[test]
fn each_namespace_is_a_range_of_the_drive_and_ends_where_it_ends() {
    let served = NvmeServer::new(&text());
    let admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    io.run(WireCommand::write(0, bytes(8, 1), false)).unwrap();
    // One block of 4096 bytes; the command counts blocks.
    let write = |lba, seed| WireCommand::range(0x01, lba, 1, 0).of(2).with_data(bytes(8, seed));
    let read = |lba| WireCommand::range(0x02, lba, 1, 0).of(2).returning(4096);
    io.run(write(0, 2)).unwrap();
    io.run(write(127, 3)).unwrap();
    assert!(io.run(read(127)).unwrap().1 == bytes(8, 3));
    assert_eq!(io.run(write(128, 4)).unwrap_err(), 0x080, "the quota is the capacity");
    assert_eq!(io.run(read(128)).unwrap_err(), 0x080);
    assert_eq!(
        io.run(WireCommand::read(2041, 8)).unwrap_err(),
        0x080,
        "no block of the second through the first"
    );
    assert_eq!(io.run(WireCommand::write(0, bytes(8, 5), false).of(3)).unwrap_err(), 0x020);
    assert_eq!(io.run(WireCommand::deallocate(&[(0, 8)]).of(3)).unwrap_err(), 0x020);
    assert_eq!(io.run(WireCommand::read(0, 8).of(4)).unwrap_err(), 0x00B);
    io.run(WireCommand::read(0, 8).of(3)).unwrap();
    io.run(WireCommand::copy(&[(127, 1)], 5).of(2)).unwrap();
    io.run(WireCommand::flush().of(0xFFFF_FFFF)).unwrap();
    // The drive as a whole, through the other door.
    let mut nbd = Client::open(&served.folder.path().join("nbd"), "drive");
    for (offset, seed) in [(0, 1), (SECOND, 2), (SECOND + 5 * 4096, 3), (SECOND + 127 * 4096, 3)] {
        let cookie = nbd.ask(READ, 0, offset, 4096, &[]);
        nbd.drain();
        assert!(nbd.answers.remove(&cookie).unwrap() == (0, bytes(8, seed)), "at {offset}");
    }
    // Two reads of the first by NBD and NVMe, three writes and three good reads of the second, one read of the third.
    let all = served.ask(json!({ "do": "metrics" }))["namespaces"].clone();
    let counts: Vec<[u64; 2]> =
        (0..3).map(|at| [0, 1].map(|op| all[at]["operations"][op]["count"].as_u64().unwrap())).collect();
    assert_eq!(counts, [[1, 1], [5, 3], [1, 0]], "{all}");
    assert_eq!(
        (&all[1]["offset"], &all[1]["block_size"], &all[2]["read_only"]),
        (&json!(SECOND), &json!(4096), &json!(true))
    );
    assert!(all[1]["operations"][1]["p50_us"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_a_die_takes_is_listed_in_the_blocks_of_each_namespace() {
    let served = NvmeServer::new(&text());
    let mut admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    for lba in 0..128 {
        io.run(WireCommand::range(0x01, lba, 1, 0).of(2).with_data(bytes(8, lba))).unwrap();
    }
    io.run(WireCommand::flush().of(2)).unwrap();
    served.ask(json!({ "do": "fault", "fault": { "kind": "die", "die": 3 } }));
    let lost =
        (0..128).filter(|&lba| io.run(WireCommand::range(0x02, lba, 1, 0).of(2).returning(4096)).is_err());
    let lost: Vec<u64> = lost.collect();
    assert!(!lost.is_empty());
    let page = admin.run(WireCommand::lba_status(0, 0, 1 << 16).of(2)).unwrap().1;
    assert_eq!(listed(&page).into_iter().collect::<Vec<_>>(), lost);
}

#[test]
fn settings_that_cannot_be_are_refused_with_their_limit() {
    let refused = |namespaces: &str, named: &[&str]| {
        let text = format!("{DRIVE}{namespaces}");
        let error = std::panic::catch_unwind(|| scenario(&text)).unwrap_err();
        let error = error.downcast_ref::<String>().unwrap().clone();
        for words in named {
            assert!(error.contains(words), "{error} has no {words:?}");
        }
    };
    let one = |more: &str| format!("[[namespace]]\ncapacity = \"64KiB\"\n{more}\n");
    refused(&one("block_size = \"1KiB\""), &["namespace[0].block_size", "1KiB", "512 or 4096"]);
    refused("[[namespace]]\ncapacity = \"6KiB\"\n", &["namespace[0].capacity", "6KiB", "4KiB"]);
    refused("[[namespace]]\ncapacity = \"0B\"\n", &["namespace[0].capacity", "one at least"]);
    refused(
        &(one("") + "[[namespace]]\ncapacity = \"1GiB\"\n"),
        &["namespace[1].capacity", "1GiB", "what is left"],
    );
    refused(
        &one("placement_handles = [0]"),
        &["namespace[0].placement_handles[0]", "needs device.placement"],
    );
    refused(&format!("{}{}", one(""), crate::support::ARRAY), &["namespace", "array"]);
    let placed = "[[device.placement.configurations]]\nhandles = [\"initially-isolated\"]\n";
    refused(&(one("placement_handles = [1]") + placed), &["placement_handles[0]", "1", "lets the host use"]);
    refused(&(one("placement_handles = [0, 0]") + placed), &["placement_handles[1]", "twice"]);
    refused(&one("blocks = 3"), &["blocks"]);
}

/// Value of a field that all namespaces of an export have.
#[test]
fn a_drive_without_namespaces_has_one_and_no_figures_of_it() {
    let served = NvmeServer::new(DRIVE);
    let mut admin = served.admin(HOST, LinkWishes::default());
    assert_eq!(admin.run(WireCommand::identify(2, 0)).unwrap().1[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    let metrics = served.ask(json!({ "do": "metrics" }));
    assert_eq!((&metrics["namespaces"], &metrics["placement"]), (&json!([]), &Value::Null));
}
