//! The move of chunks from one placement to another.

use crate::ids::GroupIndex;
use crate::placement::{ParityPlacement, ShiftPlan};
use outlast_units::to_length;

/// The move of chunks from one placement to another, stripe by stripe.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct ParityShift {
    pub(crate) target: ParityPlacement,
    /// Stripes that already follow the target, as bits.
    moved: Vec<u64>,
    /// Stripes that do not yet.
    pub(crate) left: u64,
    /// True if writes carry it on (lazy) rather than a pass.
    pub(crate) lazy: bool,
}

impl ParityShift {
    /// A shift of `stripes` stripes; those that the plan leaves as they are count as moved.
    pub(crate) fn new(from: &ParityPlacement, plan: ShiftPlan, stripes: u64, lazy: bool) -> Self {
        let period = u64::from(from.period());
        let same: Vec<bool> = (0..from.period() as usize)
            .map(|phase| from.columns_at(phase) == plan.target.columns_at(phase))
            .collect();
        let mut moved = vec![0u64; to_length(stripes.div_ceil(64))];
        let mut left = stripes;
        for stripe in 0..stripes {
            if same[to_length(stripe % period)] {
                let (word, bit) = place_of(stripe);
                moved[word] |= 1 << bit;
                left -= 1;
            }
        }
        Self { target: plan.target, moved, left, lazy }
    }

    /// Checks that restored state has a bit for each of `stripes` stripes, and as many left as it counts.
    pub(crate) fn check(&self, stripes: u64) -> Result<(), String> {
        let moved: u64 = self.moved.iter().map(|word| u64::from(word.count_ones())).sum();
        // Bits beyond the last stripe must be 0.
        let beyond = self.moved.last().map_or(0, |last| last.checked_shr((stripes % 64) as u32).unwrap_or(0));
        let is_sized = self.moved.len() as u64 == stripes.div_ceil(64);
        if is_sized
            && moved + self.left == stripes
            && (stripes.is_multiple_of(64) || beyond == 0)
            && self.left > 0
        {
            Ok(())
        } else {
            Err(format!("{moved} of {stripes} stripes have moved and {} are left", self.left))
        }
    }

    #[inline]
    pub(crate) fn is_moved(&self, stripe: GroupIndex) -> bool {
        let (word, bit) = place_of(stripe.0);
        self.moved[word] >> bit & 1 == 1
    }

    pub(crate) fn set_moved(&mut self, stripe: GroupIndex) {
        if !self.is_moved(stripe) {
            let (word, bit) = place_of(stripe.0);
            self.moved[word] |= 1 << bit;
            self.left -= 1;
        }
    }
}

/// The word that has the bit of a stripe, and the bit within it.
#[inline]
fn place_of(stripe: u64) -> (usize, u64) {
    (to_length(stripe / 64), stripe % 64)
}
