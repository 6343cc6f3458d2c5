//! Does a drive behind `NVMe/TCP` keep what it is given, and tell the truth about what it loses? The host is that of the tests of `nvme-tcp`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and clients need sockets"
)]

mod doomed;
mod groups;
mod hostile;
mod kills;
mod losses;
mod namespaces;
mod placement;
mod zoned_data;
mod zones;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use outlast_serve::{ClockMode, ContentsIn, DeviceServer, ServeConfig, ServerHandle, TlsConfig, TlsPolicy};
use outlast_units::SECTOR_BYTES;
use serde_json::{Value, json};

use crate::initiator::{HostLink, HostWire, LinkWishes, WireCommand};
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

/// A served drive with a door for NBD and one for `NVMe/TCP`.
struct NvmeServer {
    handle: ServerHandle,
    folder: tempfile::TempDir,
    address: String,
}

impl NvmeServer {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::of(DeviceServer::start(config(text, &folder)).unwrap(), folder)
    }

    /// What was started with its sockets in `folder`.
    fn of(handle: ServerHandle, folder: tempfile::TempDir) -> Self {
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
        link_at(&self.address, wishes)
    }

    fn admin(&self, host: &str, wishes: LinkWishes) -> SocketLink {
        admin_at(&self.address, host, wishes)
    }

    fn io(&self, admin: &SocketLink, host: &str, queue: u16, wishes: LinkWishes) -> SocketLink {
        io_at(&self.address, admin, host, queue, wishes)
    }
}

/// A connection to the server at `address`.
fn link_at(address: &str, wishes: LinkWishes) -> SocketLink {
    let socket = TcpStream::connect(address).unwrap();
    // A server that does not answer fails the test instead of holding it up.
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    socket.set_nodelay(true).unwrap();
    HostLink::greet(SocketWire(socket), wishes)
}

/// The admin queue of a new controller of the server at `address`.
fn admin_at(address: &str, host: &str, wishes: LinkWishes) -> SocketLink {
    let mut link = link_at(address, wishes);
    link.connect(NQN, host, 0, 0xFFFF).unwrap();
    link.enable();
    link
}

/// An I/O queue of the controller of `admin`.
fn io_at(address: &str, admin: &SocketLink, host: &str, queue: u16, wishes: LinkWishes) -> SocketLink {
    let mut link = link_at(address, wishes);
    link.connect(NQN, host, queue, admin.controller).unwrap();
    link
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
                queue.send(WireCommand::write(
                    number * 1024 + at * 64,
                    bytes(sectors, number * 8 + at),
                    false,
                ))
            })
            .collect();
        for id in ids {
            queue.wait(id).unwrap();
        }
        queue.run(WireCommand::flush()).unwrap();
    }
    let mut nbd = Client::open(&served.folder.path().join("nbd"), "drive");
    for number in 0..4_u64 {
        for at in 0..8 {
            let sectors = if at % 2 == 0 { 8 } else { 64 };
            let (lba, expected) = (number * 1024 + at * 64, bytes(sectors, number * 8 + at));
            let read = foreign.run(WireCommand::read(lba, sectors.into())).unwrap().1;
            assert!(read == expected, "{number} {at}");
            foreign.run(WireCommand::compare(lba, expected.clone())).unwrap();
            let cookie = nbd.ask(READ, 0, lba * SECTOR_BYTES, sectors * SECTOR_BYTES as u32, &[]);
            nbd.drain();
            assert!(nbd.answers.remove(&cookie).unwrap() == (0, expected));
        }
    }
    queues[0].run(WireCommand::copy(&[(0, 8), (64, 8)], 4096)).unwrap();
    queues[1].run(WireCommand::deallocate(&[(0, 8)])).unwrap();
    queues[2].run(WireCommand::write_zeroes(64, 8, true)).unwrap();
    let copied = [bytes(8, 0), bytes(64, 1)[..4096].to_vec()].concat();
    assert!(foreign.run(WireCommand::read(4096, 16)).unwrap().1 == copied);
    assert!(foreign.run(WireCommand::read(0, 8)).unwrap().1 == vec![0; 4096]);
    assert!(foreign.run(WireCommand::read(64, 8)).unwrap().1 == vec![0; 4096]);
    foreign.run(WireCommand::verify(0, 8192)).unwrap();
    let state = served.ask(json!({ "do": "state" }));
    assert_eq!((&state["clients"], &state["exports"][0]["clients"]), (&json!(8), &json!(8)));
}

#[test]
fn power_takes_the_connections_along_and_flushed_data_is_there_again() {
    let served = NvmeServer::new(DRIVE);
    let admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    io.run(WireCommand::write(8, bytes(8, 1), true)).unwrap();
    served.ask(json!({ "do": "power", "action": "cut" }));
    assert_eq!(io.wire.0.read(&mut [0]).unwrap_or(0), 0, "the cable is pulled");
    let admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    assert!(io.run(WireCommand::read(8, 8)).unwrap().1 == bytes(8, 1));
    // A controller that loses its admin queue loses the others, too.
    drop(admin);
    assert_eq!(io.wire.0.read(&mut [0]).unwrap_or(0), 0);
    let mut admin = served.admin(HOST, LinkWishes::default());
    let page = admin.run(WireCommand::log_page(2, 512, 0)).unwrap().1;
    assert_eq!((page[112], page[144]), (2, 1), "power cycles and unsafe shutdowns");
}

#[test]
fn members_of_an_array_are_subsystems_that_take_no_writes() {
    let served = NvmeServer::new(&format!("{DRIVE}{}", crate::support::ARRAY));
    let mut link = served.link(LinkWishes::default());
    link.connect("nqn.2014-08.org.nvmexpress.discovery", HOST, 0, 0xFFFF).unwrap();
    link.enable();
    let log = link.run(WireCommand::log_page(0x70, 6 * 1024, 0)).unwrap().1;
    assert_eq!(log[8], 5, "the array and four members");
    let member = "nqn.2026-11.org.outlast:member-2";
    assert!(
        log[4 * 1024 + 256..].starts_with(member.as_bytes())
            || log[3 * 1024 + 256..].starts_with(member.as_bytes())
    );
    let mut admin = served.link(LinkWishes::default());
    admin.connect(member, HOST, 0, 0xFFFF).unwrap();
    admin.enable();
    assert_eq!(admin.run(WireCommand::identify(0, 1)).unwrap().1[99], 1, "write-protected");
    assert_eq!(admin.run(WireCommand::log_page(2, 512, 0)).unwrap().1[3], 100, "spare");
    let mut io = served.link(LinkWishes::default());
    io.connect(member, HOST, 1, admin.controller).unwrap();
    assert_eq!(io.run(WireCommand::write(0, vec![0; 512], false)).unwrap_err(), 0x020);
    assert_eq!(io.run(WireCommand::read(0, 8)).unwrap().1.len(), 4096);
    assert!(losses::listed(&admin.run(WireCommand::lba_status(0, 0, 4096)).unwrap().1).is_empty());
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
