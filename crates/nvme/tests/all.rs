//! Does a queue survive any command, and does it ask the device for nothing outside of the namespace?

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod advertised;

use outlast_nvme::{
    ConfigurationFacts, DataTransfer, DeviceAnswer, DeviceFailure, DeviceOp, DeviceRequest, HandleKind,
    HostQueue, LONGEST_TRANSFER, LostRange, NamespaceFacts, NvmeTarget, PlacementFacts, PortFacts,
    QueueEvent, SubmissionEntry, SubsystemFacts, TargetOffer, WireZoneState, ZoneFacts, ZoneRefusal,
    ZoneReport, ZoneReports,
};
use proptest::prelude::*;

const NQN: &str = "nqn.2026-11.org.outlast:test";

/// Blocks of a zone, of a subsystem with zones.
const ZONE: u64 = 100;

fn offer(block_bytes: u32, has_zones: bool) -> TargetOffer {
    let zones = has_zones.then_some(ZoneFacts {
        size: ZONE,
        capacity: ZONE - 10,
        most_active: 3,
        most_open: 2,
        random: None,
    });
    let namespace = |offset, blocks, block_bytes, guid| NamespaceFacts {
        offset,
        blocks,
        block_bytes,
        preferred_blocks: 1,
        is_writable: true,
        guid,
        identifiers: if has_zones { Vec::new() } else { vec![1, 0] },
        reclaim_groups: 1,
        zones,
    };
    let first = u64::from(block_bytes) * 1000;
    let namespaces = vec![namespace(0, 1000, block_bytes, [1; 16]), namespace(first, 500, 4096, [2; 16])];
    let text = |text: &str| text.to_owned();
    let facts = SubsystemFacts {
        nqn: text(NQN),
        serial: text("S"),
        model: text("M"),
        firmware: text("1"),
        capacity: first + 500 * 4096,
        namespaces,
        placement: (!has_zones).then(|| PlacementFacts {
            configurations: vec![ConfigurationFacts {
                handles: vec![HandleKind::InitiallyIsolated; 3],
                reclaim_groups: 1,
                reclaim_unit_bytes: 1 << 20,
                time_limit_s: 5,
            }],
            enabled: 0,
            handles: vec![2, 0],
        }),
    };
    TargetOffer { subsystems: vec![facts].into(), port: PortFacts::default(), generation: 1 }
}

fn fabrics(kind: u8, fields: &[(usize, &[u8])]) -> SubmissionEntry {
    let mut entry = [0; 64];
    (entry[0], entry[4]) = (0x7F, kind);
    for (at, bytes) in fields {
        entry[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    SubmissionEntry::new(entry)
}

/// A queue that is connected and, if it is an admin queue, enabled.
fn queue(target: &NvmeTarget, offer: TargetOffer, number: u8, controller: [u8; 2]) -> HostQueue {
    let mut queue = HostQueue::new(target.clone(), offer);
    let mut data = vec![0; 1024];
    data[16..18].copy_from_slice(&controller);
    data[256..256 + NQN.len()].copy_from_slice(NQN.as_bytes());
    data[512] = b'h';
    queue.begin(&fabrics(0x01, &[(42, &[number, 0]), (44, &[127, 0])]), data);
    assert_eq!(queue.take_end().unwrap().completion[14..], [0, 0]);
    if number == 0 {
        queue.begin(&fabrics(0x00, &[(44, &[0x14]), (48, &[0x61])]), Vec::new());
        assert_eq!(queue.take_end().unwrap().completion[14..], [0, 0]);
    }
    queue
}

/// Opcodes of administration and of I/O.
const KNOWN: [u8; 20] =
    [0, 1, 2, 5, 8, 9, 0x0C, 0x19, 6, 8, 9, 0x0A, 0x18, 0x86, 0x12, 0x1D, 0x1A, 0x79, 0x7A, 0x7D];

/// Has a command name the first block of a zone, and an action.
fn aim_at_zone(bytes: &mut [u8; 64], choice: u16) {
    bytes[40..48].copy_from_slice(&(u64::from(choice) % 11 * ZONE).to_le_bytes());
    bytes[52] &= 7;
}

/// Namespace of a command.
fn low_namespace(entry: &[u8; 64]) -> u32 {
    u32::from_le_bytes(entry[4..8].try_into().unwrap())
}

/// The answer of a device whose bytes are all the same.
fn answer_to(request: &DeviceRequest<'_>, byte: u8, zone_bytes: u64) -> DeviceAnswer {
    match request.op {
        DeviceOp::Read { .. } => {
            assert!((1..=LONGEST_TRANSFER).contains(&request.length));
            DeviceAnswer::Data(vec![byte; request.length as usize])
        }
        DeviceOp::Write { data, .. } => {
            assert_eq!(data.len() as u64, request.length);
            DeviceAnswer::Done
        }
        DeviceOp::LostBlocks => DeviceAnswer::Lost(Vec::new()),
        DeviceOp::Health(_) => DeviceAnswer::Health(Box::new([0; 512])),
        DeviceOp::Placement => DeviceAnswer::Placement(Box::default()),
        DeviceOp::UpdateHandle(identifier) => {
            assert!(identifier < 2);
            DeviceAnswer::Done
        }
        DeviceOp::Append { data, .. } => {
            assert_eq!(data.len() as u64, request.length);
            DeviceAnswer::Appended(request.offset + u64::from(byte) * 4096)
        }
        DeviceOp::ManageZone(_) if byte == 3 => {
            DeviceAnswer::Failed(DeviceFailure::Zone(ZoneRefusal::InvalidTransition))
        }
        // At most three zones at a time: who wants all asks again.
        DeviceOp::ListZones(asked) => {
            let zone = |at| ZoneReport {
                offset: request.offset + at * zone_bytes,
                state: WireZoneState::Closed,
                write_pointer: Some(request.offset + at * zone_bytes),
                has_area: false,
            };
            let count = request.length / zone_bytes;
            let listed = count.min(asked.most.into()).min(3);
            DeviceAnswer::Zones(ZoneReports { count, zones: (0..listed).map(zone).collect() })
        }
        DeviceOp::ManageZone(_) | DeviceOp::Flush | DeviceOp::Deallocate | DeviceOp::WriteZeroes { .. } => {
            DeviceAnswer::Done
        }
    }
}

proptest! {
    #[test]
    fn any_command_ends_once_and_asks_for_nothing_beyond_the_namespace(
        is_io in any::<bool>(),
        is_long in any::<bool>(),
        has_zones in any::<bool>(),
        entries in proptest::collection::vec((any::<[u8; 32]>(), any::<[u8; 32]>(), 0..27_usize, any::<u16>()), 1..40),
        fill in any::<u8>(),
    ) {
        let (target, block) = (NvmeTarget::new(), if is_long { 4096_u32 } else { 512 });
        let mut admin = queue(&target, offer(block, has_zones), 0, [0xFF, 0xFF]);
        let mut io = queue(&target, offer(block, has_zones), 1, [1, 0]);
        let queue = if is_io { &mut io } else { &mut admin };
        for (id, (low, high, opcode, first)) in (0..).zip(entries) {
            let mut bytes = [0; 64];
            bytes[..32].copy_from_slice(&low);
            bytes[32..].copy_from_slice(&high);
            if let Some(opcode) = KNOWN.get(opcode) {
                // Fields that can be right, so that requests follow.
                (bytes[0], bytes[1]) = (*opcode, 0x40);
                bytes[4..8].copy_from_slice(&(1 + u32::from(first & 1)).to_le_bytes());
                bytes[40..48].copy_from_slice(&u64::from(first % 1100).to_le_bytes());
                if has_zones && first & 2 != 0 {
                    aim_at_zone(&mut bytes, first);
                }
                bytes[49] = 0;
                bytes[50] &= 0x0F;
            }
            bytes[2..4].copy_from_slice(&u16::to_le_bytes(id));
            let (entry, entry_bytes) = (SubmissionEntry::new(bytes), bytes);
            // Fabrics commands would end the controller, or connect it again.
            if entry.opcode() == 0x7F {
                continue;
            }
            let (transfer, before) = (queue.transfer(&entry), queue.held());
            let cost = queue.cost(&entry, transfer);
            let data = match transfer {
                Ok(DataTransfer::FromHost(bytes)) => vec![fill & 3; bytes as usize],
                _ => Vec::new(),
            };
            queue.begin(&entry, data);
            prop_assert!(queue.held() <= before + cost, "{:?}: {} for {cost}", entry, queue.held() - before);
            let mut events = 0;
            while let Some(event) = queue.poll() {
                let QueueEvent::Request(request) = event else { continue };
                events += 1;
                prop_assert!(events <= 2000);
                let end = request.offset.checked_add(request.length).unwrap();
                // A command of one namespace asks for nothing of the other; the log of LBA status is one of all.
                let is_log = !is_io && entry.opcode() == 0x02;
                let (from, to, block) = if is_log {
                    (0, 1000 * u64::from(block) + 500 * 4096, 512)
                } else if low_namespace(&entry_bytes) == 2 {
                    (1000 * u64::from(block), 1000 * u64::from(block) + 500 * 4096, 4096)
                } else {
                    (0, 1000 * u64::from(block), u64::from(block))
                };
                prop_assert!(request.length == 0 || from <= request.offset && end <= to);
                prop_assert!(request.length % block == 0 && (request.length == 0 || (request.offset - from) % block == 0));
                let (tag, answer) = (request.tag, answer_to(&request, fill & 3, ZONE * block));
                queue.answer(tag, answer);
            }
            prop_assert_eq!((queue.running(), queue.held()), (0, 0));
            let is_event_request = !is_io && entry.opcode() == 0x0C;
            let end = queue.take_end();
            prop_assert!(end.is_some() || is_event_request);
            prop_assert!(queue.take_end().is_none());
            if let (Some(end), Ok(DataTransfer::ToHost(bytes))) = (end, transfer) {
                prop_assert!(end.data.is_empty() || end.data.len() == bytes as usize);
            }
        }
    }
}

#[test]
fn a_list_of_lost_blocks_asks_for_no_more_than_it_has_room_for() {
    // Five gibibytes, asked for in five steps; the device has lost every second block of each.
    let mut offer = offer(512, false);
    let mut facts = offer.subsystems[0].clone();
    facts.namespaces.truncate(1);
    facts.namespaces[0].blocks = 5 << 21;
    facts.capacity = 5 << 30;
    offer.subsystems = vec![facts].into();
    let mut queue = queue(&NvmeTarget::new(), offer, 0, [0xFF, 0xFF]);
    let lost =
        |from: u64| (0..150).map(move |at| LostRange { offset: from + at * 1024, length: 512 }).collect();
    for (places, expected) in [(0, 1), (149, 1), (150, 2), (299, 2), (749, 5), (750, 5), (1000, 5)] {
        let mut bytes = [0; 64];
        (bytes[0], bytes[1], bytes[4], bytes[55]) = (0x86, 0x40, 1, 0x11);
        bytes[48..52].copy_from_slice(&(1 + places * 4_u32).to_le_bytes());
        queue.begin(&SubmissionEntry::new(bytes), Vec::new());
        let mut questions = 0;
        while let Some(event) = queue.poll() {
            let QueueEvent::Request(request) = event else { continue };
            let (tag, from) = (request.tag, request.offset);
            questions += 1;
            queue.answer(tag, DeviceAnswer::Lost(lost(from)));
        }
        let page = queue.take_end().unwrap().data;
        let listed = places.min(750);
        let condition = if places < 750 { 1 } else { 2 };
        assert_eq!((questions, &page[..4], page[4]), (expected, &listed.to_le_bytes()[..], condition));
        if places > 151 {
            // The first of the second step.
            assert_eq!(page[8 + 150 * 16..][..8], (1_u64 << 21).to_le_bytes());
        }
    }
}
