//! Pauses of admission: when no host write enters the buffer, whatever room there is.

use outlast_settings::drive::PausesConfig;
use outlast_units::Nanos;

/// Pauses at the beginning of each period. They follow from the clock alone: nothing has to be noted, and no event begins one.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(super) struct Pauses {
    /// Nothing: there are none.
    #[persist(fixed)]
    every: u64,
    #[persist(fixed)]
    length: u64,
}

impl Pauses {
    pub(super) fn new(config: Option<PausesConfig>) -> Self {
        config.map_or(Self::default(), |own| Self { every: own.every.0, length: own.length.0 })
    }

    /// True if there are any at all.
    #[inline]
    pub(super) fn any(self) -> bool {
        self.every != 0
    }

    /// When the pause ends that there is at `now`, if there is one.
    #[inline]
    pub(super) fn ends(self, now: Nanos) -> Option<Nanos> {
        if !self.any() {
            return None;
        }
        let since = now.0 % self.every;
        (since < self.length).then(|| Nanos(now.0 - since + self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_at_the_beginning_of_each_period() {
        let pauses = Pauses::new(Some(PausesConfig { every: Nanos(100), length: Nanos(10) }));
        let ends = [0, 9, 10, 99, 100, 205].map(|now| pauses.ends(Nanos(now)).map(|end| end.0));
        assert_eq!(ends, [Some(10), Some(10), None, None, Some(110), Some(210)]);
        assert!(!Pauses::new(None).any() && Pauses::new(None).ends(Nanos(5)).is_none());
    }
}
