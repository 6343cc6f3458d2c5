//! Completed commands of a device become replies to clients.

use outlast_device::{Completion, Extent, LbaRun, Op, Outcome, SectorRun};
use outlast_units::{Nanos, SECTOR_BYTES};

use super::{ExportedDevice, ReadyReplies};
use crate::pending::{CommandPurpose, PendingCommand};
use crate::protocol::{BlockReply, FailureKind, RequestFailure};
use crate::statistics::NamespaceStatistics;
use crate::zeroing::RangeZeroing;

/// Sectors that a device wants written again, or that it knows to be lost or misplaced: a drive without repair asks for nothing.
pub(super) fn lost_runs(wanted: &[LbaRun], extents: &[Extent]) -> Vec<SectorRun> {
    let wanted = wanted.iter().map(|run| SectorRun { lba: run.lba, sectors: run.sectors.into() });
    let lost = extents.iter().filter(|extent| extent.state.lost || extent.state.misplaced);
    let lost = lost.map(|extent| SectorRun { lba: extent.lba, sectors: extent.sectors });
    SectorRun::joined(wanted.chain(lost).collect())
}

impl ExportedDevice {
    /// Advances the device to `now`; `on_completion` is called with the completion time of each command that ends.
    pub(crate) fn advance(
        &mut self,
        now: Nanos,
        completions: &mut Vec<Completion>,
        replies: &mut ReadyReplies,
        mut on_completion: impl FnMut(Nanos),
    ) {
        if self.device.next_deadline().is_none_or(|next| next > now) {
            return;
        }
        self.device.advance(now, completions);
        for completion in completions.drain(..) {
            on_completion(completion.at);
            self.complete(now, completion, replies);
        }
    }

    /// Advances the device, which has power, until something completes or there is something to tell; returns the time reached.
    pub(crate) fn advance_to_completion(
        &mut self,
        completions: &mut Vec<Completion>,
        replies: &mut ReadyReplies,
    ) -> Nanos {
        let now = self.device.advance_to_completion(Nanos::MAX, completions);
        for completion in completions.drain(..) {
            self.complete(now, completion, replies);
        }
        now
    }

    /// Counts a completed command and replies to its client, unless more commands of the request follow.
    fn complete(&mut self, now: Nanos, completion: Completion, replies: &mut ReadyReplies) {
        // Commands that were under way when an image was opened have no client.
        let Some(pending) = self.pending.remove(completion.tag.0) else {
            self.device.drop_outcome(completion.tag);
            return;
        };
        let PendingCommand { origin, purpose, command, submitted_at } = pending;
        let (outcome, bytes) = (completion.outcome, u64::from(command.sectors) * SECTOR_BYTES);
        if purpose != CommandPurpose::MemberRead {
            let latency = completion.at.saturating_sub(submitted_at);
            self.statistics.count(command.op, bytes, latency, outcome);
            if !self.namespaces.is_empty() {
                NamespaceStatistics::count(&mut self.namespaces, &command, latency, outcome);
            }
        }
        self.has_durable_reply |= command.fua || command.op == Op::Flush;
        let reply = match outcome {
            Outcome::Ok => self.reply_to_success(now, completion, pending, replies),
            // Power has failed, and with it the sessions were closed: nobody is left to reply to.
            Outcome::Aborted => {
                self.drop_rest(purpose);
                None
            }
            Outcome::MediumError => {
                let failed = self.device.take_failed(completion.tag).unwrap_or_default();
                let at = failed.first().map(|run| run.lba.0 * SECTOR_BYTES);
                Some(BlockReply::Failed(RequestFailure {
                    kind: FailureKind::Unreadable,
                    at,
                    text: "data is lost",
                }))
            }
            Outcome::ReadOnly => Some(BlockReply::Failed(RequestFailure {
                kind: FailureKind::ReadOnly,
                at: None,
                text: "too few good blocks or members are left: no writes are taken there",
            })),
            // The sectors of a namespace that is not there are none of the device's.
            Outcome::Zone(error) => Some(BlockReply::Failed(FailureKind::Zone(error).into())),
            // Commands to zones are given to devices with zones only.
            Outcome::OutOfRange | Outcome::InvalidNamespace | Outcome::InvalidOpcode => {
                Some(BlockReply::Failed(FailureKind::OutOfRange.into()))
            }
        };
        if let Some(reply) = reply {
            self.drop_rest(purpose);
            replies.push((origin, reply));
        }
    }

    /// Drops the remaining commands of a request that has ended, if it may have more than one.
    pub(super) fn drop_rest(&mut self, purpose: CommandPurpose) {
        match purpose {
            CommandPurpose::Zeroing(index) => drop(self.zeroings.remove(index)),
            CommandPurpose::ReadAcross(index) => drop(self.zone_reads.remove(index)),
            _ => {}
        }
    }

    /// The reply to a request whose command has succeeded; `None` if its next command was submitted instead.
    fn reply_to_success(
        &mut self,
        now: Nanos,
        completion: Completion,
        pending: PendingCommand,
        replies: &mut ReadyReplies,
    ) -> Option<BlockReply> {
        match pending.purpose {
            CommandPurpose::Read | CommandPurpose::MemberRead => {
                let data = self.device.take_data(completion.tag);
                Some(BlockReply::Data(data.expect("a device in service keeps bytes")))
            }
            CommandPurpose::ReadAcross(index) => {
                let data = self.device.take_data(completion.tag);
                let reads = self.zone_reads.get_mut(index)?;
                reads.add(&data.expect("a device in service keeps bytes"));
                let Some(command) = reads.next() else {
                    return self.zone_reads.remove(index).map(|reads| BlockReply::Data(reads.into_data()));
                };
                self.submit(now, pending.origin, pending.purpose, command, &[], replies);
                None
            }
            CommandPurpose::LbaStatus => {
                // A device that knows of nothing has nothing to be written again.
                let wanted = self.device.take_lba_status(completion.tag).unwrap_or_default();
                let sectors = u64::from(pending.command.sectors);
                let extents = self.device.extents(pending.command.lba, sectors);
                Some(BlockReply::LostRuns(lost_runs(&wanted, &extents)))
            }
            CommandPurpose::Append => Some(BlockReply::Appended(completion.result.0 * SECTOR_BYTES)),
            CommandPurpose::Single => Some(BlockReply::Done),
            CommandPurpose::Zeroing(index) => {
                let next = self.zeroings.get_mut(index).and_then(RangeZeroing::next);
                let Some((command, data)) = next else { return Some(BlockReply::Done) };
                self.submit(now, pending.origin, pending.purpose, command, data, replies);
                None
            }
        }
    }
}
