//! Commands on their way from the host to the drive's queue.

use super::Submission;
use outlast_device::Tag;
use outlast_units::Nanos;
use std::collections::VecDeque;

/// Commands that the host has submitted and the drive does not have yet: each takes the same time, so that they arrive in order. They hold
/// no place in the drive's queue, which knows nothing of them.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Arrivals {
    #[persist(fixed)]
    takes: Nanos,
    /// With the times of their arrival.
    coming: VecDeque<(Nanos, Submission)>,
}

impl Arrivals {
    pub(super) fn new(takes: Nanos) -> Self {
        Self { takes, coming: VecDeque::new() }
    }

    /// True if the way in takes any time.
    #[inline]
    pub(super) fn take_time(&self) -> bool {
        self.takes != Nanos::ZERO
    }

    /// The host submits a command.
    pub(super) fn set_out(&mut self, now: Nanos, submission: Submission) {
        let at = now + self.takes;
        debug_assert!(self.coming.back().is_none_or(|&(last, _)| last <= at), "commands arrive in order");
        self.coming.push_back((at, submission));
    }

    /// When the next command arrives.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.coming.front().map_or(Nanos::MAX, |&(at, _)| at)
    }

    /// The command that has arrived.
    pub(super) fn arrived(&mut self) -> Option<Submission> {
        self.coming.pop_front().map(|(_, submission)| submission)
    }

    /// Those on their way.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Submission> {
        self.coming.iter().map(|(_, submission)| submission)
    }

    /// How many are on their way.
    pub(super) fn len(&self) -> usize {
        self.coming.len()
    }

    /// Power has failed: none arrives. Returns their tags.
    pub(super) fn cut(&mut self) -> impl Iterator<Item = Tag> {
        self.coming.drain(..).map(|(_, submission)| submission.tag)
    }
}
