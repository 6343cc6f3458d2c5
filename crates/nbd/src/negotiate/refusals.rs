//! Refusals that do not depend on the data of an option.

use std::ops::ControlFlow::{self, Continue};

use super::option_replies::{OptionAnswer, OptionReplies, UNKNOWN_OPTION};
use super::{Negotiation, NegotiationStep};
use crate::error::ProtocolViolation;
use crate::wire::{answer, option};

impl Negotiation {
    /// Refuses an option with too much data, which is not read.
    pub(super) fn refuse_long_option(
        &mut self,
        replies: &mut OptionReplies<'_>,
    ) -> Result<ControlFlow<NegotiationStep>, ProtocolViolation> {
        match replies.number {
            // The data of these two is ignored in any case, so its length does not matter.
            option::ABORT => return self.handle_option(replies, &[]),
            option::SET_META_CONTEXT => self.session.contexts = None,
            _ => {}
        }
        let is_specified = matches!(replies.number, 1..=3 | 5..=11);
        let (kind, text) = match self.find_refusal(replies) {
            Some(answer) => answer,
            None if is_specified => (answer::ERR_TOO_BIG, "more data than any such option needs"),
            None => UNKNOWN_OPTION,
        };
        replies.finish((kind, text));
        Ok(Continue(()))
    }

    /// Refusal that applies to every option in this state, except to those that are always allowed.
    pub(super) fn find_refusal(&self, replies: &OptionReplies<'_>) -> Option<OptionAnswer> {
        match replies.number {
            // A client may always leave.
            option::ABORT => None,
            _ if self.is_shutting_down => Some((answer::ERR_SHUTDOWN, "the server is being shut down")),
            option::STARTTLS => None,
            _ => self.needs_tls(replies.server).then_some((answer::ERR_TLS_REQD, "TLS comes first")),
        }
    }
}
