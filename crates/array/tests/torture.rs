//! Content survives everything that an array promises to survive. Random work with bytes while members fail and are replaced,
//! sectors become unreadable, parity moves, and power fails; every read against an oracle, and at the end redundancy that fits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayHealth, PlainDevice};
use outlast_device::Device;
use outlast_settings::array::{ArrayConfig, Consistency, CopyLayout, Level, ShiftWay, StripeWrites};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use support::settings::{ArraySettings, array_of};
use support::{Host, array, plain, volatile};

const SECTORS: u64 = 400;

/// Faults that may happen beside the work.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts, not a state in disguise")]
struct Faults {
    failures: bool,
    latent: bool,
    power: bool,
    /// Members forget what they were not told to keep.
    volatile: bool,
}

const ALL: Faults = Faults { failures: true, latent: true, power: true, volatile: false };
const VOLATILE: Faults = Faults { volatile: true, ..ALL };

fn small(level: Level, members: u16, consistency: Consistency) -> ArrayConfig {
    let config = array_of(level, members).with_consistency(consistency).with_small_log(Bytes::kib(32));
    // Latent errors are many here, and members leave on command.
    config.with_rates(Some(60_000_000), None).with_window(6).with_read_errors(u32::MAX)
}

struct Torture {
    host: Host<Array<PlainDevice>>,
    rng: SplitMix,
    faults: Faults,
    redundancy: usize,
    seed: u64,
    failed: u32,
    cuts: u32,
    latent: u32,
    replaced: u32,
    may_be_lost: bool,
}

impl Torture {
    fn new(config: &ArrayConfig, faults: Faults, seed: u64) -> Self {
        let mut host = Host::new(if faults.volatile {
            let devices = 0..u64::from(config.members);
            Array::new(config.clone(), devices.map(|seed| volatile(SECTORS, seed)).collect(), true).unwrap()
        } else {
            array(config.clone(), SECTORS)
        });
        // Records make writes durable; without them a volatile buffer keeps what it was told to.
        let records = matches!(config.consistency, Consistency::Ppl | Consistency::Journal);
        host.forgetful = faults.volatile && !records;
        Self {
            host,
            rng: SplitMix::new(seed, "torture"),
            faults,
            redundancy: usize::from(config.redundancy()),
            seed: 100 + seed,
            failed: 0,
            cuts: 0,
            latent: 0,
            replaced: 0,
            may_be_lost: false,
        }
    }

    fn members(&self) -> usize {
        usize::from(self.host.device.config().members)
    }

    fn missing(&self) -> usize {
        let status = self.host.device.status(self.host.now);
        status.members.iter().filter(|member| !member.in_sync).count()
    }

    /// The most unreadable sectors at one address over all members: in striped layouts these share a row of a stripe.
    fn worst_row(&self) -> usize {
        let at = |sector: u64| {
            let member = |column: usize| self.host.device.member(column);
            (0..self.members()).filter_map(member).filter(|device| device.is_unreadable(sector)).count()
        };
        (0..SECTORS).map(at).max().unwrap_or(0)
    }

    /// True if parity may still be in doubt after a loss of power without records.
    fn in_doubt(&self) -> bool {
        let config = self.host.device.config();
        self.cuts > 0 && matches!(config.consistency, Consistency::Resync | Consistency::Bitmap)
    }

    fn step(&mut self) {
        while self.host.in_flight() >= 24 {
            assert!(self.host.step(), "the host waits for ever");
        }
        let next = self.host.random(&mut self.rng, 100);
        self.host.submit(next);
        if self.rng.below(40) == 0 {
            self.fault();
        }
    }

    fn fault(&mut self) {
        let now = self.host.now;
        let member = self.rng.below(self.members() as u64) as usize;
        match self.rng.below(7) {
            0 if self.faults.failures
                && self.missing() + self.worst_row() < self.redundancy
                && self.settled() =>
            {
                self.host.device.fail_member(now, member).unwrap_or_default();
                self.failed += 1;
            }
            1 | 2 if self.faults.failures => self.replace(member),
            3 if self.faults.latent => {
                // Copies of one chunk lie at different sectors, so that there only one error at a time is surely harmless.
                let worst = self.worst_row();
                let few = if self.host.device.config().level == Level::Raid10 { worst == 0 } else { true };
                if few
                    && self.missing() + worst < self.redundancy
                    && self.settled()
                    && let Some(device) = self.host.device.member_mut(member)
                {
                    device.make_unreadable(self.rng.below(SECTORS));
                    self.latent += 1;
                }
            }
            4 if self.faults.power => self.power_cut(),
            5 => self.host.device.start_scrub(now, true),
            // A rest, in which rebuilding ends and more may fail.
            6 => self.host.drain(),
            _ => {}
        }
        self.host.device.self_check().unwrap();
    }

    /// With no records of writes under way, members may be missing only once parity fits again.
    fn settled(&mut self) -> bool {
        if self.in_doubt() {
            self.host.drain();
        }
        true
    }

    fn replace(&mut self, member: usize) {
        let now = self.host.now;
        self.seed += 1;
        let make = if self.faults.volatile { volatile } else { plain };
        let device = make(SECTORS, self.seed);
        let status = self.host.device.status(now);
        let absent = status.members.iter().position(|member| !member.present);
        let column = absent.unwrap_or(member);
        if absent.is_none() {
            if self.missing() + self.worst_row() >= self.redundancy {
                return;
            }
            self.settled();
        }
        self.host.device.replace(self.host.now, column, device, false).unwrap();
        self.replaced += 1;
    }

    fn power_cut(&mut self) {
        let now = self.host.now + Nanos(self.rng.below(200_000));
        // Without records a member must not be missing: that is the write hole, and has a test of its own.
        let config = self.host.device.config();
        let records = matches!(config.consistency, Consistency::Ppl | Consistency::Journal);
        if !records && (self.missing() > 0 || self.worst_row() > 0) {
            return;
        }
        self.host.device.power_cut(now);
        self.host.now = now;
        self.host.forget_in_flight();
        self.host.device.power_on(now, false).unwrap();
        self.cuts += 1;
    }

    /// Only sectors that were being written when power failed may be lost, and only lost sectors cannot be read.
    fn check_losses(&mut self) {
        let lost = self.host.device.lost().clone();
        for sector in lost.iter().flatten() {
            assert!(self.host.is_doubtful(sector), "sector {sector} is lost");
        }
        for (lba, sectors) in std::mem::take(&mut self.host.errors) {
            let range = lba..lba + u64::from(sectors);
            assert!(self.may_be_lost || lost.overlaps(&range), "a read of {range:?} failed");
        }
        // What is overwritten is no longer lost, but reads of it may still be under way.
        self.may_be_lost = !lost.is_empty() || self.may_be_lost && self.host.in_flight() > 0;
    }

    /// Everything made whole: no error, no mismatch, nothing lost.
    fn end(&mut self) {
        for column in 0..self.members() {
            self.host.drain();
            if self.host.device.member(column).is_none() {
                self.replace(column);
            }
        }
        self.host.device.finish_shift(self.host.now);
        self.host.drain();
        // The first scrub finds what is still unreadable, the second nothing.
        self.host.device.start_scrub(self.host.now, true);
        self.host.drain();
        let before = self.host.device.counters();
        self.host.device.start_scrub(self.host.now, false);
        self.host.drain();
        let after = self.host.device.counters();
        assert_eq!(after.mismatches, before.mismatches, "redundancy does not fit");
        assert_eq!(after.read_errors, before.read_errors, "unreadable sectors are left");
        assert_eq!(before.mismatches, 0, "a scrub found redundancy that did not fit");
        self.check_losses();
        let lost: Vec<u64> = self.host.device.lost().iter().flatten().collect();
        assert_eq!(self.host.read_all(), lost);
        let status = self.host.device.status(self.host.now);
        assert_eq!(status.state, ArrayHealth::Clean, "{status}");
        assert_eq!((status.progress, status.stripes_to_move), (None, 0), "{status}");
        self.host.device.self_check().unwrap();
    }

    fn run(config: &ArrayConfig, faults: Faults, steps: u32, seed: u64) -> Self {
        let mut torture = Self::new(config, faults, seed);
        for _ in 0..steps {
            torture.step();
            torture.check_losses();
            assert_eq!(torture.host.refused, 0, "a write was refused");
        }
        torture.end();
        torture
    }
}

fn torture(config: &ArrayConfig, faults: Faults, steps: u32) {
    let (mut failed, mut cuts, mut latent, mut replaced) = (0, 0, 0, 0);
    for seed in 0..4 {
        let done = Torture::run(config, faults, steps / 4, seed);
        failed += done.failed;
        cuts += done.cuts;
        latent += done.latent;
        replaced += done.replaced;
    }
    let least = steps / 1500;
    assert!(
        !faults.failures || failed >= least && replaced >= least,
        "{failed} failures, {replaced} replaced"
    );
    assert!(!faults.latent || latent >= least / 4, "{latent} latent errors");
    assert!(!faults.power || cuts >= least / 2, "{cuts} cuts");
}

#[test]
fn raid5_with_a_partial_parity_log() {
    torture(&small(Level::Raid5, 5, Consistency::Ppl), ALL, 24_000);
}

#[test]
fn raid5_with_a_journal() {
    torture(&small(Level::Raid5, 4, Consistency::Journal), ALL, 24_000);
}

#[test]
fn raid6_with_a_partial_parity_log() {
    torture(&small(Level::Raid6, 6, Consistency::Ppl), ALL, 24_000);
}

#[test]
fn a_code_with_three_parities_and_a_journal() {
    torture(&small(Level::Code, 7, Consistency::Journal).with_parities(3), ALL, 16_000);
}

#[test]
fn raid5_with_a_bitmap() {
    torture(&small(Level::Raid5, 5, Consistency::Bitmap), ALL, 16_000);
}

#[test]
fn raid6_with_resynchronisation() {
    torture(&small(Level::Raid6, 5, Consistency::Resync), ALL, 16_000);
}

#[test]
fn mirrors() {
    torture(&small(Level::Raid1, 3, Consistency::Bitmap), ALL, 16_000);
    for copy_layout in [CopyLayout::Near, CopyLayout::Far, CopyLayout::Offset] {
        torture(&small(Level::Raid10, 5, Consistency::Bitmap).with_copies(copy_layout), ALL, 10_000);
    }
}

/// Parity moves at every replacement, in each of the three ways, with one parity and with two.
#[test]
fn parity_shifts() {
    for shift in [ShiftWay::Naive, ShiftWay::Minimal, ShiftWay::Lazy] {
        for (level, percent) in [
            (Level::Raid5, vec![80.0, 5.0, 5.0, 5.0, 5.0]),
            (Level::Raid6, vec![40.0, 20.0, 20.0, 10.0, 10.0]),
        ] {
            let config = small(level, 5, Consistency::Ppl).with_parity_percent(&percent, shift);
            torture(&config.with_writes(StripeWrites::NoReconstruct), ALL, 10_000);
        }
    }
}

/// Members whose buffers forget, and a host that asks for FUA now and then: what was promised is there after any loss of power. With
/// records that is all that was acknowledged, else what was flushed or written with FUA; and redundancy fits.
#[test]
fn volatile_members_with_records() {
    torture(&small(Level::Raid5, 5, Consistency::Ppl), VOLATILE, 16_000);
    torture(&small(Level::Raid5, 4, Consistency::Journal), VOLATILE, 16_000);
    torture(&small(Level::Raid6, 6, Consistency::Ppl), VOLATILE, 16_000);
}

#[test]
fn volatile_members_without_records() {
    torture(&small(Level::Raid5, 5, Consistency::Bitmap), VOLATILE, 16_000);
    torture(&small(Level::Raid6, 5, Consistency::Resync), VOLATILE, 16_000);
    torture(&small(Level::Raid1, 3, Consistency::Resync), VOLATILE, 16_000);
}
