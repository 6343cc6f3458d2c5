//! Sockets, and the poller that waits for them.

mod link;
mod listen;
mod poll;
mod stream;

pub(crate) use link::{ClientLink, SocketCalls};
pub(crate) use listen::ClientListener;
pub use listen::{ListenAddress, ListenError};
pub(crate) use poll::{LoopWaker, ReadySource, SocketInterest, SocketPoller, WakeSource};
use stream::ClientStream;
