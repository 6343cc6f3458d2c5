//! Steps of a die that looks for work, its questions to internal tasks, and the answers.

use crate::op::InternalTask;

/// Demands of a flash core on its dies. The caller is asked for them whenever an idle die looks for work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreDemand {
    /// Collection goes before host programs, and once in every nine operations before reads.
    pub urgent: bool,
    /// A background task is under way: once in `background_every` operations it goes before everything else.
    pub background: bool,
    /// Host writes wait to enter the buffer.
    pub writes_wait: bool,
}

/// Result of a die's look for work.
///
/// Two words, so that the caller gets it in registers: fields that are written one by one into memory and read back as wider words wait until every
/// store before them is in the cache (decision 0035).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum DieStep {
    /// The die is at work, or at rest: nothing for the caller to do.
    Nothing,
    /// The die has begun to sense the units of a [read](crate::Flash::sensed), which lie on so many pages.
    Sensing(u32),
    /// As [`DieStep::Sensing`], by a die that may work on several reads at once: [wake](crate::Flash::wake) it, as it may begin another.
    SensingBeside(u32),
    /// A plane of the die is free while other planes still read: [wake](crate::Flash::wake) it.
    PlaneFree,
    /// The die cannot choose before it knows the next read of a task: [give](crate::Flash::give_read) it the read, or [answer](crate::Flash::answer).
    Asks(TaskReadQuery),
}

/// Question of an idle die for the next read of a task, with the place in its priorities from which it continues after the answer.
///
/// One word, so that [`DieStep`] is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct TaskReadQuery(u32);

impl TaskReadQuery {
    const TASK: u32 = 0b11;
    const MAY_START: u32 = 1 << 2;
    const REASON: u32 = 3;

    #[inline]
    pub(crate) fn new(task: InternalTask, may_start: bool, reason: TurnReason) -> Self {
        let reason = match reason {
            TurnReason::Overdue(_) => 0,
            TurnReason::Urgent => 1,
            TurnReason::Collection => 2,
            TurnReason::Background => 3,
        };
        Self(task as u32 | (u32::from(may_start) * Self::MAY_START) | (reason << Self::REASON))
    }

    /// The task.
    #[inline]
    pub fn task(self) -> InternalTask {
        match self.0 & Self::TASK {
            0 => InternalTask::Gc,
            1 => InternalTask::WearLeveling,
            _ => InternalTask::Scrub,
        }
    }

    /// True if one more internal operation may start; else no read may be [given](crate::Flash::give_read).
    #[inline]
    pub fn may_start(self) -> bool {
        self.0 & Self::MAY_START != 0
    }

    /// Reason for which the die has asked; `demand` is of its core, now.
    #[inline]
    pub(crate) fn reason(self, demand: CoreDemand) -> TurnReason {
        match self.0 >> Self::REASON {
            0 => TurnReason::Overdue(demand.urgent),
            1 => TurnReason::Urgent,
            2 => TurnReason::Collection,
            _ => TurnReason::Background,
        }
    }
}

/// Answer to [`DieStep::Asks`] where the die is not [given](crate::Flash::give_read) a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskReadAnswer {
    /// The task has no more reads for this die.
    Nothing,
    /// The task has a read, but not now: the die waits until an internal operation has ended.
    Later,
    /// The read that the task expected turned out to be stale, and handling that may have queued operations: the die looks for work again.
    Again,
}

/// Reason for which a die has turned to internal work: the place in its priorities from which it continues if a task has nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnReason {
    /// A background task has waited for its turn; holds whether collection is urgent, for the choice that follows if the task has nothing.
    Overdue(bool),
    /// Collection is urgent, and no read waits, or reads have gone before it often enough.
    Urgent,
    /// No host operation waits.
    Collection,
    /// No other operation waits.
    Background,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_gives_back_what_it_was_made_of() {
        let demand = CoreDemand { urgent: true, ..CoreDemand::default() };
        for task in InternalTask::ALL {
            for may_start in [false, true] {
                for reason in [
                    TurnReason::Overdue(true),
                    TurnReason::Urgent,
                    TurnReason::Collection,
                    TurnReason::Background,
                ] {
                    let ask = TaskReadQuery::new(task, may_start, reason);
                    assert_eq!((ask.task(), ask.may_start(), ask.reason(demand)), (task, may_start, reason));
                }
            }
        }
    }
}
