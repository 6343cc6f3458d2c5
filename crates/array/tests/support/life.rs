//! An array's life: random work of a host while members lose dies, fail, are replaced, and lose power.

use super::settings::{ArraySettings, array_of, by};
use super::{Host, command, plain};
use outlast_array::{Array, ArrayCounters, ArrayEvent, MemberRepair, PlainDevice, PlainFailure};
use outlast_decisions::RepairWay;
use outlast_device::{Device, NoticeKind, Op};
use outlast_persist::{Reader, Restore, Writer};
use outlast_settings::array::{ArrayConfig, Consistency, Level};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};

pub(crate) const SECTORS: u64 = 400;
pub(crate) const WAYS: [RepairWay; 3] = [RepairWay::Die, RepairWay::Assist, RepairWay::Rebuild];

/// Small chunks, and nothing that paces.
pub(crate) fn small(level: Level, members: u16, way: RepairWay) -> ArrayConfig {
    array_of(level, members).unpaced().with_repair(by(way)).with_read_errors(30)
}

/// True if a loss of power may leave parity wrong that is needed before a resynchronisation.
pub(crate) fn leaves_holes(config: &ArrayConfig) -> bool {
    matches!(config.consistency, Consistency::Resync | Consistency::Bitmap)
}

/// Data that is given is the truth, or else the array says that parity may have been wrong. `life` says what was lived through.
pub(crate) fn owns_up(host: &Host<Array<PlainDevice>>, life: &dyn std::fmt::Debug) {
    let holes = host.device.counters().write_holes;
    assert!(
        host.wrong == 0 || holes > 0,
        "{life:?}: {} sectors are wrong, and of no write hole is told",
        host.wrong
    );
}

/// Every `stride`th run of `run` sectors from `first` on.
pub(crate) fn strided(first: u64, run: u64, stride: u64) -> Vec<u64> {
    (0..SECTORS).filter(|sector| (sector + stride - first % stride) % stride < run).collect()
}

/// Writes everything.
pub(crate) fn filled(device: Array<PlainDevice>) -> Host<Array<PlainDevice>> {
    let mut host = Host::new(device);
    for lba in (0..host.capacity()).step_by(8) {
        let sectors = (host.capacity() - lba).min(8) as u32;
        host.submit(command(Op::Write, lba, sectors));
        while host.in_flight() > 16 {
            assert!(host.step());
        }
    }
    host.drain();
    host
}

/// At `at` a member tells of a die.
pub(crate) fn tell_at(
    host: &mut Host<Array<PlainDevice>>,
    at: Nanos,
    member: usize,
    notice: NoticeKind,
    lost: &[u64],
) {
    let failure = PlainFailure { at, notice, lost: lost.to_vec(), fake: Vec::new() };
    host.device.with_devices(|index, device| {
        if index == member {
            device.plan_failure(failure.clone());
        }
    });
}

/// Time passes up to `to`, with the host idle.
pub(crate) fn pass(host: &mut Host<Array<PlainDevice>>, to: Nanos) {
    let mut completions = Vec::new();
    host.device.advance(to, &mut completions);
    host.accept(completions);
    host.now = to;
}

/// All of an array's state.
pub(crate) fn written(array: &Array<PlainDevice>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    array.save(&mut writer);
    writer.end().unwrap();
    bytes
}

/// Record of everything that an array has done.
pub(crate) type Deeds = (Vec<ArrayEvent>, Vec<MemberRepair>, ArrayCounters, Nanos, u64);

/// A host's random work on an array whose members lose dies, fail, are replaced, and lose power.
#[derive(Clone)]
pub(crate) struct Life {
    seed: u64,
    pub(crate) host: Host<Array<PlainDevice>>,
    rng: SplitMix,
    made: u64,
    die: u16,
    /// When the host had begun its last command.
    begun: Nanos,
}

impl Life {
    pub(crate) fn new(config: &ArrayConfig, seed: u64) -> Self {
        let devices = (0..u64::from(config.devices())).map(|seed| plain(SECTORS, seed)).collect();
        let host = Host::new(Array::new(config.clone(), devices, true).unwrap());
        Self { seed, host, rng: SplitMix::new(seed, "life"), made: 100, die: 0, begun: Nanos::ZERO }
    }

    pub(crate) fn go_on(&mut self, steps: u32) {
        for _ in 0..steps {
            while self.host.in_flight() >= 12 {
                assert!(self.host.step(), "the host waits for ever");
            }
            let next = self.host.random(&mut self.rng, 60);
            self.host.submit(next);
            if self.rng.below(30) == 0 {
                self.befall();
            }
            if self.rng.below(50) == 0 {
                // The host pauses.
                self.settle_host();
                let to = self.host.now + Nanos(self.rng.below(4_000_000));
                pass(&mut self.host, to);
            }
        }
        self.begun = self.host.now;
    }

    fn settle_host(&mut self) {
        while self.host.in_flight() > 0 {
            assert!(self.host.step(), "the host waits for ever");
        }
    }

    fn befall(&mut self) {
        let now = self.host.now;
        let members = u64::from(self.host.device.config().members);
        let member = self.rng.below(members) as usize;
        match self.rng.below(8) {
            0..5 => {
                self.die += 1;
                let lost = strided(self.rng.below(32), 3, 32);
                let at = now + Nanos(self.rng.below(1_000_000));
                let notice = match self.rng.below(12) {
                    0 => NoticeKind::BeyondRepair { die: self.die },
                    _ => NoticeKind::DieFailed { die: self.die },
                };
                tell_at(&mut self.host, at, member, notice, &lost);
            }
            5 => {
                self.made += 1;
                // Refused where it would lose data.
                let _ = self.host.device.replace(now, member, plain(SECTORS, self.made), false);
            }
            6 => self.host.device.add_spare(now, plain(SECTORS, now.0)).unwrap(),
            _ => {
                self.host.tolerant |= leaves_holes(self.host.device.config());
                self.host.device.power_cut(now);
                self.host.forget_in_flight();
                self.host.device.power_on(now, true).unwrap();
            }
        }
    }

    /// Saves the array, and restores it into a new one of the same settings.
    pub(crate) fn is_written_and_read(&mut self) {
        let bytes = written(&self.host.device);
        let config = self.host.device.config().clone();
        let mut array = Self::new(&config, 0).host.device;
        let mut from = bytes.as_slice();
        let mut reader = Reader::new(&mut from);
        array.restore(&mut reader).unwrap();
        reader.end().unwrap();
        array.self_check().unwrap();
        assert!(written(&array) == bytes, "read and written again it is another");
        self.host.device = array;
    }

    pub(crate) fn deeds(&self) -> Deeds {
        let array = &self.host.device;
        array.self_check().unwrap();
        owns_up(&self.host, &("seed", self.seed));
        (array.events().to_vec(), array.repairs().to_vec(), array.counters(), self.begun, self.host.completed)
    }
}

/// The life of an array of these settings.
pub(crate) fn life(config: &ArrayConfig, seed: u64) -> Life {
    let mut life = Life::new(config, seed);
    life.go_on(700);
    life.host.drain();
    life
}

/// With rates for all that the array does for itself, and no work of other kinds.
pub(crate) fn at_rates(way: RepairWay, min: u64, max: u64) -> ArrayConfig {
    let config = small(Level::Raid5, 4, way).with_spares(2).with_consistency(Consistency::Ppl);
    config.with_rates(Some(min), Some(max)).with(|config| config.log.size = Bytes::kib(32))
}

/// A die has failed.
pub(crate) fn failed(die: u16) -> NoticeKind {
    NoticeKind::DieFailed { die }
}
