//! Any bytes as the units of a host that has connected a queue, in pieces of any size: no panic, no request outside of the namespace, and no more memory than was
//! allowed. The first byte chooses the queue, whether answers are delayed, whether the namespaces have zones and whether these refuse actions, the second the length of the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_nvme::{
    ConfigurationFacts, DeviceAnswer, DeviceFailure, DeviceOp, HandleKind, HostQueue, NamespaceFacts,
    NvmeTarget, PlacementFacts, PortFacts, QueueEvent, SubsystemFacts, TargetOffer, WireZoneState, ZoneFacts,
    ZoneRefusal, ZoneReport, ZoneReports,
};
use outlast_nvme_tcp::TcpConnection;

const NQN: &str = "nqn.2026-11.org.outlast:fuzz";
const BLOCKS: u64 = 2048;
/// Length of a zone, where the namespaces have zones.
const ZONE_BYTES: u64 = 64 << 10;
const ALLOWED: u64 = 1 << 20;
/// What one command may hold beyond that: a Copy reads and writes a mebibyte, and its answer leaves as output.
const ONE_COMMAND: u64 = 4 << 20;

/// Two namespaces of blocks of 512 and of 4096 bytes, with zones or with handles.
fn offer(has_zones: bool) -> TargetOffer {
    let zones = |block: u64| {
        let size = ZONE_BYTES / block;
        has_zones.then_some(ZoneFacts { size, capacity: size, most_active: 4, most_open: 4, random: None })
    };
    let first = NamespaceFacts {
        offset: 0,
        blocks: BLOCKS / 2,
        block_bytes: 512,
        preferred_blocks: 8,
        is_writable: true,
        guid: [1; 16],
        identifiers: if has_zones { Vec::new() } else { vec![3, 4, 5, 0, 1, 2] },
        reclaim_groups: if has_zones { 1 } else { 3 },
        zones: zones(512),
    };
    let offset = BLOCKS / 2 * 512;
    let second = NamespaceFacts {
        offset,
        blocks: BLOCKS / 16,
        block_bytes: 4096,
        guid: [2; 16],
        zones: zones(4096),
        ..first.clone()
    };
    let text = |text: &str| text.to_owned();
    let facts = SubsystemFacts {
        nqn: text(NQN),
        serial: text("S"),
        model: text("M"),
        firmware: text("1"),
        capacity: BLOCKS * 512,
        namespaces: vec![first, second],
        placement: (!has_zones).then(|| PlacementFacts {
            configurations: vec![ConfigurationFacts {
                handles: vec![HandleKind::PersistentlyIsolated; 2],
                reclaim_groups: if has_zones { 1 } else { 3 },
                reclaim_unit_bytes: 1 << 20,
                time_limit_s: 0,
            }],
            enabled: 0,
            handles: vec![0, 0, 0, 1, 1, 1],
        }),
    };
    TargetOffer { subsystems: vec![facts].into(), port: PortFacts::default(), generation: 1 }
}

/// Gives a connection bytes, and drops its output.
fn feed(connection: &mut TcpConnection, bytes: &[u8]) {
    let space = connection.space();
    let count = space.len().min(bytes.len());
    space[..count].copy_from_slice(&bytes[..count]);
    connection.filled(count);
}

/// `ICReq`, then Connect of a queue, then for an admin queue CC.EN.
fn begin(target: &NvmeTarget, queue: u8, has_zones: bool) -> TcpConnection {
    let mut connection = TcpConnection::new(HostQueue::new(target.clone(), offer(has_zones)));
    let mut greeting = [0; 128];
    (greeting[2], greeting[4]) = (128, 128);
    feed(&mut connection, &greeting);
    let mut connect = vec![0; 72 + 1024];
    connect[..8].copy_from_slice(&[0x04, 0, 72, 72, 0x48, 0x04, 0, 0]);
    let entry = &mut connect[8..72];
    (entry[0], entry[1], entry[4], entry[42], entry[44]) = (0x7F, 0x40, 0x01, queue, 127);
    (entry[33], entry[39]) = (0x04, 0x01);
    let data = &mut connect[72..];
    data[16..18].copy_from_slice(if queue == 0 { &[0xFF, 0xFF] } else { &[1, 0] });
    data[256..256 + NQN.len()].copy_from_slice(NQN.as_bytes());
    data[512] = b'h';
    feed(&mut connection, &connect);
    while connection.poll().is_some() {}
    if queue == 0 {
        // Zones are there only for hosts that enable all command sets.
        let command_sets = if has_zones { 0x60 } else { 0 };
        let mut enable = [0; 72];
        (enable[0], enable[2], enable[4]) = (0x04, 72, 72);
        (enable[8], enable[9], enable[8 + 44], enable[8 + 48]) = (0x7F, 0x40, 0x14, command_sets | 1);
        feed(&mut connection, &enable);
        while connection.poll().is_some() {}
    }
    connection.sent(connection.output_len());
    connection
}

fuzz_target!(|bytes: &[u8]| {
    let [mode, piece, bytes @ ..] = bytes else { return };
    let target = NvmeTarget::new();
    let has_zones = mode & 4 != 0;
    let mut admin = begin(&target, 0, has_zones);
    let mut io = begin(&target, 1, has_zones);
    let connection = if mode & 1 == 0 { &mut io } else { &mut admin };
    connection.allow(ALLOWED);
    let mut delayed = Vec::new();
    for piece in bytes.chunks(usize::from(*piece) + 1) {
        feed(connection, piece);
        while let Some(event) = connection.poll() {
            let QueueEvent::Request(request) = event else { continue };
            assert!(request.offset + request.length <= BLOCKS * 512, "{request:?}");
            let answer = match request.op {
                DeviceOp::Read { .. } => DeviceAnswer::Data(vec![0; request.length as usize]),
                DeviceOp::LostBlocks => DeviceAnswer::Lost(Vec::new()),
                DeviceOp::Health(_) => DeviceAnswer::Health(Box::new([0; 512])),
                DeviceOp::Append { .. } => DeviceAnswer::Appended(request.offset),
                DeviceOp::ManageZone(_) if mode & 8 != 0 => {
                    DeviceAnswer::Failed(DeviceFailure::Zone(ZoneRefusal::InvalidTransition))
                }
                // At most three zones at a time: who wants all asks again.
                DeviceOp::ListZones(asked) => {
                    let count = request.length / ZONE_BYTES;
                    let zones = (0..count.min(asked.most.into()).min(3)).map(|at| ZoneReport {
                        offset: request.offset + at * ZONE_BYTES,
                        state: WireZoneState::Closed,
                        write_pointer: Some(request.offset + at * ZONE_BYTES),
                        has_area: false,
                    });
                    DeviceAnswer::Zones(ZoneReports { count, zones: zones.collect() })
                }
                DeviceOp::Placement => DeviceAnswer::Placement(Box::default()),
                _ => DeviceAnswer::Done,
            };
            let tag = request.tag;
            if mode & 2 == 0 {
                connection.answer(tag, answer);
            } else {
                delayed.push((tag, answer));
            }
            // A capsule of 8 KiB may wait for each entry of the queue.
            assert!(connection.held() <= ALLOWED + ONE_COMMAND + 128 * 8192);
        }
        connection.sent(connection.output_len());
        for (tag, answer) in delayed.drain(..) {
            connection.answer(tag, answer);
        }
    }
});
