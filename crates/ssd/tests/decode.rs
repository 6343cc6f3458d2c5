//! What does the decoder's time do to a read? Exact times.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Completion, Device, Op, Tag};
use outlast_media::reliability::{Ecc, PowerLaw, RberModel, RereadConfig};
use outlast_settings::drive::{DecodeTimes, ReliabilityConfig, SsdConfig};
use outlast_ssd::Ssd;
use outlast_units::{ByteRate, Nanos};
use support::{command, tiny};

/// Command cycles, tR, and 4096 B at 667 MB/s, rounded up.
const SENSED: u64 = 200 + 60_000 + 6_141;
const HARD: u64 = 12_000;
const RETRY: u64 = 17_000;

fn times() -> DecodeTimes {
    DecodeTimes { hard: Nanos(HARD), retry: Nanos(RETRY) }
}

fn one_die(decode: DecodeTimes) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config.controller.decode = decode;
    config
}

/// 8 % of the bits are wrong, half of that in each re-read: with 480 bits corrected in 32 768, three re-reads are needed, whatever the
/// luck: the expected numbers 2621, 1311, 655 and 328 are 6 standard deviations or more away from it.
fn thrice_reread(max_retries: Option<u32>) -> ReliabilityConfig {
    let law =
        PowerLaw { epsilon: 0.08, alpha: 0.0, beta: 0.0, gamma: 0.0, k: 1.0, m: 0.0, n: 1.0, p: 0.0, q: 1.0 };
    ReliabilityConfig {
        model: Some(RberModel::PowerLaw(law)),
        ecc: Ecc { data_bits: 32_768, parity_bits: 0, strength: Some(480) },
        rereads: RereadConfig { scale_factor: 2.0, max_retries },
        ..ReliabilityConfig::default()
    }
}

/// When the reads of units 0, 2, … (each in a row of its own), all submitted at once, complete after that.
fn ends(config: SsdConfig, reads: u32) -> Vec<u64> {
    let mut ssd = Ssd::new(config, 1).unwrap();
    let mut completions: Vec<Completion> = Vec::new();
    for unit in 0..16 {
        ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(unit as u32));
    }
    let mut start = Nanos::ZERO;
    while !ssd.is_idle() {
        start = ssd.next_deadline().unwrap();
        ssd.advance(start, &mut completions);
    }
    completions.clear();
    for tag in 0..reads {
        ssd.submit(start, command(Op::Read, u64::from(tag) * 16, 8), Tag(tag));
    }
    while !ssd.is_idle() {
        let now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut completions);
        ssd.self_check().unwrap();
    }
    assert_eq!(completions.len(), reads as usize);
    completions.iter().map(|done| (done.at - start).0).collect()
}

/// Every read completes later by the plain decode; the die, the channel and the link serve as fast as without.
#[test]
fn a_plain_read_completes_later_and_holds_nothing() {
    for link in [None, ByteRate::new(1_000_000_000)] {
        let of = |decode| ends(SsdConfig { controller: with_link(decode, link), ..one_die(decode) }, 5);
        let (without, with) = (of(DecodeTimes::default()), of(times()));
        assert_eq!(without[0], SENSED + link.map_or(0, |_| 4096));
        assert_eq!(with, without.iter().map(|end| end + HARD).collect::<Vec<_>>());
    }
}

fn with_link(decode: DecodeTimes, link: Option<ByteRate>) -> outlast_settings::drive::ControllerConfig {
    outlast_settings::drive::ControllerConfig { link, ..one_die(decode).controller }
}

/// The die waits for each decode that fails, not for the one that succeeds: the next read begins before that.
#[test]
fn a_reread_begins_when_the_decode_before_has_failed() {
    let held = 4 * SENSED + HARD + 2 * RETRY;
    for max in [None, Some(3), Some(9)] {
        let config = SsdConfig { reliability: Some(thrice_reread(max)), ..one_die(times()) };
        assert_eq!(ends(config, 2), [held + RETRY, 2 * held + RETRY], "{max:?} re-reads");
    }
    let config = SsdConfig { reliability: Some(thrice_reread(None)), ..one_die(DecodeTimes::default()) };
    assert_eq!(ends(config, 1), [4 * SENSED]);
}

#[test]
fn a_decoder_that_takes_more_than_a_second_is_refused() {
    let config = one_die(DecodeTimes { retry: Nanos::secs(2), ..times() });
    let error = Ssd::new(config, 1).expect_err("refused").to_string();
    assert!(error.contains("device.controller.decode.retry") && error.contains("1s"), "{error}");
}
