//! The time that a pass over the array has left.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayEventKind, PlainDevice};
use outlast_device::{Completion, Device, Op, Tag};
use outlast_settings::array::{Level, PlainConfig};
use outlast_units::{Bytes, Nanos};
use support::command;
use support::settings::{ArraySettings, array_of};

const MEMBER: Bytes = Bytes::mib(600);
/// Until then the host reads 256 KiB after 256 KiB.
const BUSY: Nanos = Nanos::secs(100);
/// Time over which the speed is taken: ten marks of three seconds, and what comes after the last.
const MEAN: Nanos = Nanos::secs(33);

fn device(seed: u64) -> PlainDevice {
    let latency = Nanos::millis(20);
    let config =
        PlainConfig { read_latency: latency, write_latency: latency, lanes: 64, ..PlainConfig::new(MEMBER) };
    PlainDevice::new(config, seed).unwrap()
}

/// A rebuild that a busy host has slowed down foretells its end once the host has been gone for as long as the speed is taken over.
#[test]
fn the_time_left_forgets_a_host_that_is_gone() {
    let config = array_of(Level::Raid5, 3).with_chunk(Bytes::kib(64)).with_window(16);
    let config = config.with_rates(Some(1 << 20), Some(4 << 20));
    let mut array = Array::new(config, (0..3).map(device).collect(), true).unwrap();
    array.fail_member(Nanos::ZERO, 1).unwrap();
    array.replace(Nanos::ZERO, 1, device(9), false).unwrap();
    let (mut now, mut at, mut done): (Nanos, u64, Vec<Completion>) = (Nanos::ZERO, 0, Vec::new());
    array.submit(now, command(Op::Read, 0, 512), Tag(0));
    let mut told = None;
    let rebuilt = loop {
        now = array.next_deadline().unwrap();
        array.advance(now, &mut done);
        if !done.is_empty() && now < BUSY {
            at = (at + 512) % (MEMBER.0 / 512);
            array.submit(now, command(Op::Read, at, 512), Tag(0));
        }
        done.clear();
        if now >= BUSY + MEAN && told.is_none() {
            told = Some((now, array.progress(now).unwrap()));
        }
        if let Some(end) =
            array.events().iter().find(|event| matches!(event.kind, ArrayEventKind::Rebuilt { .. }))
        {
            break end.at;
        }
    };
    let (when, progress) = told.unwrap();
    let whole = (progress.total.0 - progress.done.0) as f64 / (progress.done.0 as f64 / when.as_secs_f64());
    let (left, took) = (progress.left.unwrap().as_secs_f64(), (rebuilt - when).as_secs_f64());
    // Pieces under way at both ends of the time that the speed is taken over: a window of 64 KiB of 120 MiB.
    assert!((left / took - 1.0).abs() < 16.0 / 1920.0, "{left} s left, and it took {took} s");
    assert!(whole > 1.4 * took, "the mean since the beginning would have foretold {whole} s");
}
