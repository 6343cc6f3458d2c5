//! What is behind sessions.

use std::sync::Arc;

use crate::protocol::{BlockRequest, Offer, RequestTag};

/// What a session has opened: a machine, by number, or a member of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) machine: u32,
    pub(crate) member: Option<u8>,
}

impl Target {
    /// A machine itself.
    pub(crate) const fn machine(number: u32) -> Self {
        Self { machine: number, member: None }
    }
}

/// Who asked: where an answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) session: u32,
    pub(crate) generation: u32,
    pub(crate) tag: RequestTag,
}

impl Origin {
    /// Nobody: the answer is dropped.
    pub(crate) const NOBODY: Self = Self { session: u32::MAX, generation: 0, tag: RequestTag(0) };
}

/// Takes requests. It answers them when it can, by a way of its own.
pub(crate) trait Backend {
    /// What is offered to a client that connects now.
    fn offer(&self) -> &Arc<Offer>;

    /// A client opens an export; `None` if it has gone meanwhile.
    fn open(&mut self, export: &str) -> Option<Target>;

    /// A client asks.
    fn request(&mut self, target: Target, from: Origin, request: &BlockRequest<'_>);
}
