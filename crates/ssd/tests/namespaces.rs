//! A drive has one namespace: commands to any other do nothing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, CommandResult, Device, NamespaceId, Op, Outcome, PlacementId, Tag};
use outlast_ssd::Ssd;
use outlast_units::Nanos;
use support::{command, tiny};

const OTHERS: [NamespaceId; 3] = [NamespaceId(0), NamespaceId(2), NamespaceId(u32::MAX)];

struct Bench {
    ssd: Ssd,
    now: Nanos,
}

impl Bench {
    fn run(&mut self, command: Command, data: &[u8]) -> Outcome {
        let mut done = Vec::new();
        self.ssd.submit_data(self.now, command, Tag(7), data);
        while done.is_empty() {
            self.now = self.ssd.advance_to_completion(Nanos::MAX, &mut done);
        }
        self.ssd.self_check().unwrap();
        assert_eq!((done.len(), done[0].tag, done[0].result), (1, Tag(7), CommandResult::NONE));
        done[0].outcome
    }
}

#[test]
fn commands_to_a_namespace_that_is_not_there_change_nothing() {
    let mut config = tiny();
    config.bytes = true;
    let mut bench = Bench { ssd: Ssd::new(config, 1).unwrap(), now: Nanos::ZERO };
    assert_eq!(bench.run(command(Op::Write, 8, 8), &[5; 4096]), Outcome::Ok);
    let before = bench.ssd.written();
    for namespace in OTHERS {
        for op in [Op::Read, Op::Write, Op::Trim, Op::LbaStatus] {
            let other = Command { namespace, ..command(op, 8, 8) };
            assert_eq!(bench.run(other, &[9; 4096]), Outcome::InvalidNamespace, "{op:?}");
            assert_eq!(bench.ssd.take_data(Tag(7)), None);
            assert_eq!(bench.ssd.apply_untimed(&other), Outcome::InvalidNamespace);
        }
        let flush = Command { namespace, ..Command::FLUSH };
        assert_eq!(bench.run(flush, &[]), Outcome::InvalidNamespace);
        // The namespace goes before the range, which would be of that namespace.
        let beyond = Command { namespace, ..command(Op::Read, u64::MAX - 8, 8) };
        assert_eq!(bench.run(beyond, &[]), Outcome::InvalidNamespace);
    }
    assert_eq!(bench.ssd.written(), before);
    assert_eq!(bench.run(command(Op::Read, 8, 8), &[]), Outcome::Ok);
    assert_eq!(bench.ssd.take_data(Tag(7)), Some(vec![5; 4096]));
}

/// Streams are as many as the settings say; an identifier of more than 8 bits is taken modulo their number, too.
#[test]
fn a_placement_identifier_of_16_bits_selects_its_stream() {
    let mut config = tiny();
    config.ftl.streams = 3;
    let mut bench = Bench { ssd: Ssd::new(config, 1).unwrap(), now: Nanos::ZERO };
    for (unit, id) in (0u64..).zip([0, 1, 2, 256, 257, 65_535]) {
        let write = Command { placement: PlacementId(id), ..command(Op::Write, 8 * unit, 8) };
        assert_eq!(bench.run(write, &[]), Outcome::Ok);
    }
    let ftl = bench.ssd.ftls().next().unwrap();
    let begun = [0, 1, 2].map(|hint| {
        let stream = ftl.stream(ftl.streams().host(hint, 0));
        stream.data_units() - stream.room()
    });
    assert_eq!(begun, [2, 2, 2]);
}
