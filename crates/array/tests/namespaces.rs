//! An array has one namespace, and passes placement identifiers through to its members.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{
    Command, CommandResult, Completion, Device, Extent, Identity, NamespaceId, Op, Outcome, PlacementId,
    Smart, Tag,
};
use outlast_settings::array::Level;
use outlast_units::{Lba, Nanos};
use support::settings::array_of;
use support::{command, plain, route};

const SECTORS: u64 = 400;

/// A device that remembers the writes that it was given, and ends commands with a result.
#[derive(Clone, Debug)]
struct Recording {
    inner: PlainDevice,
    writes: Vec<Command>,
}

impl Device for Recording {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.writes.extend(Some(command).filter(|command| command.op == Op::Write));
        self.inner.submit(now, command, tag);
    }
    fn next_deadline(&self) -> Option<Nanos> {
        self.inner.next_deadline()
    }
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        let from = completions.len();
        self.inner.advance(now, completions);
        completions[from..].iter_mut().for_each(|completion| completion.result = CommandResult(77));
    }
    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.inner.extents(lba, sectors)
    }
    fn identify(&self) -> Identity {
        self.inner.identify()
    }
    fn smart(&self) -> Smart {
        self.inner.smart()
    }
    fn self_check(&self) -> Result<(), String> {
        self.inner.self_check()
    }
}

fn recording_array(level: Level, members: u16) -> Array<Recording> {
    let config = array_of(level, members);
    let member = |seed| Recording { inner: plain(SECTORS, seed), writes: Vec::new() };
    Array::new(config, (0..u64::from(members)).map(member).collect(), false).unwrap()
}

/// Submits `command` and runs until it has ended.
fn run(array: &mut Array<Recording>, now: &mut Nanos, command: Command) -> Completion {
    let mut done = Vec::new();
    array.submit(*now, command, Tag(3));
    while done.is_empty() {
        *now = array.advance_to_completion(Nanos(u64::MAX - 1), &mut done);
    }
    array.self_check().unwrap();
    done[0]
}

#[test]
fn commands_to_a_namespace_that_is_not_there_reach_no_member() {
    let (mut array, mut now) = (recording_array(Level::Raid5, 3), Nanos::ZERO);
    for namespace in [NamespaceId(0), NamespaceId(2), NamespaceId(u32::MAX)] {
        for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
            let other = Command { namespace, ..command(op, 8, if op == Op::Flush { 0 } else { 8 }) };
            assert_eq!(run(&mut array, &mut now, other).outcome, Outcome::InvalidNamespace, "{op:?}");
            assert_eq!(route(&mut array, other), Outcome::InvalidNamespace);
        }
    }
    assert!((0..3).all(|column| array.member(column).unwrap().writes.is_empty()));
}

#[test]
fn members_get_the_placement_of_the_host_and_their_own_namespace() {
    for level in [Level::Raid0, Level::Raid1, Level::Raid5] {
        let (mut array, mut now) = (recording_array(level, 3), Nanos::ZERO);
        let write = Command { placement: PlacementId(40_001), ..command(Op::Write, 8, 8) };
        let completion = run(&mut array, &mut now, write);
        // The result of a member's command is none of the array's.
        assert_eq!((completion.outcome, completion.result), (Outcome::Ok, CommandResult::NONE));
        let all = (0..3).flat_map(|column| array.member(column).unwrap().writes.clone());
        let writes: Vec<Command> = all.collect();
        assert!(!writes.is_empty());
        for member_write in writes {
            assert_eq!(
                (member_write.placement, member_write.namespace),
                (PlacementId(40_001), NamespaceId::FIRST),
                "{level:?}"
            );
        }
    }
}
