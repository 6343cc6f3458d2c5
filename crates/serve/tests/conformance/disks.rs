//! Devices and what leads to them, seen alike.

use crate::asks::{Ask, AskOutcome};
use crate::client;
use crate::support::client::Client;
use crate::support::{ARRAY, DRIVE, Host, scenario};
use outlast_array::PlainDevice;
use outlast_device::{Device, PowerCycle, Tag};
use outlast_media::{DieDamage, DriveFault};
use outlast_serve::{
    ClockMode, DeviceInput, DeviceServer, ListenAddress, PowerChange, ServeConfig, ServerHandle,
    ServerStatus, parse_fault,
};
use outlast_settings::array::PlainConfig;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Sectors of a mapping unit of the drives here, and of a stripe of the arrays: three chunks of 16 KiB and their parity.
const UNIT: u64 = 8;
const STRIPE: u64 = 96;

/// A disk that the suite can test.
pub(crate) trait Disk {
    fn sectors(&self) -> u64;

    /// Sectors of which a trim zeroes all or may leave all.
    fn unit(&self) -> u64;

    /// Has all of `asks` under way together; their answers in the same order.
    fn run(&mut self, asks: &[Ask]) -> Vec<AskOutcome>;

    /// Power fails while nothing is under way, and is back at once.
    fn cut_power(&mut self);

    /// Some of its medium breaks.
    fn break_something(&mut self);

    /// Whether data is lost then.
    fn loses_data_then(&self) -> bool;
}

/// A device by itself, in simulated time.
pub(crate) struct DirectDevice<D> {
    device: D,
    now: Nanos,
    break_it: fn(&mut D, Nanos),
}

pub(crate) fn plain() -> DirectDevice<PlainDevice> {
    let config = PlainConfig {
        bytes: true,
        volatile_cache: true,
        lanes: 4,
        read_latency: Nanos::micros(60),
        write_latency: Nanos::micros(700),
        ..PlainConfig::new(Bytes::mib(4))
    };
    let break_it = |device: &mut PlainDevice, _: Nanos| device.make_unreadable(17);
    DirectDevice { device: PlainDevice::new(config, 7).unwrap(), now: Nanos::ZERO, break_it }
}

pub(crate) fn drive() -> DirectDevice<Ssd> {
    let mut config = scenario(DRIVE).device;
    config.bytes = true;
    let mut device = Ssd::new(config, 7).unwrap();
    device.begin_timed();
    let break_it = |device: &mut Ssd, now| device.inject(now, DriveFault { die: 3, damage: DieDamage::Die });
    DirectDevice { device, now: Nanos::ZERO, break_it }
}

impl<D: Device + PowerCycle> Disk for DirectDevice<D> {
    fn sectors(&self) -> u64 {
        self.device.identify().capacity.0 / SECTOR_BYTES
    }

    fn unit(&self) -> u64 {
        self.device.identify().optimal_io.0 / SECTOR_BYTES
    }

    fn run(&mut self, asks: &[Ask]) -> Vec<AskOutcome> {
        for (tag, ask) in (0..).zip(asks) {
            self.device.submit_data(self.now, ask.command(), Tag(tag), ask.data());
        }
        let mut done = Vec::new();
        while done.len() < asks.len() {
            self.now = self.device.advance_to_completion(Nanos::MAX, &mut done);
        }
        assert!(done.is_sorted_by_key(|done| done.at), "completions come in order of time");
        done.sort_unstable_by_key(|done| done.tag);
        let tags: Vec<u32> = done.iter().map(|done| done.tag.0).collect();
        assert_eq!(tags, (0..asks.len() as u32).collect::<Vec<_>>(), "each command completes once");
        done.iter().map(|done| AskOutcome::of(done.outcome, self.device.take_data(done.tag))).collect()
    }

    fn cut_power(&mut self) {
        self.device.power_cut(self.now);
        self.device.self_check().unwrap();
    }

    fn break_something(&mut self) {
        (self.break_it)(&mut self.device, self.now);
    }

    fn loses_data_then(&self) -> bool {
        true
    }
}

/// A die, of an array one of its second member.
fn fault(is_array: bool) -> serde_json::Value {
    if is_array { json!({"kind": "die", "die": 3, "device": 1}) } else { json!({"kind": "die", "die": 3}) }
}

/// A machine in service, without a server.
pub(crate) struct InProcessDevice {
    host: Host,
    is_array: bool,
}

impl InProcessDevice {
    pub(crate) fn drive() -> Self {
        Self { host: Host::new(DRIVE), is_array: false }
    }

    pub(crate) fn array() -> Self {
        Self { host: Host::new(&format!("{DRIVE}{ARRAY}")), is_array: true }
    }
}

impl Disk for InProcessDevice {
    fn sectors(&self) -> u64 {
        self.host.machine.identify().capacity.0 / SECTOR_BYTES
    }

    fn unit(&self) -> u64 {
        if self.is_array { STRIPE } else { UNIT }
    }

    fn run(&mut self, asks: &[Ask]) -> Vec<AskOutcome> {
        let machine = &mut self.host.machine;
        for (tag, ask) in (0..).zip(asks) {
            let input = DeviceInput::Command { tag: Tag(tag), command: ask.command(), data: ask.data() };
            machine.apply(self.host.now, &input).unwrap();
        }
        let mut done = Vec::new();
        machine.advance(self.host.now, &mut done);
        while done.len() < asks.len() {
            self.host.now = machine.next_deadline().expect("something completes");
            machine.advance(self.host.now, &mut done);
        }
        done.sort_unstable_by_key(|done| done.tag);
        done.iter().map(|done| AskOutcome::of(done.outcome, machine.take_data(done.tag))).collect()
    }

    fn cut_power(&mut self) {
        self.host.power(PowerChange::Cut { force: false });
        self.host.machine.self_check().unwrap();
    }

    fn break_something(&mut self) {
        let fault = parse_fault(&fault(self.is_array)).unwrap();
        self.host.machine.apply(self.host.now, &DeviceInput::Fault(&fault)).unwrap();
    }

    fn loses_data_then(&self) -> bool {
        !self.is_array
    }
}

/// A machine behind a socket.
pub(crate) struct DeviceBehindSocket {
    handle: ServerHandle,
    client: Client,
    socket: PathBuf,
    is_array: bool,
}

impl DeviceBehindSocket {
    pub(crate) fn drive() -> Self {
        Self::new(DRIVE, false)
    }

    pub(crate) fn array() -> Self {
        Self::new(&format!("{DRIVE}{ARRAY}"), true)
    }

    fn new(text: &str, is_array: bool) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let socket = std::env::temp_dir().join(format!("outlast-suite-{}-{number}", std::process::id()));
        let config = ServeConfig {
            scenario: Some(scenario(text)),
            image: None,
            contents: outlast_serve::ContentsIn::Memory,
            listen: ListenAddress::Unix(socket.clone()),
            nvme: None,
            insecure: false,
            tls: None,
            clock: ClockMode::Virtual,
            spin: false,
            export: None,
        };
        let handle = DeviceServer::start(config).unwrap();
        let mut status = handle.status();
        while matches!(status, ServerStatus::Preparing(_)) {
            status = handle.wait(&status, Duration::from_mins(1));
        }
        assert!(matches!(status, ServerStatus::Serving(_)), "{status:?}");
        let client = Client::open(&socket, "");
        Self { handle, client, socket, is_array }
    }

    fn ask(&self, request: serde_json::Value) {
        let answer = self.handle.request(request);
        assert!(answer.get("ok").is_some(), "{answer}");
    }
}

impl Disk for DeviceBehindSocket {
    fn sectors(&self) -> u64 {
        self.client.size / SECTOR_BYTES
    }

    fn unit(&self) -> u64 {
        if self.is_array { STRIPE } else { UNIT }
    }

    fn run(&mut self, asks: &[Ask]) -> Vec<AskOutcome> {
        client::run(&mut self.client, asks)
    }

    fn cut_power(&mut self) {
        self.ask(json!({"do": "power", "action": "cut"}));
        // A loss of power closes connections, as a cable does that is pulled.
        self.client = Client::open(&self.socket, "");
    }

    fn break_something(&mut self) {
        self.ask(json!({"do": "fault", "fault": fault(self.is_array)}));
    }

    fn loses_data_then(&self) -> bool {
        !self.is_array
    }
}

impl Drop for DeviceBehindSocket {
    fn drop(&mut self) {
        self.handle.stop();
        // The server takes it away, too.
        let _ = std::fs::remove_file(&self.socket);
    }
}
