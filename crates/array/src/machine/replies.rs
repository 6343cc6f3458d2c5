//! Answers to the host: parts of its commands that end, and data that it gets.

use super::Array;
use super::host::is_change;
use crate::ids::{GroupIndex, HostCommandId};
use crate::layout::RowRange;
use outlast_device::{Completion, Device, Op as HostOp, Outcome};
use outlast_units::{Nanos, SECTOR_BYTES, to_length};

impl<D: Device> Array<D> {
    /// Copies rows of a data role into the host's buffer.
    pub(super) fn give_to_host(
        &mut self,
        host: HostCommandId,
        group: GroupIndex,
        role: usize,
        rows: RowRange,
        data: &[u8],
    ) {
        let host = &mut self.flight.hosts[host];
        let at =
            to_length((self.layout.logical(group, role, rows.first) - host.command.lba.0) * SECTOR_BYTES);
        host.data[at..at + data.len()].copy_from_slice(data);
    }

    /// Ends a part of a host command; the last one completes the command.
    #[inline]
    pub(super) fn finish_part(&mut self, now: Nanos, index: HostCommandId) {
        let host = &mut self.flight.hosts[index];
        debug_assert!(host.left > 0, "each part of a host command ends once");
        host.left -= 1;
        if host.left == 0 {
            self.finish(now, index);
        }
    }

    /// Completes a host command. Never inlined, so that `finish_part` is, which most of its callers call before the last part.
    #[inline(never)]
    fn finish(&mut self, now: Nanos, index: HostCommandId) {
        let host = &mut self.flight.hosts[index];
        let (command, tag, outcome) = (host.command, host.tag, host.outcome);
        if self.setup.bytes && command.op == HostOp::Read && outcome == Outcome::Ok {
            let data = std::mem::take(&mut host.data);
            self.replies.data.insert(tag, data);
        }
        if outcome != Outcome::Ok {
            self.replies.end_failed(index, tag, outcome);
        }
        self.flight.hosts.remove(index);
        self.flight.last_host = Some(now);
        if is_change(command.op) {
            self.doubt.write_ends(now);
        }
        let sectors = u64::from(command.sectors);
        match command.op {
            HostOp::Read => {
                self.history.counters.reads += 1;
                self.history.counters.sectors_read += sectors;
            }
            HostOp::Write => {
                self.history.counters.writes += 1;
                self.history.counters.sectors_written += if outcome == Outcome::Ok { sectors } else { 0 };
            }
            HostOp::Trim | HostOp::Flush | HostOp::LbaStatus | HostOp::Append | HostOp::ManageZone => {}
        }
        self.history.counters.medium_errors += u64::from(outcome == Outcome::MediumError);
        self.replies.ready.push_back(Completion::new(now, tag, outcome));
    }
}
