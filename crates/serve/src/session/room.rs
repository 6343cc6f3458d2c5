//! How the memory of all clients together is divided, and who has to go so that others come in. No clock and no socket: times come in.

use std::time::Duration;

/// Bytes that the requests, replies and long messages of all clients may take together.
pub(crate) const ALL: u64 = 512 << 20;
/// Bytes that each client may take in any case, so that small requests are never held up by others.
pub(crate) const EACH: u64 = 1 << 20;
/// How long a client may leave its replies lying, or stop within a message, while others wait for the memory that it takes.
pub(crate) const STALL: Duration = Duration::from_secs(10);
/// How long a client has to negotiate while others wait for its place.
pub(crate) const HASTE: Duration = Duration::from_millis(50);

/// The memory of all clients.
#[derive(Debug, Default)]
pub(crate) struct Room {
    held: u64,
    most: u64,
    /// What was held when a client was told to wait; it is looked at again when that has become less.
    short_at: Option<u64>,
    /// Since when clients wait, or when they were last looked over.
    since: Option<Duration>,
}

impl Room {
    /// What a client that holds `own` may hold in all.
    #[inline]
    pub(crate) fn allowance(&self, own: u64) -> u64 {
        ALL.saturating_sub(self.held - own).max(EACH)
    }

    /// A client that held `before` holds `now`.
    #[inline]
    pub(crate) fn changed(&mut self, before: u64, now: u64) {
        self.held = self.held - before + now;
        self.most = self.most.max(self.held);
    }

    /// A client waits for memory.
    pub(crate) fn note_short(&mut self) {
        self.short_at = Some(self.short_at.map_or(self.held, |before| before.max(self.held)));
    }

    /// Whether those that wait are to be asked again: something has been given back.
    #[inline]
    pub(crate) fn has_more(&mut self) -> bool {
        let has_more = self.short_at.is_some_and(|before| self.held < before);
        if has_more {
            self.short_at = None;
        }
        has_more
    }

    /// Bytes that are held, and the most that were.
    pub(crate) fn figures(&self) -> (u64, u64) {
        (self.held, self.most)
    }

    /// When clients are to be looked over, and whether that is `now`: whoever has not moved a byte since the last time, and could, gives up its place.
    pub(crate) fn look_over(&mut self, now: Duration, waits: bool) -> (Option<Duration>, bool) {
        if !waits {
            self.since = None;
            return (None, false);
        }
        let since = *self.since.get_or_insert(now);
        let is_due = now >= since + STALL;
        if is_due {
            self.since = Some(now);
        }
        (Some(self.since.unwrap_or(now) + STALL), is_due)
    }

    /// Whether the look-over has only begun: what clients have moved until now does not count.
    pub(crate) fn is_idle(&self) -> bool {
        self.since.is_none()
    }
}

/// Of clients that still negotiate, by when they came, the one whose place another gets: the first, if it has had its [`HASTE`].
pub(crate) fn gives_way(negotiating: impl Iterator<Item = (u32, Duration)>, now: Duration) -> Option<u32> {
    let (number, born) = negotiating.min_by_key(|&(_, born)| born)?;
    (now >= born + HASTE).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn all_clients_together_hold_no_more_than_there_is_and_each_its_own_part() {
        let mut room = Room::default();
        // 64 clients that take whatever they may: the first takes nearly all.
        let mut held = [0; 64];
        for own in &mut held {
            let allowed = room.allowance(*own);
            assert!(allowed >= EACH);
            room.changed(*own, allowed);
            *own = allowed;
        }
        assert_eq!(held[0], ALL);
        assert!(held[1..].iter().all(|&own| own == EACH));
        assert_eq!(room.figures(), (ALL + 63 * EACH, ALL + 63 * EACH));
        room.note_short();
        assert!(!room.has_more(), "nothing has been given back");
        room.changed(held[0], 0);
        assert!(room.has_more() && !room.has_more(), "those that wait are asked once");
        assert_eq!(room.allowance(EACH), ALL - 62 * EACH);
        assert_eq!(room.figures().1, ALL + 63 * EACH, "the most that was held");
    }

    #[test]
    fn whoever_stalls_is_looked_for_only_while_others_wait() {
        let mut room = Room::default();
        assert_eq!(room.look_over(MS, false), (None, false));
        assert_eq!(room.look_over(5 * MS, true), (Some(5 * MS + STALL), false));
        assert_eq!(room.look_over(6 * MS, true), (Some(5 * MS + STALL), false));
        assert_eq!(room.look_over(5 * MS + STALL, true), (Some(5 * MS + 2 * STALL), true));
        assert_eq!(room.look_over(6 * MS + STALL, false), (None, false));
        assert!(room.is_idle());
        assert_eq!(
            room.look_over(3 * STALL, true),
            (Some(4 * STALL), false),
            "time without need does not count"
        );
    }

    #[test]
    fn the_one_that_has_negotiated_longest_gives_way_after_its_time() {
        let came = [(7, 20 * MS), (3, 10 * MS), (5, 30 * MS)];
        assert_eq!(gives_way(came.into_iter(), 10 * MS + HASTE), Some(3));
        assert_eq!(gives_way(came.into_iter(), 9 * MS + HASTE), None);
        assert_eq!(gives_way(std::iter::empty(), HASTE), None);
    }

    /// 3,000 silent strangers before an honest client: it is let in within 3,000 places of 64 that change every 50 ms.
    #[test]
    fn a_crowd_of_silent_strangers_is_gone_through_in_seconds() {
        let (mut now, mut silent, mut waiting) = (Duration::ZERO, Vec::new(), 3000_u32);
        loop {
            while silent.len() < 64 && waiting > 0 {
                silent.push((waiting, now));
                waiting -= 1;
            }
            if waiting == 0 {
                break;
            }
            match gives_way(silent.iter().copied(), now) {
                Some(number) => silent.retain(|&(other, _)| other != number),
                None => now += MS,
            }
        }
        assert!(now < Duration::from_millis(2500), "{now:?}; with 10 s for each 64 it was 450 s");
    }
}
