//! A server that speaks in lines and NBD, and clients of it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use outlast_engine::parse_text;
use serde_json::{Value, json};

use super::lines::LineProtocol;
use crate::nbd::NbdProtocol;
use crate::protocol::WireProtocol;
use crate::{
    ClockMode, ContentsIn, DeviceServer, ListenAddress, ServeConfig, ServerHandle, ServerStatus, TlsConfig,
};

/// Time limit for an event that must come: only a deadlock reaches it.
const PATIENCE: Duration = Duration::from_mins(15);

/// A drive of eight dies and 4 MiB with a volatile buffer, which has been filled and overwritten.
const DRIVE: &str = r#"
name = "served"
seed = 7
[device]
bytes = true
[device.geometry]
channels = 4
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 1
blocks_per_plane = 32
pages_per_block = 8
page_size = "4KiB"
[device.timing]
read = "60us"
program = "700us"
erase = "3.5ms"
bus = "667MB/s"
[device.ftl]
over_provisioning = 0.9
[device.controller]
write_cache = "volatile"
[workload.synthetic]
requests = 1
queue_depth = 1
[precondition]
max_drive_writes = 1.0
"#;

/// A drive that is served in lines and in NBD.
pub(super) struct TwoProtocolServer {
    pub(super) handle: ServerHandle,
    pub(super) folder: PathBuf,
}

impl TwoProtocolServer {
    pub(super) fn new(test: &str) -> Self {
        Self::with(test, |_| None)
    }

    /// Serves as [`TwoProtocolServer::new`] does, with TLS from files that `tls` puts into the server's folder.
    pub(super) fn with(test: &str, tls: impl FnOnce(&PathBuf) -> Option<TlsConfig>) -> Self {
        let folder = std::env::temp_dir().join(format!("outlast-lines-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let config = ServeConfig {
            scenario: Some(parse_text(DRIVE).unwrap().0),
            image: None,
            contents: ContentsIn::Memory,
            listen: ListenAddress::Unix(folder.join("lines")),
            nvme: None,
            insecure: false,
            tls: tls(&folder),
            clock: ClockMode::Virtual,
            spin: false,
            export: Some("e".to_owned()),
        };
        let policy = config.tls.as_ref().map(|tls| tls.policy);
        let protocols: [(&str, Box<dyn WireProtocol>); 2] =
            [("lines", Box::new(LineProtocol::default())), ("nbd", Box::new(NbdProtocol::new(policy)))];
        let doors = protocols.into_iter().map(|(name, own)| (ListenAddress::Unix(folder.join(name)), own));
        let (server, handle) = DeviceServer::with_listeners(config, doors.collect()).unwrap();
        std::thread::Builder::new().spawn(move || server.run().unwrap()).unwrap();
        let begun = Instant::now();
        while matches!(handle.status(), ServerStatus::Preparing(_)) {
            assert!(begun.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(matches!(handle.status(), ServerStatus::Serving(_)), "{:?}", handle.status());
        Self { handle, folder }
    }

    pub(super) fn ask(&self, request: Value) -> Value {
        let said = self.handle.request(request);
        assert!(said.get("ok").is_some(), "{said}");
        said["ok"].clone()
    }

    pub(super) fn connect(&self) -> UnixStream {
        self.connect_to("lines")
    }

    /// Connects to one of the doors, `lines` or `nbd`.
    fn connect_to(&self, door: &str) -> UnixStream {
        let stream = UnixStream::connect(self.folder.join(door)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A client that has opened the drive.
    pub(super) fn open(&self) -> OpenedClient<UnixStream> {
        OpenedClient::new(self.connect())
    }

    /// A client of NBD that has opened an export in the plainest way; `None` if there is none of that name.
    pub(super) fn open_by_nbd(&self, export: &str) -> Option<UnixStream> {
        let mut stream = self.connect_to("nbd");
        let mut hello = b"\0\0\0\x03IHAVEOPT\0\0\0\x01".to_vec();
        hello.extend((export.len() as u32).to_be_bytes());
        stream.write_all(&[&hello, export.as_bytes()].concat()).unwrap();
        stream.read_exact(&mut [0; 28]).ok().map(|()| stream)
    }

    /// Waits until so many clients are connected.
    pub(super) fn wait_for_clients(&self, clients: usize) {
        let begun = Instant::now();
        while self.ask(json!({ "do": "metrics" }))["clients"] != clients {
            assert!(begun.elapsed() < PATIENCE, "never {clients} clients");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for TwoProtocolServer {
    fn drop(&mut self) {
        self.handle.stop();
        let begun = Instant::now();
        while !matches!(self.handle.status(), ServerStatus::Ended(_)) && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A client that has opened the drive.
pub(super) struct OpenedClient<S> {
    stream: BufReader<S>,
    /// Bytes of the drive.
    pub(super) size: u64,
}

impl<S: Read + Write> OpenedClient<S> {
    pub(super) fn new(stream: S) -> Self {
        let mut client = Self { stream: BufReader::new(stream), size: 0 };
        client.send(b"OPEN e\n");
        client.size = client.line().strip_prefix("OPEN ").unwrap().parse().unwrap();
        client
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// The next line; empty where the server has hung up.
    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            // What it was sent is still unread.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("{error}"),
            Ok(_) => line.trim_end().to_owned(),
        }
    }

    /// The next answer, which goes with so many bytes if it is `DATA`.
    pub(super) fn answer(&mut self) -> (String, Vec<u8>) {
        let line = self.line();
        let length = line.starts_with("DATA ").then(|| line.rsplit(' ').next().unwrap().parse().unwrap());
        let mut data = vec![0; length.unwrap_or(0)];
        self.stream.read_exact(&mut data).unwrap();
        (line, data)
    }

    /// The answer to one request.
    pub(super) fn asked(&mut self, request: &str) -> (String, Vec<u8>) {
        self.send(format!("{request}\n").as_bytes());
        self.answer()
    }
}
