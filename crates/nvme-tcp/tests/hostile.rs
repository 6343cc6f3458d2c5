//! Hosts that break the rules of the transport: each gets its status or its end, and no other host notices.

use crate::initiator::{HostLink, HostWire, LinkWishes, WireCommand};
use crate::memory::{HOST, MemoryTarget, MemoryWire, NQN};

const PLAIN: LinkWishes =
    LinkWishes { header_digest: false, data_digest: false, alignment: 0, in_capsule: 8192, piece: 0 };
/// Statuses.
const ID_CONFLICT: u16 = 0x003;
const SEQUENCE_ERROR: u16 = 0x00C;
const CONNECT_PARAMETERS: u16 = 0x182;

type MemoryLink = HostLink<MemoryWire>;

/// A queue of commands whose data is asked for.
fn asking(target: &MemoryTarget, admin: &MemoryLink) -> MemoryLink {
    target.io(admin, 1, LinkWishes { in_capsule: 0, ..PLAIN })
}

/// Unit of a write of block 0 with identifier `id`, whose data of `bytes` bytes is to be asked for.
fn write_unit(id: u16, bytes: u32) -> Vec<u8> {
    let mut entry = WireCommand::range(0x01, 0, u64::from(bytes) / 512, 0).entry;
    entry[1] = 0x40;
    entry[2..4].copy_from_slice(&id.to_le_bytes());
    entry[32..36].copy_from_slice(&bytes.to_le_bytes());
    entry[39] = 0x5A;
    [vec![0x04, 0, 72, 0, 0, 0, 0, 0], entry.to_vec()].concat()
}

/// Header of data for a command.
fn data_unit(id: u16, tag: u16, offset: u32, length: u32, is_last: bool) -> Vec<u8> {
    let mut unit = vec![0x06, if is_last { 4 } else { 0 }, 24, 0, 0, 0, 0, 0];
    unit.extend(id.to_le_bytes());
    unit.extend(tag.to_le_bytes());
    unit.extend(offset.to_le_bytes());
    unit.extend(length.to_le_bytes());
    unit.extend([0; 4]);
    unit
}

/// Cause of the termination request that has come, and what it repeats of the wrong unit.
fn termination(link: &mut MemoryLink) -> (u16, u32, Vec<u8>) {
    let unit = link.receive_unit();
    assert_eq!(unit.kind, 0x03);
    assert!(link.wire.connection.is_ended() && !link.wire.connection.wants_input());
    let word = |at: usize| u16::from_le_bytes([unit.header[at], unit.header[at + 1]]);
    (word(8), u32::from(word(10)) | u32::from(word(12)) << 16, unit.data)
}

#[test]
fn a_greeting_that_is_wrong_ends_the_connection_and_names_its_field() {
    for (at, value, cause) in [(2, 127, (1, 2)), (4, 127, (1, 4)), (8, 1, (6, 8)), (10, 32, (1, 10))] {
        let mut greeting = [0; 128];
        (greeting[2], greeting[4]) = (128, 128);
        greeting[at] = value;
        let mut wire = MemoryTarget::new().wire();
        wire.feed(&greeting);
        let answer = wire.output();
        let information = u32::from_le_bytes(answer[10..14].try_into().unwrap());
        assert_eq!((answer[0], u16::from(answer[8]), information), (3, cause.0, cause.1), "byte {at}");
        assert!(wire.connection.is_ended());
    }
    // A command before the greeting.
    let mut wire = MemoryTarget::new().wire();
    wire.feed(&[0x04, 0, 72, 0, 72, 0, 0, 0]);
    assert_eq!(wire.output()[8], 2, "out of order");
}

#[test]
fn a_termination_request_repeats_the_header_of_the_wrong_unit_and_nothing_behind_it() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    // The lengths of a unit are wrong: its common header was looked at, whether the rest has come or not.
    for rest in [0, 64, 4096] {
        let mut io = target.io(&admin, 1, PLAIN);
        let wrong = [0x04, 0, 71, 0, 72, 0, 0, 0];
        io.wire.send(&[&wrong[..], &vec![9; rest]].concat());
        assert_eq!(termination(&mut io), (1, 2, wrong.to_vec()), "{rest} bytes behind it");
    }
    // Data that was not asked for, with its header.
    let mut io = target.io(&admin, 1, PLAIN);
    io.send_unit(data_unit(0, 9, 0, 512, true), Some(&[7; 512]));
    let (cause, field, copy) = termination(&mut io);
    assert_eq!((cause, field, copy.len(), copy[0]), (1, 10, 24, 0x06));
}

#[test]
fn connect_with_wrong_numbers_is_refused_and_the_connection_can_try_again() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut link = target.link(PLAIN);
    let with = |at: usize, bytes: &[u8]| {
        let mut command = WireCommand::connect(NQN, HOST, 1, admin.controller);
        command.entry[at..at + bytes.len()].copy_from_slice(bytes);
        command
    };
    let mut without_end = with(0, &[]);
    without_end.data[256..512].fill(b'x');
    let mut without_name = with(0, &[]);
    without_name.data[512..768].fill(0);
    let mut another_host = with(0, &[]);
    another_host.data[0] ^= 1;
    let mut another_name = with(0, &[]);
    another_name.data[512] ^= 1;
    // What is wrong is named by its offset: in the command, or in its data.
    let in_data = 1 << 16;
    for (command, status, offset) in [
        (with(40, &[1]), 0x180, 0),
        (with(44, &[0, 0]), CONNECT_PARAMETERS, 44),
        (with(44, &[128, 0]), CONNECT_PARAMETERS, 44),
        (with(42, &[17, 0]), CONNECT_PARAMETERS, 42),
        (with(42, &[0xFF, 0xFF]), CONNECT_PARAMETERS, 42),
        (with(42, &[32, 0]), CONNECT_PARAMETERS, 42),
        (without_end, CONNECT_PARAMETERS, in_data | 256),
        (without_name, CONNECT_PARAMETERS, in_data | 512),
        (another_name, CONNECT_PARAMETERS, in_data | 512),
        (another_host, CONNECT_PARAMETERS, in_data),
        (WireCommand::connect(NQN, HOST, 1, 0xFFFF), CONNECT_PARAMETERS, in_data | 16),
        (WireCommand::connect(NQN, HOST, 1, admin.controller + 1), CONNECT_PARAMETERS, in_data | 16),
        (WireCommand::connect(NQN, HOST, 0, admin.controller), CONNECT_PARAMETERS, in_data | 16),
    ] {
        let told = link.run(command.clone()).unwrap_err();
        assert_eq!((told, link.result), (status, offset), "{:?}", &command.entry[40..48]);
    }
    assert_eq!(target.target.controllers(), 1, "none was made");
    link.connect(NQN, HOST, 1, admin.controller).unwrap();
    assert_eq!(link.connect(NQN, HOST, 2, admin.controller).unwrap_err(), SEQUENCE_ERROR, "once");
    link.run(WireCommand::flush()).unwrap();
    assert_eq!(link.run(WireCommand::get_property(0, true)).unwrap_err(), SEQUENCE_ERROR);
}

#[test]
fn data_out_of_order_beyond_its_length_or_for_another_command_writes_nothing() {
    let cases: [(Vec<u8>, usize, (u16, u32)); 7] = [
        (data_unit(0, 0, 512, 512, false), 512, (4, 0)),
        (data_unit(0, 0, 0, 1536, true), 1536, (4, 0)),
        (data_unit(0, 0, 0, 1024, true), 512, (4, 0)),
        (data_unit(1, 0, 0, 1024, true), 1024, (1, 8)),
        (data_unit(0, 1, 0, 1024, true), 1024, (1, 10)),
        (data_unit(0, 0, 0, 512, true), 512, (1, 1)),
        (data_unit(0, 0, 0, 1024, false), 1024, (1, 1)),
    ];
    for (number, (unit, bytes, cause)) in cases.into_iter().enumerate() {
        let target = MemoryTarget::new();
        let admin = target.admin(PLAIN);
        let mut io = asking(&target, &admin);
        io.send_unit(write_unit(0, 1024), None);
        assert_eq!(io.receive_unit().kind, 0x09, "data is asked for");
        io.send_unit(unit, Some(&vec![5; bytes]));
        let (error, field, _) = termination(&mut io);
        assert_eq!((error, field), cause, "case {number}");
        assert!(target.device.borrow().bytes.iter().all(|&byte| byte == 0), "case {number}");
        assert_eq!(io.wire.connection.held(), 0, "case {number}");
    }
    // The same piece twice.
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut io = asking(&target, &admin);
    io.send_unit(write_unit(0, 1024), None);
    io.receive_unit();
    for _ in 0..2 {
        io.send_unit(data_unit(0, 0, 0, 512, false), Some(&[5; 512]));
    }
    assert_eq!(termination(&mut io).0, 4);
}

#[test]
fn an_identifier_is_taken_from_the_command_on_and_not_only_once_its_data_is_there() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut io = asking(&target, &admin);
    io.send_unit(write_unit(5, 1024), None);
    assert_eq!(io.receive_unit().kind, 0x09);
    io.send_unit(write_unit(5, 512), None);
    let refused = io.receive_unit();
    let status = u16::from_le_bytes([refused.header[22], refused.header[23]]) >> 1 & 0x7FF;
    assert_eq!((refused.kind, refused.header[20], status), (5, 5, ID_CONFLICT));
    // The first goes on.
    io.send_unit(data_unit(5, 0, 0, 1024, true), Some(&[6; 1024]));
    let done = io.receive_unit();
    assert_eq!((done.kind, done.header[20], done.header[22] >> 1), (5, 5, 0));
    assert_eq!(target.device.borrow().bytes[..1025], [vec![6; 1024], vec![0]].concat());
}

#[test]
fn more_writes_than_entries_end_the_connection_while_their_data_is_awaited() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut io = asking(&target, &admin);
    for id in 0..128 {
        io.send_unit(write_unit(id, 512), None);
        assert_eq!(io.receive_unit().kind, 0x09);
    }
    io.send_unit(write_unit(128, 512), None);
    assert_eq!(termination(&mut io).0, 2, "out of order");
    assert_eq!(io.wire.connection.held(), 0);
}

#[test]
fn a_termination_request_of_the_host_ends_what_waits_and_leaves_what_was_written() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut io = asking(&target, &admin);
    io.run(WireCommand::write(64, vec![1; 512], false)).unwrap();
    io.send_unit(write_unit(90, 1024), None);
    io.receive_unit();
    io.send_unit(data_unit(90, 0, 0, 512, false), Some(&[5; 512]));
    let term = [vec![0x02, 0, 24, 0, 24, 0, 0, 0, 1, 0], vec![0; 14]].concat();
    // What comes behind it is not read.
    io.wire.send(&[term, data_unit(90, 0, 512, 512, true)].concat());
    assert!(io.wire.connection.is_ended() && !io.wire.connection.wants_input());
    assert_eq!((io.wire.connection.held(), io.wire.connection.in_flight()), (0, 0));
    assert!(io.wire.output().is_empty(), "it is not answered");
    let device = target.device.borrow();
    assert_eq!((device.bytes[0], device.bytes[64 * 512]), (0, 1));
    assert_eq!(target.target.controllers(), 1, "the controller stays: its admin queue does");
}

#[test]
fn a_host_that_leaves_with_data_outstanding_frees_its_queue_and_writes_nothing() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    for _ in 0..40 {
        let mut io = asking(&target, &admin);
        io.send_unit(write_unit(0, 1024), None);
        io.receive_unit();
        io.send_unit(data_unit(0, 0, 0, 512, false), Some(&[5; 512]));
        drop(io);
    }
    assert!(target.device.borrow().bytes.iter().all(|&byte| byte == 0));
    asking(&target, &admin).run(WireCommand::flush()).unwrap();
}

#[test]
fn two_hosts_that_write_at_once_each_write_whole_commands() {
    let target = MemoryTarget::new();
    let first = target.admin(PLAIN);
    let mut other = target.link(PLAIN);
    other.connect(NQN, "another", 0, 0xFFFF).unwrap();
    other.enable();
    let mut one = asking(&target, &first);
    let mut two = target.link(PLAIN);
    two.connect(NQN, "another", 1, other.controller).unwrap();
    // The first host's data comes in two pieces, and the other's write of the same blocks between them.
    one.send_unit(write_unit(0, 4096), None);
    one.receive_unit();
    one.send_unit(data_unit(0, 0, 0, 2048, false), Some(&[1; 2048]));
    two.run(WireCommand::write(0, vec![2; 4096], false)).unwrap();
    assert_eq!(two.run(WireCommand::read(0, 8)).unwrap().1, [2; 4096]);
    one.send_unit(data_unit(0, 0, 2048, 2048, true), Some(&[1; 2048]));
    assert_eq!(one.receive_unit().kind, 5);
    assert_eq!(two.run(WireCommand::read(0, 8)).unwrap().1, [1; 4096]);
    // One that ends takes nothing of the other with it.
    one.send_unit(data_unit(0, 0, 0, 512, true), Some(&[3; 512]));
    assert_eq!(termination(&mut one).0, 1);
    two.run(WireCommand::write(8, vec![4; 512], true)).unwrap();
    assert_eq!(target.target.controllers(), 2);
}
