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

/// `ICReq`, then Connect of an admin queue.
fn connect() -> Vec<u8> {
    let mut units = vec![0; 128 + 72 + 1024];
    (units[2], units[4]) = (128, 128);
    let unit = &mut units[128..];
    unit[..8].copy_from_slice(&[0x04, 0, 72, 72, 0x48, 0x04, 0, 0]);
    let entry = &mut unit[8..72];
    (entry[0], entry[1], entry[4], entry[39], entry[44]) = (0x7F, 0x40, 0x01, 0x01, 127);
    entry[33] = 4;
    entry[48..52].copy_from_slice(&(KEEP_ALIVE.as_millis() as u32).to_le_bytes());
    let data = &mut unit[72..];
    data[16..18].fill(0xFF);
    data[256..256 + NQN.len()].copy_from_slice(NQN.as_bytes());
    data[512] = b'h';
    units
}

#[test]
fn a_host_that_is_silent_for_twice_its_time_out_is_evicted_and_no_sooner() {
    let listen: ListenAddress = "tcp:127.0.0.1:0".parse().unwrap();
    let socket = ClientListener::bind(&listen).unwrap();
    let ListenAddress::Tcp(address) = socket.address().clone() else { unreachable!("it is one of TCP") };
    let listener = ProtocolListener { socket, protocol: Box::new(NvmeProtocol::default()) };
    let poller = SocketPoller::new().unwrap();
    let mut clients = ClientSessions::new(vec![listener], None, &poller).unwrap();
    clients.offer(&offer()).unwrap();
    let mut turns = Turns { clients, poller, backend: NoDevice(offer()) };
    let mut host = TcpStream::connect(address).unwrap();
    host.write_all(&connect()).unwrap();
    while turns.clients.clients_of(ExportTarget::device(0)) == 0 {
        turns.turn();
    }
    let mut answer = [0; 128 + 24];
    host.read_exact(&mut answer).unwrap();
    assert_eq!((answer[0], answer[128], answer[128 + 22] >> 1), (1, 5, 0), "connected");
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
