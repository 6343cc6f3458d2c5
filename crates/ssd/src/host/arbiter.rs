//! Arbitration: which submission queue gives the drive its next command (`NVMe` base specification 2.0, section 3.4.4).
//!
//! The specification leaves open in which order a round serves its classes: here it is high, medium, low, each until its credits are spent or
//! it has no command. What a class does not use in a round is gone. A queue gives one command
//! in its turn.

use outlast_device::QueueId;
use outlast_settings::drive::{Arbitration, Class, QueuesConfig};

/// Queues.
const QUEUES: usize = 256;
/// Classes that share by weights.
const WEIGHTED: [Class; 3] = [Class::High, Class::Medium, Class::Low];

/// A set of queues.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
struct Set([u64; QUEUES / 64]);

impl Set {
    fn insert(&mut self, queue: u8) {
        self.0[usize::from(queue) / 64] |= 1 << (queue % 64);
    }

    fn remove(&mut self, queue: u8) {
        self.0[usize::from(queue) / 64] &= !(1 << (queue % 64));
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; QUEUES / 64]
    }

    /// The first member behind `queue`, which comes last itself.
    fn behind(&self, queue: u8) -> Option<u8> {
        let first = queue.wrapping_add(1);
        (0..=QUEUES / 64).find_map(|step| {
            let word = (usize::from(first) / 64 + step) % (QUEUES / 64);
            let from = u64::MAX << (first % 64);
            let wanted = match step {
                0 => from,
                4 => !from,
                _ => u64::MAX,
            };
            let members = self.0[word] & wanted;
            (members != 0).then(|| word as u8 * 64 + members.trailing_zeros() as u8)
        })
    }
}

/// Queues of one class, one after the other.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct Ring {
    /// Those that have commands.
    ready: Set,
    /// Queue that had the last turn.
    turn: u8,
}

impl Ring {
    /// Nobody has had a turn: the first is queue 0.
    fn new() -> Self {
        Self { ready: Set::default(), turn: u8::MAX }
    }

    /// The queue that gives the next command; some has one.
    fn next(&mut self) -> Option<u8> {
        self.turn = self.ready.behind(self.turn)?;
        Some(self.turn)
    }
}

/// What is known of the queues: which have commands, and who has had how much of its turn.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Arbiter {
    /// Class of each queue, cyclic.
    classes: Vec<Class>,
    /// By class.
    rings: [Ring; 4],
    /// Which of the weighted classes the round serves, and what it may still give in it.
    serves: u8,
    credits: u32,
}

impl Arbiter {
    pub(super) fn new(config: &QueuesConfig) -> Self {
        // Where all are equal, they are one class that nothing comes before.
        let classes = match config.arbitration {
            Arbitration::RoundRobin => vec![Class::Urgent],
            Arbitration::Weighted => config.classes.clone(),
        };
        Self { classes, rings: [Ring::new(); 4], serves: 0, credits: QueuesConfig::WEIGHTS[0] }
    }

    fn ring(&mut self, class: Class) -> &mut Ring {
        &mut self.rings[class as usize]
    }

    fn class_of(&self, queue: QueueId) -> Class {
        self.classes[usize::from(queue.0) % self.classes.len()]
    }

    /// Queue `queue` has commands.
    pub(super) fn has_some(&mut self, queue: QueueId) {
        let class = self.class_of(queue);
        self.ring(class).ready.insert(queue.0);
    }

    /// Queue `queue` has none any more.
    pub(super) fn has_none(&mut self, queue: QueueId) {
        let class = self.class_of(queue);
        self.ring(class).ready.remove(queue.0);
    }

    /// The queue that gives the next command; `None` where none has any.
    pub(super) fn next(&mut self) -> Option<QueueId> {
        if let Some(queue) = self.ring(Class::Urgent).next() {
            return Some(QueueId(queue));
        }
        if WEIGHTED.iter().all(|&class| self.ring(class).ready.is_empty()) {
            return None;
        }
        loop {
            let class = WEIGHTED[usize::from(self.serves)];
            if self.credits != 0
                && let Some(queue) = self.ring(class).next()
            {
                self.credits -= 1;
                return Some(QueueId(queue));
            }
            // Its round is over.
            self.serves = (self.serves + 1) % WEIGHTED.len() as u8;
            self.credits = QueuesConfig::WEIGHTS[usize::from(self.serves)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;

    /// The words of the specification, over a plain list of how many commands each queue has.
    struct Model {
        config: QueuesConfig,
        have: Vec<u64>,
        turn: [Option<usize>; 4],
        level: usize,
        credits: u32,
    }

    impl Model {
        fn class(&self, queue: usize) -> usize {
            match self.config.arbitration {
                Arbitration::RoundRobin => 0,
                Arbitration::Weighted => self.config.classes[queue % self.config.classes.len()] as usize,
            }
        }

        fn one_of(&mut self, class: usize) -> Option<usize> {
            let is_ready = |own: &Self, queue: usize| own.class(queue) == class && own.have[queue] > 0;
            let first = self.turn[class].map_or(0, |queue| queue + 1);
            let queue = (first..first + QUEUES).map(|queue| queue % QUEUES).find(|&at| is_ready(self, at))?;
            self.turn[class] = Some(queue);
            self.have[queue] -= 1;
            Some(queue)
        }

        fn next(&mut self) -> Option<usize> {
            if let Some(queue) = self.one_of(0) {
                return Some(queue);
            }
            for _ in 0..4 {
                let class = self.level + 1;
                if self.credits > 0
                    && let Some(queue) = self.one_of(class)
                {
                    self.credits -= 1;
                    return Some(queue);
                }
                if self.have.iter().all(|&commands| commands == 0) {
                    return None;
                }
                self.level = (self.level + 1) % 3;
                self.credits = QueuesConfig::WEIGHTS[self.level];
            }
            panic!("some class has commands and credits");
        }
    }

    #[test]
    fn arbitration_is_that_of_the_model() {
        let mut rng = SplitMix::new(1, "test");
        let all = [Class::Urgent, Class::High, Class::Medium, Class::Low];
        for trial in 0..60 {
            let arbitration = if trial % 4 == 0 { Arbitration::RoundRobin } else { Arbitration::Weighted };
            let classes = (0..=rng.below(9)).map(|_| all[rng.below(4) as usize]).collect();
            let config = QueuesConfig { arbitration, depth: None, classes };
            let mut arbiter = Arbiter::new(&config);
            let credits = QueuesConfig::WEIGHTS[0];
            let mut model = Model { config, have: vec![0; QUEUES], turn: [None; 4], level: 0, credits };
            let queues = 1 + rng.below(QUEUES as u64);
            for _ in 0..2000 {
                if rng.below(2) == 0 {
                    let queue = rng.below(queues);
                    model.have[queue as usize] += 1 + rng.below(5);
                    arbiter.has_some(QueueId(queue as u8));
                } else {
                    let next = model.next();
                    assert_eq!(arbiter.next().map(|queue| usize::from(queue.0)), next, "trial {trial}");
                    if let Some(queue) = next.filter(|&queue| model.have[queue] == 0) {
                        arbiter.has_none(QueueId(queue as u8));
                    }
                }
            }
        }
    }
}
