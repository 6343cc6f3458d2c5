//! Does a host lose its controller when it has been silent for twice its keep-alive time-out, and not before? Time is an argument here: nobody waits.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and a host needs a socket"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use outlast_units::Bytes;

use super::NvmeProtocol;
use crate::clock::monotonic;
use crate::net::{ClientListener, ListenAddress, SocketPoller, WakeSource};
use crate::protocol::{BlockRequest, ExportAbilities, ExportFacts, ExportOffer, ExportSizes};
use crate::session::{ClientSessions, ExportTarget, ProtocolListener, RequestOrigin, SessionBackend};

const NQN: &str = "nqn.2026-11.org.outlast:drive";
/// Keep-alive time-out of the host.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

struct NoDevice(Arc<ExportOffer>);

impl SessionBackend for NoDevice {
    fn offer(&self) -> &Arc<ExportOffer> {
        &self.0
    }

    fn open(&mut self, _export: &str) -> Option<ExportTarget> {
        Some(ExportTarget::device(0))
    }

    fn request(&mut self, _target: ExportTarget, _origin: RequestOrigin, request: &BlockRequest<'_>) {
        unreachable!("the host asks for nothing: {request:?}")
    }
}

fn offer() -> Arc<ExportOffer> {
    let export = ExportFacts {
        name: "drive".to_owned(),
        description: "a drive".to_owned(),
        size: Bytes::mib(1),
        sizes: ExportSizes::default(),
        abilities: ExportAbilities::WRITE,
        namespaces: Vec::new(),
        placement: None,
        reclaim_unit: Bytes(0),
        zones: None,
    };
    Arc::new(ExportOffer::new(vec![export]).unwrap())
}

/// Clients of one listener, turned by hand.
struct Turns {
    clients: ClientSessions,
    poller: SocketPoller,
    backend: NoDevice,
}

impl Turns {
    /// Has `host` connect as client `number`.
    fn connected(&mut self, host: &mut TcpStream, number: usize) {
        while self.clients.clients_of(ExportTarget::device(0)) < number {
            self.turn();
        }
        let mut answer = [0; 128 + 24];
        host.read_exact(&mut answer).unwrap();
        assert_eq!((answer[0], answer[128], answer[128 + 22] >> 1), (1, 5, 0), "connected");
    }

    /// Handles what has come, after waiting for it.
    fn turn(&mut self) {
        let mut ready = Vec::new();
        self.poller.wait(Some(Duration::from_mins(1)), &mut ready).unwrap();
        for source in ready {
            match source.source {
                WakeSource::Listener(listener) => {
                    self.clients.accept(listener, &self.poller, &self.backend).unwrap();
                }
                _ => self.clients.read_ready(source),
            }
        }
        self.clients.handle_requests(&mut self.backend);
        self.clients.send(&self.poller, &mut self.backend).unwrap();
    }
}

/// `ICReq`, then Connect of queue `queue` of a controller, with this keep-alive time-out.
fn connect(keep_alive: Duration, queue: u8, controller: [u8; 2]) -> Vec<u8> {
    let mut units = vec![0; 128 + 72 + 1024];
    (units[2], units[4]) = (128, 128);
    let unit = &mut units[128..];
    unit[..8].copy_from_slice(&[0x04, 0, 72, 72, 0x48, 0x04, 0, 0]);
    let entry = &mut unit[8..72];
    (entry[0], entry[1], entry[4], entry[39], entry[44]) = (0x7F, 0x40, 0x01, 0x01, 127);
    (entry[33], entry[42]) = (4, queue);
    entry[48..52].copy_from_slice(&(keep_alive.as_millis() as u32).to_le_bytes());
    let data = &mut unit[72..];
    data[16..18].copy_from_slice(&controller);
    data[256..256 + NQN.len()].copy_from_slice(NQN.as_bytes());
    data[512] = b'h';
    units
}

/// A command without data on the admin queue: opcode, identifier, fabrics type, dwords 10 to 12.
fn capsule(opcode: u8, id: u8, kind: u8, dwords: [u32; 3]) -> Vec<u8> {
    let mut unit = vec![0; 72];
    (unit[0], unit[2], unit[4]) = (0x04, 72, 72);
    (unit[8], unit[9], unit[10], unit[12], unit[47]) = (opcode, 0x40, id, kind, 0x5A);
    for (place, dword) in unit[48..60].chunks_exact_mut(4).zip(dwords) {
        place.copy_from_slice(&dword.to_le_bytes());
    }
    unit
}

/// A host that has connected an admin queue, and the loop that serves it.
fn connected(keep_alive: Duration) -> (Turns, TcpStream) {
    let listen: ListenAddress = "tcp:127.0.0.1:0".parse().unwrap();
    let socket = ClientListener::bind(&listen).unwrap();
    let ListenAddress::Tcp(address) = socket.address().clone() else { unreachable!("it is one of TCP") };
    let listener = ProtocolListener { socket, protocol: Box::new(NvmeProtocol::default()) };
    let poller = SocketPoller::new().unwrap();
    let mut clients = ClientSessions::new(vec![listener], None, &poller).unwrap();
    clients.offer(&offer()).unwrap();
    let mut turns = Turns { clients, poller, backend: NoDevice(offer()) };
    let mut host = TcpStream::connect(address).unwrap();
    host.write_all(&connect(keep_alive, 0, [0xFF; 2])).unwrap();
    turns.connected(&mut host, 1);
    (turns, host)
}

/// An I/O queue of the only controller, which is enabled for it.
fn with_io_queue(turns: &mut Turns, host: &mut TcpStream) -> TcpStream {
    host.write_all(&capsule(0x7F, 1, 0, [0, 0x14, 0x0046_0001])).unwrap();
    turns.turn();
    host.read_exact(&mut [0; 24]).unwrap();
    let mut io = TcpStream::connect(host.peer_addr().unwrap()).unwrap();
    io.write_all(&connect(Duration::ZERO, 1, [1, 0])).unwrap();
    turns.connected(&mut io, 2);
    io
}

#[test]
fn io_queues_are_closed_with_their_controller_whether_it_is_evicted_or_reset() {
    let (mut turns, mut host) = connected(KEEP_ALIVE);
    let mut io = with_io_queue(&mut turns, &mut host);
    turns.clients.enforce_limits(monotonic() + 2 * KEEP_ALIVE, &turns.poller).unwrap();
    assert_eq!(turns.clients.clients(), 0);
    assert_eq!(io.read(&mut [0]).unwrap_or(0), 0, "the connection is closed");
    let (mut turns, mut host) = connected(Duration::ZERO);
    let mut io = with_io_queue(&mut turns, &mut host);
    // CC without EN, then with it.
    for configuration in [0x0046_0000, 0x0046_0001] {
        host.write_all(&capsule(0x7F, 2, 0, [0, 0x14, configuration])).unwrap();
        turns.turn();
        host.read_exact(&mut [0; 24]).unwrap();
    }
    assert_eq!(turns.clients.clients(), 1, "the admin queue stays");
    assert_eq!(io.read(&mut [0]).unwrap_or(0), 0, "the connection is closed");
}

#[test]
fn a_host_that_is_silent_for_twice_its_time_out_is_evicted_and_no_sooner() {
    let (mut turns, mut host) = connected(KEEP_ALIVE);
    // Its last byte came between these two times.
    let before = monotonic();
    host.write_all(&[0x04, 0, 72, 0]).unwrap();
    turns.turn();
    let after = monotonic();
    let limit = 2 * KEEP_ALIVE;
    let just_before = before + KEEP_ALIVE + KEEP_ALIVE.saturating_sub(Duration::from_millis(1));
    let next = turns.clients.enforce_limits(just_before, &turns.poller).unwrap();
    assert_eq!(turns.clients.clients(), 1, "it still has its controller");
    assert!((before + limit..=after + limit).contains(&next.unwrap()), "the loop wakes up for it");
    turns.clients.enforce_limits(after + limit, &turns.poller).unwrap();
    assert_eq!(turns.clients.clients(), 0);
    assert_eq!(host.read(&mut [0]).unwrap_or(0), 0, "the connection is closed");
}

#[test]
fn a_time_out_that_is_set_later_counts_from_then_on() {
    let (mut turns, mut host) = connected(Duration::ZERO);
    let far = monotonic() + Duration::from_hours(1);
    assert_eq!(turns.clients.enforce_limits(far, &turns.poller).unwrap(), None, "without a limit");
    // CC.EN, then the feature Keep Alive Timer.
    host.write_all(&capsule(0x7F, 1, 0, [0, 0x14, 0x0046_0001])).unwrap();
    turns.turn();
    let mut answer = [0; 24];
    host.read_exact(&mut answer).unwrap();
    assert_eq!((answer[20], answer[22] >> 1), (1, 0), "enabled");
    let before = monotonic();
    host.write_all(&capsule(0x09, 2, 0, [0x0F, KEEP_ALIVE.as_millis() as u32, 0])).unwrap();
    turns.turn();
    host.read_exact(&mut answer).unwrap();
    assert_eq!((answer[20], answer[22] >> 1), (2, 0), "set");
    let next = turns.clients.enforce_limits(monotonic(), &turns.poller).unwrap();
    assert!((before + 2 * KEEP_ALIVE..=monotonic() + 2 * KEEP_ALIVE).contains(&next.unwrap()));
    assert_eq!(turns.clients.clients(), 1);
}

#[test]
fn the_longest_time_out_of_a_host_ends_no_server() {
    let longest = Duration::from_millis(u32::MAX.into());
    let (mut turns, mut host) = connected(longest);
    let now = monotonic();
    let next = turns.clients.enforce_limits(now, &turns.poller).unwrap().unwrap();
    assert!(next > now + Duration::from_hours(24 * 99), "two times forty-nine days");
    // The loop waits until then: for the host, which says something now.
    host.write_all(&[0x04, 0, 72, 0]).unwrap();
    let mut ready = Vec::new();
    turns.poller.wait(Some(next.saturating_sub(now)), &mut ready).unwrap();
    assert_eq!(ready.len(), 1);
    assert_eq!(turns.clients.clients(), 1, "it still has its controller");
}
