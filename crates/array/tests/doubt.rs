//! Doubt after a loss of power, its duration, and the effect of writes on it: as in Linux's md.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayEventKind, PlainDevice};
use outlast_device::{Command, Completion, Device, Extent, Identity, Op, Outcome, PowerCycle, Smart, Tag};
use outlast_settings::array::{ArrayConfig, Consistency, Level, PlainConfig, StripeWrites};
use outlast_units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use std::cell::RefCell;
use std::rc::Rc;
use support::{Host, array, command, volatile};

const SECTORS: u64 = 400;
/// md's `safe_mode_delay`.
const DELAY: Nanos = Nanos::millis(200);

/// Resynchronisation at `rate` beside the host.
fn small(level: Level, members: u16, consistency: Consistency, rate: Option<u64>) -> ArrayConfig {
    array_of(level, members).with_consistency(consistency).with_rates(rate, rate)
}

type Plain = Host<Array<PlainDevice>>;

use support::life::filled;
use support::settings::{ArraySettings, array_of};

fn resyncs(host: &Plain) -> usize {
    host.device.events().iter().filter(|event| event.kind == ArrayEventKind::Resynced).count()
}

/// Lets time pass.
fn rest(host: &mut Plain, until: Nanos) {
    let mut done = Vec::new();
    host.device.advance(until, &mut done);
    host.accept(done);
    host.now = until;
}

/// Power fails, and is back at once.
fn cut(host: &mut Plain) {
    host.device.power_cut(host.now);
    host.forget_in_flight();
    host.device.power_on(host.now, false).unwrap();
}

/// One write, then a rest of an hour, then three losses of power 100 s apart: nothing was under way, nothing is in doubt.
#[test]
fn an_array_at_rest_is_not_resynchronised() {
    for consistency in [Consistency::Resync, Consistency::Bitmap] {
        for level in [Level::Raid1, Level::Raid5, Level::Raid6] {
            let mut host = Host::new(array(small(level, 4, consistency, None), SECTORS));
            host.submit(command(Op::Write, 0, 8));
            rest(&mut host, Nanos::secs(3600));
            for _ in 0..3 {
                cut(&mut host);
                assert!(!host.device.is_in_doubt());
                let next = host.now + Nanos::secs(100);
                rest(&mut host, next);
            }
            assert_eq!(resyncs(&host), 0, "{level:?} {consistency:?}");
            host.device.self_check().unwrap();
        }
    }
}

/// The end of the last write, rounded up to a multiple of the delay, and the delay: up to then a loss of power brings a resynchronisation,
/// and after it the array is clean again at once.
#[test]
fn an_array_is_clean_when_the_delay_has_passed() {
    let after = |delay: Nanos, written_at: Nanos, cut_at: Nanos| {
        let config = small(Level::Raid5, 4, Consistency::Resync, None);
        let config = config.with(|config| config.safe_mode_delay = delay);
        let mut host = Host::new(array(config, SECTORS));
        rest(&mut host, written_at);
        host.submit(command(Op::Write, 0, 8));
        rest(&mut host, cut_at);
        assert_eq!(host.in_flight(), 0);
        cut(&mut host);
        let doubt = host.device.is_in_doubt();
        host.drain();
        assert_eq!(resyncs(&host), usize::from(doubt));
        cut(&mut host);
        assert!(!host.device.is_in_doubt(), "a resynchronisation clears the doubt that brought it");
        doubt
    };
    for (written_ms, clean_ms) in [(1, 400), (150, 400), (201, 600), (399, 600), (1_000, 1_400)] {
        let (written, clean) = (Nanos::millis(written_ms), Nanos::millis(clean_ms));
        assert!(after(DELAY, written, Nanos(clean.0 - 1)), "written at {written}");
        assert!(!after(DELAY, written, Nanos(clean.0 + 1)), "written at {written}");
    }
    assert!(after(Nanos::ZERO, Nanos::millis(1), Nanos::secs(86_400)), "0: never");
    assert!(!after(Nanos::secs(5), Nanos::millis(1), Nanos(10_000_000_001)));
}

/// Without a write since, a resynchronisation that power cuts off goes on where it was; after a write it begins anew.
#[test]
fn a_resynchronisation_that_was_cut_off_goes_on() {
    let done = |write: bool| {
        // 50 stripes of 4 KiB: a second.
        let mut host = filled(array(small(Level::Raid5, 4, Consistency::Resync, Some(50 * 4096)), SECTORS));
        host.submit(command(Op::Write, 0, 8));
        cut(&mut host);
        let later = host.now + Nanos::millis(700);
        rest(&mut host, later);
        if write {
            host.submit(command(Op::Write, 0, 8));
        }
        cut(&mut host);
        let progress = host.device.progress(host.now).unwrap();
        progress.done.0 / 4096
    };
    assert!((30..45).contains(&done(false)), "{} stripes", done(false));
    assert_eq!(done(true), 0);
}

/// Before members with volatile buffers are marked clean, they flush.
#[test]
fn a_clean_array_has_flushed() {
    for seed in 0..20 {
        let devices = (0..4).map(|index| volatile(SECTORS, seed * 4 + index)).collect();
        let config = small(Level::Raid5, 4, Consistency::Resync, None);
        let mut host = filled(Array::new(config, devices, true).unwrap());
        host.submit(command(Op::Write, seed * 8, 24));
        let later = host.now + Nanos::secs(1);
        rest(&mut host, later);
        cut(&mut host);
        assert!(!host.device.is_in_doubt());
        assert_eq!(host.read_all(), [0u64; 0]);
        host.device.start_scrub(host.now, false);
        host.drain();
        assert_eq!(host.device.counters().mismatches, 0);
    }
}

/// An array in doubt in whose last stripe some parity is wrong, as a torn write leaves it.
fn in_doubt(level: Level, members: u16, writes: StripeWrites) -> Plain {
    let config = small(level, members, Consistency::Resync, Some(1000)).with_writes(writes);
    let mut host = filled(array(config, SECTORS));
    host.submit(command(Op::Write, 0, 8));
    cut(&mut host);
    assert!(host.device.is_in_doubt());
    host
}

/// A write to a stripe that the resynchronisation has not reached takes nothing from the old parity, so that parity fits afterwards: with the
/// next member gone, data comes back right.
#[test]
fn a_write_during_a_resynchronisation_repairs_its_stripe() {
    for writes in [StripeWrites::Cheapest, StripeWrites::NoReconstruct, StripeWrites::ChunkByChunk] {
        for (level, members, reads) in [(Level::Raid4, 6, 4), (Level::Raid5, 6, 4), (Level::Raid6, 8, 5)] {
            let mut host = in_doubt(level, members, writes);
            let redundancy = u64::from(host.device.config().redundancy());
            let data = u64::from(members) - redundancy;
            let stripe = host.capacity() / (data * 8) - 1;
            // Every member's last chunk but those of two data chunks: parity is among them, whatever the rotation.
            let keep = host.device.counters();
            for column in 0..usize::from(members) {
                let is_parity =
                    parity_columns(level, usize::from(members), stripe as usize).contains(&column);
                for row in (0..8).filter(|_| is_parity) {
                    host.device.member_mut(column).unwrap().corrupt(stripe * 8 + row);
                }
            }
            let lba = stripe * data * 8;
            host.submit(command(Op::Write, lba, 8));
            while host.in_flight() > 0 {
                assert!(host.step());
            }
            let counted = host.device.counters();
            assert_eq!(
                (counted.complete_writes - keep.complete_writes, counted.delta_writes - keep.delta_writes),
                (1, 0),
                "{level:?} {writes:?}"
            );
            // Beside at most a stripe of the pass itself.
            let read = counted.member_reads - keep.member_reads;
            assert!((reads..=reads + 2 * u64::from(members)).contains(&read), "{read} reads");
            assert!(host.device.is_in_doubt(), "the pass must not have come by");
            for column in 0..usize::from(members) {
                let is_parity =
                    parity_columns(level, usize::from(members), stripe as usize).contains(&column);
                if !is_parity {
                    host.device.fail_member(host.now, column).unwrap();
                    break;
                }
            }
            host.submit(command(Op::Read, lba, data as u32 * 8));
            while host.in_flight() > 0 {
                assert!(host.step());
            }
            assert!(host.errors.is_empty());
        }
    }
}

/// md's left-symmetric parity, the default, and the last members of RAID-4.
fn parity_columns(level: Level, members: usize, stripe: usize) -> Vec<usize> {
    let last = members - 1;
    match level {
        Level::Raid4 => vec![last],
        Level::Raid5 => vec![last - stripe % members],
        _ => {
            let p = last - stripe % members;
            vec![p, (p + 1) % members]
        }
    }
}

/// With a member of the rest of the stripe missing, whose data only old parity can give, all that is left of the stripe is read, and parity is
/// computed from that, as md does it in doubt (`tests/md/answers.txt`, `degraded-resync`).
#[test]
fn a_write_in_doubt_that_lacks_unwritten_data_reads_every_chunk_that_is_left() {
    let mut host = in_doubt(Level::Raid5, 6, StripeWrites::Cheapest);
    let stripe = host.capacity() / 40 - 1;
    let parity = parity_columns(Level::Raid5, 6, stripe as usize)[0];
    // The member of the fourth data chunk.
    host.device.fail_member(host.now, (parity + 4) % 6).unwrap();
    let before = host.device.counters();
    host.submit(command(Op::Write, stripe * 40, 8));
    while host.in_flight() > 0 {
        assert!(host.step());
    }
    let after = host.device.counters();
    assert_eq!(
        (after.decoded_writes - before.decoded_writes, after.member_reads - before.member_reads),
        (1, 5)
    );
}

/// Without bytes the simulator counts: every stripe that was being written is a hole if a member fails at once or cannot be read, and none is
/// once the same rows have been written again.
#[test]
fn torn_rows_that_were_rewritten_are_no_write_hole() {
    #[derive(Clone, Copy, PartialEq)]
    enum Then {
        Fails,
        IsWrittenAgainAndFails,
        CannotBeRead,
    }
    let holes = |then: Then| {
        let config = small(Level::Raid5, 4, Consistency::Resync, Some(1000));
        let device = |seed| {
            let settings = PlainConfig {
                write_latency: Nanos::micros(70),
                ..PlainConfig::new(Bytes(SECTORS * SECTOR_BYTES))
            };
            PlainDevice::new(settings, seed).unwrap()
        };
        let mut array = Array::new(config, (0..4).map(device).collect(), false).unwrap();
        // Two rows of the second chunk of the first 12 of 24 sectors' stripes; all are being written at 10 µs.
        let writes = |array: &mut Array<PlainDevice>, now: Nanos| {
            for stripe in 0..12u32 {
                array.submit(now, command(Op::Write, u64::from(stripe) * 24 + 8, 2), Tag(stripe));
            }
        };
        writes(&mut array, Nanos::ZERO);
        array.power_cut(Nanos::micros(10));
        array.power_on(Nanos::micros(10), false).unwrap();
        let mut now = Nanos::micros(10);
        if then == Then::IsWrittenAgainAndFails {
            writes(&mut array, now);
            now = Nanos::millis(5);
            let mut done = Vec::new();
            array.advance(now, &mut done);
            assert_eq!(done.len(), 12);
        }
        assert!(array.is_in_doubt());
        // Of twelve stripes a member has data in nine.
        if then == Then::CannotBeRead {
            (0..SECTORS).for_each(|sector| array.member_mut(1).unwrap().make_unreadable(sector));
            array.submit(now, command(Op::Read, 0, 12 * 24), Tag(0));
            let mut done = Vec::new();
            array.advance_to_completion(Nanos(u64::MAX - 1), &mut done);
            assert_eq!(done[0].outcome, Outcome::Ok);
        } else {
            array.fail_member(now, 1).unwrap();
        }
        array.counters().write_holes
    };
    assert_eq!(holes(Then::Fails), 9);
    assert_eq!(holes(Then::CannotBeRead), 9);
    assert_eq!(holes(Then::IsWrittenAgainAndFails), 0);
}

/// Copies that differ after a loss of power: however many reads come at once, all see the first copy, as md's `choose_first` does it; once
/// the resynchronisation has been there every copy is as good.
#[test]
fn a_mirror_in_doubt_reads_always_the_same_copy() {
    for (level, members) in [(Level::Raid1, 3), (Level::Raid10, 4)] {
        let mut host = filled(array(small(level, members, Consistency::Resync, Some(1000)), SECTORS));
        host.submit(command(Op::Write, 0, 8));
        cut(&mut host);
        // The last chunk: the pass comes there last. Its first copy stays, and the others differ.
        let lba = host.capacity() - 8;
        let copies = host.device.config().redundancy();
        let first = usize::from(members - 1 - copies) * usize::from(level == Level::Raid10);
        for column in first + 1..=first + usize::from(copies) {
            (SECTORS - 8..SECTORS).for_each(|sector| host.device.member_mut(column).unwrap().corrupt(sector));
        }
        for _ in 0..60 {
            host.submit(command(Op::Read, lba, 8));
        }
        while host.in_flight() > 0 {
            assert!(host.step());
        }
        assert!(host.device.is_in_doubt() && host.errors.is_empty());
        // The oracle has compared every read; and the copies do differ.
        host.tolerant = true;
        host.device.fail_member(host.now, first).unwrap();
        host.submit(command(Op::Read, lba, 8));
        while host.in_flight() > 0 {
            assert!(host.step());
        }
        assert_eq!(host.wrong, 8, "{level:?}");
    }
}

/// Mirrors can be read from any copy: as md does, the array starts with one missing, and counts no write hole.
#[test]
fn mirrors_have_no_write_hole() {
    let mut host = filled(array(small(Level::Raid1, 3, Consistency::Resync, None), SECTORS));
    for lba in 0..16 {
        host.submit(command(Op::Write, lba * 8, 8));
    }
    host.now += Nanos::micros(35);
    host.device.power_cut(host.now);
    host.forget_in_flight();
    host.device.fail_member(host.now, 0).unwrap();
    host.device.power_on(host.now, false).unwrap();
    assert_eq!(host.read_all(), [0u64; 0]);
    assert_eq!(host.device.counters().write_holes, 0);
}

/// A device that notes what it is told.
#[derive(Clone)]
struct Noted {
    inner: PlainDevice,
    commands: Rc<RefCell<Vec<Command>>>,
}

impl Device for Noted {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.submit_data(now, command, tag, &[]);
    }
    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.commands.borrow_mut().push(command);
        self.inner.submit_data(now, command, tag, data);
    }
    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.inner.take_data(tag)
    }
    fn next_deadline(&self) -> Option<Nanos> {
        self.inner.next_deadline()
    }
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.inner.advance(now, completions);
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

impl PowerCycle for Noted {
    fn power_cycle(&mut self, off: Nanos, on: Nanos) {
        self.inner.power_cycle(off, on);
    }
}

/// The host asks for nothing durable, and yet: every record and mark is written with FUA, and under records data and parity are, too.
/// Without records the host decides.
#[test]
fn records_are_written_to_last() {
    use Consistency::{Bitmap, Journal, Ppl, Resync};
    for (consistency, logs, durable) in
        [(Ppl, 20, true), (Journal, 40, true), (Bitmap, 4, false), (Resync, 0, false)]
    {
        let commands = Rc::new(RefCell::new(Vec::new()));
        let device = |seed| Noted { inner: volatile(4096, seed), commands: Rc::clone(&commands) };
        let config = small(Level::Raid5, 4, consistency, None);
        let mut array = Array::new(config, (0..4).map(device).collect(), true).unwrap();
        let data_end = array.identify().capacity.0 / SECTOR_BYTES / 3;
        let mut done = Vec::new();
        for write in 0..20u32 {
            let bytes = vec![1; 8 * SECTOR_BYTES as usize];
            array.submit_data(Nanos::ZERO, command(Op::Write, u64::from(write) * 24, 8), Tag(write), &bytes);
        }
        array.advance(Nanos::millis(50), &mut done);
        assert!(done.len() == 20 && done.iter().all(|completion| completion.outcome == Outcome::Ok));
        let commands = commands.borrow();
        let writes = |log: bool, fua: bool| {
            let own = commands.iter().filter(|command| command.op == Op::Write);
            own.filter(|command| (command.lba.0 >= data_end) == log && command.fua == fua).count()
        };
        // Of each write its data and its parity; records to the parity member, or to both; one mark on each member for all.
        assert_eq!((writes(true, true), writes(true, false)), (logs, 0), "{consistency:?}");
        assert_eq!((writes(false, durable), writes(false, !durable)), (40, 0), "{consistency:?}");
    }
}
