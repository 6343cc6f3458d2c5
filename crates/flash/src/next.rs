//! What a die comes to, what it asks, and what it may be answered.

use crate::op::{Op, OpId, Task};

/// What a flash core demands of its dies. Asked of the caller whenever an idle die looks for work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    /// Collection goes before host programs, and every so often before reads.
    pub urgent: bool,
    /// A background task is under way: every so often it goes before everything else.
    pub background: bool,
}

/// What a die that looked for work came to.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Next {
    /// It needs nothing: it is at work, or at rest.
    Nothing,
    /// It has begun to sense the units of a read, which lie on so many pages.
    Sensing {
        /// The read.
        op: OpId,
        /// Pages sensed.
        pages: u32,
    },
    /// It has to know what a task wants to read before it can choose: answer with [`Flash::answer`](crate::Flash::answer).
    Asks(Ask),
}

/// A die, idle, asks for the next read that a task wants of it.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The task.
    pub task: Task,
    /// Whether one more internal operation may start; else there is nothing to be answered but [`Answer::Nothing`] or [`Answer::Later`].
    pub may_start: bool,
    pub(crate) point: Point,
}

/// The answer to [`Next::Asks`].
#[derive(Clone, Copy, Debug)]
pub enum Answer<T> {
    /// The task wants nothing more of this die.
    Nothing,
    /// It does, but not now: the die waits until an internal operation has ended.
    Later,
    /// There was nothing to be read where something was expected, and dealing with that may have queued operations: the die looks again.
    Again,
    /// This read.
    Read(Op<T>),
}

/// For which of its reasons a die has turned to internal work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Point {
    /// A background task has waited for its turn; this is what the core demands if there is nothing for the die to do for it.
    Overdue(Demand),
    /// Collection is urgent, and no read waits, or reads have gone before it often enough.
    Urgent,
    /// No host operation waits.
    Collection,
    /// Nothing else waits.
    Background,
}
