//! Fraction of preconditioning that is shown to the user.

/// Largest fraction shown while another round may follow.
pub(super) const MOST_SHOWN: f64 = 0.99;

/// Fraction done, as shown to the user. The plan changes with every round, but the fraction never falls: at each change the remaining bar is
/// spread over the units that are then still to be written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgressBar {
    /// Units written when the plan was last changed.
    written: u64,
    /// Fraction shown at that time.
    fraction: f64,
}

impl ProgressBar {
    /// Fraction to show after `written` of `planned` units.
    pub(super) fn fraction_at(self, written: u64, planned: u64) -> f64 {
        let remaining = planned.saturating_sub(self.written).max(1);
        let done = (written.saturating_sub(self.written) as f64 / remaining as f64).min(1.0);
        self.fraction + (1.0 - self.fraction) * done
    }

    /// Fixes the fraction reached after `written` of `planned` units: the plan is about to change. Leaves room for more.
    pub(super) fn replan(&mut self, written: u64, planned: u64) {
        *self = Self { written, fraction: self.fraction_at(written, planned).min(MOST_SHOWN) };
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_SHOWN, ProgressBar};

    #[test]
    fn progress_never_falls_when_the_plan_grows() {
        let (mut shown, mut planned, mut before) = (ProgressBar::default(), 2000u64, 0.0);
        for written in 0..10_000u64 {
            let now = shown.fraction_at(written, planned);
            assert!(now >= before && now <= 1.0, "{now} after {before} at {written} of {planned}");
            before = now;
            if written % 1000 == 999 {
                shown.replan(written, planned);
                // Longer, longer still, and all at once at its end.
                planned = if written < 8000 { written + 1500 } else { written + 1000 };
                before = before.min(MOST_SHOWN);
            }
        }
        assert!(before > 0.9, "{before}");
    }

    #[test]
    fn progress_under_one_plan_is_the_share_written() {
        let shown = ProgressBar::default();
        assert!(
            (shown.fraction_at(25, 100) - 0.25).abs() < 1e-12
                && (shown.fraction_at(100, 100) - 1.0).abs() < 1e-12
        );
        assert!((shown.fraction_at(5, 0) - 1.0).abs() < 1e-12);
    }
}
