//! Firmware that hands commands to the flash cores in the order in which they came: a write that waits for room holds up all behind it.

use super::commands::CommandSplit;
use crate::ssd::Ssd;
use outlast_controller::HostRequestId;
use outlast_device::LatencyCause;
use outlast_units::Nanos;
use std::collections::VecDeque;

/// Commands that are held up, in order.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct InOrder {
    held: VecDeque<HostRequestId>,
    /// True if the first of them is due.
    is_called: bool,
    /// The command that was held up and is being split: a unit at a time, whenever nothing else is due. All others wait for it.
    #[persist(skip)]
    split: Option<CommandSplit>,
}

impl InOrder {
    /// Commands that are held up.
    pub(crate) fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        self.held.iter().copied()
    }

    /// Power has failed.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// True if a command that was held up goes on, or is about to.
    fn goes_on(&self) -> bool {
        self.is_called || self.split.is_some()
    }
}

impl Ssd {
    /// True if request `request` is held up, where commands go in order; it goes on later.
    pub(super) fn is_held_up(&mut self, request: HostRequestId) -> bool {
        let waits = self.any_write_waits();
        self.host.in_order.as_mut().is_some_and(|order| {
            let is_held = waits || order.goes_on() || !order.held.is_empty();
            if is_held {
                order.held.push_back(request);
            }
            is_held
        })
    }

    /// Waiting writes have been let in, as far as there was room: the first command that is held up is due if none waits any more.
    pub(crate) fn let_held_go(&mut self) {
        let Some(order) = &self.host.in_order else { return };
        if order.goes_on() || order.held.is_empty() || self.any_write_waits() {
            return;
        }
        if let Some(order) = &mut self.host.in_order
            && let Some(&first) = order.held.front()
        {
            order.is_called = true;
            self.context.commands.flushes.call(first);
            self.context.look_at_commands();
        }
    }

    /// True if request `request`, which is due, has been held up; else a flush begins.
    pub(crate) fn was_held_up(&self, request: HostRequestId) -> bool {
        self.host
            .in_order
            .as_ref()
            .is_some_and(|order| order.is_called && order.held.front() == Some(&request))
    }

    /// The first command that was held up goes on: it is split from now on.
    #[inline(never)]
    pub(crate) fn go_on_in_order(&mut self, now: Nanos) {
        let first = self.host.in_order.as_mut().and_then(|order| order.held.pop_front());
        let first = first.expect("a command goes on that was held up");
        self.context.note_spent(now, first, LatencyCause::Queue);
        let split = self.begin_split(now, first);
        if let Some(order) = &mut self.host.in_order {
            (order.is_called, order.split) = (false, split);
        }
        if split.is_none() {
            self.end_in_order(now, first);
        }
    }

    /// Hands over the next unit of a command that was held up, as nothing is due. False if there is none.
    #[inline]
    pub(crate) fn go_on_splitting(&mut self, now: Nanos) -> bool {
        (self.host.in_order.is_some() && self.split_held(now))
            || (self.context.zones.is_some() && self.go_on_in_zones(now))
    }

    #[inline(never)]
    fn split_held(&mut self, now: Nanos) -> bool {
        let Some(mut split) = self.host.in_order.as_ref().and_then(|order| order.split) else {
            return false;
        };
        let ends = split.rest == 0;
        if ends {
            self.end_split(now, &split);
        } else {
            self.hand_over_next(now, &mut split);
        }
        if let Some(order) = &mut self.host.in_order {
            order.split = (!ends).then_some(split);
        }
        if ends {
            self.end_in_order(now, split.request);
        }
        true
    }

    /// All units of a command that was held up have been handed over.
    fn end_in_order(&mut self, now: Nanos, request: HostRequestId) {
        self.context.finish_parts(now, request, 1);
        self.let_held_go();
    }

    fn any_write_waits(&self) -> bool {
        self.cores.iter().any(|core| core.buffer().any_waits())
    }

    /// Checks that what is held up waits for a write.
    pub(crate) fn check_order(&self) -> Result<(), String> {
        match &self.host.in_order {
            Some(order) if order.goes_on() => Err("a command is to go on that no event lets go".into()),
            Some(order) if !order.held.is_empty() && !self.any_write_waits() => {
                Err(format!("{} commands are held up, and no write waits", order.held.len()))
            }
            _ => Ok(()),
        }
    }
}
