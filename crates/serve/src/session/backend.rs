//! The interface between sessions and the devices behind them.

use std::sync::Arc;

use crate::protocol::{BlockRequest, ExportOffer, RequestTag};

/// The export that a session has opened: a device, by its number, or one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExportTarget {
    pub(crate) device: u32,
    pub(crate) member: Option<u8>,
}

impl ExportTarget {
    /// Device number `number` itself.
    pub(crate) const fn device(number: u32) -> Self {
        Self { device: number, member: None }
    }
}

/// The session and request that a reply goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestOrigin {
    pub(crate) session: u32,
    /// Generation of the session, which differs from that of earlier sessions with the same number.
    pub(crate) generation: u32,
    pub(crate) tag: RequestTag,
}

impl RequestOrigin {
    /// No session: the reply is dropped.
    pub(crate) const NOBODY: Self = Self { session: u32::MAX, generation: 0, tag: RequestTag(0) };
}

/// Receiver of requests. Replies come later, through [`LoopService::replies`](crate::loop_service::LoopService::replies).
pub(crate) trait SessionBackend {
    /// Exports that are offered to a client that connects now.
    fn offer(&self) -> &Arc<ExportOffer>;

    /// Opens an export for a client; `None` if it is no longer there or has no power.
    fn open(&mut self, export: &str) -> Option<ExportTarget>;

    /// Begins a request of a client.
    fn request(&mut self, target: ExportTarget, origin: RequestOrigin, request: &BlockRequest<'_>);
}
