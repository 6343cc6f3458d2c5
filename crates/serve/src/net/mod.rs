//! Sockets, and waiting for them.

mod link;
mod listen;
mod poll;
mod stream;

pub(crate) use link::{Calls, Link};
pub(crate) use listen::Listener;
pub use listen::{Listen, ListenError};
pub(crate) use poll::{Interest, Poller, Ready, Source, Waker};
use stream::Stream;
