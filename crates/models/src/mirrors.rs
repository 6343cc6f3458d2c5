//! Mean time to data loss of striped mirrors: RAID-10, and RAID-1 as one set of copies.

use crate::DomainError;
use crate::chain::LossChain;
use crate::error::{not_negative, positive, within};

/// Most copies of overlapping sets, which are counted in time proportional to 4^copies.
const OVERLAPPING_MAX: u32 = 8;

/// An array that keeps each chunk on `copies` neighbouring devices of a ring. All rates are per the same unit of time, as in
/// [`mttdl`](crate::mttdl).
///
/// The state is the number of failed devices; every device that has failed is repaired at once, at its own rate. Which devices have failed is
/// taken to be any set that has lost nothing, each equally likely. That is exact for pairs that do not overlap (each failed device then leaves
/// exactly one whose failure is fatal), and elsewhere right up to terms of the order of failure over repair rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirroredArray {
    /// Devices.
    pub devices: u32,
    /// Copies of each chunk.
    pub copies: u32,
    /// Distance from one set of copies to the next: `copies` where sets do not overlap, as md's `near` layout over a multiple of `copies`
    /// devices; 1 where each device shares chunks with the next, as `far` and `offset`, or `near` over an odd number.
    pub step: u32,
    /// Failures of one device: 1 / MTTF.
    pub failure_rate: f64,
    /// Repairs of one device: 1 / MTTR.
    pub repair_rate: f64,
    /// Probability that the repair of a device which can be read from one other only meets an unreadable sector.
    pub read_failure: f64,
}

impl MirroredArray {
    /// The step of md's `near` layout: sets begin wherever a multiple of `copies` falls on the ring.
    pub fn near_step(devices: u32, copies: u32) -> u32 {
        let (mut a, mut b) = (devices, copies);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    }

    /// Mean time to data loss of an array that starts whole.
    ///
    /// # Errors
    /// Fewer than two copies or fewer devices than copies, more than 4096 devices, a step that does not divide both numbers, more than 8 copies or 64 devices
    /// where sets overlap, a failure rate that is not above 0, another that is negative, a probability beyond 0..=1.
    pub fn mean_time_to_data_loss(&self) -> Result<f64, DomainError> {
        self.chain()?.mean_time_to_loss()
    }

    /// The chain of its states, which begins with all devices whole.
    ///
    /// # Errors
    /// As [`MirroredArray::mean_time_to_data_loss`].
    pub fn chain(&self) -> Result<LossChain, DomainError> {
        self.check()?;
        let shares = self.shares_survived();
        let (devices, copies) = (f64::from(self.devices), f64::from(self.copies));
        let states = shares.len();
        let (mut rates, mut loss) = (vec![vec![0.0; states]; states], vec![0.0; states]);
        for (failed, &survived) in shares.iter().enumerate() {
            let down = failed as f64;
            let failures = (devices - down) * self.failure_rate;
            // Devices whose failure would be fatal: each stands behind `copies − 1` repairs that can be read from it alone.
            let fatal = (devices - down) * (1.0 - survived);
            let critical = down.min((copies - 1.0) * fatal);
            let lost = self.read_failure * critical;
            loss[failed] = failures * (1.0 - survived) + self.repair_rate * lost;
            if failed + 1 < states {
                rates[failed][failed + 1] = failures * survived;
            }
            if failed > 0 {
                rates[failed][failed - 1] = self.repair_rate * (down - lost);
            }
        }
        LossChain::new(rates, loss)
    }

    fn check(&self) -> Result<(), DomainError> {
        within("copies", self.copies.into(), "at least 2", |count| count >= 2.0)?;
        within("devices", self.devices.into(), "at least the copies, and at most 4096", |count| {
            count >= f64::from(self.copies) && count <= 4096.0
        })?;
        within("step", self.step.into(), "a divisor of devices and copies", |_| {
            self.step > 0 && self.devices.is_multiple_of(self.step) && self.copies.is_multiple_of(self.step)
        })?;
        if self.step != self.copies {
            within("copies", self.copies.into(), "at most 8 where sets overlap", |count| {
                count <= f64::from(OVERLAPPING_MAX)
            })?;
            within("devices", self.devices.into(), "at most 64 where sets overlap", |count| count <= 64.0)?;
        }
        positive("failure_rate", self.failure_rate)?;
        not_negative("repair_rate", self.repair_rate)?;
        within("read_failure", self.read_failure, "within 0 to 1", |p| (0.0..=1.0).contains(&p))?;
        Ok(())
    }

    /// Probability, by number of failed devices, that one more failure loses nothing.
    fn shares_survived(&self) -> Vec<f64> {
        let devices = self.devices as usize;
        if self.step == self.copies {
            return self.shares_of_disjoint_sets();
        }
        let sets = self.harmless_sets();
        (0..devices)
            .take_while(|&failed| sets[failed] > 0.0)
            .map(|failed| {
                // Of all extensions of harmless sets by a device, the harmless ones: each set of one device more is counted once for each of
                // its devices.
                let extensions = sets[failed] * (devices - failed) as f64;
                sets[failed + 1] * (failed + 1) as f64 / extensions
            })
            .collect()
    }

    /// The same for sets that do not overlap, from numbers of harmless sets in logarithms, which do not overflow for 4096 devices. For pairs it
    /// is `(n − 2f) / (n − f)`.
    fn shares_of_disjoint_sets(&self) -> Vec<f64> {
        let (copies, groups) = (self.copies as usize, (self.devices / self.copies) as usize);
        let most = groups * (copies - 1);
        // Logarithms of the coefficients of ((1 + x)^c − x^c)^groups: harmless sets by size.
        let mut ln_choose = vec![0.0f64];
        for i in 1..copies {
            let last = ln_choose[i - 1];
            ln_choose.push(last + ((copies - i + 1) as f64 / i as f64).ln());
        }
        let mut ln_sets = vec![0.0f64];
        for _ in 0..groups {
            let mut next = vec![f64::NEG_INFINITY; ln_sets.len() + copies - 1];
            for (a, &ln_a) in ln_sets.iter().enumerate() {
                for (b, &ln_b) in ln_choose.iter().enumerate() {
                    let (x, y) = (next[a + b], ln_a + ln_b);
                    let high = x.max(y);
                    next[a + b] = high + ((x - high).exp() + (y - high).exp()).ln();
                }
            }
            ln_sets = next;
        }
        let devices = self.devices as usize;
        (0..=most)
            .map(|failed| {
                let Some(&more) = ln_sets.get(failed + 1) else { return 0.0 };
                let share = (more - ln_sets[failed]).exp() * (failed + 1) as f64 / (devices - failed) as f64;
                if failed + 1 < copies { 1.0 } else { share.min(1.0) }
            })
            .collect()
    }

    /// Number of harmless sets of failed devices by size: those that contain no set of copies. Goes round the ring once for each state of the
    /// first `copies − 1` devices, with the state of the last `copies − 1`, so that sets across the seam are seen.
    fn harmless_sets(&self) -> Vec<f64> {
        let (devices, copies) = (self.devices as usize, self.copies as usize);
        let (window, mask) = (copies - 1, (1usize << (copies - 1)) - 1);
        let mut sets = vec![0.0; devices + 1];
        // A failure is fatal if the devices before it have failed as well, and a set of copies begins at the first of them.
        let is_fatal = |position: usize, recent: usize, down: bool| {
            down && recent == mask && (position + devices - window).is_multiple_of(self.step as usize)
        };
        for head in 0..=mask {
            // Bit i of `head`: device i has failed. Of `recent`: the device i + 1 places back.
            let first = (0..window).fold(0usize, |recent, i| recent << 1 & mask | head >> i & 1);
            let mut counts = vec![vec![0.0; devices + 1]; mask + 1];
            counts[first][head.count_ones() as usize] = 1.0;
            for position in window..devices {
                let mut next = vec![vec![0.0; devices + 1]; mask + 1];
                for (recent, by_size) in counts.iter().enumerate() {
                    for down in [false, true].into_iter().filter(|&down| !is_fatal(position, recent, down)) {
                        let to = recent << 1 & mask | usize::from(down);
                        for (size, &count) in by_size.iter().enumerate().filter(|&(_, &count)| count > 0.0) {
                            next[to][size + usize::from(down)] += count;
                        }
                    }
                }
                counts = next;
            }
            for (last, by_size) in counts.iter().enumerate() {
                let mut recent = last;
                let closes = (0..window).all(|i| {
                    let down = head >> i & 1 == 1;
                    let fine = !is_fatal(devices + i, recent, down);
                    recent = recent << 1 & mask | usize::from(down);
                    fine
                });
                if closes {
                    sets.iter_mut().zip(by_size).for_each(|(sum, count)| *sum += count);
                }
            }
        }
        sets
    }
}
