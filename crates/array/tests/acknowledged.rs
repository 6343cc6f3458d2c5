//! A write that no member has taken is never acknowledged. Members leave at every moment of it: while it waits for a mark, for old data, for
//! its record, and while it is being written.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice};
use outlast_device::{Op, Outcome};
use outlast_settings::array::{ArrayConfig, Consistency, Level};
use outlast_units::{Bytes, Nanos};
use support::failing::Failing;
use support::settings::{ArraySettings, array_of};
use support::{Host, array, command, plain};

const SECTORS: u64 = 200;

fn small(level: Level, members: u16, consistency: Consistency) -> ArrayConfig {
    array_of(level, members).with_consistency(consistency).with_small_log(Bytes::kib(32))
}

/// Every level with redundancy and every way to keep it right.
fn kinds() -> Vec<ArrayConfig> {
    use Consistency::{Bitmap, Journal, Ppl, Resync};
    let mut kinds = Vec::new();
    for consistency in [Resync, Bitmap, Ppl, Journal] {
        kinds.push(small(Level::Raid5, 4, consistency));
        kinds.push(small(Level::Raid6, 5, consistency));
    }
    for consistency in [Resync, Bitmap] {
        kinds.push(small(Level::Raid1, 2, consistency));
        kinds.push(small(Level::Raid10, 4, consistency));
    }
    kinds
}

/// One write of one chunk; `then` happens at `at`. Returns whether the write was refused; if not, it can be read.
fn one_write(config: &ArrayConfig, at: Nanos, then: impl Fn(&mut Array<PlainDevice>, Nanos)) -> bool {
    let mut host = Host::new(array(config.clone(), SECTORS));
    host.submit(command(Op::Write, 0, 8));
    let mut done = Vec::new();
    outlast_device::Device::advance(&mut host.device, at, &mut done);
    host.accept(done);
    host.now = at;
    then(&mut host.device, at);
    while host.in_flight() > 0 {
        assert!(host.step(), "{config:?}: the write never ends");
    }
    let refused = host.refused > 0;
    // Before the check of its content: an acknowledged write may not read as an error either.
    host.submit(command(Op::Read, 0, 8));
    while host.in_flight() > 0 {
        assert!(host.step());
    }
    assert!(refused || host.errors.is_empty(), "{config:?}: acknowledged at a failure at {at} and not there");
    outlast_device::Device::self_check(&host.device).unwrap();
    refused
}

/// One member too many fails, in every combination.
#[test]
fn a_write_that_reached_no_member_is_never_acknowledged() {
    for config in kinds() {
        let (members, gone) = (u32::from(config.members), u32::from(config.redundancy()) + 1);
        let (mut refused, mut kept) = (0, 0);
        for set in (0u32..1 << members).filter(|set| set.count_ones() == gone) {
            // 70 µs for each of mark, record and data, 40 for old data: at 400 all is done.
            for at in (0..=400).step_by(10) {
                let fail = |array: &mut Array<PlainDevice>, now| {
                    for column in (0..members as usize).filter(|column| set >> column & 1 == 1) {
                        array.fail_member(now, column).unwrap();
                    }
                };
                // What was acknowledged before the failures may go with them.
                match unless_answered(&config, Nanos::micros(at), fail) {
                    Some(true) => refused += 1,
                    Some(false) => kept += 1,
                    None => {}
                }
            }
        }
        assert!(refused > 0, "{config:?}: {refused} refused, {kept} kept");
    }
}

/// [`one_write`], or `None` if the write is answered before `at`.
fn unless_answered(
    config: &ArrayConfig,
    at: Nanos,
    then: impl Fn(&mut Array<PlainDevice>, Nanos),
) -> Option<bool> {
    let mut trial = Host::new(array(config.clone(), SECTORS));
    trial.submit(command(Op::Write, 0, 8));
    let mut done = Vec::new();
    outlast_device::Device::advance(&mut trial.device, at, &mut done);
    done.is_empty().then(|| one_write(config, at, then))
}

/// Members that refuse writes are thrown out, but not the last that data could be on.
#[test]
fn a_write_that_every_member_refused_is_never_acknowledged() {
    for config in kinds() {
        let members = usize::from(config.members);
        for count in 1..=members {
            let refused = one_write(&config, Nanos::ZERO, |array, _| {
                (0..count).for_each(|column| array.member_mut(column).unwrap().refuse_writes());
            });
            assert!(refused || count < members, "{config:?}: {count} members refused");
        }
    }
}

/// An array that lacks more than redundancy makes good takes no write at all, as md: nothing reaches the members that are left.
#[test]
fn a_failed_array_writes_nothing() {
    for config in kinds() {
        let mut host = Host::new(array(config.clone(), SECTORS));
        // Neighbours, so that copies of the first chunk are among them.
        for column in 0..=usize::from(config.redundancy()) {
            host.device.fail_member(Nanos::ZERO, column).unwrap();
        }
        let striped = config.level != Level::Raid10;
        let chunks = if striped { host.capacity() / 8 } else { 1 };
        for chunk in 0..chunks {
            host.submit(command(Op::Write, chunk * 8, 8));
            while host.in_flight() > 0 {
                assert!(host.step());
            }
        }
        let writes = host.device.counters().member_writes;
        assert_eq!((host.refused, writes), (chunks, 0), "{config:?}");
    }
}

/// Members leave while a write waits for its mark: it is refused before it reads anything, and gives up nothing that it would have read. Or they
/// leave while it waits for its record: it is refused before it writes anything.
#[test]
fn a_write_whose_members_left_while_it_waited_goes_no_further() {
    use Consistency::{Bitmap, Journal, Ppl};
    for (consistency, micros, reads) in [(Bitmap, 10, false), (Ppl, 80, true), (Journal, 80, true)] {
        for level in [Level::Raid5, Level::Raid6] {
            let config = small(level, 5, consistency);
            let mut host = Host::new(array(config.clone(), SECTORS));
            host.submit(command(Op::Write, 0, 8));
            host.now = Nanos::micros(micros);
            let mut done = Vec::new();
            outlast_device::Device::advance(&mut host.device, host.now, &mut done);
            assert!(done.is_empty());
            for column in 0..=usize::from(config.redundancy()) {
                host.device.fail_member(host.now, column).unwrap();
            }
            while host.in_flight() > 0 {
                assert!(host.step());
            }
            let counters = host.device.counters();
            // Marks are no records, and are written once on every member; records are 70 µs under way after 40 µs of reading.
            let marks = if consistency == Bitmap { 5 } else { 0 };
            let waited_for = if reads { counters.log_writes } else { marks };
            assert!(waited_for > 0 && reads == (counters.member_reads > 0), "{level:?}, {consistency:?}");
            assert_eq!(
                (host.refused, counters.member_writes, counters.sectors_lost),
                (1, waited_for, 0),
                "{level:?}, {consistency:?}"
            );
        }
    }
}

fn failing(config: &ArrayConfig) -> Host<Array<Failing>> {
    let devices = (0..u64::from(config.members)).map(|seed| Failing::new(plain(SECTORS, seed)));
    Host::new(Array::new(config.clone(), devices.collect(), true).unwrap())
}

/// A member that refuses a write leaves with that very event: what it was to take counts as missing when the write ends, as what another
/// could not write does. Whichever answers last, a write that neither data nor redundancy has taken is refused.
#[test]
fn a_member_that_leaves_with_the_last_answer_has_not_taken_the_write() {
    for config in kinds() {
        let members = usize::from(config.members);
        let mut refused = 0;
        for (bad, leaving) in (0..members * members).map(|pair| (pair / members, pair % members)) {
            let mut host = failing(&config);
            host.device.member_mut(bad).unwrap().writes_end = Some(Outcome::MediumError);
            host.device.member_mut(leaving).unwrap().writes_end = Some(Outcome::ReadOnly);
            host.submit(command(Op::Write, 0, 8));
            while host.in_flight() > 0 {
                assert!(host.step());
            }
            refused += host.refused;
            // The oracle knows which contents are right; of a write that was acknowledged there is one.
            let unreadable = host.read_all();
            assert!(host.refused > 0 || unreadable.is_empty(), "{config:?}: {bad} bad, {leaving} leaves");
        }
        assert!(refused > 0 || config.redundancy() > 1, "{config:?}: no pair held the whole write");
    }
}

/// A member may have as many runs of unwritable sectors as the threshold says; one more, and it is ejected.
#[test]
fn a_member_is_ejected_by_the_first_bad_run_above_the_threshold() {
    for bad_blocks in [0, 1, 5, 10] {
        let ejected = |runs: u64| {
            let config = small(Level::Raid1, 2, Consistency::Resync);
            let config = config.with(|config| config.ejection.bad_blocks = bad_blocks);
            let mut host = failing(&config);
            host.device.member_mut(0).unwrap().writes_end = Some(Outcome::MediumError);
            for run in 0..runs {
                // Not side by side: runs that touch are one.
                host.submit(command(Op::Write, run * 16, 8));
                host.drain();
            }
            assert_eq!((host.refused, host.read_all()), (0, vec![]));
            host.device.counters().ejected
        };
        let most = u64::from(bad_blocks);
        assert_eq!((ejected(most), ejected(most + 1)), (0, 1), "{bad_blocks}");
    }
}
