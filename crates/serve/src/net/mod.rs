//! Sockets, and waiting for them.

mod listen;
mod poll;
mod stream;

pub(crate) use listen::Listener;
pub use listen::{Listen, ListenError};
pub(crate) use poll::{Interest, Poller, Ready, Source, Waker};
pub(crate) use stream::Stream;
