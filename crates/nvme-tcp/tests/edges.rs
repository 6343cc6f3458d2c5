//! Commands at the edges of what they may name: logs, namespaces, blocks. What is refused changes nothing.

use crate::initiator::{LinkWishes, WireCommand};
use crate::memory::{BLOCKS, MemoryTarget, facts};

const PLAIN: LinkWishes =
    LinkWishes { header_digest: false, data_digest: false, alignment: 0, in_capsule: 8192, piece: 0 };
/// Statuses.
const INVALID_FIELD: u16 = 0x002;
const INVALID_NAMESPACE: u16 = 0x00B;
const WRITE_PROTECTED: u16 = 0x020;
const NOT_SAVEABLE: u16 = 0x10D;
const NOT_OF_NAMESPACE: u16 = 0x10F;
const OUT_OF_RANGE: u16 = 0x080;
const SIZE_LIMIT: u16 = 0x183;

#[test]
fn aborts_of_commands_that_are_over_and_event_requests_above_the_limit_are_answered() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(PLAIN);
    let id = admin.send(WireCommand::identify(1, 0));
    admin.wait(id).unwrap();
    for command in [u32::from(id) << 16, 0xFFFF_0000, 0xFFFF_FFFF, 1 << 16 | 1] {
        let aborted = admin.run(WireCommand::new(0x08, 0, [command, 0, 0, 0, 0, 0])).unwrap().0;
        assert_eq!(aborted & 1, 1, "nothing was aborted");
    }
    let requests: Vec<u16> = (0..4).map(|_| admin.send(WireCommand::event_request())).collect();
    for _ in 0..20 {
        assert_eq!(admin.run(WireCommand::event_request()).unwrap_err(), 0x105);
    }
    // An abort of a request that waits leaves it.
    admin.run(WireCommand::new(0x08, 0, [u32::from(requests[0]) << 16, 0, 0, 0, 0, 0])).unwrap();
    assert!(requests.iter().all(|&request| !admin.has_ended(request)));
    // A reset drops them, and there is room for four again.
    admin.run(WireCommand::set_property(0x14, 0x0046_0000)).unwrap();
    admin.enable();
    for _ in 0..4 {
        admin.send(WireCommand::event_request());
    }
    assert_eq!(admin.run(WireCommand::event_request()).unwrap_err(), 0x105);
}

#[test]
fn an_event_whose_log_the_host_has_read_is_not_told_later() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(PLAIN);
    admin.run(WireCommand::set_feature(0x0B, 0xFF)).unwrap();
    admin.wire.connection.report_warning(0x04);
    target.device.borrow_mut().health[0] = 0x04;
    admin.run(WireCommand::log_page(2, 512, 0)).unwrap();
    let request = admin.send(WireCommand::event_request());
    assert!(!admin.has_ended(request), "the host knows");
    // A log that was read with its event retained leaves it.
    target.device.borrow_mut().health[0] = 0x0C;
    admin.run(WireCommand::log_page(2 | 1 << 15, 512, 0)).unwrap();
    admin.wire.connection.report_warning(0x0C);
    assert_eq!(admin.wait(request).unwrap().0, 0x02_0001);
}

#[test]
fn logs_of_odd_offsets_and_lengths_are_cut_at_their_end_or_refused() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(PLAIN);
    target.device.borrow_mut().health[508..].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(admin.run(WireCommand::log_page(2, 8, 508)).unwrap().1, [1, 2, 3, 4, 0, 0, 0, 0]);
    assert_eq!(admin.run(WireCommand::log_page(2, 4, 512)).unwrap().1, [0; 4], "at the end");
    for page in [1, 2, 3, 5, 0x0E, 0xC0] {
        for offset in [1, 2, 3, 511, u32::MAX - 3] {
            assert_eq!(admin.run(WireCommand::log_page(page, 4, offset)).unwrap_err(), INVALID_FIELD);
        }
        let far = WireCommand::log_page(page, 4, 0).with_dword(13, 1 << 31);
        assert_eq!(admin.run(far).unwrap_err(), INVALID_FIELD, "an offset of 64 bits");
        let long = WireCommand::log_page(page, 1 << 20, 0);
        assert_eq!(admin.run(long).unwrap().1.len(), 1 << 20, "{page:#x}: zeroes behind the end");
        let longer = WireCommand::log_page(page, (1 << 20) + 4, 0);
        assert_eq!(admin.run(longer).unwrap_err(), INVALID_FIELD);
        let index = WireCommand::log_page(page, 4, 0).with_dword(14, 1 << 23);
        assert_eq!(admin.run(index).unwrap_err(), INVALID_FIELD, "offsets are bytes");
    }
    for page in [1, 2, 3, 4, 5, 0x0E, 0xC0] {
        for namespace in [1, 9] {
            let outcome = admin.run(WireCommand::log_page(page, 512, 0).of(namespace));
            assert_eq!(outcome.unwrap_err(), INVALID_FIELD, "{page:#x} of a namespace");
        }
        admin.run(WireCommand::log_page(page, 512, 0).of(0)).unwrap();
    }
}

#[test]
fn features_are_those_of_the_controller_or_of_a_namespace_and_none_is_saved() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(PLAIN);
    let all = 0xFFFF_FFFF;
    for feature in [1, 2, 4, 6, 7, 0x0A, 0x0B, 0x0F, 0x15] {
        for namespace in [0, 1, all] {
            admin.run(WireCommand::feature(feature).of(namespace)).unwrap();
        }
        let value = admin.run(WireCommand::feature(feature)).unwrap().0 as u32;
        for (namespace, status) in [(1, NOT_OF_NAMESPACE), (2, INVALID_NAMESPACE)] {
            let outcome = admin.run(WireCommand::set_feature(feature, value).of(namespace));
            assert_eq!(outcome.unwrap_err(), status, "{feature:#x} of {namespace}");
        }
        admin.run(WireCommand::set_feature(feature, value).of(all)).unwrap();
        let saved = WireCommand::set_feature(feature | 1 << 31, value);
        assert_eq!(admin.run(saved).unwrap_err(), NOT_SAVEABLE, "{feature:#x}");
    }
    // Error recovery is that of a namespace.
    for (namespace, is_there) in [(0, false), (1, true), (2, false)] {
        let expected = if is_there { Ok((0, Vec::new())) } else { Err(INVALID_NAMESPACE) };
        assert_eq!(admin.run(WireCommand::feature(5).of(namespace)), expected);
        assert_eq!(admin.run(WireCommand::set_feature(5, 0).of(namespace)), expected);
    }
    assert_eq!(admin.run(WireCommand::feature(5).of(all)).unwrap_err(), INVALID_NAMESPACE, "which one?");
    admin.run(WireCommand::set_feature(5, 0).of(all)).unwrap();
    // What is not there cannot be saved either.
    for unknown in [0x03, 0x0E, 0x16, 0x19, 0x1D, 0x84] {
        assert_eq!(admin.run(WireCommand::set_feature(unknown | 1 << 31, 0)).unwrap_err(), INVALID_FIELD);
    }
}

#[test]
fn the_number_of_queues_is_settled_before_the_first_of_them() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(PLAIN);
    let set = || WireCommand::set_feature(7, 0x0001_0001);
    admin.run(set()).unwrap();
    let io = target.io(&admin, 1, PLAIN);
    assert_eq!(admin.run(set()).unwrap_err(), 0x00C);
    admin.run(WireCommand::feature(7)).unwrap();
    drop(io);
    admin.run(set()).unwrap();
}

#[test]
fn the_error_log_has_the_first_block_of_commands_that_name_one() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(PLAIN);
    let mut io = target.io(&admin, 1, PLAIN);
    let last = BLOCKS + 7;
    for (command, expected) in [
        (WireCommand::read(last, 1), last),
        (WireCommand::write(last, vec![1; 512], false), last),
        (WireCommand::verify(last, 1), last),
        (WireCommand::copy(&[(0, 1)], last), last),
        // Dwords 10 and 11 are a number of ranges and attributes, or nothing.
        (WireCommand::deallocate(&[(last, 1), (0, 1)]), 0),
        (WireCommand::flush().of(9).with_dword(10, 5), 0),
    ] {
        let opcode = command.entry[0];
        io.run(command).unwrap_err();
        let log = admin.run(WireCommand::log_page(1, 64, 0)).unwrap().1;
        let lba = u64::from_le_bytes(log[16..24].try_into().unwrap());
        assert_eq!((log[8], lba), (1, expected), "{opcode:#x}");
    }
}

#[test]
fn namespaces_that_are_not_there_are_refused_by_every_command() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(PLAIN);
    for namespace in [0, 2, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF] {
        for structure in [0, 3, 5] {
            let outcome = admin.run(WireCommand::identify(structure, namespace));
            assert_eq!(outcome.unwrap_err(), INVALID_NAMESPACE, "{structure} of {namespace:#x}");
        }
        let status = WireCommand::lba_status(0, 0, 64).of(namespace);
        assert_eq!(admin.run(status).unwrap_err(), INVALID_NAMESPACE);
    }
    for after in [0xFFFF_FFFE, 0xFFFF_FFFF] {
        assert_eq!(admin.run(WireCommand::identify(2, after)).unwrap_err(), INVALID_NAMESPACE);
    }
    let mut io = target.io(&admin, 1, PLAIN);
    for namespace in [0, 2, 0xFFFF_FFFF] {
        for command in [
            WireCommand::read(0, 1),
            WireCommand::write(0, vec![1; 512], false),
            WireCommand::compare(0, vec![1; 512]),
            WireCommand::write_zeroes(0, 1, true),
            WireCommand::verify(0, 1),
            WireCommand::deallocate(&[(0, 1)]),
            WireCommand::copy(&[(0, 1)], 1),
        ] {
            let opcode = command.entry[0];
            let outcome = io.run(command.of(namespace));
            assert_eq!(outcome.unwrap_err(), INVALID_NAMESPACE, "{opcode:#x} of {namespace:#x}");
        }
    }
    assert_eq!(io.run(WireCommand::flush().of(2)).unwrap_err(), INVALID_NAMESPACE);
    io.run(WireCommand::flush().of(0xFFFF_FFFF)).unwrap();
}

#[test]
fn commands_up_to_the_last_block_are_carried_out_and_those_beyond_it_change_nothing() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut io = target.io(&admin, 1, PLAIN);
    io.run(WireCommand::write(BLOCKS - 2, vec![3; 1024], false)).unwrap();
    io.run(WireCommand::compare(BLOCKS - 1, vec![3; 512])).unwrap();
    io.run(WireCommand::verify(0, BLOCKS)).unwrap();
    io.run(WireCommand::copy(&[(BLOCKS - 1, 1)], BLOCKS - 3)).unwrap();
    io.run(WireCommand::deallocate(&[(BLOCKS, 0), (0, 1)])).unwrap();
    let before = target.device.borrow().bytes.clone();
    let last = u64::MAX;
    for command in [
        WireCommand::read(BLOCKS, 1),
        WireCommand::read(last, 2),
        WireCommand::write(BLOCKS - 1, vec![1; 1024], false),
        WireCommand::write(last, vec![1; 512], false),
        WireCommand::compare(BLOCKS - 1, vec![3; 1024]),
        WireCommand::verify(BLOCKS - 1, 65536),
        WireCommand::verify(1, BLOCKS),
        WireCommand::write_zeroes(BLOCKS - 1, 2, false),
        WireCommand::write_zeroes(0, 65536, true),
        WireCommand::write_zeroes(last, 65536, true),
        WireCommand::deallocate(&[(0, 8), (BLOCKS - 1, 2)]),
        WireCommand::deallocate(&[(last, u32::MAX)]),
        WireCommand::deallocate(&[(BLOCKS + 1, 0)]),
        WireCommand::copy(&[(0, 2), (BLOCKS - 1, 2)], 8),
        WireCommand::copy(&[(0, 2)], BLOCKS - 1),
        WireCommand::copy(&[(last, 2)], 0),
        WireCommand::copy(&[(0, 2)], last),
    ] {
        let text = format!("{:?}", &command.entry[..]);
        assert_eq!(io.run(command).unwrap_err(), OUT_OF_RANGE, "{text}");
    }
    let ranges = vec![(0, 1); 256];
    assert_eq!(io.run(WireCommand::copy(&ranges[..129], 0)).unwrap_err(), SIZE_LIMIT);
    assert_eq!(io.run(WireCommand::copy(&[(0, 2049)], 0)).unwrap_err(), SIZE_LIMIT);
    assert_eq!(io.run(WireCommand::copy(&[(0, 1025), (0, 1024)], 0)).unwrap_err(), SIZE_LIMIT);
    assert!(target.device.borrow().bytes == before, "nothing is done of what is refused");
    io.run(WireCommand::copy(&ranges[..128], 0)).unwrap();
    io.run(WireCommand::write_zeroes(0, BLOCKS, true)).unwrap();
    assert!(target.device.borrow().bytes.iter().all(|&byte| byte == 0));
}

#[test]
fn fused_commands_and_descriptors_that_are_none_are_refused() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut io = target.io(&admin, 1, PLAIN);
    for fuse in 1..4 {
        let mut fused = WireCommand::compare(0, vec![0; 512]);
        fused.entry[1] |= fuse;
        assert_eq!(io.run(fused).unwrap_err(), INVALID_FIELD);
    }
    // An offset into the data of the capsule leaves too little, or nothing.
    for (offset, status) in [(4, 0x00F), (512, 0x00F), (513, 0x016), (u64::MAX, 0x016)] {
        let mut shifted = WireCommand::write(0, vec![1; 512], false);
        shifted.entry[24..32].copy_from_slice(&offset.to_le_bytes());
        assert_eq!(io.run(shifted).unwrap_err(), status, "an offset of {offset}");
    }
    let short = WireCommand::write(0, vec![1; 512], false).with_data(vec![1; 511]);
    assert_eq!(io.run(short).unwrap_err(), 0x00F);
    assert!(target.device.borrow().bytes.iter().all(|&byte| byte == 0));
}

#[test]
fn data_may_begin_at_an_offset_into_the_capsule() {
    let target = MemoryTarget::new();
    let admin = target.admin(PLAIN);
    let mut io = target.io(&admin, 1, PLAIN);
    let mut entry = WireCommand::range(0x01, 8, 1, 0).entry;
    (entry[1], entry[24], entry[39]) = (0x40, 100, 0x01);
    entry[32..36].copy_from_slice(&512_u32.to_le_bytes());
    let unit = [vec![0x04, 0, 72, 0, 0, 0, 0, 0], entry.to_vec()].concat();
    io.send_unit(unit, Some(&[vec![9; 100], vec![1; 512]].concat()));
    let end = io.receive_unit();
    assert_eq!((end.kind, &end.header[22..24]), (0x05, &[0, 0][..]));
    assert!(target.device.borrow().bytes[8 * 512..9 * 512] == [1; 512]);
}

#[test]
fn a_namespace_that_takes_no_writes_is_read_and_refuses_every_change() {
    let mut target = MemoryTarget::new();
    target.offer.subsystems = vec![facts(false)].into();
    let mut admin = target.admin(PLAIN);
    assert_eq!(admin.run(WireCommand::identify(0, 1)).unwrap().1[99], 1);
    let mut io = target.io(&admin, 1, PLAIN);
    for command in [
        WireCommand::write(0, vec![1; 512], true),
        WireCommand::write_zeroes(0, 8, true),
        WireCommand::deallocate(&[(0, 8)]),
        WireCommand::copy(&[(0, 8)], 8),
    ] {
        assert_eq!(io.run(command).unwrap_err(), WRITE_PROTECTED);
    }
    io.run(WireCommand::range(0x02, 0, 1, 1 << 30).returning(512)).unwrap();
    io.run(WireCommand::compare(0, vec![0; 512])).unwrap();
    io.run(WireCommand::verify(0, BLOCKS)).unwrap();
    io.run(WireCommand::flush()).unwrap();
    let device = target.device.borrow();
    assert_eq!((device.flushes, device.bytes.iter().any(|&byte| byte > 0)), (0, false));
}
