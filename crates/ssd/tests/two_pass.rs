//! Programming in two passes: how long it takes, what the buffer has to hold, what a flush and a loss of power make of what is between the passes.

use crate::support::{closed_loop, command, tiny};
use outlast_device::{Command, Device, Op};
use outlast_ftl::{ProgramCause, ReadCause};
use outlast_media::TwoPassConfig;
use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::{PartialConfig, PartialPlace, ProtectionConfig};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Lba, Nanos};

/// Lanes of `tiny`, and units of a program unit.
const LANES: u32 = 4;
const UNITS: u32 = 2;

/// Two passes, the coarse one of 40 % of the time, on blocks of 16 program units.
pub(crate) fn two_pass(distance: u32, write_cache: WriteCache) -> SsdConfig {
    let mut config = tiny();
    (config.geometry.pages_per_block, config.geometry.blocks_per_plane) = (16, 16);
    config.ftl.two_pass = Some(TwoPassConfig { coarse: 0.4, distance });
    config.controller.write_cache = write_cache;
    config
}

fn write(unit: u32) -> Command {
    command(Op::Write, 8 * u64::from(unit), 8)
}

fn flush(ssd: &mut Ssd, now: Nanos) -> Nanos {
    closed_loop(ssd, now, 1, 1, |_| Command::new(Op::Flush, Lba(0), 0)).1
}

fn padding(ssd: &Ssd) -> u64 {
    ssd.written()[ProgramCause::Padding]
}

/// Programs of a die one after another, which a full buffer never leaves idle: each takes its data twice and tPROG once.
#[test]
fn a_sequential_fill_takes_both_passes_and_both_transfers() {
    for passes in [1, 2] {
        let mut config = two_pass(1, WriteCache::Protected);
        if passes == 1 {
            config.ftl.two_pass = None;
        }
        (config.controller.write_buffer, config.controller.queue_depth) = (Bytes::kib(512), 256);
        let transfer = config.timing.command + config.timing.bus.time_for(Bytes::kib(8));
        let each = Nanos(700_000 + passes * transfer.0);
        let mut ssd = Ssd::new(config, 1).unwrap();
        // The buffer is full from the start of the second part on: then one write enters for each that leaves.
        let (_, start) = closed_loop(&mut ssd, Nanos::ZERO, 32, 200, write);
        let (_, end) = closed_loop(&mut ssd, start, 32, 400, |unit| write(200 + unit));
        let programs = u64::from(400 / UNITS / LANES);
        let took = (end - start).0 as f64 / (programs * each.0) as f64;
        // A write enters when a program ends: the parts begin and end within one program of each other.
        assert!((took - 1.0).abs() < 1.0 / programs as f64, "{passes} passes: {took} of the closed form");
        assert_eq!(padding(&ssd), 0);
        ssd.self_check().unwrap();
    }
}

/// The least buffer holds what waits on all lanes for its fine pass, a program unit that is being filled, and a unit more.
#[test]
fn the_buffer_must_hold_what_is_between_its_passes() {
    for (distance, streams) in [(1, 1), (3, 1), (2, 2)] {
        let least = u32::from(streams) * (1 + distance * LANES) * UNITS + 1;
        let with = |units: u32| {
            let mut config = two_pass(distance, WriteCache::Protected);
            (config.ftl.streams, config.controller.write_buffer) = (streams, Bytes(u64::from(units) * 4096));
            Ssd::new(config, 1)
        };
        let refused = with(least - 1).map(|_| ()).unwrap_err().to_string();
        let bytes = Bytes(u64::from(least) * 4096).to_string();
        assert!(refused.contains("device.controller.write_buffer") && refused.contains(&bytes), "{refused}");
        let mut ssd = with(least).unwrap();
        let (_, end) = closed_loop(&mut ssd, Nanos::ZERO, 8, 600, write);
        closed_loop(&mut ssd, end, 8, 2000, |number| write(number.wrapping_mul(2_654_435_761) % 600));
        assert_eq!(padding(&ssd), 0, "nothing is padded where a buffer is protected");
        ssd.self_check().unwrap();
    }
}

/// What is between its passes is answered from the buffer, and what has had both from flash.
#[test]
fn reads_between_the_passes_come_from_the_buffer() {
    let distance = 2;
    let mut ssd = Ssd::new(two_pass(distance, WriteCache::Protected), 1).unwrap();
    let rows = 5;
    let (_, end) = closed_loop(&mut ssd, Nanos::ZERO, 8, rows * LANES * UNITS, write);
    let rest = end + Nanos::millis(50);
    ssd.advance(rest, &mut Vec::new());
    assert!(ssd.is_idle());
    let ended = (rows - distance) * LANES * UNITS;
    let before = ssd.counters().reads[ReadCause::Host];
    closed_loop(&mut ssd, rest, 1, rows * LANES * UNITS, |unit| command(Op::Read, 8 * u64::from(unit), 8));
    assert_eq!(ssd.counters().reads[ReadCause::Host] - before, u64::from(ended));
    ssd.self_check().unwrap();
}

/// A flush pads what has to follow the last program unit on its lane, once: with nothing new it is free.
#[test]
fn a_flush_pads_what_fine_passes_follow() {
    for distance in [1, 3] {
        let mut ssd = Ssd::new(two_pass(distance, WriteCache::Volatile), 1).unwrap();
        ssd.begin_timed();
        // Three units: two program units, the second of which is half empty.
        let (_, end) = closed_loop(&mut ssd, Nanos::ZERO, 1, 3, write);
        let end = flush(&mut ssd, end);
        let padded = 1 + distance * LANES * UNITS;
        assert_eq!(padding(&ssd), u64::from(padded));
        assert_eq!(ssd.ftls().map(|ftl| ftl.figures().buffered_units).sum::<u64>(), 0);
        let end = flush(&mut ssd, end);
        assert_eq!(padding(&ssd), u64::from(padded), "nothing is there to be padded");
        // What is flushed is on flash: power fails, and nothing is lost.
        ssd.power_cut(end);
        assert_eq!((ssd.power_cuts().lost_units, ssd.power_cuts().torn), (0, 0));
        ssd.self_check().unwrap();
    }
}

/// The drive rests, and still a loss of power takes what had only its coarse pass, with the pages that it was in.
#[test]
fn a_loss_of_power_takes_what_is_between_its_passes() {
    let (rows, distance) = (6, 2);
    for cache in [WriteCache::Volatile, WriteCache::Protected] {
        let mut ssd = Ssd::new(two_pass(distance, cache), 1).unwrap();
        ssd.begin_timed();
        let (_, end) = closed_loop(&mut ssd, Nanos::ZERO, 8, rows * LANES * UNITS, write);
        let rest = end + Nanos::millis(50);
        ssd.advance(rest, &mut Vec::new());
        assert!(ssd.is_idle(), "all that can be programmed is");
        ssd.power_cut(rest);
        let cuts = ssd.power_cuts();
        let programs = u64::from(distance * LANES);
        if cache == WriteCache::Protected {
            assert_eq!((cuts.torn, cuts.lost_units), (0, 0));
        } else {
            assert_eq!((cuts.torn, cuts.lost_units), (programs, programs * u64::from(UNITS)));
        }
        // The drive goes on behind the torn program units.
        closed_loop(&mut ssd, rest, 8, 2000, |number| write(number.wrapping_mul(2_654_435_761) % 600));
        ssd.self_check().unwrap();
    }
}

/// A drive that is full of the host's random writes neither stops nor pads without need, whatever its buffer does when power fails.
#[test]
fn collection_goes_on_with_two_passes() {
    for cache in [WriteCache::Protected, WriteCache::Volatile] {
        for distance in [1, 4] {
            let mut ssd = Ssd::new(two_pass(distance, cache), 1).unwrap();
            ssd.begin_timed();
            let (_, end) = closed_loop(&mut ssd, Nanos::ZERO, 16, 600, write);
            let mut rng = SplitMix::new(3, "units");
            closed_loop(&mut ssd, end, 16, 20_000, |_| write(rng.below(600) as u32));
            let written = ssd.written();
            assert!(written[ProgramCause::Gc] > 100, "{written:?}");
            assert!(padding(&ssd) < written.total() / 10, "{written:?}");
            ssd.self_check().unwrap();
        }
    }
}

#[test]
fn two_passes_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut SsdConfig)| {
        let mut config = two_pass(1, WriteCache::Protected);
        change(&mut config);
        Ssd::new(config, 1).map(|_| ()).unwrap_err().to_string()
    };
    let says = |text: &str, limit: &str| {
        assert!(text.contains("device.ftl.two_pass.") && text.contains(limit), "{text}");
    };
    says(&refused(&|own| own.ftl.two_pass = Some(TwoPassConfig { coarse: 1.5, distance: 1 })), "below 1");
    says(
        &refused(&|own| own.ftl.two_pass = Some(TwoPassConfig { coarse: 0.5, distance: 8 })),
        "between 1 and 7",
    );
    says(&refused(&|own| own.ftl.multi_plane = false), "multi_plane");
    says(&refused(&|own| own.ftl.gc.on_chip_copies = 1), "on_chip_copies");
    let partial = PartialConfig { place: PartialPlace::Inline, ..PartialConfig::default() };
    let parity = ProtectionConfig { data: 3, parity: 1, partial, ..ProtectionConfig::default() };
    says(&refused(&|own| own.protection = Some(parity.clone())), "partial parity");
}
