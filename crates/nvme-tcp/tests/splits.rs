//! Does any split of the bytes give the same output?

use proptest::prelude::*;

use crate::initiator::{LinkWishes, WireCommand, reported};
use crate::memory::{BLOCKS, HOST, MemoryTarget, NQN, ZONE_BYTES};

/// Bytes of a host that connects an I/O queue and moves data in every way, and what it gets. The device is in the same state before each call.
fn conversation(wishes: LinkWishes) -> (Vec<u8>, MemoryTarget) {
    let target = MemoryTarget::new();
    let admin = target.admin(wishes);
    let mut io = target.io(&admin, 1, wishes);
    for round in 0..4_u8 {
        io.run(WireCommand::write(u64::from(round) * 300, vec![round; 300 * 512], round % 2 == 0)).unwrap();
        io.run(WireCommand::read(u64::from(round) * 300, 250)).unwrap();
        io.run(WireCommand::compare(0, vec![0; 1024])).unwrap();
        io.run(WireCommand::read(1 << 40, 1)).unwrap_err();
        io.run(WireCommand::deallocate(&[(5, 5), (0, 1)])).unwrap();
    }
    (io.wire.sent, target)
}

/// The same of a host of zones: appends, some of them refused, reports, whole and cut off, and actions on one zone and on all.
fn zoned_conversation(wishes: LinkWishes) -> Vec<u8> {
    const FINISH: u32 = 2;
    const RESET: u32 = 4;
    let target = MemoryTarget::zoned();
    let admin = target.admin(wishes);
    let mut io = target.io(&admin, 1, wishes);
    for round in 0..4_u8 {
        let zone = u64::from(round) * 16;
        let appended = io.run(WireCommand::append(zone, vec![round; 9 * 4096])).unwrap().0;
        assert_eq!(appended, zone, "the first block of an empty zone");
        assert_eq!(io.run(WireCommand::append(zone, vec![7; 4096])).unwrap().0, zone + 9);
        io.run(WireCommand::append(zone, vec![9; 9 * 4096])).unwrap_err();
        assert_eq!(io.run(WireCommand::read_long(zone, 10)).unwrap().1[9 * 4096..], [7; 4096]);
        io.run(WireCommand::zone_action(zone, FINISH)).unwrap();
        io.run(WireCommand::zone_action(zone + 1, FINISH)).unwrap_err();
        let report = io.run(WireCommand::report_zones(0, 0, false, 4096)).unwrap().1;
        assert_eq!(reported(&report).0, BLOCKS * 512 / ZONE_BYTES);
        io.run(WireCommand::report_zones(zone, 0, true, 256)).unwrap();
    }
    io.run(WireCommand::all_zones(RESET)).unwrap();
    assert!(target.device.borrow().zones.iter().all(|&written| written == 0));
    io.wire.sent
}

/// Output of an I/O queue of `target` that gets `bytes` in these steps.
fn output(target: &MemoryTarget, bytes: &[u8], steps: Vec<usize>, wishes: LinkWishes) -> Vec<u8> {
    let _admin = target.admin(wishes);
    let mut wire = target.wire();
    wire.steps = steps;
    wire.feed(bytes);
    wire.output()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn splits_do_not_matter(
        steps in proptest::collection::vec(prop_oneof![1..80_usize, 1..70_000_usize], 1..20),
        digests in any::<(bool, bool)>(),
        in_capsule in prop_oneof![Just(0_usize), Just(8192)],
    ) {
        let wishes = LinkWishes { header_digest: digests.0, data_digest: digests.1, in_capsule, ..LinkWishes::default() };
        let (bytes, _) = conversation(wishes);
        let whole = output(&MemoryTarget::new(), &bytes, vec![usize::MAX], wishes);
        prop_assert!(output(&MemoryTarget::new(), &bytes, steps.clone(), wishes) == whole);
        let bytes = zoned_conversation(wishes);
        let whole = output(&MemoryTarget::zoned(), &bytes, vec![usize::MAX], wishes);
        prop_assert!(output(&MemoryTarget::zoned(), &bytes, steps, wishes) == whole);
    }

    /// Bytes that a host has changed, left out or repeated: the end of the connection is the same, too.
    #[test]
    fn splits_do_not_matter_for_wrong_bytes(
        steps in proptest::collection::vec(prop_oneof![1..80_usize, 1..70_000_usize], 1..20),
        places in any::<[prop::sample::Index; 2]>(),
        change in any::<u8>(),
        digests in any::<(bool, bool)>(),
    ) {
        let wishes = LinkWishes { header_digest: digests.0, data_digest: digests.1, ..LinkWishes::default() };
        let (mut bytes, _) = conversation(wishes);
        let [from, to] = places.map(|place| 128 + place.index(bytes.len() - 128));
        match change {
            0 => drop(bytes.drain(from.min(to)..from.max(to).min(from.min(to) + 200))),
            1 => bytes.extend_from_within(from..),
            _ => bytes[if change < 128 { 128 + from % 400 } else { from }] ^= change,
        }
        let whole = output(&MemoryTarget::new(), &bytes, vec![usize::MAX], wishes);
        prop_assert!(output(&MemoryTarget::new(), &bytes, steps, wishes) == whole);
        prop_assert!(output(&MemoryTarget::new(), &bytes, vec![1], wishes) == whole);
    }
}

#[test]
fn one_byte_at_a_time_is_enough() {
    let wishes = LinkWishes { header_digest: true, data_digest: true, ..LinkWishes::default() };
    let (bytes, _) = conversation(wishes);
    let [single, whole] =
        [1, usize::MAX].map(|step| output(&MemoryTarget::new(), &bytes, vec![step], wishes));
    assert!(single == whole);
    let bytes = zoned_conversation(wishes);
    let [single, whole] =
        [1, usize::MAX].map(|step| output(&MemoryTarget::zoned(), &bytes, vec![step], wishes));
    assert!(single == whole);
    assert!(NQN.len() + HOST.len() < 512);
}
