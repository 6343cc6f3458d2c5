//! Completions on their way to the host, in order of time.

use outlast_device::{Completion, Outcome, Tag};
use outlast_units::{DrainedQueue, Nanos};
use std::collections::VecDeque;

/// Completions that have not been handed out.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Completions {
    /// Those of reads, whose data goes out over the link or is ready later, and the others; each in order of time.
    linked: VecDeque<Completion>,
    direct: DrainedQueue<Completion>,
    /// What the way to the host takes, and those on it, with the times at which the host has them: in order.
    #[persist(fixed)]
    takes: Nanos,
    going: VecDeque<Completion>,
    /// When the first of them is due: kept, as it is asked for at every event.
    next: Nanos,
}

impl Completions {
    /// `takes`: the time from a completion until the host knows of it.
    pub fn new(takes: Nanos) -> Self {
        let (linked, going) = (VecDeque::new(), VecDeque::new());
        Self { linked, direct: DrainedQueue::default(), takes, going, next: Nanos::MAX }
    }

    /// When the first completion is due, or the host has one.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// How many there are that are not on their way.
    pub fn count(&self) -> usize {
        self.direct.len() + self.linked.len()
    }

    /// All that have not been handed out.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Completion> {
        self.linked.iter().chain(self.direct.as_slice()).chain(&self.going)
    }

    /// How many are on their way to the host.
    pub fn on_their_way(&self) -> usize {
        self.going.len()
    }

    /// True if the way to the host takes any time.
    #[inline]
    pub fn take_time(&self) -> bool {
        self.takes != Nanos::ZERO
    }

    /// `completion`, which was the first, sets out on its way to the host.
    pub fn set_out(&mut self, completion: Completion) {
        self.going.push_back(Completion { at: completion.at + self.takes, ..completion });
        self.look();
    }

    /// What the host has next, unless something is due before.
    pub fn heard(&mut self) -> Option<Completion> {
        let heard = self.going.pop_front_if(|own| own.at <= self.next)?;
        self.look();
        Some(heard)
    }

    /// A completion that is due now, which is not earlier than any given so before.
    #[inline]
    pub fn push(&mut self, completion: Completion) {
        debug_assert!(
            self.direct.as_slice().last().is_none_or(|last| last.at <= completion.at),
            "completions without data come in order of time"
        );
        self.next = self.next.min(completion.at);
        self.direct.push(completion);
    }

    /// A completion that is due when its data has been sent or is ready.
    #[inline]
    pub(crate) fn push_linked(&mut self, completion: Completion) {
        self.next = self.next.min(completion.at);
        if self.linked.back().is_none_or(|last| last.at <= completion.at) {
            self.linked.push_back(completion);
        } else {
            // A part of its data has failed, so that less crosses the link than of what was read earlier; or rebuilt data is ready after
            // what was asked for later.
            let index = self.linked.partition_point(|other| other.at <= completion.at);
            self.linked.insert(index, completion);
        }
    }

    /// Moves the first completion, due or not, to the end of `to`; returns its time and tag. Of equal times one without data is first.
    #[allow(clippy::inline_always, reason = "once for each command, in the frame of its event")]
    #[inline(always)]
    pub fn hand_out(&mut self, to: &mut Vec<Completion>) -> Option<(Nanos, Tag)> {
        if !self.linked.is_empty() {
            let completion = self.pop_of_both()?;
            to.push(completion);
            return Some((completion.at, completion.tag));
        }
        // Copied once, from queue to list.
        let first = self.direct.first()?;
        let (at, tag) = (first.at, first.tag);
        to.extend_from_slice(std::slice::from_ref(first));
        self.pass_direct();
        Some((at, tag))
    }

    /// Drops the first completion without data, where there is none with data.
    #[inline]
    fn pass_direct(&mut self) {
        self.direct.pass();
        self.next = self.direct.first().map_or(Nanos::MAX, |completion| completion.at);
    }

    /// The first completion, due or not; of equal times one without data.
    #[inline]
    pub fn pop(&mut self) -> Option<Completion> {
        if self.linked.is_empty() {
            let completion = *self.direct.first()?;
            self.pass_direct();
            return Some(completion);
        }
        self.pop_of_both()
    }

    /// [`Completions::pop`] where there are some with data.
    #[inline(never)]
    fn pop_of_both(&mut self) -> Option<Completion> {
        let time = |first: Option<&Completion>| first.map_or(Nanos::MAX, |completion| completion.at);
        let is_direct = time(self.direct.first()) <= time(self.linked.front());
        let completion = if is_direct { self.direct.pop()? } else { self.linked.pop_front()? };
        self.next = time(self.direct.first()).min(time(self.linked.front()));
        debug_assert!(self.next >= completion.at, "completions are handed out in order of time");
        Some(completion)
    }

    /// Power has failed: what is done at `now` stays done, what has still to cross the link, or the way to the host, is not; returns the
    /// tags of that.
    pub fn cut(&mut self, now: Nanos) -> Vec<Tag> {
        if self.take_time() {
            let direct = std::mem::take(&mut self.direct);
            let linked = std::mem::take(&mut self.linked);
            let going = std::mem::take(&mut self.going);
            let (heard, unheard): (VecDeque<_>, VecDeque<_>) =
                going.into_iter().partition(|own| own.at <= now);
            self.going = heard;
            self.look();
            let cut = unheard.iter().chain(direct.as_slice()).chain(&linked);
            return cut.map(|completion| completion.tag).collect();
        }
        let crossing = std::mem::take(&mut self.linked);
        let (done, crossing): (VecDeque<_>, VecDeque<_>) =
            crossing.into_iter().partition(|own| own.at <= now);
        self.linked = done;
        self.look();
        crossing.into_iter().map(|completion| completion.tag).collect()
    }

    /// Commands `tags` have been aborted at `now`.
    pub fn abort(&mut self, now: Nanos, tags: &[Tag]) {
        let end = |&tag| Completion::new(now, tag, Outcome::Aborted);
        // What has failed does not set out: the host sees that nobody answers.
        if self.take_time() {
            self.going.extend(tags.iter().map(end));
        } else {
            self.direct.extend(tags.iter().map(end));
        }
        self.look();
    }

    /// Nothing will be handed out.
    pub fn clear(&mut self) {
        *self = Self::new(self.takes);
    }

    fn look(&mut self) {
        let firsts = [self.direct.first(), self.linked.front(), self.going.front()];
        let at = firsts.into_iter().flatten().map(|first| first.at).min();
        self.next = at.unwrap_or(Nanos::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_device::CommandResult;

    fn at(at: u64, tag: u32) -> Completion {
        Completion::new(Nanos(at), Tag(tag), Outcome::Ok)
    }

    fn drain(completions: &mut Completions) -> Vec<(u64, u32)> {
        let mut all = Vec::new();
        while let Some(completion) = completions.pop() {
            let last = completions.next();
            assert!(last == Nanos::MAX || last >= completion.at, "the time of the next is known");
            all.push((completion.at.0, completion.tag.0));
        }
        assert_eq!(completions.next(), Nanos::MAX, "none is left");
        all
    }

    #[test]
    fn completions_come_in_order_of_time() {
        let mut completions = Completions::new(Nanos::ZERO);
        for completion in [at(5, 0), at(9, 1), at(7, 2)] {
            completions.push_linked(completion);
        }
        for completion in [at(5, 3), at(6, 4)] {
            completions.push(completion);
        }
        assert_eq!(completions.count(), 5);
        let mut listed = (completions.clone(), Vec::new());
        while let Some((at, tag)) = listed.0.hand_out(&mut listed.1) {
            assert_eq!(listed.1.last().map(|last| (last.at, last.tag)), Some((at, tag)));
        }
        let listed: Vec<_> = listed.1.iter().map(|own| (own.at.0, own.tag.0)).collect();
        assert_eq!(drain(&mut completions), [(5, 3), (5, 0), (6, 4), (7, 2), (9, 1)]);
        assert_eq!(listed, [(5, 3), (5, 0), (6, 4), (7, 2), (9, 1)], "in a list as one by one");
    }

    #[test]
    fn a_result_reaches_the_host_with_its_completion() {
        let mut completions = Completions::new(Nanos(3));
        completions.push(Completion { result: CommandResult(1 << 40), ..at(5, 0) });
        completions.push_linked(Completion { result: CommandResult(9), ..at(6, 1) });
        while let Some(completion) = completions.pop() {
            completions.set_out(completion);
        }
        let heard = [0, 1].map(|_| completions.heard().map(|heard| (heard.at.0, heard.result.0)));
        assert_eq!(heard, [Some((8, 1 << 40)), Some((9, 9))]);
    }

    #[test]
    fn a_cut_keeps_what_is_done_and_aborts_what_crosses_the_link() {
        let mut completions = Completions::new(Nanos::ZERO);
        for completion in [at(5, 0), at(9, 1)] {
            completions.push_linked(completion);
        }
        completions.push(at(6, 2));
        let crossing = completions.cut(Nanos(7));
        assert_eq!(crossing, [Tag(1)]);
        completions.abort(Nanos(7), &crossing);
        assert_eq!(drain(&mut completions), [(5, 0), (6, 2), (7, 1)]);
    }
}
