//! Firmware that hands commands to the flash cores in the order in which they came: a write that waits for room holds up all behind it.

use crate::host::HostRequestId;
use crate::ssd::Ssd;
use outlast_device::LatencyCause;
use outlast_units::Nanos;
use std::collections::VecDeque;

/// Commands that are held up, in order.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct InOrder {
    held: VecDeque<HostRequestId>,
    /// The first of them is about to go on, or being handed over: one at a time.
    lets_go: bool,
}

impl InOrder {
    /// Power has failed.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Ssd {
    /// Whether request `request` is held up, where commands go in order; it goes on later.
    pub(super) fn is_held_up(&mut self, request: HostRequestId) -> bool {
        let waits = self.any_write_waits();
        self.context.host.in_order.as_mut().is_some_and(|own| {
            let is_held = waits || own.lets_go || !own.held.is_empty();
            if is_held {
                own.held.push_back(request);
            }
            is_held
        })
    }

    /// Waiting writes have been let in, as far as there was room: the first command that is held up is due if none waits any more.
    pub(crate) fn let_held_go(&mut self) {
        if self.context.host.in_order.as_ref().is_none_or(|own| own.lets_go || own.held.is_empty())
            || self.any_write_waits()
        {
            return;
        }
        if let Some(own) = &mut self.context.host.in_order
            && let Some(&first) = own.held.front()
        {
            own.lets_go = true;
            self.context.host.flushes.call(first);
        }
    }

    /// Whether request `request`, which is due, has been held up; else a flush begins.
    pub(crate) fn was_held_up(&self, request: HostRequestId) -> bool {
        self.context
            .host
            .in_order
            .as_ref()
            .is_some_and(|own| own.lets_go && own.held.front() == Some(&request))
    }

    /// The first command that was held up goes on.
    pub(crate) fn go_on_in_order(&mut self, now: Nanos) {
        let first = self.context.host.in_order.as_mut().and_then(|own| own.held.pop_front());
        let first = first.expect("a command goes on that was held up");
        self.context.note_spent(now, first, LatencyCause::Queue);
        self.split_now(now, first);
        if let Some(own) = &mut self.context.host.in_order {
            own.lets_go = false;
        }
        self.let_held_go();
    }

    fn any_write_waits(&self) -> bool {
        self.cores.iter().any(|core| core.buffer().any_waits())
    }

    /// Checks that what is held up waits for a write.
    pub(crate) fn check_order(&self) -> Result<(), String> {
        match &self.context.host.in_order {
            Some(own) if own.lets_go => Err("a command is to go on that no event lets go".into()),
            Some(own) if !own.held.is_empty() && !self.any_write_waits() => {
                Err(format!("{} commands are held up, and no write waits", own.held.len()))
            }
            _ => Ok(()),
        }
    }
}
