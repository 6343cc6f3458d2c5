//! The interface between the loop and the devices that it serves.

use std::io;
use std::time::Duration;

use serde_json::Value;

use crate::control::ControlReply;
use crate::protocol::{BlockReply, DeviceNews};
use crate::session::{ClientSessions, RequestOrigin, SessionBackend};

/// The devices behind the loop. The loop calls `begin_turn`, passes on requests, and calls `do_due`, `leap`, `commit` and then takes `replies`,
/// once in each turn and in this order.
pub(crate) trait LoopService: SessionBackend {
    /// Reads the clock for this turn, and does everything that is due by then.
    fn begin_turn(&mut self);

    /// Does everything that is due at the time of this turn.
    fn do_due(&mut self);

    /// Under a virtual clock: moves time from event to event until a reply is ready or no client waits.
    fn leap(&mut self);

    /// True if a virtual clock has to move on because a client waits.
    fn needs_leap(&self) -> bool;

    /// Time of the next event on the system's monotonic clock; `None` if nothing happens by itself.
    fn next_deadline(&self) -> Option<Duration>;

    /// True if a client waits for a reply.
    fn is_busy(&self) -> bool;

    /// Replies that are ready.
    fn replies(&mut self) -> &mut Vec<(RequestOrigin, BlockReply)>;

    /// What devices tell unasked, since the last call.
    fn take_news(&mut self, news: &mut Vec<DeviceNews>);

    /// Keeps recorded inputs; `has_replies` says that replies or answers which depend on them leave next.
    ///
    /// # Errors
    /// Inputs cannot be kept; no reply may leave.
    fn commit(&mut self, has_replies: bool) -> io::Result<()>;

    /// Carries out a request of another thread. `is_internal` marks one of the program's own, not a user's.
    fn carry_out(&mut self, request: Value, is_internal: bool, clients: &mut ClientSessions) -> ControlReply;

    /// Does background work between two turns, such as checkpoints. Returns a new warning for the user, each once.
    fn maintain(&mut self) -> Option<String>;

    /// Reason for which the server has to end by itself, if there is one: time has run out.
    fn end_reason(&self) -> Option<String> {
        None
    }

    /// Lets paused time go on, so that requests under way end before the server does.
    fn resume_time(&mut self);

    /// Shuts the devices down once no client is left.
    ///
    /// # Errors
    /// Inputs cannot be kept.
    fn shut_down(&mut self) -> io::Result<()>;
}
