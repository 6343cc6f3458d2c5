//! A device in memory, and a wire to a connection without sockets.

use crate::initiator::{HostLink, HostWire, LinkWishes};
use outlast_nvme::{
    DeviceAnswer, DeviceFailure, DeviceOp, DeviceRequest, HEALTH_BYTES, HealthLogPage, HostQueue, LostRange,
    NamespaceFacts, NvmeTarget, PortFacts, QueueEvent, SubsystemFacts, TargetOffer, WireZoneState, ZoneFacts,
    ZoneRefusal, ZoneReport, ZoneReports, ZoneSendAction,
};
use outlast_nvme_tcp::TcpConnection;
use std::cell::RefCell;
use std::rc::Rc;

pub(crate) const BLOCKS: u64 = 4096;
/// Length of a zone, where there are zones: sixteen blocks of 4096 bytes.
pub(crate) const ZONE_BYTES: u64 = 16 * 4096;
pub(crate) const NQN: &str = "nqn.2026-11.org.outlast:test";
pub(crate) const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:1";

/// Bytes, and blocks that are lost until they are written again.
#[derive(Debug)]
pub(crate) struct MemoryDevice {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lost: Vec<bool>,
    pub(crate) flushes: u64,
    pub(crate) forced: u64,
    pub(crate) limited: u64,
    pub(crate) health: [u8; HEALTH_BYTES],
    /// Bytes written to each zone, where it has zones.
    pub(crate) zones: Vec<u64>,
}

impl MemoryDevice {
    pub(crate) fn new() -> Self {
        let bytes = vec![0; BLOCKS as usize * 512];
        let lost = vec![false; BLOCKS as usize];
        Self { bytes, lost, flushes: 0, forced: 0, limited: 0, health: [0; HEALTH_BYTES], zones: Vec::new() }
    }

    /// Carries out a request, which must lie within the device.
    pub(crate) fn answer(&mut self, request: &DeviceRequest<'_>) -> DeviceAnswer {
        let (from, to) = (request.offset as usize, (request.offset + request.length) as usize);
        assert!(to <= self.bytes.len() && from.is_multiple_of(512) && to.is_multiple_of(512), "{request:?}");
        let blocks = from / 512..to / 512;
        match request.op {
            DeviceOp::Read { limited_retry } => {
                self.limited += u64::from(limited_retry);
                let lost = self.lost[blocks].iter().position(|&lost| lost);
                lost.map_or_else(
                    || DeviceAnswer::Data(self.bytes[from..to].to_vec()),
                    |at| DeviceAnswer::Failed(DeviceFailure::Unreadable(Some((from + at * 512) as u64))),
                )
            }
            DeviceOp::Write { data, fua, .. } => {
                assert_eq!(data.len(), to - from, "a write has all its bytes");
                self.forced += u64::from(fua);
                self.bytes[from..to].copy_from_slice(data);
                self.lost[blocks].fill(false);
                DeviceAnswer::Done
            }
            DeviceOp::Deallocate | DeviceOp::WriteZeroes { .. } => {
                self.bytes[from..to].fill(0);
                self.lost[blocks].fill(false);
                DeviceAnswer::Done
            }
            DeviceOp::Flush => {
                self.flushes += 1;
                DeviceAnswer::Done
            }
            DeviceOp::LostBlocks => {
                let range = |block| LostRange { offset: block as u64 * 512, length: 512 };
                DeviceAnswer::Lost(blocks.filter(|&block| self.lost[block]).map(range).collect())
            }
            DeviceOp::Health(HealthLogPage::Smart) => DeviceAnswer::Health(Box::new(self.health)),
            DeviceOp::Health(HealthLogPage::Extended) => DeviceAnswer::Health(Box::new([0xC0; HEALTH_BYTES])),
            DeviceOp::Append { data, .. } => {
                let (zone, length) = (from / ZONE_BYTES as usize, data.len() as u64);
                let at = self.zones[zone];
                if at + length > ZONE_BYTES {
                    return DeviceAnswer::Failed(DeviceFailure::Zone(ZoneRefusal::Boundary));
                }
                self.zones[zone] += length;
                let place = from + at as usize;
                self.bytes[place..place + data.len()].copy_from_slice(data);
                DeviceAnswer::Appended(place as u64)
            }
            DeviceOp::ManageZone(action) => {
                let written = &mut self.zones[from / ZONE_BYTES as usize];
                match action {
                    ZoneSendAction::Reset => *written = 0,
                    ZoneSendAction::Finish => *written = ZONE_BYTES,
                    _ => {}
                }
                DeviceAnswer::Done
            }
            DeviceOp::ListZones(asked) => {
                let end = request.offset + request.length;
                let all =
                    (request.offset..end).step_by(ZONE_BYTES as usize).map(|offset| self.report(offset));
                let zones: Vec<ZoneReport> = all.filter(|zone| asked.states.has(zone.state)).collect();
                let count = zones.len() as u64;
                let listed = zones.into_iter().take(asked.most as usize).collect();
                DeviceAnswer::Zones(ZoneReports { count, zones: listed })
            }
            DeviceOp::Placement | DeviceOp::UpdateHandle(_) => unreachable!("the device has no handles"),
        }
    }

    /// The zone that begins at `offset`.
    fn report(&self, offset: u64) -> ZoneReport {
        let written = self.zones[(offset / ZONE_BYTES) as usize];
        let (state, write_pointer) = match written {
            0 => (WireZoneState::Empty, Some(offset)),
            ZONE_BYTES => (WireZoneState::Full, None),
            _ => (WireZoneState::ImplicitlyOpen, Some(offset + written)),
        };
        ZoneReport { offset, state, write_pointer, has_area: false }
    }
}

pub(crate) fn facts(is_writable: bool) -> SubsystemFacts {
    SubsystemFacts {
        nqn: NQN.to_owned(),
        serial: "SERIAL".to_owned(),
        model: "Model".to_owned(),
        firmware: "1.0".to_owned(),
        capacity: BLOCKS * 512,
        namespaces: vec![NamespaceFacts {
            offset: 0,
            blocks: BLOCKS,
            block_bytes: 512,
            preferred_blocks: 8,
            is_writable,
            guid: [7; 16],
            identifiers: Vec::new(),
            reclaim_groups: 1,
            zones: None,
        }],
        placement: None,
    }
}

/// A target with one subsystem, and its device.
#[derive(Clone)]
pub(crate) struct MemoryTarget {
    pub(crate) target: NvmeTarget,
    pub(crate) offer: TargetOffer,
    pub(crate) device: Rc<RefCell<MemoryDevice>>,
}

impl MemoryTarget {
    pub(crate) fn new() -> Self {
        let port =
            PortFacts { transport: (3, 1), address: "127.0.0.1".to_owned(), service: "4420".to_owned() };
        let offer = TargetOffer { subsystems: vec![facts(true)].into(), port, generation: 1 };
        Self { target: NvmeTarget::new(), offer, device: Rc::new(RefCell::new(MemoryDevice::new())) }
    }

    /// A target whose namespace consists of zones, in blocks of 4096 bytes.
    pub(crate) fn zoned() -> Self {
        let own = Self::new();
        own.device.borrow_mut().zones = vec![0; (BLOCKS * 512 / ZONE_BYTES) as usize];
        let (mut facts, size) = (facts(true), ZONE_BYTES / 4096);
        facts.namespaces[0] = NamespaceFacts {
            blocks: BLOCKS / 8,
            block_bytes: 4096,
            preferred_blocks: 1,
            zones: Some(ZoneFacts { size, capacity: size, most_active: 32, most_open: 32, random: None }),
            ..facts.namespaces[0].clone()
        };
        Self { offer: TargetOffer { subsystems: vec![facts].into(), ..own.offer.clone() }, ..own }
    }

    /// A new connection.
    pub(crate) fn wire(&self) -> MemoryWire {
        MemoryWire {
            connection: TcpConnection::new(HostQueue::new(self.target.clone(), self.offer.clone())),
            device: self.device.clone(),
            sent: Vec::new(),
            received: Vec::new(),
            delayed: None,
            steps: vec![usize::MAX],
        }
    }

    /// A queue that has shaken hands.
    pub(crate) fn link(&self, wishes: LinkWishes) -> HostLink<MemoryWire> {
        HostLink::greet(self.wire(), wishes)
    }

    /// An enabled controller's admin queue.
    pub(crate) fn admin(&self, wishes: LinkWishes) -> HostLink<MemoryWire> {
        let mut link = self.link(wishes);
        link.connect(NQN, HOST, 0, 0xFFFF).unwrap();
        if self.device.borrow().zones.is_empty() {
            link.enable();
        } else {
            link.enable_all_sets();
        }
        link
    }

    /// An I/O queue of the controller that `admin` has.
    pub(crate) fn io(
        &self,
        admin: &HostLink<MemoryWire>,
        queue: u16,
        wishes: LinkWishes,
    ) -> HostLink<MemoryWire> {
        let mut link = self.link(wishes);
        link.connect(NQN, HOST, queue, admin.controller).unwrap();
        link
    }
}

/// A wire to a connection in memory, whose device answers at once, or when it is asked to.
pub(crate) struct MemoryWire {
    pub(crate) connection: TcpConnection,
    device: Rc<RefCell<MemoryDevice>>,
    /// All bytes that the host has sent.
    pub(crate) sent: Vec<u8>,
    received: Vec<u8>,
    /// Answers that are held back.
    pub(crate) delayed: Option<Vec<(u32, DeviceAnswer)>>,
    /// Numbers of bytes that the connection gets at a time, in turn.
    pub(crate) steps: Vec<usize>,
}

impl MemoryWire {
    /// Has the connection handle what it has, and takes its output.
    pub(crate) fn pump(&mut self) {
        loop {
            while let Some(event) = self.connection.poll() {
                if let QueueEvent::Request(request) = event {
                    let (tag, answer) = (request.tag, self.device.borrow_mut().answer(&request));
                    match &mut self.delayed {
                        Some(delayed) => delayed.push((tag, answer)),
                        None => self.connection.answer(tag, answer),
                    }
                }
            }
            let output: Vec<u8> = self.connection.output().flatten().copied().collect();
            assert_eq!(output.len(), self.connection.output_len());
            if output.is_empty() {
                return;
            }
            self.connection.sent(output.len());
            self.received.extend(output);
        }
    }

    /// Releases the answers that are held back, the last first.
    pub(crate) fn release(&mut self) {
        for (tag, answer) in self.delayed.take().unwrap_or_default().into_iter().rev() {
            self.connection.answer(tag, answer);
        }
        self.pump();
    }

    /// Gives the connection bytes, as far as it takes them, in the steps of the wire.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        let mut turn = 0;
        while !bytes.is_empty() {
            let step = self.steps[turn % self.steps.len()].max(1);
            turn += 1;
            let space = self.connection.space();
            let count = bytes.len().min(step).min(space.len());
            if count == 0 {
                return;
            }
            space[..count].copy_from_slice(&bytes[..count]);
            self.connection.filled(count);
            bytes = &bytes[count..];
            self.pump();
        }
    }

    /// All output so far, which was not received.
    pub(crate) fn output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.received)
    }
}

impl HostWire for MemoryWire {
    fn send(&mut self, bytes: &[u8]) {
        self.sent.extend(bytes);
        self.feed(bytes);
    }

    fn receive(&mut self, count: usize) -> Vec<u8> {
        self.pump();
        assert!(self.received.len() >= count, "{} of {count} bytes have come", self.received.len());
        let rest = self.received.split_off(count);
        std::mem::replace(&mut self.received, rest)
    }

    fn has_input(&mut self) -> bool {
        self.pump();
        !self.received.is_empty()
    }
}
