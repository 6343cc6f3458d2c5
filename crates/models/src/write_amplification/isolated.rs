//! A reclaim unit handle whose data is apart from all other data of the drive.

use super::{greedy, greedy_finite_blocks};
use crate::DomainError;
use crate::error::within;

/// Random writes through a reclaim unit handle of their own, beside data that costs nothing by itself: logs and rings, whose
/// superblocks are stale as a whole by the time they are collected. `CacheLib`'s small objects beside its large ones are such.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsolatedHandle {
    /// Share of the user space that is written through the handle, above 0 and at most 1.
    pub space: f64,
    /// Share of the host's bytes that go through it, from 0 to 1.
    pub writes: f64,
    /// Mapping units to a superblock; `None`: so many that their number does not matter.
    pub pages: Option<f64>,
}

impl IsolatedHandle {
    /// Write amplification of the handle's own writes under independent uniform writes, with all of the drive's spare space ρ
    /// (`spare`): [`greedy`] at ρ/s, s its `space`.
    ///
    /// With 1/α = 1 + ρ/s, the share p of a victim that is still valid solves α = (1 − p)/(−ln p), and WAF = 1/(1 − p): the
    /// equation of [`victim_utilisation`](super::victim_utilisation). An upper bound for all other patterns of the handle's
    /// writes, since uniform ones leave collection the least to choose from; spare space that the other data holds back comes
    /// on top. For the whole drive (s = 1) it is [`greedy`]. *Independent* uniform writes: a benchmark that writes every block once before any block twice, as fio does
    /// without `norandommap`, has less.
    ///
    /// Source: the equation of Desnoyers 2012 and Xiang and Kurkoski 2011 for the handle as a drive of its own, as Stoica and
    /// Ailamaki (VLDB 2013) divide spare space.
    ///
    /// # Errors
    /// `space` is not above 0 and at most 1, or `spare` not above 0.
    pub fn own(&self, spare: f64) -> Result<f64, DomainError> {
        let space =
            within("space", self.space, "above 0 and at most 1", |space| space > 0.0 && space <= 1.0)?;
        self.pages.map_or_else(|| greedy(spare / space), |pages| greedy_finite_blocks(spare / space, pages))
    }

    /// Write amplification of the drive: `1 + f·(WAF − 1)`, f the handle's share of the host's bytes, WAF its own.
    ///
    /// # Errors
    /// As [`IsolatedHandle::own`], or `writes` outside 0 to 1.
    pub fn whole_drive(&self, spare: f64) -> Result<f64, DomainError> {
        let writes = within("writes", self.writes, "within 0 to 1", |writes| (0.0..=1.0).contains(&writes))?;
        Ok(writes.mul_add(self.own(spare)? - 1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_amplification::victim_utilisation;

    const SHARES: [f64; 5] = [0.04, 0.2, 0.4, 0.63, 1.0];

    fn handle(space: f64, writes: f64) -> IsolatedHandle {
        IsolatedHandle { space, writes, pages: None }
    }

    #[test]
    fn the_victims_valid_share_solves_its_equation() {
        for space in SHARES {
            for spare in [0.089, 0.185, 0.374] {
                let valid = 1.0 - 1.0 / handle(space, 1.0).own(spare).unwrap();
                let alpha = space / (space + spare);
                // Where nearly nothing is valid, 1 − 1/WAF has few digits left.
                if valid > 1e-6 {
                    assert!(
                        ((1.0 - valid) / -valid.ln() / alpha - 1.0).abs() < 1e-8,
                        "{space}, {spare}: {valid}"
                    );
                }
            }
        }
    }

    #[test]
    fn bounds_of_small_objects_on_a_drive_with_18_5_percent_of_spare_space() {
        // By bisection of α = (1 − p)/(−ln p) to 15 digits, in Python.
        let bound = |space| handle(space, 1.0).own(0.185).unwrap();
        assert!((bound(0.2) - 1.290).abs() < 5e-4, "{}", bound(0.2));
        assert!((bound(0.4) - 1.794).abs() < 5e-4, "{}", bound(0.4));
        assert!((bound(0.04) - 1.004).abs() < 5e-4, "{}", bound(0.04));
    }

    #[test]
    fn the_whole_drive_is_a_handle_too_and_shares_of_bytes_weigh() {
        for spare in [0.07, 0.28] {
            assert_eq!(handle(1.0, 1.0).own(spare), greedy(spare));
            let own = handle(0.4, 1.0).own(spare).unwrap();
            assert_eq!(handle(0.4, 0.0).whole_drive(spare), Ok(1.0));
            assert!((handle(0.4, 1.0).whole_drive(spare).unwrap() - own).abs() < 1e-12);
            assert!((handle(0.4, 0.5).whole_drive(spare).unwrap() - f64::midpoint(1.0, own)).abs() < 1e-12);
            let freed = 1.0 - victim_utilisation(spare / 0.4).unwrap();
            assert!((own * freed - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn refusals() {
        assert!(handle(0.0, 1.0).own(0.1).is_err());
        assert!(handle(1.1, 1.0).own(0.1).is_err());
        assert!(handle(0.5, 1.1).whole_drive(0.1).is_err());
        assert!(handle(0.5, 0.5).whole_drive(0.0).is_err());
        assert!(IsolatedHandle { space: 0.5, writes: 0.5, pages: Some(0.0) }.own(0.1).is_err());
    }
}
