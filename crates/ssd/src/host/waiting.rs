//! Commands that wait for a place in the drive's queue.

use super::Submission;
use super::arbiter::Arbiter;
use outlast_device::{QueueId, Tag};
use outlast_settings::drive::QueuesConfig;
use std::collections::VecDeque;

/// Submission queues.
const QUEUES: usize = 256;

/// Commands at the drive that have no place in its queue yet.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) enum Waiting {
    /// The drive knows of one submission queue.
    One(VecDeque<Submission>),
    /// Each waits in its own.
    Queues(Box<Queues>),
}

/// Submission queues.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Queues {
    arbiter: Arbiter,
    /// Commands, by queue.
    commands: Vec<VecDeque<Submission>>,
    count: u32,
    /// Commands of each queue in the drive, and how many there may be; and the queue of each of these, by tag.
    inside: Vec<u32>,
    #[persist(fixed)]
    depth: u32,
    holders: Vec<Option<QueueId>>,
}

impl Waiting {
    pub(super) fn new(config: Option<&QueuesConfig>) -> Self {
        match config {
            None => Self::One(VecDeque::new()),
            Some(config) => Self::Queues(Box::new(Queues {
                arbiter: Arbiter::new(config),
                commands: vec![VecDeque::new(); QUEUES],
                count: 0,
                inside: vec![0; QUEUES],
                depth: config.depth.unwrap_or(u32::MAX),
                holders: Vec::new(),
            })),
        }
    }

    /// Command `tag` of `queue` comes while a place is free: whether it gets that. None waits then whose queue might have it.
    #[inline]
    pub(super) fn passes(&mut self, queue: QueueId, tag: Tag) -> bool {
        match self {
            Self::One(_) => true,
            Self::Queues(queues) => queues.passes(queue, tag),
        }
    }

    pub(super) fn push(&mut self, submission: Submission) {
        match self {
            Self::One(commands) => commands.push_back(submission),
            Self::Queues(queues) => {
                let queue = submission.command.queue;
                queues.commands[usize::from(queue.0)].push_back(submission);
                queues.count += 1;
                queues.look(queue);
            }
        }
    }

    /// Command `tag` has left the drive.
    #[inline]
    pub(super) fn left(&mut self, tag: Tag) {
        if let Self::Queues(queues) = self {
            queues.left(tag);
        }
    }

    /// The command that gets the next place.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Submission> {
        match self {
            Self::One(commands) => commands.pop_front(),
            Self::Queues(queues) => queues.pop(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Submission> {
        let (one, queues) = match self {
            Self::One(commands) => (Some(commands), None),
            Self::Queues(queues) => (None, Some(&queues.commands)),
        };
        one.into_iter().chain(queues.into_iter().flatten()).flatten()
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(commands) => commands.len(),
            Self::Queues(queues) => queues.count as usize,
        }
    }

    /// Power has failed: none is known any more. Returns their tags, queue by queue.
    pub(super) fn cut(&mut self) -> Vec<Tag> {
        match self {
            Self::One(commands) => commands.drain(..).map(|own| own.tag).collect(),
            Self::Queues(queues) => {
                let mut tags = Vec::new();
                for (queue, commands) in (0..=u8::MAX).zip(&mut queues.commands) {
                    queues.arbiter.has_none(QueueId(queue));
                    tags.extend(commands.drain(..).map(|own| own.tag));
                }
                queues.count = 0;
                queues.inside.fill(0);
                queues.holders.clear();
                tags
            }
        }
    }

    /// Checks that every queue with commands that may have a place is known to the arbiter as such, where `places` are free, and that none is
    /// kept waiting for nothing.
    pub(super) fn self_check(&self, in_flight: u32, places: u32) -> Result<(), String> {
        let Self::Queues(queues) = self else { return Ok(()) };
        let inside: u32 = queues.inside.iter().sum();
        if inside > in_flight || inside as usize != queues.holders.iter().flatten().count() {
            return Err(format!("{inside} commands of queues are in a drive of {in_flight}"));
        }
        for (queue, commands) in queues.commands.iter().enumerate() {
            if in_flight < places && !commands.is_empty() && queues.inside[queue] < queues.depth {
                return Err(format!(
                    "{} commands of queue {queue} wait while a place is free",
                    commands.len()
                ));
            }
        }
        Ok(())
    }
}

impl Queues {
    /// True if queue `queue` has a command that may have a place: the arbiter is told.
    fn look(&mut self, queue: QueueId) {
        let index = usize::from(queue.0);
        if self.commands[index].is_empty() || self.inside[index] >= self.depth {
            self.arbiter.has_none(queue);
        } else {
            self.arbiter.has_some(queue);
        }
    }

    #[inline(never)]
    fn passes(&mut self, queue: QueueId, tag: Tag) -> bool {
        if self.inside[usize::from(queue.0)] >= self.depth {
            return false;
        }
        // That is a turn of the queue, too.
        self.arbiter.has_some(queue);
        let next = self.arbiter.next();
        debug_assert_eq!(next, Some(queue), "a command overtakes others that wait");
        self.enters(queue, tag);
        true
    }

    fn enters(&mut self, queue: QueueId, tag: Tag) {
        let index = tag.0 as usize;
        if index >= self.holders.len() {
            self.holders.resize(index + 1, None);
        }
        self.holders[index] = Some(queue);
        self.inside[usize::from(queue.0)] += 1;
        self.look(queue);
    }

    #[inline(never)]
    fn left(&mut self, tag: Tag) {
        // What was aborted by a loss of power holds no place of its queue.
        let holder = self.holders.get_mut(tag.0 as usize).and_then(Option::take);
        if let Some(queue) = holder {
            self.inside[usize::from(queue.0)] -= 1;
            self.look(queue);
        }
    }

    #[inline(never)]
    fn pop(&mut self) -> Option<Submission> {
        let queue = self.arbiter.next()?;
        let commands = &mut self.commands[usize::from(queue.0)];
        let first = commands.pop_front().expect("a queue that gives the next command has one");
        self.count -= 1;
        self.enters(queue, first.tag);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_device::{Command, Op};
    use outlast_settings::drive::Arbitration;
    use outlast_units::Lba;
    use outlast_units::rng::SplitMix;

    /// Random commands come and go. Each queue, seen alone, is a line of which so many are inside; and no place stays free that one might have.
    #[test]
    fn no_queue_has_more_places_than_it_may() {
        const PLACES: u32 = 12;
        for depth in [1, 3, PLACES] {
            let config =
                QueuesConfig { arbitration: Arbitration::RoundRobin, depth: Some(depth), classes: vec![] };
            let mut waiting = Waiting::new(Some(&config));
            let mut rng = SplitMix::new(u64::from(depth), "queues");
            // By queue: tags that wait, and tags inside, in order.
            let mut lines = [const { (VecDeque::new(), Vec::new()) }; 5];
            let inside = |lines: &[(VecDeque<u32>, Vec<u32>)]| {
                lines.iter().map(|(_, own)| own.len() as u32).sum::<u32>()
            };
            for tag in 0..4000 {
                let queue = rng.below(5) as usize;
                let command = Command { queue: QueueId(queue as u8), ..Command::new(Op::Read, Lba(0), 8) };
                let enters = inside(&lines) < PLACES && waiting.passes(command.queue, Tag(tag));
                assert_eq!(enters, inside(&lines) < PLACES && (lines[queue].1.len() as u32) < depth);
                if enters {
                    assert!(lines[queue].0.is_empty(), "one overtakes another of its queue");
                    lines[queue].1.push(tag);
                } else {
                    waiting.push(Submission { command, tag: Tag(tag), data: Vec::new() });
                    lines[queue].0.push_back(tag);
                }
                let leaves = rng.below(5) as usize;
                if !lines[leaves].1.is_empty() {
                    let at = rng.below(lines[leaves].1.len() as u64) as usize;
                    waiting.left(Tag(lines[leaves].1.remove(at)));
                    if let Some(next) = waiting.pop() {
                        let (line, own) = &mut lines[usize::from(next.command.queue.0)];
                        assert_eq!(
                            line.pop_front(),
                            Some(next.tag.0),
                            "commands of a queue go in their order"
                        );
                        own.push(next.tag.0);
                    }
                }
                waiting.self_check(inside(&lines), PLACES).expect("no place is free for one that waits");
                let may = lines.iter().all(|(_, own)| own.len() as u32 <= depth);
                assert!(may, "a queue has more places than {depth}");
            }
        }
    }
}
