//! Does a drive behind NVMe/TCP keep what it is given, and tell the truth about what it loses? The host is that of the tests of `nvme-tcp`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and clients need sockets"
)]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use outlast_serve::{ClockMode, ContentsIn, DeviceServer, ServeConfig, ServerHandle, TlsConfig, TlsPolicy};
use outlast_units::SECTOR_BYTES;
use serde_json::{Value, json};

use crate::initiator::{HostCommand, HostLink, HostWire, LinkWishes};
use crate::support::client::{Client, READ};
use crate::support::{DRIVE, bytes, scenario};

const NQN: &str = "nqn.2026-11.org.outlast:drive";
const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:test";

/// A socket to the server.
struct SocketWire(TcpStream);

impl HostWire for SocketWire {
    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    fn receive(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn has_input(&mut self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        let has_input = self.0.peek(&mut [0]).is_ok_and(|count| count > 0);
        self.0.set_nonblocking(false).unwrap();
        has_input
    }
}

type SocketLink = HostLink<SocketWire>;

/// A served drive with a door for NBD and one for NVMe/TCP.
struct NvmeServer {
    handle: ServerHandle,
    folder: tempfile::TempDir,
    address: String,
}

impl NvmeServer {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let handle = DeviceServer::start(config(text, &folder)).unwrap();
        let uri = handle.nvme_uri().unwrap();
        let (address, nqn) = uri.strip_prefix("nvme+tcp://").unwrap().split_once('/').unwrap();
        assert_eq!(nqn, NQN);
        let address = address.to_owned();
        Self { handle, folder, address }
    }

    fn ask(&self, request: Value) -> Value {
        let answer = self.handle.request(request);
        assert!(answer["ok"] != Value::Null, "{answer}");
        answer["ok"].clone()
    }

    fn link(&self, wishes: LinkWishes) -> SocketLink {
        let socket = TcpStream::connect(&self.address).unwrap();
        // A server that does not answer fails the test instead of holding it up.
        socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        socket.set_nodelay(true).unwrap();
        HostLink::greet(SocketWire(socket), wishes)
    }

    fn admin(&self, host: &str, wishes: LinkWishes) -> SocketLink {
        let mut link = self.link(wishes);
        link.connect(NQN, host, 0, 0xFFFF).unwrap();
        link.enable();
        link
    }

    fn io(&self, admin: &SocketLink, host: &str, queue: u16, wishes: LinkWishes) -> SocketLink {
        let mut link = self.link(wishes);
        link.connect(NQN, host, queue, admin.controller).unwrap();
        link
    }
}

fn config(text: &str, folder: &tempfile::TempDir) -> ServeConfig {
    ServeConfig {
        scenario: Some(scenario(text)),
        image: None,
        contents: ContentsIn::Memory,
        listen: outlast_serve::ListenAddress::Unix(folder.path().join("nbd")),
        nvme: Some("tcp:127.0.0.1:0".parse().unwrap()),
        insecure: false,
        tls: None,
        clock: ClockMode::Virtual,
        spin: false,
        export: Some("drive".to_owned()),
    }
}

/// Blocks that a list of Get LBA Status names.
fn listed(page: &[u8]) -> BTreeSet<u64> {
    let count = u32::from_le_bytes(page[..4].try_into().unwrap()) as usize;
    let descriptors = page[8..].chunks_exact(16).take(count);
    descriptors
        .flat_map(|one| {
            let first = u64::from_le_bytes(one[..8].try_into().unwrap());
            first..first + u64::from(u32::from_le_bytes(one[8..12].try_into().unwrap()))
        })
        .collect()
}

#[test]
fn hosts_of_both_protocols_see_one_drive() {
    let served = NvmeServer::new(DRIVE);
    let wishes =
        LinkWishes { header_digest: true, data_digest: true, in_capsule: 8192, ..LinkWishes::default() };
    let (admin, other) = (served.admin(HOST, wishes), served.admin("other", LinkWishes::default()));
    let mut queues: Vec<_> = (1..=4).map(|queue| served.io(&admin, HOST, queue, wishes)).collect();
    let mut foreign = served.io(&other, "other", 1, LinkWishes::default());
    // Each queue has several writes under way, short ones in capsules, long ones asked for.
    for (number, queue) in (0..).zip(&mut queues) {
        let ids: Vec<u16> = (0..8)
            .map(|at| {
                let sectors = if at % 2 == 0 { 8 } else { 64 };
                queue.send(HostCommand::write(
                    number * 1024 + at * 64,
                    bytes(sectors, number * 8 + at),
                    false,
                ))
            })
            .collect();
        ids.into_iter().for_each(|id| {
            queue.wait(id).unwrap();
        });
        queue.run(HostCommand::flush()).unwrap();
    }
    let mut nbd = Client::open(&served.folder.path().join("nbd"), "drive");
    for number in 0..4_u64 {
        for at in 0..8 {
            let sectors = if at % 2 == 0 { 8 } else { 64 };
            let (lba, expected) = (number * 1024 + at * 64, bytes(sectors, number * 8 + at));
            let read = foreign.run(HostCommand::read(lba, sectors.into())).unwrap().1;
            assert!(read == expected, "{number} {at}");
            foreign.run(HostCommand::compare(lba, expected.clone())).unwrap();
            let cookie = nbd.ask(READ, 0, lba * SECTOR_BYTES, sectors * SECTOR_BYTES as u32, &[]);
            nbd.drain();
            assert!(nbd.answers.remove(&cookie).unwrap() == (0, expected));
        }
    }
    queues[0].run(HostCommand::copy(&[(0, 8), (64, 8)], 4096)).unwrap();
    queues[1].run(HostCommand::deallocate(&[(0, 8)])).unwrap();
    queues[2].run(HostCommand::write_zeroes(64, 8, true)).unwrap();
    let copied = [bytes(8, 0), bytes(64, 1)[..4096].to_vec()].concat();
    assert!(foreign.run(HostCommand::read(4096, 16)).unwrap().1 == copied);
    assert!(foreign.run(HostCommand::read(0, 8)).unwrap().1 == vec![0; 4096]);
    assert!(foreign.run(HostCommand::read(64, 8)).unwrap().1 == vec![0; 4096]);
    foreign.run(HostCommand::verify(0, 8192)).unwrap();
    let state = served.ask(json!({ "do": "state" }));
    assert_eq!((&state["clients"], &state["exports"][0]["clients"]), (&json!(8), &json!(8)));
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
    admin.run(HostCommand::set_feature(0x0B, 0xFF)).unwrap();
    let blocks = served.ask(json!({ "do": "state" }))["machine"]["capacity"].as_u64().unwrap() / SECTOR_BYTES;
    for lba in (0..blocks).step_by(8) {
        io.run(HostCommand::write(lba, bytes(8, lba), false)).unwrap();
    }
    io.run(HostCommand::flush()).unwrap();
    let event = admin.send(HostCommand::event_request());
    let status = |admin: &mut SocketLink, first: u64| {
        let page = admin.run(HostCommand::lba_status(first, 0, 1 << 20)).unwrap().1;
        assert_eq!(page[4], 2, "the list is complete");
        listed(&page)
    };
    assert_eq!(status(&mut admin, 0), BTreeSet::new());
    served.ask(json!({ "do": "fault", "fault": { "kind": "die", "die": 3 } }));
    // Reads meet the failure, and a drive with repair finds out that the die is gone.
    let mut lost = BTreeSet::new();
    for lba in (0..blocks).step_by(8) {
        match io.run(HostCommand::read(lba, 8)) {
            Ok((_, data)) => assert!(data == bytes(8, lba)),
            Err(status) => {
                assert_eq!(status, 0x281);
                lost.extend(lba..lba + 8);
            }
        }
    }
    assert!(!lost.is_empty(), "the drive has no parity");
    assert_eq!(admin.wait(event).unwrap().0, 0x02_0001, "the health log is to be read");
    let health = admin.run(HostCommand::log_page(2, 512, 0)).unwrap().1;
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
        io.run(HostCommand::write(*lba, bytes(8, lba + 1), true)).unwrap();
    }
    assert_eq!(status(&mut admin, 0), BTreeSet::new());
    for lba in list.iter().filter(|lba| *lba % 8 == 0) {
        assert!(io.run(HostCommand::read(*lba, 8)).unwrap().1 == bytes(8, lba + 1));
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

#[test]
fn power_takes_the_connections_along_and_flushed_data_is_there_again() {
    let served = NvmeServer::new(DRIVE);
    let admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    io.run(HostCommand::write(8, bytes(8, 1), true)).unwrap();
    served.ask(json!({ "do": "power", "action": "cut" }));
    assert_eq!(io.wire.0.read(&mut [0]).unwrap_or(0), 0, "the cable is pulled");
    let admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    assert!(io.run(HostCommand::read(8, 8)).unwrap().1 == bytes(8, 1));
    // A controller that loses its admin queue loses the others, too.
    drop(admin);
    assert_eq!(io.wire.0.read(&mut [0]).unwrap_or(0), 0);
    let mut admin = served.admin(HOST, LinkWishes::default());
    let page = admin.run(HostCommand::log_page(2, 512, 0)).unwrap().1;
    assert_eq!((page[112], page[144]), (2, 1), "power cycles and unsafe shutdowns");
}

#[test]
fn members_of_an_array_are_subsystems_that_take_no_writes() {
    let served = NvmeServer::new(&format!("{DRIVE}{}", crate::support::ARRAY));
    let mut link = served.link(LinkWishes::default());
    link.connect("nqn.2014-08.org.nvmexpress.discovery", HOST, 0, 0xFFFF).unwrap();
    link.enable();
    let log = link.run(HostCommand::log_page(0x70, 6 * 1024, 0)).unwrap().1;
    assert_eq!(log[8], 5, "the array and four members");
    let member = "nqn.2026-11.org.outlast:member-2";
    assert!(
        log[4 * 1024 + 256..].starts_with(member.as_bytes())
            || log[3 * 1024 + 256..].starts_with(member.as_bytes())
    );
    let mut admin = served.link(LinkWishes::default());
    admin.connect(member, HOST, 0, 0xFFFF).unwrap();
    admin.enable();
    assert_eq!(admin.run(HostCommand::identify(0, 1)).unwrap().1[99], 1, "write-protected");
    assert_eq!(admin.run(HostCommand::log_page(2, 512, 0)).unwrap().1[3], 100, "spare");
    let mut io = served.link(LinkWishes::default());
    io.connect(member, HOST, 1, admin.controller).unwrap();
    assert_eq!(io.run(HostCommand::write(0, vec![0; 512], false)).unwrap_err(), 0x020);
    assert_eq!(io.run(HostCommand::read(0, 8)).unwrap().1.len(), 4096);
    assert_eq!(listed(&admin.run(HostCommand::lba_status(0, 0, 4096)).unwrap().1), BTreeSet::new());
}

#[test]
fn a_door_that_strangers_could_use_or_that_cannot_encrypt_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = ServeConfig { nvme: Some("tcp:0.0.0.0:0".parse().unwrap()), ..config(DRIVE, &folder) };
    let refused = DeviceServer::new(open).unwrap_err().to_string();
    assert!(refused.starts_with("--nvme \"tcp:0.0.0.0:0\"") && refused.contains("--insecure"), "{refused}");
    let pem = |name: &str| folder.path().join(name);
    let tls = TlsConfig { cert: pem("c"), key: pem("k"), ca: None, policy: TlsPolicy::Require };
    let secure = ServeConfig { tls: Some(tls), ..config(DRIVE, &folder) };
    let refused = DeviceServer::new(secure).unwrap_err().to_string();
    assert!(refused.starts_with("--nvme: ") && refused.contains("--tls offer"), "{refused}");
}
