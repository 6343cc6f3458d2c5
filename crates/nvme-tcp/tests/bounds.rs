//! Whatever a host sends: no panic, no growth beyond the bound, no request out of range, no wrong byte.

use proptest::prelude::*;

use crate::initiator::{HostWire, LinkWishes, WireCommand};
use crate::memory::{BLOCKS, MemoryTarget};

const BOTH: LinkWishes =
    LinkWishes { header_digest: true, data_digest: true, alignment: 0, in_capsule: 4096, piece: 0 };

/// Bytes of an I/O queue that writes each block once, with its number in each byte of it.
fn writer(target: &MemoryTarget) -> Vec<u8> {
    let admin = target.admin(BOTH);
    let mut io = target.io(&admin, 1, BOTH);
    for at in 0..12 {
        let blocks = if at % 3 == 0 { 40 } else { 4 };
        let data = (at * 64..at * 64 + blocks).flat_map(|block| [block as u8 | 1; 512]).collect();
        io.run(WireCommand::write(at * 64, data, false)).unwrap();
    }
    io.wire.sent
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// With digests, a changed byte is found: blocks are as they were, or as the host has written them.
    #[test]
    fn a_changed_byte_writes_no_wrong_byte(place in any::<prop::sample::Index>(), change in 1..=255_u8) {
        let mut bytes = writer(&MemoryTarget::new());
        // Digests hold from the second unit on.
        let at = 128 + place.index(bytes.len() - 128);
        bytes[at] ^= change;
        let target = MemoryTarget::new();
        let _admin = target.admin(BOTH);
        let mut wire = target.wire();
        wire.feed(&bytes);
        for (number, block) in target.device.borrow().bytes.chunks(512).enumerate() {
            prop_assert!(block.iter().all(|&byte| byte == 0) || block.iter().all(|&byte| byte == number as u8 | 1));
        }
    }

    /// Commands of arbitrary bytes, and units of arbitrary bytes, on both kinds of queue.
    #[test]
    fn arbitrary_units_are_survived(
        is_io in any::<bool>(),
        units in proptest::collection::vec((any::<[u8; 32]>(), any::<[u8; 32]>(), 0..12_u8, 0..9000_usize), 1..60),
        digests in any::<(bool, bool)>(),
        seed in any::<u8>(),
    ) {
        let wishes = LinkWishes { header_digest: digests.0, data_digest: digests.1, ..LinkWishes::default() };
        let target = MemoryTarget::new();
        let admin = target.admin(wishes);
        let mut link = if is_io { target.io(&admin, 1, wishes) } else { target.admin(wishes) };
        for (low, high, kind, length) in units {
            let mut entry = [0; 64];
            entry[..32].copy_from_slice(&low);
            entry[32..].copy_from_slice(&high);
            // Mostly commands that are known, with fields that may be right.
            if kind < 10 {
                entry[0] = [0x01, 0x02, 0x05, 0x08, 0x09, 0x0C, 0x19, 0x00, 0x06, 0x86][usize::from(kind)];
                entry[1] = 0x40;
                entry[4..8].copy_from_slice(&1_u32.to_le_bytes());
                entry[42..48].fill(0);
                entry[39] = if length % 2 == 0 { 0x01 } else { 0x5A };
            }
            let mut unit = vec![0x04, 0, 72, 0, 0, 0, 0, 0];
            unit.extend(entry);
            if kind == 11 {
                unit.truncate(24);
                unit[0] = seed % 10;
                unit[2] = 24;
            }
            let data = vec![seed; length];
            link.send_unit(unit, (length > 0).then_some(&data[..]));
            let held = link.wire.connection.held();
            prop_assert!(held <= 128 << 20, "{held} bytes are held");
            if link.wire.connection.is_ended() {
                prop_assert!(!link.wire.connection.wants_input());
                break;
            }
        }
    }

    /// Plain rubbish, from the first byte on.
    #[test]
    fn rubbish_ends_the_connection_or_waits(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let target = MemoryTarget::new();
        let mut wire = target.wire();
        wire.feed(&bytes);
        prop_assert!(wire.connection.held() < 1 << 20);
        prop_assert_eq!(target.target.controllers(), 0);
    }
}

#[test]
fn commands_wait_for_memory_and_all_are_carried_out() {
    let target = MemoryTarget::new();
    let admin = target.admin(LinkWishes::default());
    let mut io = target.io(&admin, 1, LinkWishes::default());
    io.wire.delayed = Some(Vec::new());
    io.wire.connection.allow(1 << 20);
    let ids: Vec<u16> = (0..64).map(|_| io.send(WireCommand::read(0, 1024))).collect();
    assert!(io.wire.connection.is_short());
    assert!(io.wire.connection.held() <= 1 << 20, "{}", io.wire.connection.held());
    while io.wire.connection.in_flight() > 0 {
        io.wire.release();
        io.wire.delayed = Some(Vec::new());
        io.wire.pump();
        assert!(io.wire.connection.held() <= 2 << 20);
    }
    for id in ids {
        assert_eq!(io.wait(id).unwrap().1.len(), 1024 * 512);
    }
    assert!(!io.wire.connection.is_short());
}

#[test]
fn data_comes_for_writes_that_were_asked_for_while_others_wait_for_memory() {
    let target = MemoryTarget::new();
    let admin = target.admin(LinkWishes::default());
    let mut io = target.io(&admin, 1, LinkWishes::default());
    io.wire.connection.allow(1);
    let ids: Vec<u16> = (0..32_u8)
        .map(|at| io.send(WireCommand::write(u64::from(at) * 64, vec![at + 1; 64 * 512], false)))
        .collect();
    assert!(io.wire.connection.held() <= 64 * 512, "one at a time");
    for id in ids {
        io.wait(id).unwrap();
    }
    let device = target.device.borrow();
    assert!(
        (0..32).all(|at| device.bytes[at * 64 * 512..][..64 * 512].iter().all(|&byte| byte == at as u8 + 1))
    );
}

/// The cause of the termination request that ends a connection which gets `bytes` after its greeting.
fn termination(wishes: LinkWishes, unit: Vec<u8>, data: Option<&[u8]>) -> (u16, u32) {
    let target = MemoryTarget::new();
    let admin = target.admin(wishes);
    let mut link = target.io(&admin, 1, wishes);
    link.send_unit(unit, data);
    let received = link.receive_unit();
    assert!(link.wire.connection.is_ended() && !link.wire.connection.wants_input());
    assert_eq!(received.kind, 0x03);
    let at = |from: usize| u16::from_le_bytes([received.header[from], received.header[from + 1]]);
    (at(8), u32::from(at(10)) | u32::from(at(12)) << 16)
}

#[test]
fn fatal_errors_end_with_a_termination_request_that_names_them() {
    let plain = LinkWishes::default();
    let capsule = |kind: u8, length: u8| [vec![kind, 0, length, 0, 0, 0, 0, 0], vec![0; 64]].concat();
    assert_eq!(termination(plain, capsule(0x0A, 72), None), (1, 0), "an unknown type");
    assert_eq!(termination(plain, capsule(0x04, 71), None), (1, 2), "a wrong length of the header");
    assert_eq!(termination(plain, capsule(0x00, 128), None), (2, 0), "ICReq twice");
    assert_eq!(
        termination(plain, capsule(0x04, 72), Some(&[0; 8193])),
        (5, 0),
        "more than a capsule carries"
    );
    let data = |tag: u8| [vec![0x06, 4, 24, 0, 0, 0, 0, 0, 0, 0, tag], vec![0; 13]].concat();
    assert_eq!(termination(plain, data(3), Some(&[0; 512])), (1, 10), "data that was not asked for");
    assert_eq!(termination(plain, data(0), Some(&vec![0; 65537])).0, 5, "more than MAXH2CDATA");
    let mut flagged = capsule(0x04, 72);
    flagged[1] = 1;
    assert_eq!(termination(plain, flagged, None), (1, 1), "a digest that was not agreed on");
}

#[test]
fn a_wrong_digest_of_a_header_ends_the_connection_and_one_of_data_fails_the_command() {
    let target = MemoryTarget::new();
    let admin = target.admin(BOTH);
    let mut io = target.io(&admin, 1, BOTH);
    // The last byte of a capsule with data is that of the data's digest.
    let clean = target.device.borrow().bytes.clone();
    let before = io.wire.sent.len();
    let mut copy = target.io(&admin, 2, BOTH);
    copy.send(WireCommand::write(0, vec![5; 512], false));
    let mut bytes = copy.wire.sent.split_off(before);
    target.device.borrow_mut().bytes.clone_from(&clean);
    let id = io.send(WireCommand::flush());
    io.wait(id).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    io.wire.send(&bytes);
    let refused = io.receive_unit();
    assert_eq!((refused.kind, refused.header[22], refused.header[23]), (5, 0x44, 0), "may be repeated");
    assert_eq!(target.device.borrow().bytes, clean);
    bytes[20] ^= 1;
    io.wire.send(&bytes);
    assert_eq!(io.receive_unit().header[8], 3, "a wrong digest of the header");
}

#[test]
fn more_commands_than_the_queue_has_entries_end_the_connection() {
    let target = MemoryTarget::new();
    let admin = target.admin(LinkWishes::default());
    let mut io = target.io(&admin, 1, LinkWishes::default());
    io.wire.delayed = Some(Vec::new());
    for at in 0..128 {
        io.send(WireCommand::read(at % BLOCKS, 1));
    }
    assert!(!io.wire.connection.is_ended());
    io.send(WireCommand::read(0, 1));
    assert!(io.wire.connection.is_ended());
}
