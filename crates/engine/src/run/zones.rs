//! Completions of commands to zones, which are neither reads nor writes.

use super::{IssuedCommand, LegRunner};
use crate::drives::AsDriveSet;
use crate::simulated_device::SimulatedDevice;
use outlast_device::{Completion, Op};

impl<M: SimulatedDevice + AsDriveSet> LegRunner<'_, '_, '_, M> {
    /// Records the completion of a command that changes the state of a zone; an append counts as a write from here on, and gives false.
    #[cold]
    pub(super) fn settle_in_zone(&mut self, issued: &mut IssuedCommand, completion: &Completion) -> bool {
        if issued.command.op == Op::Append {
            issued.command.op = Op::Write;
            return false;
        }
        self.device.take_parts(completion.tag);
        self.state.recorder.zone_managed(&issued.command, issued.at, completion.at, completion.outcome);
        self.state.done += 1;
        true
    }
}
