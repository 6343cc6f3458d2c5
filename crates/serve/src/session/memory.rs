//! Memory that all clients share, and the choice of clients that lose their place to others. Without clock and socket: times are arguments.

use std::time::Duration;

/// Bytes that requests, replies and long messages of all clients may take together.
pub(crate) const ALL_CLIENTS: u64 = 512 << 20;
/// Bytes that each client may take in any case, so that others never hold up its small requests.
pub(crate) const EACH_CLIENT: u64 = 1 << 20;
/// Longest time for which a client may leave replies unread, or stop within a message, while others wait for the memory that it holds.
pub(crate) const STALL_LIMIT: Duration = Duration::from_secs(10);
/// Longest time for which a client may negotiate while others wait for its place.
pub(crate) const CROWDED_HANDSHAKE: Duration = Duration::from_millis(50);

/// Bytes held for all clients, and the review of those that stall.
#[derive(Debug, Default)]
pub(crate) struct ClientMemory {
    held: u64,
    most: u64,
    /// Most bytes held when a client was told to wait, since waiting clients were last asked again.
    short_at: Option<u64>,
    /// Time of the last review, or of its start; `None` while no client waits.
    reviewed_at: Option<Duration>,
}

impl ClientMemory {
    /// Bytes that a client which holds `held` now may hold in all.
    #[inline]
    pub(crate) fn allowance(&self, held: u64) -> u64 {
        ALL_CLIENTS.saturating_sub(self.held - held).max(EACH_CLIENT)
    }

    /// Notes that a client which held `before` holds `now`.
    #[inline]
    pub(crate) fn update(&mut self, before: u64, now: u64) {
        self.held = self.held - before + now;
        self.most = self.most.max(self.held);
    }

    /// Notes that a client waits for memory.
    pub(crate) fn note_shortage(&mut self) {
        self.short_at = Some(self.short_at.map_or(self.held, |before| before.max(self.held)));
    }

    /// True once if memory was released since a client began to wait, so that waiting clients are to be asked again.
    #[inline]
    pub(crate) fn take_released(&mut self) -> bool {
        let is_released = self.short_at.is_some_and(|before| self.held < before);
        if is_released {
            self.short_at = None;
        }
        is_released
    }

    /// Bytes that are held, and the most that ever were.
    pub(crate) fn figures(&self) -> (u64, u64) {
        (self.held, self.most)
    }

    /// Time of the next review of stalled clients, if any is needed, and true if one is due now. A review evicts each client that has not moved a
    /// byte since the last one, although it could.
    pub(crate) fn review_stalls(&mut self, now: Duration, has_waiting: bool) -> (Option<Duration>, bool) {
        if !has_waiting {
            self.reviewed_at = None;
            return (None, false);
        }
        let since = *self.reviewed_at.get_or_insert(now);
        let is_due = now >= since + STALL_LIMIT;
        if is_due {
            self.reviewed_at = Some(now);
        }
        (Some(self.reviewed_at.unwrap_or(now) + STALL_LIMIT), is_due)
    }

    /// True if no review has begun: bytes that clients have moved until now do not count.
    pub(crate) fn has_no_review(&self) -> bool {
        self.reviewed_at.is_none()
    }
}

/// The client to evict so that another gets its place: the one that has negotiated longest, if that is at least [`CROWDED_HANDSHAKE`].
/// `negotiating` has numbers of sessions and the times at which they connected.
pub(crate) fn choose_evicted(
    negotiating: impl Iterator<Item = (u32, Duration)>,
    now: Duration,
) -> Option<u32> {
    let (number, connected_at) = negotiating.min_by_key(|&(_, connected_at)| connected_at)?;
    (now >= connected_at + CROWDED_HANDSHAKE).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn memory_of_all_clients_is_bounded_and_each_gets_its_minimum() {
        let mut memory = ClientMemory::default();
        // 64 clients that take whatever they may: the first takes nearly all.
        let mut held = [0; 64];
        for client_held in &mut held {
            let allowed = memory.allowance(*client_held);
            assert!(allowed >= EACH_CLIENT);
            memory.update(*client_held, allowed);
            *client_held = allowed;
        }
        assert_eq!(held[0], ALL_CLIENTS);
        assert!(held[1..].iter().all(|&client_held| client_held == EACH_CLIENT));
        assert_eq!(memory.figures(), (ALL_CLIENTS + 63 * EACH_CLIENT, ALL_CLIENTS + 63 * EACH_CLIENT));
        memory.note_shortage();
        assert!(!memory.take_released(), "nothing has been given back");
        memory.update(held[0], 0);
        assert!(memory.take_released() && !memory.take_released(), "those that wait are asked once");
        assert_eq!(memory.allowance(EACH_CLIENT), ALL_CLIENTS - 62 * EACH_CLIENT);
        assert_eq!(memory.figures().1, ALL_CLIENTS + 63 * EACH_CLIENT, "the most that was held");
    }

    #[test]
    fn stalled_clients_are_reviewed_only_while_others_wait() {
        let mut memory = ClientMemory::default();
        assert_eq!(memory.review_stalls(MS, false), (None, false));
        assert_eq!(memory.review_stalls(5 * MS, true), (Some(5 * MS + STALL_LIMIT), false));
        assert_eq!(memory.review_stalls(6 * MS, true), (Some(5 * MS + STALL_LIMIT), false));
        assert_eq!(memory.review_stalls(5 * MS + STALL_LIMIT, true), (Some(5 * MS + 2 * STALL_LIMIT), true));
        assert_eq!(memory.review_stalls(6 * MS + STALL_LIMIT, false), (None, false));
        assert!(memory.has_no_review());
        assert_eq!(
            memory.review_stalls(3 * STALL_LIMIT, true),
            (Some(4 * STALL_LIMIT), false),
            "time without need does not count"
        );
    }

    #[test]
    fn the_client_that_has_negotiated_longest_is_evicted_after_its_time() {
        let came = [(7, 20 * MS), (3, 10 * MS), (5, 30 * MS)];
        assert_eq!(choose_evicted(came.into_iter(), 10 * MS + CROWDED_HANDSHAKE), Some(3));
        assert_eq!(choose_evicted(came.into_iter(), 9 * MS + CROWDED_HANDSHAKE), None);
        assert_eq!(choose_evicted(std::iter::empty(), CROWDED_HANDSHAKE), None);
    }

    /// 3,000 silent clients wait before an honest one, and each of 64 places is freed every 50 ms.
    #[test]
    fn a_client_behind_three_thousand_silent_ones_gets_in_within_seconds() {
        let (mut now, mut silent, mut waiting) = (Duration::ZERO, Vec::new(), 3000_u32);
        loop {
            while silent.len() < 64 && waiting > 0 {
                silent.push((waiting, now));
                waiting -= 1;
            }
            if waiting == 0 {
                break;
            }
            match choose_evicted(silent.iter().copied(), now) {
                Some(number) => silent.retain(|&(other, _)| other != number),
                None => now += MS,
            }
        }
        assert!(now < Duration::from_millis(2500), "{now:?}; with 10 s for each 64 it was 450 s");
    }
}
