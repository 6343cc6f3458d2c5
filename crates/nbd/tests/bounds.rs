//! Whatever a client sends: no panic, and no more memory than was said.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_nbd::{
    BlockSizes, ConnectionEvent, ConnectionLimits, ErrorCode, NbdCommand, NbdConnection, NbdExport,
    NbdServer, ReadPart, RequestId, StatusExtent, TlsMode,
};
use outlast_units::Bytes;
use outlast_units::rng::SplitMix;
use std::sync::Arc;
use support::client::*;

/// Messages of each of the two phases.
const MESSAGES: u32 = 500_000;

const SIZE: u64 = 1 << 20;

/// A server that can hold little: 64 KiB at once, eight requests, 100 KiB.
fn server(tls: TlsMode) -> Arc<NbdServer> {
    let blocks = BlockSizes { maximum: Bytes::kib(64), ..BlockSizes::default() };
    let export = |name: &str| NbdExport { blocks, ..support::export(name, SIZE) };
    let exports = vec![export("a"), export("b"), NbdExport { tls_only: tls != TlsMode::Off, ..export("c") }];
    let limits = ConnectionLimits {
        requests: 8,
        bytes: Bytes::kib(100),
        read_ahead: Bytes::kib(4),
        ..ConnectionLimits::default()
    };
    Arc::new(NbdServer::new(exports, tls, limits).unwrap())
}

/// A client that makes things up, and a device that is late.
struct Fuzz {
    rng: SplitMix,
    server: Arc<NbdServer>,
    connection: NbdConnection,
    waiting: Vec<(RequestId, u64, DelayedAnswer)>,
    heap_max: usize,
    answered: u32,
}

#[derive(Clone, Copy)]
enum DelayedAnswer {
    Read,
    Status,
    Other,
}

impl Fuzz {
    fn new(seed: u64, server: Arc<NbdServer>) -> Self {
        let connection = NbdConnection::new(server.clone());
        let rng = SplitMix::new(seed, "nbd");
        Self { rng, server, connection, waiting: Vec::new(), heap_max: 0, answered: 0 }
    }

    fn hits(&mut self, one_in: u64) -> bool {
        self.rng.below(one_in) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len() as u64) as usize]
    }

    fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.rng.next_u64() as u8).collect()
    }

    /// Data of an option, well formed or not.
    fn data(&mut self, number: u32) -> Vec<u8> {
        let name = self.pick(&["a", "b", "c", "", "none", "aa"]);
        let query = self.pick(&["base:", "base:allocation", "x-outlast:health", "x:", "none", ""]);
        let mut data = match number {
            1 => name.as_bytes().to_vec(),
            6 | 7 => info(name, &[3, 1, 2][..self.rng.below(4) as usize]),
            9 | 10 => queries(name, &[query, query, "base:allocation"][..self.rng.below(4) as usize]),
            _ if self.hits(8) => self.bytes(7),
            _ => Vec::new(),
        };
        if self.hits(6) && !data.is_empty() {
            let at = self.rng.below(data.len() as u64) as usize;
            data[at] = self.rng.next_u64() as u8;
        }
        if self.hits(10) {
            let length = self.rng.below(data.len() as u64 + 1) as usize;
            data.truncate(length);
        }
        if self.hits(200) {
            let count = self.pick(&[4097, 32_816, 32_817, 100_000]);
            data.resize(count, b'n');
        }
        data
    }

    fn option(&mut self, may_open: bool) -> Vec<u8> {
        let numbers = [3, 3, 6, 6, 8, 8, 9, 10, 10, 11, 4, 99, 5];
        let number =
            if may_open && self.hits(20) { self.pick(&[7, 7, 7, 1, 2]) } else { self.pick(&numbers) };
        let data = self.data(number);
        let mut bytes = option(number, &data);
        if self.hits(500) {
            let at = self.rng.below(16) as usize;
            bytes[at] ^= 1 << self.rng.below(8);
        }
        bytes
    }

    fn request(&mut self, form: Form) -> Vec<u8> {
        let command = if self.hits(12) {
            self.rng.next_u64() as u16
        } else {
            self.pick(&[0, 0, 0, 1, 1, 3, 4, 5, 6, 7, 7])
        };
        let command = if command == DISC && !self.hits(50) { READ } else { command };
        let flags = if self.hits(3) { 1 << self.rng.below(7) } else { 0 };
        let offset = if self.hits(10) { self.rng.next_u64() } else { self.rng.below(SIZE / 512) * 512 };
        let length = if self.hits(20) {
            self.rng.below(5000)
        } else {
            self.pick(&[0, 512, 1024, 4096, 65_536, 66_048])
        };
        let has_payload = match form {
            Form::Extended => flags & PAYLOAD != 0 || command == WRITE,
            _ => command == WRITE,
        };
        let payload = if has_payload { self.bytes(length.min(1024)) } else { Vec::new() };
        let payload = [payload.clone(), vec![0; length as usize]].concat();
        let payload = if has_payload { payload[..length as usize].to_vec() } else { Vec::new() };
        let flags = flags | if has_payload && form == Form::Extended { PAYLOAD } else { 0 };
        let length = if has_payload || !self.hits(30) { length } else { self.rng.next_u64() };
        let mut bytes = Ask { command, flags, cookie: 7, offset, length, payload }.bytes(form);
        if self.hits(1000) {
            let at = self.rng.below(28) as usize;
            bytes[at] ^= 1 << self.rng.below(8);
        }
        bytes
    }

    /// Gives the connection all of `bytes`; false when it reads no more.
    fn send(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            self.events();
            if self.connection.end().is_some() {
                return false;
            }
            let limit = if self.hits(10) { 1 + self.rng.below(40) as usize } else { usize::MAX };
            let space = self.connection.space();
            let count = space.len().min(bytes.len()).min(limit);
            space[..count].copy_from_slice(&bytes[..count]);
            self.connection.filled(count);
            bytes = &bytes[count..];
            if count == 0 || self.hits(3) {
                self.answer_one();
                self.drain(count == 0);
            }
            self.check();
        }
        self.events();
        true
    }

    fn events(&mut self) {
        let mut starts_tls = false;
        while let Some(event) = self.connection.poll() {
            match event {
                ConnectionEvent::StartTls => starts_tls = true,
                ConnectionEvent::Opened | ConnectionEvent::Ended(_) => {}
                ConnectionEvent::Request(request) => {
                    let late = match request.command {
                        NbdCommand::Read => DelayedAnswer::Read,
                        NbdCommand::Status { .. } => DelayedAnswer::Status,
                        NbdCommand::Write { data, .. } => {
                            assert_eq!(data.len() as u64, request.length.0);
                            DelayedAnswer::Other
                        }
                        _ => DelayedAnswer::Other,
                    };
                    let end = request.offset + request.length.0;
                    assert!(
                        end <= SIZE && (request.offset | request.length.0).is_multiple_of(512),
                        "{request:?}"
                    );
                    assert!(request.id.0 < 8, "eight in flight");
                    self.waiting.push((request.id, request.length.0, late));
                }
            }
        }
        if starts_tls {
            self.drain(true);
            self.connection.tls_started();
        }
    }

    fn answer_one(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let at = self.rng.below(self.waiting.len() as u64) as usize;
        let (id, length, late) = self.waiting.swap_remove(at);
        self.answered += 1;
        if self.hits(10) {
            return self.connection.fail(id, ErrorCode::Io);
        }
        let half = (length / 2) as u32;
        match late {
            DelayedAnswer::Other => self.connection.done(id),
            DelayedAnswer::Read if self.hits(2) => self.connection.read(id, vec![1; length as usize]),
            DelayedAnswer::Read => {
                let parts = [ReadPart::Zero(half), ReadPart::Failed(half, ErrorCode::Io)];
                self.connection.read_parts(id, &parts);
            }
            DelayedAnswer::Status => {
                let extents = [StatusExtent { length: Bytes(length.min(512)), flags: 3 }];
                let answers = outlast_nbd::MetaContext::ALL.map(|context| (context, &extents[..]));
                self.connection.extents(id, &answers);
            }
        }
    }

    /// Sends some of what is there, or all.
    fn drain(&mut self, all: bool) {
        let length = self.connection.output_len();
        let count = if all { length } else { self.rng.below(length as u64 + 1) as usize };
        self.connection.sent(count);
    }

    fn check(&mut self) {
        let heap = self.connection.heap_bytes();
        self.heap_max = self.heap_max.max(heap);
        assert!(heap <= self.server.memory_max(), "{heap} bytes, at most {}", self.server.memory_max());
    }
}

#[test]
fn half_a_million_options_do_no_harm() {
    let (mut sent, mut sessions, mut opened) = (0, 0_u32, 0);
    while sent < MESSAGES {
        let tls = [TlsMode::Off, TlsMode::Allowed, TlsMode::Required][sessions as usize % 3];
        let mut fuzz = Fuzz::new(u64::from(sessions), server(tls));
        sessions += 1;
        let first = if fuzz.hits(50) { fuzz.rng.next_u64() as u32 } else { 3 };
        fuzz.send(&flags(first));
        for _ in 0..100 {
            let bytes = fuzz.option(true);
            sent += 1;
            if !fuzz.send(&bytes) || fuzz.connection.export().is_some() {
                break;
            }
        }
        opened += u32::from(fuzz.connection.export().is_some());
    }
    assert!(sessions > 1000 && opened > sessions / 10, "{opened} of {sessions} sessions came to an export");
}

#[test]
fn half_a_million_requests_do_no_harm() {
    let (mut sent, mut sessions, mut answered, mut heap_max) = (0, 0_u32, 0, 0);
    while sent < MESSAGES {
        let form = FORMS[sessions as usize % 3];
        let mut fuzz = Fuzz::new(u64::from(sessions), server(TlsMode::Off));
        sessions += 1;
        assert!(fuzz.send(&open(form, "a")));
        for _ in 0..2000 {
            let bytes = fuzz.request(form);
            sent += 1;
            if !fuzz.send(&bytes) {
                break;
            }
        }
        answered += fuzz.answered;
        heap_max = heap_max.max(fuzz.heap_max);
    }
    assert!(answered > MESSAGES / 4, "only {answered} requests were good");
    assert!(heap_max > 64 << 10, "the largest request was never held: {heap_max}");
}
