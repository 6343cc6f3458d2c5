//! Accounts of time: where they are kept, events are noted in them.

use crate::core::CoreContext;
use crate::ledger::Ledger;
use crate::op::OpKind;

impl CoreContext {
    /// Notes `what` in the accounts of time, if these are kept; else this is one comparison.
    #[inline]
    pub fn note(&mut self, what: impl FnOnce(&mut Ledger)) {
        if self.ledger.is_some() {
            self.note_that(what);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_that(&mut self, what: impl FnOnce(&mut Ledger)) {
        if let Some(ledger) = &mut self.ledger {
            what(ledger);
        }
    }
}

impl OpKind {
    /// True if a command of the host waits for it.
    #[inline]
    pub(crate) fn is_waited_for(self) -> bool {
        matches!(self, Self::HostRead | Self::RmwRead)
    }
}
