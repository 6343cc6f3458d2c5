//! The rate at which host writes enter while collection runs.

use outlast_ftl::CREDIT_PER_UNIT;
use outlast_settings::ftl::{TokenConfig, TokenRate};
use outlast_units::Nanos;

/// A bucket of tokens, one for each unit that the host writes, that is filled at a rate which follows the host's.
///
/// Time is cut into windows. In each, tokens come at the greatest of three rates: `factor` times the host's in the window before, what collection
/// granted in the window before, and one bucket a window, so that no write waits for ever. Nothing happens between two calls: what has come is worked out.
///
/// Where the rate is set by burst, it stays what it was when the burst of collection began: `factor` times the host's in the window before and the one under
/// way, and at least one bucket a window. Until the first burst begins after the first window, tokens limit nothing.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct Tokens {
    #[persist(fixed)]
    window: u64,
    /// Rate of tokens over the host's, in 2^-16.
    #[persist(fixed)]
    factor: u64,
    /// All amounts are in 2^-16 units. What the bucket holds at most, and what it held at `at`.
    #[persist(fixed)]
    depth: u64,
    level: u64,
    at: Nanos,
    /// Arrivals in a window.
    rate: u64,
    #[persist(fixed)]
    by_burst: bool,
    /// Units that the host wrote in the window before the one under way.
    before: u64,
    /// When the window under way began, and what the host wrote and collection granted in it.
    began: Nanos,
    written: u64,
    gained: u64,
    /// When the host last wrote.
    last: Nanos,
    /// True if a read of collection is put off until [`Tokens::rests_at`], or until the host has written.
    holds: bool,
    /// True if the write that waits longest waits for a token, and for nothing else.
    awaited: bool,
}

impl Tokens {
    /// A full bucket for `units` units.
    pub(super) fn new(config: &TokenConfig, units: u64) -> Self {
        let depth = units.max(1) * CREDIT_PER_UNIT;
        Self {
            window: config.window.0,
            factor: (config.factor * CREDIT_PER_UNIT as f64) as u64,
            depth,
            level: depth,
            at: Nanos::ZERO,
            rate: if config.rate == TokenRate::Burst { u64::MAX } else { depth },
            by_burst: config.rate == TokenRate::Burst,
            before: 0,
            began: Nanos::ZERO,
            written: 0,
            gained: 0,
            last: Nanos::ZERO,
            holds: false,
            awaited: false,
        }
    }

    pub(super) fn depth(&self) -> u64 {
        self.depth
    }

    /// Arrivals by `to`, at the rate of the window under way.
    fn fill(&mut self, to: Nanos) {
        let came = u128::from(self.rate) * u128::from(to.0 - self.at.0) / u128::from(self.window);
        let level = u128::from(self.level) + came;
        self.level = level.min(u128::from(self.depth)) as u64;
        self.at = to;
    }

    /// Brings everything to `now`.
    fn go_on(&mut self, now: Nanos) {
        let over = (now.0 - self.began.0) / self.window;
        if over == 0 {
            return self.fill(now);
        }
        let end = Nanos(self.began.0 + self.window);
        self.fill(end);
        if !self.by_burst {
            self.rate = self.factor_of(self.written).max(self.gained).max(self.depth);
        }
        self.before = if over > 1 { 0 } else { self.written };
        (self.written, self.gained) = (0, 0);
        self.began = Nanos(self.began.0 + over * self.window);
        if over > 1 && !self.by_burst {
            // The window after it passed without anything: the bucket is full, and the rate is the least.
            (self.level, self.rate, self.at) = (self.depth, self.depth, self.began);
        }
        self.fill(now);
    }

    /// Tokens for a host that has written `amount`.
    fn factor_of(&self, amount: u64) -> u64 {
        (u128::from(amount) * u128::from(self.factor) / u128::from(CREDIT_PER_UNIT)) as u64
    }

    /// A burst of collection begins: where the rate is set by burst, it is from now on what the host's has been.
    pub(super) fn begin_burst(&mut self, now: Nanos) {
        self.go_on(now);
        if !self.by_burst || self.began == Nanos::ZERO {
            return;
        }
        let (amount, over) = (self.before.saturating_add(self.written), self.window + (now.0 - self.began.0));
        let by_window = u128::from(amount) * u128::from(self.window) / u128::from(over);
        self.rate = self.factor_of(by_window as u64).max(self.depth);
    }

    /// True if the rate is set by burst.
    #[inline]
    pub(super) fn is_by_burst(&self) -> bool {
        self.by_burst
    }

    /// True if the host may write a unit at `now`.
    pub(super) fn has_one(&self, now: Nanos) -> bool {
        let mut then = *self;
        then.go_on(now);
        then.level >= CREDIT_PER_UNIT
    }

    /// When it may, as far as can be told: at the end of the window under way the rate changes. Later than `now`.
    pub(super) fn next(&self, now: Nanos) -> Nanos {
        let mut then = *self;
        then.go_on(now);
        let lacks = u128::from(CREDIT_PER_UNIT.saturating_sub(then.level));
        let after = (lacks * u128::from(then.window)).div_ceil(u128::from(then.rate)) as u64;
        Nanos((now.0 + after.max(1)).min(then.began.0 + then.window))
    }

    /// The host writes a unit, for which it takes a token if collection runs.
    pub(super) fn enter(&mut self, now: Nanos, collects: bool) {
        self.go_on(now);
        if collects {
            self.level = self.level.saturating_sub(CREDIT_PER_UNIT);
        }
        self.written += CREDIT_PER_UNIT;
        self.last = now;
    }

    /// Collection grants the host credit.
    pub(super) fn gain(&mut self, now: Nanos, credit: u64) {
        self.go_on(now);
        self.gained += credit;
    }

    /// From when on the host is taken to have gone away, so that collection goes on without it.
    pub(super) fn rests_at(&self) -> Nanos {
        Nanos(self.last.0 + self.window)
    }

    /// A read of collection is put off.
    pub(super) fn hold(&mut self) {
        self.holds = true;
    }

    /// True if one was, until now.
    pub(super) fn let_go(&mut self) -> bool {
        std::mem::take(&mut self.holds)
    }

    pub(super) fn set_awaited(&mut self, awaited: bool) {
        self.awaited = awaited;
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.awaited
    }

    /// True if one is.
    pub(super) fn holds(&self) -> bool {
        self.holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::Bytes;

    const WINDOW: u64 = 1_000_000;

    fn tokens(units: u64, factor: f64) -> Tokens {
        let config =
            TokenConfig { window: Nanos(WINDOW), factor, depth: Bytes::kib(4), ..TokenConfig::default() };
        Tokens::new(&config, units)
    }

    /// How many units a host that always wants to writes from window `from` on until window `to`.
    fn write_all(tokens: &mut Tokens, from: u64, to: u64) -> u64 {
        let (mut now, mut written) = (Nanos(from * WINDOW), 0);
        while now.0 < to * WINDOW {
            if tokens.has_one(now) {
                tokens.enter(now, true);
                written += 1;
            } else {
                let next = tokens.next(now);
                assert!(next > now, "time stands still at {now}");
                now = next;
            }
        }
        written
    }

    /// 1000 units a window, then a host that takes what it gets: in window k after it, factor^k times as many, and in the first a bucket more.
    #[test]
    fn the_rate_follows_the_hosts_window_by_window() {
        let mut own = tokens(10, 0.5);
        for unit in 0..1000 {
            own.enter(Nanos(unit * WINDOW / 1000), false);
        }
        let windows: Vec<u64> = (1..6).map(|window| write_all(&mut own, window, window + 1)).collect();
        let mut follows = 1000.0;
        for (place, &written) in windows.iter().enumerate() {
            follows = follows * 0.5 + if place == 0 { 10.0 } else { 0.0 };
            // A token that is begun when a window ends comes in the next.
            assert!(
                (written as f64 - follows).abs() <= 2.0,
                "{written} in window {place}: {windows:?}, {follows}"
            );
            follows = written as f64;
        }
    }

    #[test]
    fn what_collection_grants_is_the_least_rate() {
        let mut own = tokens(4, 0.5);
        for window in 0..8 {
            own.gain(Nanos(window * WINDOW), 200 * CREDIT_PER_UNIT);
            let written = write_all(&mut own, window, window + 1);
            assert!(window == 0 || (199..=204).contains(&written), "{written} in window {window}");
        }
    }

    /// 1000 units a window before a burst, and in it half of that and once the bucket, however long it lasts; in the next burst half of what came then.
    #[test]
    fn a_rate_by_burst_stays_until_the_next_one() {
        let config =
            TokenConfig { window: Nanos(WINDOW), factor: 0.5, depth: Bytes::kib(4), rate: TokenRate::Burst };
        let mut own = Tokens::new(&config, 10);
        let unlimited = |own: &mut Tokens, from: u64, to: u64| {
            for unit in from * 1000..to * 1000 {
                own.enter(Nanos(unit * WINDOW / 1000), false);
            }
        };
        unlimited(&mut own, 0, 3);
        own.begin_burst(Nanos(3 * WINDOW));
        let windows: Vec<u64> = (3..9).map(|window| write_all(&mut own, window, window + 1)).collect();
        assert!((507..=511).contains(&windows[0]), "{windows:?}");
        assert!(windows[1..].iter().all(|&written| (498..=502).contains(&written)), "{windows:?}");
        // A window at full speed, half of one in the burst: 1500 units in one and a half.
        unlimited(&mut own, 9, 10);
        own.begin_burst(Nanos(10 * WINDOW));
        let next = write_all(&mut own, 10, 11);
        assert!((505..=511).contains(&next), "{next}");
    }

    /// At least a bucket comes in a window, of which this host takes one unit; all at once it gets a bucket, however long it took less.
    #[test]
    fn a_host_that_takes_less_saves_a_bucket_at_most() {
        let mut own = tokens(10, 0.5);
        for window in 0..50 {
            own.enter(Nanos(window * WINDOW), true);
        }
        let (now, mut at_once) = (Nanos(50 * WINDOW), 0);
        while own.has_one(now) {
            own.enter(now, true);
            at_once += 1;
        }
        assert_eq!(at_once, 10);
    }

    /// The least of all is one bucket a window, and a host that was away finds one full bucket.
    #[test]
    fn no_host_waits_for_ever() {
        let mut own = tokens(3, 0.01);
        assert_eq!(write_all(&mut own, 0, 100), 3 + 3 * 100 - 1, "one is begun at the end");
        assert_eq!(write_all(&mut own, 1000, 1010), 3 + 3 * 10 - 1);
    }
}
