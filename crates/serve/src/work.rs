//! What the loop turns for.

use std::io;
use std::time::Duration;

use serde_json::Value;

use crate::control::Outcome;
use crate::protocol::Answer;
use crate::session::{Backend, Front, Origin};

/// What takes requests between two looks at sockets, and what time does to it.
pub(crate) trait Work: Backend {
    /// A new turn: time goes on, and what has become due by now is done.
    fn turn(&mut self);

    /// Does all that is due now.
    fn settle(&mut self);

    /// Where time leaps: on to the next answer, while somebody waits.
    fn leap(&mut self);

    /// Where time leaps: whether it is to go on.
    fn is_to_leap(&self) -> bool;

    /// When something happens next by itself, by the system's monotonic clock.
    fn next(&self) -> Option<Duration>;

    /// Whether a client waits for something.
    fn is_busy(&self) -> bool;

    /// Answers that are ready.
    fn answers(&mut self) -> &mut Vec<(Origin, Answer)>;

    /// Keeps what was given, before anything that `tells` of it leaves.
    ///
    /// # Errors
    /// It cannot be kept; nothing may leave.
    fn commit(&mut self, tells: bool) -> io::Result<()>;

    /// A question of another thread; `is_own`: the program's own, not a client's.
    fn hear(&mut self, request: Value, is_own: bool, front: &mut Front) -> Outcome;

    /// Between two turns: what is kept stays within bounds. What a person should know now, said once.
    fn tend(&mut self) -> Option<String>;

    /// The server goes down: time does not stand any more.
    fn hurry(&mut self);

    /// Nobody is there any more.
    ///
    /// # Errors
    /// What was given cannot be kept.
    fn end(&mut self) -> io::Result<()>;
}
