//! The drive's side of the accounts of time: where they are kept, they are told.

use crate::core::CoreContext;
use crate::ledger::Ledger;
use crate::op::OpKind;

impl CoreContext {
    /// Where account is kept of where time goes, it notes `what`. Else this is one comparison.
    #[inline]
    pub(crate) fn note(&mut self, what: impl FnOnce(&mut Ledger)) {
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
    /// Whether a command of the host waits for it.
    #[inline]
    pub(crate) fn is_waited_for(self) -> bool {
        matches!(self, Self::HostRead | Self::RmwRead)
    }
}
