//! Distribution of the spare space during preconditioning. Write amplification alone does not show that a drive is steady: under a skewed
//! workload it stays low and flat for many drive writes, while superblocks that the fill left full of cold data slowly gather stale units
//! and so take spare space from the hot data.
//!
//! Two more figures are therefore taken at the end of each round. Superblocks **written first**, before space was first reclaimed: units
//! that go stale in those not erased yet are spare space that is still moving. And **unwritten space**: as long as writes go to free space,
//! nothing is collected, and the write amplification is that of an empty drive.

use crate::simulated_device::SimulatedDevice;
use outlast_ftl::{Ftl, ProgramCause};
use outlast_units::SuperblockId;

/// A superblock that was filled before space was first reclaimed.
#[derive(Clone, Copy, Debug)]
struct FirstWritten {
    superblock: SuperblockId,
    /// Number of its seal: another one means that it has been erased since.
    seal: u64,
    /// Valid units at the end of the last round.
    valid: u32,
}

/// Sums over the translation layers of all drives.
#[derive(Clone, Copy, Debug, Default)]
struct UnitSums {
    /// Units written for the host.
    host: u64,
    /// Units written for any cause.
    total: u64,
    /// Units of free space.
    unwritten: u64,
    /// Superblocks collected.
    victims: u64,
}

impl UnitSums {
    fn of<M: SimulatedDevice>(device: &M) -> Self {
        let mut sums = Self::default();
        device.each_ftl(&mut |ftl| {
            let figures = ftl.figures();
            sums.host += figures.written[ProgramCause::Host];
            sums.total += figures.written.total();
            sums.unwritten += ftl.space().unwritten_units();
            sums.victims += figures.victims;
        });
        sums
    }
}

/// Change of the spare space in one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpareSpaceChange {
    /// Write amplification of the drives, weighed by [`amplification`]; `None` without translation layers or host writes.
    pub(crate) amplification: Option<f64>,
    /// Write amplification as counted, which depends on where the round ends within a victim.
    pub(crate) counted: f64,
    /// True if erasures gained space, so that the round did not use up free space alone.
    pub(crate) reclaimed: bool,
    /// Units that went stale in superblocks written first and not erased yet, as a share of the spare space.
    pub(crate) drift: f64,
    /// Superblocks written first and not erased yet, as a share of all.
    pub(crate) first_written: f64,
}

/// Follows the spare space from round to round.
#[derive(Debug)]
pub(crate) struct SpareSpaceWatch {
    last: UnitSums,
    /// Superblocks written first, by translation layer; `None` until space is first reclaimed.
    first: Option<Vec<Vec<FirstWritten>>>,
    spare: u64,
    superblocks: u64,
}

impl SpareSpaceWatch {
    pub(crate) fn new<M: SimulatedDevice>(device: &M) -> Self {
        Self { last: UnitSums::of(device), first: None, spare: 0, superblocks: 0 }
    }

    /// Ends a round: returns its change, and marks the superblocks written first when space is first reclaimed.
    pub(crate) fn end_round<M: SimulatedDevice>(&mut self, device: &M) -> SpareSpaceChange {
        let now = UnitSums::of(device);
        let last = std::mem::replace(&mut self.last, now);
        let amplification = amplification(&last, &now);
        let counted = (now.total - last.total) as f64 / (now.host - last.host).max(1) as f64;
        // Stand-ins have no spare space that could move.
        if amplification.is_none() {
            return SpareSpaceChange {
                amplification,
                counted,
                reclaimed: true,
                drift: 0.0,
                first_written: 0.0,
            };
        }
        // Host writes use up free space unit by unit; a sum that grew means that erasures gave some back.
        let reclaimed = now.host + now.unwritten > last.host + last.unwritten && now.victims != last.victims;
        if self.first.is_none() {
            if reclaimed {
                self.mark_first_written(device);
            }
            return SpareSpaceChange {
                amplification,
                counted,
                reclaimed: false,
                drift: 0.0,
                first_written: 1.0,
            };
        }
        let (stale, left) = self.count_stale(device);
        SpareSpaceChange {
            amplification,
            counted,
            reclaimed,
            drift: stale as f64 / self.spare.max(1) as f64,
            first_written: left as f64 / self.superblocks.max(1) as f64,
        }
    }

    /// Marks all sealed superblocks, and notes the spare space: physical units that hold no valid data.
    fn mark_first_written<M: SimulatedDevice>(&mut self, device: &M) {
        let (mut marked, mut capacity, mut valid, mut superblocks) = (Vec::new(), 0, 0, 0);
        device.each_ftl(&mut |ftl| {
            let all = || (0..ftl.layout().superblocks()).map(SuperblockId);
            superblocks += u64::from(ftl.layout().superblocks());
            capacity += ftl.space().physical_units();
            valid += all().map(|superblock| u64::from(ftl.superblock(superblock).valid())).sum::<u64>();
            let first = |superblock| {
                let seal = ftl.superblock(superblock).seal()?;
                Some(FirstWritten { superblock, seal, valid: ftl.superblock(superblock).valid() })
            };
            marked.push(all().filter_map(first).collect());
        });
        self.first = Some(marked);
        self.spare = u64::saturating_sub(capacity, valid);
        self.superblocks = superblocks;
    }

    /// Units that went stale since the last round in marked superblocks that have not been erased, and the number of these.
    fn count_stale<M: SimulatedDevice>(&mut self, device: &M) -> (u64, usize) {
        let Some(marked) = &mut self.first else { return (0, 0) };
        let (mut stale, mut left) = (0, 0);
        let mut layers = marked.iter_mut();
        device.each_ftl(&mut |ftl| {
            if let Some(marked) = layers.next() {
                stale += stale_in(marked, ftl);
                left += marked.len();
            }
        });
        (stale, left)
    }
}

/// Drops superblocks that have been erased from `marked`; returns the units that went stale in the others.
fn stale_in(marked: &mut Vec<FirstWritten>, ftl: &Ftl) -> u64 {
    marked.retain(|first| ftl.superblock(first.superblock).seal() == Some(first.seal));
    marked
        .iter_mut()
        .map(|first| {
            let valid = ftl.superblock(first.superblock).valid();
            u64::from(std::mem::replace(&mut first.valid, valid).saturating_sub(valid))
        })
        .sum()
}

/// Units written for each unit of the host between two sums; `None` without host writes.
///
/// Collection works victim by victim, so the units relocated in a round depend on whether its end falls just before or after a victim.
/// Each victim gains a known amount of unwritten space, which a round that ends just after it still has. Relocated units are therefore
/// divided by the space that they gained, not by the host's writes.
fn amplification(last: &UnitSums, now: &UnitSums) -> Option<f64> {
    let host = now.host - last.host;
    if host == 0 {
        return None;
    }
    let relocated = (now.total - last.total - host) as f64;
    // Space gained by erasures: the host used up `host` units of it, and the remainder shows as more unwritten space.
    let gained = host as f64 + now.unwritten as f64 - last.unwritten as f64;
    let divisor = if gained > 0.0 { gained } else { host as f64 };
    Some(1.0 + relocated / divisor)
}

#[cfg(test)]
mod tests {
    use super::{UnitSums, amplification};

    #[test]
    fn amplification_does_not_depend_on_where_a_round_ends() {
        // Superblocks of 100 units, victims hold 80 valid ones: 5 units are written for each of the host's, wherever a round ends.
        let at = |host: u64, victims: u64| UnitSums {
            host,
            total: host + victims * 80,
            unwritten: 1000 + victims * 20 - host,
            victims,
        };
        let start = at(0, 0);
        for (host, victims) in [(300, 15), (299, 15), (281, 15), (300, 16), (319, 15)] {
            let waf = amplification(&start, &at(host, victims)).unwrap();
            assert!((waf - 5.0).abs() < 1e-9, "{host} units, {victims} victims: {waf}");
        }
        // Divided by the host's writes the last two would be 5.27 and 4.76.
        assert!((1.0 + 16.0 * 80.0 / 300.0_f64 - 5.267).abs() < 1e-3);
    }

    #[test]
    fn writes_to_free_space_have_no_amplification() {
        let start = UnitSums { host: 0, total: 0, unwritten: 1000, victims: 0 };
        let now = UnitSums { host: 400, total: 400, unwritten: 600, victims: 0 };
        assert_eq!(amplification(&start, &now), Some(1.0));
        assert_eq!(amplification(&now, &now), None);
    }
}
