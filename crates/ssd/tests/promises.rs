//! Does a drive keep, or break, its promises exactly as its settings say? The same commands and the same loss of power on drives that differ
//! in one setting. What may survive in general is the model's business, in `power.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, Outcome, Tag};
use outlast_settings::drive::{FlushPolicy, SsdConfig, Trims, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos};
use support::{command, tiny};

fn config(cache: WriteCache, flush: FlushPolicy, trims: Trims) -> SsdConfig {
    let mut config = tiny();
    config.bytes = true;
    config.controller.write_cache = cache;
    config.controller.flush = flush;
    config.controller.trims = trims;
    config
}

/// A drive and the time.
struct Bench {
    ssd: Ssd,
    now: Nanos,
}

impl Bench {
    fn new(cache: WriteCache, flush: FlushPolicy, trims: Trims) -> Self {
        let mut ssd = Ssd::new(config(cache, flush, trims), 1).unwrap();
        ssd.begin_timed();
        Self { ssd, now: Nanos::ZERO }
    }

    /// Carries out one command; returns how long it took.
    fn run(&mut self, command: Command, data: &[u8]) -> Nanos {
        let (since, mut done) = (self.now, Vec::new());
        self.ssd.submit_data(self.now, command, Tag(0), data);
        while done.is_empty() {
            self.now = self.ssd.advance_to_completion(Nanos::MAX, &mut done);
        }
        assert_eq!(done[0].outcome, Outcome::Ok);
        self.now - since
    }

    /// Writes unit `unit` full of `byte`.
    fn write(&mut self, unit: u64, byte: u8, fua: bool) -> Nanos {
        self.run(Command { fua, ..command(Op::Write, unit * 8, 8) }, &[byte; 4096])
    }

    fn trim(&mut self, unit: u64) {
        self.run(command(Op::Trim, unit * 8, 8), &[]);
    }

    fn flush(&mut self) -> Nanos {
        self.run(command(Op::Flush, 0, 0), &[])
    }

    fn wait(&mut self, time: Nanos) {
        self.now += time;
        let mut done = Vec::new();
        self.ssd.advance(self.now, &mut done);
        assert!(done.is_empty(), "nobody waits for a flush that was put off");
        self.ssd.self_check().unwrap();
    }

    /// What unit `unit` is full of after a loss of power now.
    fn after_a_cut(&self, unit: u64) -> u8 {
        let mut cut = Self { ssd: self.ssd.clone(), now: self.now };
        cut.ssd.power_cut(cut.now);
        cut.ssd.self_check().unwrap();
        cut.run(command(Op::Read, unit * 8, 8), &[]);
        let bytes = cut.ssd.take_data(Tag(0)).unwrap();
        assert!(bytes.iter().all(|&byte| byte == bytes[0]));
        bytes[0]
    }
}

const PROGRAM: Nanos = Nanos(700_000);

#[test]
fn an_ignored_flush_takes_no_time_and_saves_nothing() {
    for fua in [false, true] {
        let mut honest = Bench::new(WriteCache::Volatile, FlushPolicy::Honour, Trims::Kept);
        let mut liar = Bench::new(WriteCache::Volatile, FlushPolicy::Ignore, Trims::Kept);
        let mut took = [Nanos::ZERO; 2];
        for (bench, took) in [&mut honest, &mut liar].into_iter().zip(&mut took) {
            *took = bench.write(3, 7, fua);
            *took += if fua { Nanos::ZERO } else { bench.flush() };
        }
        assert!(took[0] >= PROGRAM && took[1] == Nanos::ZERO, "{took:?}");
        assert_eq!((honest.after_a_cut(3), liar.after_a_cut(3)), (7, 0));
        // However long it waits: nobody fills the program unit.
        liar.wait(Nanos::secs(10));
        assert_eq!(liar.after_a_cut(3), 0);
    }
}

#[test]
fn a_late_flush_is_carried_out_so_much_later() {
    let by = Nanos::millis(2);
    for fua in [false, true] {
        let mut late = Bench::new(WriteCache::Volatile, FlushPolicy::Late(by), Trims::Kept);
        let mut took = late.write(3, 7, fua);
        if !fua {
            took += late.flush();
        }
        assert_eq!(took, Nanos::ZERO);
        late.wait(by - Nanos(1));
        assert_eq!(late.after_a_cut(3), 0);
        // From now on its program operation is under way, and a cut would tear it.
        late.wait(Nanos(1));
        assert_eq!(late.after_a_cut(3), 0);
        late.wait(PROGRAM + Nanos::micros(100));
        assert_eq!(late.after_a_cut(3), 7);
    }
}

#[test]
fn a_late_flush_is_forgotten_with_the_power() {
    let mut late = Bench::new(WriteCache::Volatile, FlushPolicy::Late(Nanos::millis(2)), Trims::Kept);
    late.write(3, 7, false);
    late.flush();
    late.ssd.power_cut(late.now);
    late.write(4, 8, false);
    late.wait(Nanos::secs(1));
    assert_eq!((late.after_a_cut(3), late.after_a_cut(4)), (0, 0));
}

#[test]
fn a_volatile_trim_is_undone_unless_a_flush_came_after_it() {
    for cache in [WriteCache::Volatile, WriteCache::Off] {
        for (trims, flushes, left) in
            [(Trims::Kept, false, 0), (Trims::Volatile, false, 7), (Trims::Volatile, true, 0)]
        {
            let mut bench = Bench::new(cache, FlushPolicy::Honour, trims);
            bench.write(3, 7, false);
            bench.flush();
            bench.trim(3);
            if flushes {
                bench.flush();
            }
            assert_eq!(bench.after_a_cut(3), left, "{cache:?}, {trims:?}, flushed: {flushes}");
            // Trimmed again, nothing changes; written since, and that written is on flash: that counts.
            bench.trim(3);
            assert_eq!(bench.after_a_cut(3), left);
            bench.write(3, 9, true);
            assert_eq!(bench.after_a_cut(3), 9);
        }
    }
}

#[test]
fn what_was_trimmed_and_written_goes_back_to_what_it_was_before_both() {
    let mut bench = Bench::new(WriteCache::Volatile, FlushPolicy::Honour, Trims::Volatile);
    bench.write(3, 7, true);
    bench.trim(3);
    bench.write(3, 8, false);
    assert_eq!(bench.after_a_cut(3), 7);
    bench.trim(3);
    assert_eq!(bench.after_a_cut(3), 7);
    bench.flush();
    assert_eq!(bench.after_a_cut(3), 0);
}

/// The copy before a trim can come back only while it is on flash. All other units are written until its superblock has been erased and filled again.
#[test]
fn a_trim_is_safe_once_the_copy_before_it_has_been_erased() {
    let mut bench = Bench::new(WriteCache::Volatile, FlushPolicy::Honour, Trims::Volatile);
    for unit in 0..600 {
        bench.write(unit, 7, false);
    }
    bench.flush();
    bench.trim(3);
    assert_eq!(bench.after_a_cut(3), 7);
    for round in 0..6 {
        for unit in (0..600).filter(|&unit| unit != 3) {
            bench.write(unit, 100 + round, false);
        }
    }
    assert_eq!(bench.after_a_cut(3), 0);
}

/// Trims that no flush follows must not keep their superblocks from being collected: a drive of which all is trimmed and written for ever
/// goes on, and what is lost of it is bounded by what was erased.
#[test]
fn unsafe_trims_hold_up_nothing() {
    let mut config = config(WriteCache::Volatile, FlushPolicy::Ignore, Trims::Volatile);
    config.geometry.blocks_per_plane = 20;
    config.ftl.capacity = Some(Bytes(700 * 4096));
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.begin_timed();
    let mut bench = Bench { ssd, now: Nanos::ZERO };
    for round in 0..12u8 {
        for unit in 0..700 {
            bench.write(unit * 31 % 700, round + 1, false);
        }
        for unit in (0..700).step_by(3) {
            bench.trim(unit);
        }
    }
    bench.wait(Nanos::secs(1));
    let back = (0..700).step_by(3).filter(|&unit| bench.after_a_cut(unit) != 0).count();
    assert!(back > 0, "no trim was undone");
}

#[test]
fn what_cannot_be_promised_is_refused() {
    let refused = |cache, flush, trims| {
        Ssd::new(config(cache, flush, trims), 1).err().map(|error| (error.field, error.limit))
    };
    let late = FlushPolicy::Late;
    for (cache, flush, trims, field) in [
        (WriteCache::Protected, FlushPolicy::Ignore, Trims::Kept, "device.controller.flush"),
        (WriteCache::Off, late(Nanos(1)), Trims::Kept, "device.controller.flush"),
        (WriteCache::Volatile, late(Nanos::ZERO), Trims::Kept, "device.controller.flush"),
        (WriteCache::Volatile, late(Nanos::secs(2)), Trims::Kept, "device.controller.flush"),
        (WriteCache::Protected, FlushPolicy::Honour, Trims::Volatile, "device.controller.trims"),
    ] {
        assert_eq!(refused(cache, flush, trims).unwrap().0, field);
    }
    for cache in [WriteCache::Volatile, WriteCache::Off] {
        assert_eq!(refused(cache, FlushPolicy::Honour, Trims::Volatile), None);
    }
    assert_eq!(refused(WriteCache::Volatile, late(Nanos::secs(1)), Trims::Kept), None);
}
