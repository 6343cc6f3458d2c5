//! A saved and restored array continues as if it had never stopped. Random arrays at random moments, with members missing, rebuilding
//! and being replaced, repairs, scrubs, moving parity and losses of power: two lives alike, but that one is written and read midway.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, PlainDevice, PlainFailure};
use outlast_device::{Device, NoticeKind};
use outlast_persist::{Reader, Restore, Writer};
use outlast_settings::array::{ArrayConfig, Consistency, CopyLayout, Level, ShiftWay, StripeWrites};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use proptest::prelude::*;
use support::life::{leaves_holes, owns_up};
use support::settings::{ArraySettings, array_of};
use support::{Host, plain, volatile};

const SECTORS: u64 = 400;

fn written(array: &Array<PlainDevice>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    array.save(&mut writer);
    writer.end().unwrap();
    bytes
}

#[derive(Clone, Debug)]
struct Kind {
    config: ArrayConfig,
    volatile: bool,
}

impl Kind {
    /// The array as it is when new.
    fn build(&self) -> Array<PlainDevice> {
        let make = if self.volatile { volatile } else { plain };
        let devices = u64::from(self.config.members + self.config.spares);
        let devices = (0..devices).map(|seed| make(SECTORS, seed)).collect();
        Array::new(self.config.clone(), devices, true).unwrap()
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    let consistency = prop::sample::select(vec![
        Consistency::Resync,
        Consistency::Bitmap,
        Consistency::Ppl,
        Consistency::Journal,
    ]);
    let level =
        prop::sample::select(vec![Level::Raid1, Level::Raid10, Level::Raid5, Level::Raid6, Level::Code]);
    let shift =
        prop::option::of(prop::sample::select(vec![ShiftWay::Naive, ShiftWay::Minimal, ShiftWay::Lazy]));
    let copies = prop::sample::select(vec![CopyLayout::Near, CopyLayout::Far, CopyLayout::Offset]);
    (level, consistency, shift, copies, any::<bool>(), 0u16..2, any::<bool>()).prop_map(
        |(level, consistency, shift, copy_layout, volatile, spares, scrubs)| {
            let mirrors = matches!(level, Level::Raid1 | Level::Raid10);
            let consistency = match consistency {
                Consistency::Ppl | Consistency::Journal if mirrors => Consistency::Bitmap,
                other => other,
            };
            let parity_percent = match level {
                Level::Raid5 => shift.map(|_| vec![80.0, 5.0, 5.0, 5.0, 5.0]),
                Level::Raid6 => shift.map(|_| vec![40.0, 20.0, 20.0, 10.0, 10.0]),
                _ => None,
            };
            let members = if level == Level::Raid1 { 3 } else { 5 };
            let small = array_of(level, members).with_spares(spares).with_consistency(consistency);
            let paced =
                small.with_small_log(Bytes::kib(32)).with_rates(Some(60_000_000), None).with_window(6);
            let scrubs = scrubs.then_some(Nanos::millis(200));
            let config = paced.with_read_errors(30).with_scrubs(scrubs).with_copies(copy_layout);
            let mut config = config.with_writes(StripeWrites::NoReconstruct);
            config.parities = (level == Level::Code).then_some(3);
            config.replacement.shift = shift.unwrap_or(ShiftWay::Minimal);
            config.parity_percent = parity_percent;
            Kind { config, volatile }
        },
    )
}

/// A host's work on an array, and what befalls its members. Content may be lost: other tests see to it that it is not.
struct Life {
    host: Host<Array<PlainDevice>>,
    rng: SplitMix,
    kind: Kind,
    made: u64,
}

impl Life {
    fn new(kind: &Kind, seed: u64) -> Self {
        let host = Host::new(kind.build());
        Self { host, rng: SplitMix::new(seed, "life"), kind: kind.clone(), made: 100 }
    }

    fn go_on(&mut self, steps: u32) {
        for _ in 0..steps {
            while self.host.in_flight() >= 24 {
                assert!(self.host.step(), "the host waits for ever");
            }
            let next = self.host.random(&mut self.rng, 100);
            self.host.submit(next);
            if self.rng.below(25) == 0 {
                self.befall();
            }
        }
    }

    fn befall(&mut self) {
        let now = self.host.now;
        let member = self.rng.below(self.kind.config.members.into()) as usize;
        let array = &mut self.host.device;
        match self.rng.below(9) {
            0 => array.fail_member(now, member).unwrap_or_default(),
            1 | 2 => {
                self.made += 1;
                let make = if self.kind.volatile { volatile } else { plain };
                // Refused where it would lose data.
                let _ = array.replace(now, member, make(SECTORS, self.made), false);
            }
            3 => {
                let sector = self.rng.below(SECTORS);
                if let Some(device) = array.member_mut(member) {
                    device.make_unreadable(sector);
                }
            }
            4 | 5 => {
                let (first, kind) =
                    (self.rng.below(SECTORS - 60), NoticeKind::DieFailed { die: self.made as u16 });
                let failure = PlainFailure {
                    at: now + Nanos(self.rng.below(2_000_000)),
                    notice: kind,
                    lost: (first..first + 40).collect(),
                    fake: (first + 40..first + 60).collect(),
                };
                if let Some(device) = array.member_mut(member) {
                    device.plan_failure(failure);
                }
            }
            6 => array.start_scrub(now, true),
            7 => {
                let at = now + Nanos(self.rng.below(200_000));
                self.host.tolerant |= leaves_holes(&self.kind.config) || self.kind.volatile;
                array.power_cut(at);
                self.host.now = at;
                self.host.forget_in_flight();
                self.host.device.power_on(at, true).unwrap();
            }
            _ => {}
        }
    }

    /// Saves the array, and restores it into a new one.
    fn is_written_and_read(&mut self) {
        let bytes = written(&self.host.device);
        let mut array = self.kind.build();
        let mut from = bytes.as_slice();
        let mut reader = Reader::new(&mut from);
        array.restore(&mut reader).unwrap();
        reader.end().unwrap();
        array.self_check().unwrap();
        assert!(written(&array) == bytes, "read and written again it is another");
        self.host.device = array;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn an_array_that_was_written_and_read_goes_on_as_if_it_had_not_been(
        kind in kinds(), seed: u64, before in 0u32..800, after in 0u32..400,
    ) {
        let mut lives = [Life::new(&kind, seed), Life::new(&kind, seed)];
        for (life, stops) in lives.iter_mut().zip([false, true]) {
            life.go_on(before);
            if stops {
                life.is_written_and_read();
            }
            life.go_on(after);
        }
        let [one, other] = lives;
        if !kind.volatile {
            owns_up(&one.host, &(&kind, seed));
        }
        prop_assert_eq!(one.host.device.counters(), other.host.device.counters());
        prop_assert_eq!((one.host.now, one.host.completed), (other.host.now, other.host.completed));
        prop_assert!(written(&one.host.device) == written(&other.host.device), "they have gone on differently");
    }
}
