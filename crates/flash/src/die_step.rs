//! What a die comes to, what it asks, and what it may be answered.

use crate::op::InternalTask;

/// What a flash core demands of its dies. Asked of the caller whenever an idle die looks for work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreDemand {
    /// Collection goes before host programs, and every so often before reads.
    pub urgent: bool,
    /// A background task is under way: every so often it goes before everything else.
    pub background: bool,
    /// Host writes wait to enter the buffer.
    pub writes_wait: bool,
}

/// What a die that looked for work came to.
///
/// Two words, so that the caller gets it in registers: fields written one by one into memory and read back as wider words would have to
/// wait until every store before them is in the cache.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum DieStep {
    /// It needs nothing: it is at work, or at rest.
    Nothing,
    /// It has begun to sense the units of a [read](crate::Flash::sensed), which lie on so many pages.
    Sensing(u32),
    /// The same of a die that may work on several reads at once: to be [woken](crate::Flash::wake), as it may begin another.
    SensingBeside(u32),
    /// A plane of it is free, while it still works on reads: to be [woken](crate::Flash::wake).
    PlaneFree,
    /// It has to know what a task wants to read before it can choose: [give](crate::Flash::give) it the read, or
    /// [answer](crate::Flash::answer).
    Asks(TaskReadQuery),
}

/// A die, idle, asks for the next read that a task wants of it.
///
/// One word, as [`DieStep`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct TaskReadQuery(u32);

impl TaskReadQuery {
    const TASK: u32 = 0b11;
    const MAY_START: u32 = 1 << 2;
    const POINT: u32 = 3;

    #[inline]
    pub(crate) fn new(task: InternalTask, may_start: bool, point: TurnReason) -> Self {
        let point = match point {
            TurnReason::Overdue(_) => 0,
            TurnReason::Urgent => 1,
            TurnReason::Collection => 2,
            TurnReason::Background => 3,
        };
        Self(task as u32 | (u32::from(may_start) * Self::MAY_START) | (point << Self::POINT))
    }

    /// The task.
    #[inline]
    pub fn task(self) -> InternalTask {
        InternalTask::ALL[(self.0 & Self::TASK) as usize]
    }

    /// Whether one more internal operation may start; else there is no read to be [given](crate::Flash::give).
    #[inline]
    pub fn may_start(self) -> bool {
        self.0 & Self::MAY_START != 0
    }

    /// Why the die has asked; `demand` is what its core demands now.
    #[inline]
    pub(crate) fn point(self, demand: CoreDemand) -> TurnReason {
        match self.0 >> Self::POINT {
            0 => TurnReason::Overdue(demand.urgent),
            1 => TurnReason::Urgent,
            2 => TurnReason::Collection,
            _ => TurnReason::Background,
        }
    }
}

/// The answer to [`DieStep::Asks`] where the die is not [given](crate::Flash::give) a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskReadAnswer {
    /// The task wants nothing more of this die.
    Nothing,
    /// It does, but not now: the die waits until an internal operation has ended.
    Later,
    /// There was nothing to be read where something was expected, and dealing with that may have queued operations: the die looks again.
    Again,
}

/// For which of its reasons a die has turned to internal work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnReason {
    /// A background task has waited for its turn; this is what the core demands if there is nothing for the die to do for it.
    Overdue(bool),
    /// Collection is urgent, and no read waits, or reads have gone before it often enough.
    Urgent,
    /// No host operation waits.
    Collection,
    /// Nothing else waits.
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
                for point in [
                    TurnReason::Overdue(true),
                    TurnReason::Urgent,
                    TurnReason::Collection,
                    TurnReason::Background,
                ] {
                    let ask = TaskReadQuery::new(task, may_start, point);
                    assert_eq!((ask.task(), ask.may_start(), ask.point(demand)), (task, may_start, point));
                }
            }
        }
    }
}
