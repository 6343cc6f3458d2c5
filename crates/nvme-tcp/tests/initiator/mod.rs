//! A host written from the specification: its own numbers and its own reading of what the controller sends.

#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

pub(crate) mod commands;
pub(crate) mod wire;
pub(crate) mod zones;

use std::collections::BTreeMap;

pub(crate) use commands::WireCommand;
pub(crate) use wire::HostWire;
#[allow(unused_imports, reason = "each test program uses its part")]
pub(crate) use zones::reported;

/// End of a command: its result and its data, or its status code with the type in bits 10 to 8.
pub(crate) type CommandOutcome = Result<(u64, Vec<u8>), u16>;

/// A unit that the controller has sent.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedUnit {
    pub(crate) kind: u8,
    pub(crate) header: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

/// Wishes of a host for its connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkWishes {
    pub(crate) header_digest: bool,
    pub(crate) data_digest: bool,
    /// Alignment of data that comes, in units of 4 bytes less one.
    pub(crate) alignment: u8,
    /// Data of writes up to so many bytes goes in the capsule.
    pub(crate) in_capsule: usize,
    /// Data goes in units of so many bytes at most, if less than the controller takes.
    pub(crate) piece: usize,
}

/// One queue of a host.
pub(crate) struct HostLink<W> {
    pub(crate) wire: W,
    wishes: LinkWishes,
    /// Longest data of a unit that the controller takes.
    longest: usize,
    next_id: u16,
    /// Data of commands that the controller may ask for.
    outgoing: BTreeMap<u16, Vec<u8>>,
    incoming: BTreeMap<u16, Vec<u8>>,
    outcomes: BTreeMap<u16, CommandOutcome>,
    /// Controller of the queue, after Connect.
    pub(crate) controller: u16,
    /// Result of the latest completion, whatever its status.
    pub(crate) result: u64,
}

impl<W: HostWire> HostLink<W> {
    /// Shakes hands on a new connection.
    pub(crate) fn greet(mut wire: W, wishes: LinkWishes) -> Self {
        let mut request = vec![0; 128];
        request[2] = 128;
        request[4] = 128;
        request[10] = wishes.alignment;
        request[11] = u8::from(wishes.header_digest) | u8::from(wishes.data_digest) << 1;
        wire.send(&request);
        let answer = wire.receive(128);
        assert_eq!((answer[0], answer[2], &answer[4..8]), (1, 128, &[128, 0, 0, 0][..]), "ICResp");
        assert_eq!((answer[8], answer[9], answer[10]), (0, 0, 0), "format 0, no alignment");
        assert_eq!(answer[11], request[11], "the digests that were asked for");
        let longest = u32::from_le_bytes(answer[12..16].try_into().unwrap()) as usize;
        assert!(longest >= 4096 && longest.is_multiple_of(4), "MAXH2CDATA {longest}");
        Self {
            wire,
            wishes,
            longest,
            next_id: 0,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            controller: 0xFFFF,
            result: 0,
        }
    }

    /// Connects the queue; for an I/O queue `controller` says whose it is.
    pub(crate) fn connect(&mut self, nqn: &str, host: &str, queue: u16, controller: u16) -> CommandOutcome {
        let outcome = self.run(WireCommand::connect(nqn, host, queue, controller));
        if let Ok((result, _)) = &outcome {
            self.controller = *result as u16;
        }
        outcome
    }

    /// Enables the controller, and checks that it is ready.
    pub(crate) fn enable(&mut self) {
        self.run(WireCommand::set_property(0x14, 0x0046_0001)).unwrap();
        assert_eq!(self.run(WireCommand::get_property(0x1C, false)).unwrap().0, 1, "ready");
    }

    /// Enables the controller with all command sets that it has.
    pub(crate) fn enable_all_sets(&mut self) {
        self.run(WireCommand::set_property(0x14, 0x0046_0061)).unwrap();
        assert_eq!(self.run(WireCommand::get_property(0x1C, false)).unwrap().0, 1, "ready");
    }

    /// Carries out a command.
    pub(crate) fn run(&mut self, command: WireCommand) -> CommandOutcome {
        let id = self.send(command);
        self.wait(id)
    }

    /// Sends a command; returns its identifier.
    pub(crate) fn send(&mut self, command: WireCommand) -> u16 {
        let id = self.next_id;
        self.next_id = (self.next_id + 1) % 128;
        let mut entry = command.entry;
        entry[1] |= 0x40;
        entry[2..4].copy_from_slice(&id.to_le_bytes());
        let (out, back) = (command.data, command.returns);
        let is_fabrics_data = entry[0] == 0x7F && !out.is_empty();
        let fits = out.len() <= self.wishes.in_capsule || is_fabrics_data;
        let inline = !out.is_empty() && fits;
        let length = if out.is_empty() { back } else { out.len() };
        entry[32..36].copy_from_slice(&(length as u32).to_le_bytes());
        entry[39] = if inline { 0x01 } else { 0x5A };
        self.incoming.insert(id, Vec::new());
        let mut unit = vec![0x04, 0, 72, 0, 0, 0, 0, 0];
        unit.extend(entry);
        if inline {
            self.send_unit(unit, Some(&out));
        } else {
            self.outgoing.insert(id, out);
            self.send_unit(unit, None);
        }
        id
    }

    /// Waits for the end of a command.
    pub(crate) fn wait(&mut self, id: u16) -> CommandOutcome {
        loop {
            if let Some(outcome) = self.outcomes.remove(&id) {
                return outcome;
            }
            let unit = self.receive_unit();
            self.handle(unit);
        }
    }

    /// True if the command has ended, by what has come so far without waiting.
    pub(crate) fn has_ended(&mut self, id: u16) -> bool {
        while self.wire.has_input() {
            let unit = self.receive_unit();
            self.handle(unit);
        }
        self.outcomes.contains_key(&id)
    }

    fn handle(&mut self, unit: ReceivedUnit) {
        let word = |at: usize| u16::from_le_bytes([unit.header[at], unit.header[at + 1]]);
        let long = |at: usize| u32::from_le_bytes(unit.header[at..at + 4].try_into().unwrap()) as usize;
        match unit.kind {
            0x05 => {
                let (id, status) = (word(20), word(22));
                let data = self.incoming.remove(&id).expect("a command that was sent");
                self.outgoing.remove(&id);
                let result = u64::from_le_bytes(unit.header[8..16].try_into().unwrap());
                let code = status >> 1 & 0x7FF;
                self.result = result;
                self.outcomes.insert(id, if code == 0 { Ok((result, data)) } else { Err(code) });
            }
            0x07 => {
                let data = self.incoming.get_mut(&word(8)).expect("data of a command that was sent");
                assert_eq!((long(12), long(16)), (data.len(), unit.data.len()), "data comes in order");
                data.extend(unit.data);
            }
            0x09 => {
                let (id, tag, offset, length) = (word(8), word(10), long(12), long(16));
                let data = self.outgoing.get(&id).expect("data of a command that was sent").clone();
                let end = offset + length;
                let step =
                    self.longest.min(if self.wishes.piece == 0 { usize::MAX } else { self.wishes.piece });
                for at in (offset..end).step_by(step) {
                    let part = &data[at..end.min(at + step)];
                    let mut head = vec![0x06, if at + step >= end { 4 } else { 0 }, 24, 0, 0, 0, 0, 0];
                    head.extend(id.to_le_bytes());
                    head.extend(tag.to_le_bytes());
                    head.extend((at as u32).to_le_bytes());
                    head.extend((part.len() as u32).to_le_bytes());
                    head.extend([0; 4]);
                    self.send_unit(head, Some(part));
                }
            }
            kind => panic!("unit {kind:#x}: {:?}", unit.header),
        }
    }

    /// Sends a unit whose header is there, with digests and data.
    pub(crate) fn send_unit(&mut self, mut unit: Vec<u8>, data: Option<&[u8]>) {
        let tail = if self.wishes.header_digest { 4 } else { 0 };
        let offset = unit.len() + tail;
        let mut length = offset;
        if self.wishes.header_digest {
            unit[1] |= 1;
        }
        if let Some(data) = data {
            unit[3] = offset as u8;
            length += data.len();
            if self.wishes.data_digest {
                unit[1] |= 2;
                length += 4;
            }
        }
        unit[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        if self.wishes.header_digest {
            let digest = crc32c::crc32c(&unit);
            unit.extend(digest.to_le_bytes());
        }
        if let Some(data) = data {
            unit.extend(data);
            if self.wishes.data_digest {
                unit.extend(crc32c::crc32c(data).to_le_bytes());
            }
        }
        self.wire.send(&unit);
    }

    /// The next unit of the controller, checked.
    pub(crate) fn receive_unit(&mut self) -> ReceivedUnit {
        let common = self.wire.receive(8);
        let (kind, flags, length) = (common[0], common[1], usize::from(common[2]));
        let (offset, whole) =
            (usize::from(common[3]), u32::from_le_bytes(common[4..8].try_into().unwrap()) as usize);
        assert_eq!(length, 24, "all units of a controller but ICResp have 24 bytes: {kind:#x}");
        let mut header = common;
        header.extend(self.wire.receive(length - 8));
        let mut at = length;
        if kind == 0x03 {
            let data = self.wire.receive(whole - at);
            return ReceivedUnit { kind, header, data };
        }
        assert_eq!(flags & 1 != 0, self.wishes.header_digest);
        if self.wishes.header_digest {
            let digest = self.wire.receive(4);
            assert_eq!(digest, crc32c::crc32c(&header).to_le_bytes(), "header digest");
            at += 4;
        }
        if offset == 0 {
            assert_eq!(at, whole);
            return ReceivedUnit { kind, header, data: Vec::new() };
        }
        assert!(offset.is_multiple_of((usize::from(self.wishes.alignment) + 1) * 4), "alignment of {offset}");
        self.wire.receive(offset - at);
        let tail = if self.wishes.data_digest { 4 } else { 0 };
        let data = self.wire.receive(whole - offset - tail);
        if self.wishes.data_digest {
            assert_eq!(self.wire.receive(4), crc32c::crc32c(&data).to_le_bytes(), "data digest");
        }
        ReceivedUnit { kind, header, data }
    }
}
