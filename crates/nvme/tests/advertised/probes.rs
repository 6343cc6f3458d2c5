//! What a controller advertises: by what it tells of itself, and by what it does not refuse.

use std::collections::{BTreeMap, BTreeSet};

use outlast_nvme::{
    DISCOVERY_NQN, DataTransfer, DeviceAnswer, HostQueue, NvmeTarget, QueueEvent, RandomAreaFacts,
    SubmissionEntry, TargetOffer,
};

use super::bits;
use crate::{NQN, ZONE, answer_to, fabrics, offer};

/// Statuses that say that something is not there.
const INVALID_OPCODE: u16 = 0x001;
const INVALID_FIELD: u16 = 0x002;

/// Command sets that Identify is asked for: all that there are, and two that are none.
const SETS: [u32; 6] = [0, 1, 2, 3, 4, 255];

/// Kinds of subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probed {
    Plain,
    Placement,
    Zones,
    Areas,
    Discovery,
}

impl Probed {
    pub(super) const ALL: [Self; 5] =
        [Self::Plain, Self::Placement, Self::Zones, Self::Areas, Self::Discovery];

    fn has_zones(self) -> bool {
        matches!(self, Self::Zones | Self::Areas)
    }

    fn offer(self) -> TargetOffer {
        let offer = offer(4096, self.has_zones());
        let mut facts = offer.subsystems[0].clone();
        if self != Self::Placement {
            facts.placement = None;
            facts.namespaces.iter_mut().for_each(|own| own.identifiers.clear());
        }
        if self == Self::Areas {
            for zones in facts.namespaces.iter_mut().filter_map(|own| own.zones.as_mut()) {
                zones.random = Some(RandomAreaFacts { size: 8, granularity: 2, zones: 2 });
            }
        }
        TargetOffer { subsystems: vec![facts].into(), ..offer }
    }
}

/// An enabled controller of a kind of subsystem.
pub(super) struct ProbedController {
    kind: Probed,
    target: NvmeTarget,
    admin: HostQueue,
    io: Option<HostQueue>,
}

/// The end of a command: its result and data, or its status.
type Outcome = Result<(u64, Vec<u8>), u16>;

/// Carries a command out; `None` if it waits, as an event request does.
fn run(queue: &mut HostQueue, entry: [u8; 64]) -> Option<Outcome> {
    let entry = SubmissionEntry::new(entry);
    let data = match queue.transfer(&entry) {
        Ok(DataTransfer::FromHost(bytes)) => vec![0; bytes as usize],
        _ => Vec::new(),
    };
    queue.begin(&entry, data);
    while let Some(event) = queue.poll() {
        let QueueEvent::Request(request) = event else { continue };
        let (tag, answer): (u32, DeviceAnswer) = (request.tag, answer_to(&request, 0, ZONE * 4096));
        queue.answer(tag, answer);
    }
    let end = queue.take_end()?;
    let word = |at: usize| u16::from_le_bytes([end.completion[at], end.completion[at + 1]]);
    let result = u64::from_le_bytes(end.completion[..8].try_into().unwrap());
    let status = word(14) >> 1 & 0x7FF;
    Some(if status == 0 { Ok((result, end.data)) } else { Err(status) })
}

/// A command of an opcode for a namespace, with dwords 10 to 15.
fn command(opcode: u8, namespace: u32, dwords: [u32; 6]) -> [u8; 64] {
    let mut entry = [0; 64];
    (entry[0], entry[1], entry[33]) = (opcode, 0x40, 0x10);
    // An event request waits, and keeps its identifier.
    entry[2] = u8::from(opcode == 0x0C);
    entry[4..8].copy_from_slice(&namespace.to_le_bytes());
    for (place, dword) in entry[40..].chunks_exact_mut(4).zip(dwords) {
        place.copy_from_slice(&dword.to_le_bytes());
    }
    entry
}

fn connected(target: &NvmeTarget, kind: Probed, queue: u8) -> HostQueue {
    let mut own = HostQueue::new(target.clone(), kind.offer());
    let name = if kind == Probed::Discovery { DISCOVERY_NQN } else { NQN };
    let mut data = vec![0; 1024];
    data[16..18].copy_from_slice(if queue == 0 { &[0xFF, 0xFF] } else { &[1, 0] });
    data[256..256 + name.len()].copy_from_slice(name.as_bytes());
    data[512] = b'h';
    own.begin(&fabrics(0x01, &[(42, &[queue, 0]), (44, &[127, 0])]), data);
    assert_eq!(own.take_end().unwrap().completion[14..], [0, 0], "Connect of {kind:?}");
    if queue == 0 {
        own.begin(&fabrics(0x00, &[(44, &[0x14]), (48, &[0x61])]), Vec::new());
        assert_eq!(own.take_end().unwrap().completion[14..], [0, 0]);
    }
    while own.poll().is_some() {}
    own
}

impl ProbedController {
    pub(super) fn new(kind: Probed) -> Self {
        let target = NvmeTarget::new();
        let admin = connected(&target, kind, 0);
        let io = (kind != Probed::Discovery).then(|| connected(&target, kind, 1));
        Self { kind, target, admin, io }
    }

    /// Carries out an administration command.
    fn admin(&mut self, opcode: u8, namespace: u32, dwords: [u32; 6]) -> Outcome {
        run(&mut self.admin, command(opcode, namespace, dwords)).expect("the command does not wait")
    }

    /// Codes of everything that is advertised, by the headings of the page.
    pub(super) fn advertised(mut self) -> BTreeMap<&'static str, BTreeSet<String>> {
        BTreeMap::from([
            ("Fabrics", self.fabrics()),
            ("Administration", self.administration()),
            ("Identify", self.identify()),
            ("Bits of Identify", self.bits()),
            ("Log pages", self.log_pages()),
            ("Features", self.features()),
            ("Asynchronous events", self.events()),
            ("I/O commands", self.io_commands()),
            ("Operations of I/O commands", self.operations()),
        ])
    }

    /// Types of fabrics commands, and properties.
    fn fabrics(&mut self) -> BTreeSet<String> {
        let mut codes = BTreeSet::new();
        for kind in 0..=255_u8 {
            let mut queue = connected(&self.target, self.kind, 0);
            queue.begin(&fabrics(kind, &[(44, &[0x14])]), Vec::new());
            let status = queue.take_end().unwrap().completion[14..].to_vec();
            if u16::from_le_bytes([status[0], status[1]]) >> 1 & 0x7FF != INVALID_OPCODE {
                codes.insert(format!("{kind:02X}h"));
            }
        }
        for (offset, size) in (0..0x80_u8).step_by(4).flat_map(|offset| [(offset, 0), (offset, 1)]) {
            self.admin.begin(&fabrics(0x04, &[(40, &[size]), (44, &[offset])]), Vec::new());
            if self.admin.take_end().unwrap().completion[14..] == [0, 0] {
                codes.insert(format!("property {offset:02X}h"));
            }
        }
        codes
    }

    /// Opcodes that a queue does not refuse.
    fn known(queue: &mut HostQueue) -> BTreeSet<u8> {
        let is_known = |&opcode: &u8| run(queue, command(opcode, 1, [0; 6])) != Some(Err(INVALID_OPCODE));
        (0..=255_u8).filter(|&opcode| opcode != 0x7F).filter(is_known).collect()
    }

    /// Opcodes of administration, and operations of directives.
    fn administration(&mut self) -> BTreeSet<String> {
        // Directive Receive: an operation in bits 7 to 0, a type in bits 15 to 8.
        let directives =
            (0..1 << 16).filter(|&operation| self.admin(0x1A, 1, [1023, operation, 0, 0, 0, 0]).is_ok());
        let directives: Vec<String> =
            directives.map(|one| format!("1Ah, {:02X}h/{:02X}h", one >> 8, one & 0xFF)).collect();
        let known = Self::known(&mut self.admin);
        if self.kind != Probed::Discovery {
            let effects = self.admin(0x02, 0, [5 | 1023 << 16, 0, 0, 0, 0, 0]).unwrap().1;
            let told = |opcode: &u8| effects[usize::from(*opcode) * 4] & 1 != 0;
            assert_eq!(known, (0..=255).filter(told).collect(), "the effects log");
        }
        known.into_iter().map(|code| format!("{code:02X}h")).chain(directives).collect()
    }

    /// Structures of Identify, by CNS and, where it matters, by command set.
    fn identify(&mut self) -> BTreeSet<String> {
        let mut codes = BTreeSet::new();
        for structure in 0..=255_u32 {
            let mut is_there = |set: u32| {
                (0..2)
                    .any(|namespace| self.admin(0x06, namespace, [structure, set << 24, 0, 0, 0, 0]).is_ok())
            };
            let sets: Vec<u32> = SETS.into_iter().filter(|&set| is_there(set)).collect();
            if sets.len() == SETS.len() {
                codes.insert(format!("{structure:02X}h"));
            } else {
                codes.extend(sets.into_iter().map(|set| format!("{structure:02X}h, CSI {set:02X}h")));
            }
        }
        codes
    }

    /// Bits by which Identify tells what is supported.
    fn bits(&mut self) -> BTreeSet<String> {
        let mut page = |namespace: u32, structure: u32, set: u32| {
            let entry = [structure, set << 24, 0, 0, 0, 0];
            self.admin(0x06, namespace, entry).map(|(_, page)| page).ok()
        };
        let controller = page(0, 1, 0).unwrap();
        bits::told(&controller, page(1, 0, 0).as_deref(), page(1, 5, 2).as_deref())
    }

    fn log_pages(&mut self) -> BTreeSet<String> {
        let is_there = |&page: &u32| {
            [0, 1]
                .into_iter()
                .any(|group: u32| self.admin(0x02, 0, [page | 15 << 16, group << 16, 0, 0, 0, 0]).is_ok())
        };
        (0..=255_u32).filter(is_there).map(|page| format!("{page:02X}h")).collect()
    }

    fn features(&mut self) -> BTreeSet<String> {
        let is_there = |&feature: &u32| self.admin(0x0A, 1, [feature, 1, 0, 0, 0, 0]) != Err(INVALID_FIELD);
        (0..=255_u32).filter(is_there).map(|feature| format!("{feature:02X}h")).collect()
    }

    /// Types and information of events that each critical warning brings about.
    fn events(&mut self) -> BTreeSet<String> {
        let mut codes = BTreeSet::new();
        for bit in 0..8 {
            let mut queue = connected(&self.target, self.kind, 0);
            let set = run(&mut queue, command(0x09, 0, [0x0B, 0xFF, 0, 0, 0, 0]));
            assert!(matches!(set, Some(Ok(_))));
            assert_eq!(run(&mut queue, command(0x0C, 0, [0; 6])), None, "an event request waits");
            queue.report_warning(1 << bit);
            if let Some(end) = queue.take_end() {
                codes.insert(format!("{:02X}h/{:02X}h", end.completion[0] & 7, end.completion[1]));
            }
        }
        codes
    }

    fn io_commands(&mut self) -> BTreeSet<String> {
        let Some(io) = &mut self.io else { return BTreeSet::new() };
        let known = Self::known(io);
        let set = if self.kind.has_zones() { 2 << 24 } else { 0 };
        let effects = self.admin(0x02, 0, [5 | 1023 << 16, 0, 0, 0, set, 0]).unwrap().1;
        let told = |opcode: &u8| effects[1024 + usize::from(*opcode) * 4] & 1 != 0;
        assert_eq!(known, (0..=255).filter(told).collect(), "the effects log");
        known.into_iter().map(|code| format!("{code:02X}h")).collect()
    }

    /// Operations, actions and formats that commands name in a field.
    fn operations(&mut self) -> BTreeSet<String> {
        let Some(io) = &mut self.io else { return BTreeSet::new() };
        let mut codes = BTreeSet::new();
        let mut note = |code: String, entry: [u8; 64]| {
            if !matches!(run(io, entry), Some(Err(INVALID_OPCODE | INVALID_FIELD))) {
                codes.insert(code);
            }
        };
        for value in 0..=255_u32 {
            // Management of handles, in bits 7 to 0 of dword 10; zone actions in those of dword 13, with ZRWAA in bit 9; formats of Copy.
            note(format!("12h, {value:02X}h"), command(0x12, 1, [value, 15, 0, 0, 0, 0]));
            note(format!("1Dh, {value:02X}h"), command(0x1D, 1, [value, 0, 0, 0, 0, 0]));
            note(format!("79h, {value:02X}h"), command(0x79, 1, [0, 0, 0, value, 0, 0]));
            note(format!("79h, {value:02X}h, ZRWAA"), command(0x79, 1, [0, 0, 0, value | 1 << 9, 0, 0]));
            note(format!("7Ah, {value:02X}h"), command(0x7A, 1, [0, 0, 15, value, 0, 0]));
            if value < 16 {
                note(format!("19h, format {value}"), command(0x19, 1, [0, 0, value << 8, 0, 0, 0]));
            }
            if (1..16).contains(&value) {
                note(format!("01h, directive {value}"), command(0x01, 1, [0, 0, value << 20, 0, 0, 0]));
            }
        }
        codes
    }
}
