//! How many re-reads there are, and which of them come before the stripe is asked.

/// Most re-reads of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, outlast_persist::Persist)]
pub(crate) struct Retries {
    /// Of all data; `None`: unlimited.
    max: Option<u32>,
    /// Of data with parity, before the stripe; `None`: all.
    if_protected: Option<u32>,
    /// Of a read with limited retry.
    limited: u32,
}

impl Retries {
    pub(crate) fn new(max: Option<u32>, if_protected: Option<u32>) -> Self {
        Self { max, if_protected, limited: 0 }
    }

    /// The same, with `limited` re-reads of a read with limited retry.
    pub(crate) fn with_limited(self, limited: u32) -> Self {
        Self { limited, ..self }
    }

    /// Most re-reads of a read with limited retry.
    pub(crate) fn limited(self) -> u32 {
        self.limited
    }

    /// Most re-reads of all.
    pub(crate) fn all(self) -> Option<u32> {
        self.max
    }

    /// Most re-reads before the stripe is asked, of data that is `protected` or not.
    pub(crate) fn first(self, protected: bool) -> Option<u32> {
        match (self.max, self.if_protected.filter(|_| protected)) {
            (Some(max), Some(own)) => Some(max.min(own)),
            (max, own) => max.or(own),
        }
    }

    /// True if re-reads are left for after the stripe has been asked.
    pub(crate) fn are_left_after_stripe(self) -> bool {
        self.first(true).is_some_and(|first| self.max.is_none_or(|all| all > first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_before_the_stripe_never_exceed_all_retries() {
        let retries = Retries::new(Some(3), Some(5));
        assert_eq!((retries.first(true), retries.first(false), retries.all()), (Some(3), Some(3), Some(3)));
        assert!(!retries.are_left_after_stripe());
        let retries = Retries::new(None, Some(1));
        assert_eq!((retries.first(true), retries.first(false), retries.all()), (Some(1), None, None));
        assert!(retries.are_left_after_stripe());
    }
}
