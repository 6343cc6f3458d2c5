//! Are bytes in zones there again, whatever was done between, and does an image keep the zones?

use std::collections::BTreeMap;
use std::time::Duration;

use outlast_serve::{DeviceServer, ImageConfig, ImageOptions, ServeConfig, ServerStatus};
use outlast_units::rng::SplitMix;
use serde_json::json;

use super::zones::{
    CAPACITY, CLOSE, CLOSED, EMPTY, FINISH, FULL, IMPLICIT, OPEN, RESET, SIZE, ZONED, links, state,
};
use super::{NvmeServer, config};
use crate::initiator::{LinkWishes, WireCommand};
use crate::support::bytes;
use crate::support::client::{Client, READ};

/// Random commands on a few zones beside a list of what each holds; power fails now and then.
#[test]
fn zones_over_the_wire_are_lists() {
    let served = NvmeServer::new(ZONED);
    let wishes = LinkWishes { data_digest: true, in_capsule: 8192, ..LinkWishes::default() };
    let (mut admin, mut io) = links(&served, wishes);
    let mut rng = SplitMix::new(fuzzed::drawn(), "nvme-zones");
    let mut held: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for step in 0..600_u64 {
        let zone = rng.below(4);
        let own = held.entry(zone).or_default();
        let room = CAPACITY - own.len() as u64;
        match rng.below(12) {
            0 => {
                let outcome = io.run(WireCommand::zone_action(zone * SIZE, RESET));
                outcome.unwrap();
                own.clear();
            }
            1 => {
                let _ =
                    io.run(WireCommand::zone_action(zone * SIZE, if step % 2 == 0 { CLOSE } else { OPEN }));
            }
            2 if step % 50 == 0 => {
                io.run(WireCommand::flush()).unwrap();
                served.ask(json!({ "do": "power", "action": "cut" }));
                (admin, io) = links(&served, wishes);
            }
            3..=5 => {
                let blocks = 1 + rng.below(CAPACITY);
                let read = io.run(WireCommand::read_long(zone * SIZE, blocks)).unwrap().1;
                for (at, block) in read.chunks_exact(4096).enumerate() {
                    let expected = own.get(at).map_or_else(|| vec![0; 4096], |&seed| bytes(8, seed));
                    assert!(block == expected, "step {step}: block {at} of zone {zone}");
                }
            }
            kind => {
                let blocks = 1 + rng.below(12);
                let data: Vec<u8> = (0..blocks).flat_map(|at| bytes(8, step * 16 + at)).collect();
                let start = own.len() as u64;
                let outcome = if kind % 2 == 0 {
                    io.run(WireCommand::append(zone * SIZE, data)).map(|(place, _)| place - zone * SIZE)
                } else {
                    io.run(WireCommand::write_long(zone * SIZE + start, data)).map(|_| start)
                };
                match outcome {
                    Ok(place) => {
                        assert!(place == start && blocks <= room, "step {step}: {place} of {start}");
                        own.extend((0..blocks).map(|at| step * 16 + at));
                    }
                    Err(status) if blocks > room => assert!([0x1B8, 0x1B9].contains(&status), "{status:#x}"),
                    Err(status) => {
                        assert!(
                            [0x1BD, 0x1BE].contains(&status),
                            "step {step}: {status:#x} of an active or open zone too many"
                        );
                    }
                }
            }
        }
    }
    admin.run(WireCommand::log_page(2, 512, 0)).unwrap();
}

/// Has a server end, and its image closed.
fn end(served: &NvmeServer) {
    served.handle.stop();
    loop {
        match served.handle.status() {
            ServerStatus::Ended(error) => return assert_eq!(error, None),
            status => drop(served.handle.wait(&status, Duration::from_secs(10))),
        }
    }
}

#[test]
fn an_image_keeps_zones_whether_its_server_ended_or_was_killed() {
    let kept = crate::support::load::folder("nvme-zones");
    let image = kept.join("image");
    let serve = |is_new: bool| {
        let folder = tempfile::tempdir().unwrap();
        let plain = config(ZONED, &folder);
        let own = ImageConfig { folder: image.clone(), options: ImageOptions::default(), at: None };
        let scenario = plain.scenario.clone().filter(|_| is_new);
        NvmeServer::of(
            DeviceServer::start(ServeConfig { image: Some(own), scenario, ..plain }).unwrap(),
            folder,
        )
    };
    let served = serve(true);
    let (_admin, mut io) = links(&served, LinkWishes::default());
    io.run(WireCommand::append(0, bytes(16, 1))).unwrap();
    io.run(WireCommand::append(SIZE, bytes(8, 2))).unwrap();
    io.run(WireCommand::zone_action(SIZE, FINISH)).unwrap();
    io.run(WireCommand::append(2 * SIZE, bytes(8, 3))).unwrap();
    io.run(WireCommand::zone_action(2 * SIZE, RESET)).unwrap();
    let own = served.ask(json!({ "do": "state" }))["machine"]["drives"][0]["zones"].clone();
    let wanted = json!({ "empty": 8, "implicitly-open": 1, "full": 1 });
    assert_eq!((&own["by_state"], &own["active"], &own["max_open"]), (&wanted, &json!(1), &json!(2)));
    io.run(WireCommand::flush()).unwrap();
    // A server that was killed leaves what its log has, and a replay makes the zones of it.
    let copy = kept.join("copy");
    super::kills::copy_image(&image, &copy);
    drop(io);
    end(&served);
    std::fs::rename(&image, kept.join("ended")).unwrap();
    for from in ["copy", "ended"] {
        std::fs::rename(kept.join(from), &image).unwrap();
        let served = serve(false);
        let (_admin, mut io) = links(&served, LinkWishes::default());
        let states: Vec<_> = (0..4).map(|zone| state(&mut io, zone)).collect();
        assert_eq!(states[1..], [(FULL, u64::MAX), (EMPTY, 0), (EMPTY, 0)], "{from}");
        assert!(states[0] == (IMPLICIT, 2) || states[0] == (CLOSED, 2), "{from}: {states:?}");
        assert!(io.run(WireCommand::read_long(0, 3)).unwrap().1 == [bytes(16, 1), vec![0; 4096]].concat());
        assert!(io.run(WireCommand::read_long(SIZE, 1)).unwrap().1 == bytes(8, 2), "{from}");
        assert_eq!(io.run(WireCommand::append(0, bytes(8, 4))).unwrap().0, 2);
        drop(io);
        end(&served);
        std::fs::rename(&image, kept.join(format!("{from} again"))).unwrap();
    }
}

#[test]
fn reads_over_nbd_know_no_zones_and_those_of_nvme_end_with_them() {
    let served = NvmeServer::new(ZONED);
    let (_admin, mut io) = links(&served, LinkWishes::default());
    // Whole zones, a part of one, and nothing.
    let mut image = vec![0; 5 * SIZE as usize * 4096];
    for (zone, blocks) in [(0, CAPACITY), (1, CAPACITY), (2, 3)] {
        for at in 0..blocks {
            let data = bytes(8, zone * SIZE + at);
            let from = (zone * SIZE + at) as usize * 4096;
            image[from..from + 4096].copy_from_slice(&data);
            io.run(WireCommand::append(zone * SIZE, data)).unwrap();
        }
    }
    assert_eq!(io.run(WireCommand::read_long(SIZE - 1, 2)).unwrap_err(), 0x1B8, "Zone Boundary Error");
    let mut nbd = Client::open(&served.folder.path().join("nbd"), "drive");
    let zone = SIZE as usize * 4096;
    let ranges = [
        (zone - 4096, 8192),
        (zone - 512, 1024),
        (512, 3 * zone),
        (0, image.len()),
        (zone, zone),
        (2 * zone, 2 * zone),
    ];
    // All at the same time, as copying programs do.
    let asked = ranges.map(|(from, length)| nbd.ask(READ, 0, from as u64, length as u32, &[]));
    nbd.drain();
    for ((from, length), cookie) in ranges.into_iter().zip(asked) {
        let (error, data) = nbd.answers.remove(&cookie).unwrap();
        assert_eq!(error, 0, "{length} bytes from {from} on");
        assert!(data == image[from..from + length], "{length} bytes from {from} on");
    }
}

/// Two namespaces: the first has six of the zones, the second the other four.
#[test]
fn namespaces_are_whole_zones_and_no_action_reaches_another() {
    let two = "[[namespace]]\ncapacity = \"3MiB\"\nblock_size = \"4KiB\"\n\
               [[namespace]]\ncapacity = \"2MiB\"\nblock_size = \"4KiB\"\n";
    let served = NvmeServer::new(&format!("{ZONED}{two}"));
    let (mut admin, mut io) = links(&served, LinkWishes::default());
    for (namespace, zones) in [(1, 6), (2, 4)] {
        let page = admin.run(WireCommand::identify(0, namespace)).unwrap().1;
        assert_eq!(page[0..8], (zones * SIZE).to_le_bytes(), "NSZE");
        assert_eq!(page[8..16], (zones * CAPACITY).to_le_bytes(), "NCAP");
        let own = admin.run(WireCommand::identify(5, namespace).with_dword(11, 2 << 24)).unwrap().1;
        assert_eq!((own[4], own[8]), (0, 0), "of three active and two open zones, each may have one");
        let report = WireCommand::report_zones(0, 0, false, 64).of(namespace);
        assert_eq!(io.run(report).unwrap().1[0], zones as u8);
    }
    io.run(WireCommand::append(0, bytes(8, 1))).unwrap();
    let second = |command: WireCommand| command.of(2);
    assert_eq!(io.run(second(WireCommand::append(SIZE, bytes(8, 2)))).unwrap().0, SIZE, "in its own blocks");
    assert!(io.run(second(WireCommand::read_long(SIZE, 1))).unwrap().1 == bytes(8, 2));
    io.run(second(WireCommand::all_zones(RESET))).unwrap();
    assert!(io.run(second(WireCommand::read_long(SIZE, 1))).unwrap().1 == vec![0; 4096]);
    assert_eq!(state(&mut io, 0), (IMPLICIT, 1), "of the first namespace");
    assert_eq!(io.run(WireCommand::append(6 * SIZE, bytes(8, 1))).unwrap_err(), 0x080, "beyond the first");
    io.run(WireCommand::all_zones(FINISH)).unwrap();
    assert_eq!(state(&mut io, 0).0, FULL);
    let refused = |text: &str, named: &str| {
        let error = std::panic::catch_unwind(|| crate::support::scenario(text)).unwrap_err();
        let error = error.downcast_ref::<String>().unwrap().clone();
        assert!(error.contains(named), "{error} has no {named:?}");
    };
    refused(&format!("{ZONED}{}", two.replace("3MiB", "768KiB")), "multiple of 512KiB");
    refused(&format!("{ZONED}{}", two.replace("4KiB", "512B")), "namespace[0].block_size");
    refused(&format!("{ZONED}{}", two.replace("3MiB", "4MiB")), "what is left");
    refused(&format!("{ZONED}{two}{two}"), "device.zones.max_open, 2");
    refused(&format!("{}{two}", ZONED.replace("size = \"512KiB\"\n", "")), "device.zones.size");
}

/// Each was told MAR 3 and MOR 2 of six active and four open zones, but a host of the first could make five active, and the second host was then refused its second.
#[test]
fn each_namespace_has_the_active_and_open_zones_that_its_host_is_told() {
    let text = ZONED
        .replace("max_active = 3\nmax_open = 2", "max_active = 6\nmax_open = 4")
        .replace("blocks_per_plane = 24", "blocks_per_plane = 32");
    let two = "[[namespace]]\ncapacity = \"2560KiB\"\nblock_size = \"4KiB\"\n".repeat(2);
    let served = NvmeServer::new(&format!("{text}{two}"));
    let (mut admin, mut io) = links(&served, LinkWishes::default());
    for namespace in [1, 2] {
        let own = admin.run(WireCommand::identify(5, namespace).with_dword(11, 2 << 24)).unwrap().1;
        assert_eq!((own[4], own[8]), (2, 1), "MAR and MOR, from 0 on");
        let mut run = |command: WireCommand| io.run(command.of(namespace)).map(|_| ());
        for zone in 0..3 {
            run(WireCommand::append(zone * SIZE, bytes(8, zone))).unwrap();
        }
        assert_eq!(run(WireCommand::append(3 * SIZE, bytes(8, 3))), Err(0x1BD), "Too Many Active Zones");
        for zone in [0, 1] {
            run(WireCommand::zone_action(zone * SIZE, OPEN)).unwrap();
        }
        assert_eq!(run(WireCommand::zone_action(2 * SIZE, OPEN)), Err(0x1BE), "Too Many Open Zones");
    }
}
