//! Does any split of the bytes give the same output?

use proptest::prelude::*;

use crate::initiator::{LinkWishes, WireCommand};
use crate::memory::{HOST, MemoryTarget, NQN};

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

/// Output of an I/O queue that gets `bytes` in these steps.
fn output(bytes: &[u8], steps: Vec<usize>, wishes: LinkWishes) -> Vec<u8> {
    let target = MemoryTarget::new();
    let _admin = target.admin(wishes);
    let mut wire = target.wire();
    wire.steps = steps;
    wire.feed(bytes);
    assert!(!wire.connection.is_ended());
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
        let whole = output(&bytes, vec![usize::MAX], wishes);
        prop_assert!(output(&bytes, steps, wishes) == whole);
    }
}

#[test]
fn one_byte_at_a_time_is_enough() {
    let wishes = LinkWishes { header_digest: true, data_digest: true, ..LinkWishes::default() };
    let (bytes, _) = conversation(wishes);
    assert!(output(&bytes, vec![1], wishes) == output(&bytes, vec![usize::MAX], wishes));
    assert!(NQN.len() + HOST.len() < 512);
}
