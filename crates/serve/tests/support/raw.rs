//! A client of NBD that does as it likes.

use super::patience::PATIENCE;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use outlast_serve::{ClockMode, DeviceServer, ListenAddress, ServeConfig, ServerHandle, ServerStatus};
use serde_json::{Value, json};

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const FLUSH: u16 = 3;

/// A server of a scenario, on a socket in a folder of its own.
pub(crate) struct StartedServer {
    pub(crate) handle: ServerHandle,
    pub(crate) socket: PathBuf,
}

/// Where a test's socket lies.
pub(crate) fn socket(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("outlast-serve-{test}-{}", std::process::id())).join("nbd")
}

impl StartedServer {
    pub(crate) fn new(test: &str, text: &str, clock: ClockMode, spin: bool) -> Self {
        let socket = socket(test);
        let config = ServeConfig {
            contents: outlast_serve::ContentsIn::Memory,
            scenario: Some(super::scenario(text)),
            image: None,
            listen: ListenAddress::Unix(socket.clone()),
            nvme: None,
            insecure: false,
            tls: None,
            clock,
            spin,
            export: Some(String::new()),
        };
        Self::of(DeviceServer::start(config).unwrap(), socket)
    }

    pub(crate) fn of(handle: ServerHandle, socket: PathBuf) -> Self {
        while matches!(handle.status(), ServerStatus::Preparing(_)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(matches!(handle.status(), ServerStatus::Serving(_)), "{:?}", handle.status());
        Self { handle, socket }
    }

    /// What it answers to a question.
    pub(crate) fn ask(&self, what: &str) -> Value {
        self.handle.request(json!({ "do": what }))["ok"].clone()
    }

    /// A figure of what the loop has done.
    pub(crate) fn done(&self, figure: &str) -> u64 {
        self.ask("metrics")["loop"][figure].as_u64().unwrap()
    }
}

impl Drop for StartedServer {
    fn drop(&mut self) {
        self.handle.stop();
        let end = Instant::now() + PATIENCE;
        while !matches!(self.handle.status(), ServerStatus::Ended(_)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = std::fs::remove_dir_all(self.socket.parent().unwrap());
    }
}

/// A client's side of a session.
pub(crate) struct RawClient(pub(crate) UnixStream);

impl RawClient {
    /// Has connected, and said nothing.
    pub(crate) fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(stream)
    }

    /// Has opened the export without a name, with simple replies.
    pub(crate) fn open(socket: &Path) -> Self {
        let mut client = Self::connect(socket);
        assert!(client.is_greeted(PATIENCE));
        client.0.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
        client.take(10);
        client
    }

    /// Whether the server greets within a time; false, too, where it has hung up.
    pub(crate) fn is_greeted(&mut self, within: Duration) -> bool {
        self.0.set_read_timeout(Some(within)).unwrap();
        let mut greeting = [0; 18];
        let found = self.0.read_exact(&mut greeting);
        self.0.set_read_timeout(Some(PATIENCE)).unwrap();
        found.is_ok() && greeting.starts_with(b"NBDMAGIC")
    }

    /// Whether the server hangs up, having sent nothing more.
    pub(crate) fn is_hung_up(&mut self) -> bool {
        match self.0.read(&mut [0; 64]) {
            Ok(count) => count == 0,
            Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
        }
    }

    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The reply to a request, which must have gone well: its cookie and its data.
    pub(crate) fn reply(&mut self, data: usize) -> (u64, Vec<u8>) {
        let head = self.take(16);
        assert_eq!(head[..8], *b"\x67\x44\x66\x98\0\0\0\0", "{head:?}");
        (u64::from_be_bytes(head[8..].try_into().unwrap()), self.take(data))
    }
}

/// A request without data.
pub(crate) fn request(command: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = b"\x25\x60\x95\x13\0\0".to_vec();
    bytes.extend(command.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}
