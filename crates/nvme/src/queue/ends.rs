//! Ends of commands.

use super::HostQueue;
use crate::entry::{CommandEnd, SubmissionEntry, completion};
use crate::events::FailedCommand;
use crate::io;
use crate::status::NvmeStatus;

impl HostQueue {
    /// Ends a command that has succeeded.
    pub(super) fn succeed(&mut self, id: u16, result: u64, data: Vec<u8>) {
        let completion = self.completion(id, NvmeStatus::SUCCESS, result);
        self.ends.push_back(CommandEnd { completion, data });
    }

    /// Ends a command with data, if there is some.
    pub(super) fn succeed_with(&mut self, entry: &SubmissionEntry, data: Result<Vec<u8>, NvmeStatus>) {
        match data {
            Ok(data) => self.succeed(entry.command_id(), 0, data),
            Err(status) => self.fail(entry, status, 0),
        }
    }

    /// Ends a command that has failed, with an entry in the error log.
    pub(super) fn fail(&mut self, entry: &SubmissionEntry, status: NvmeStatus, result: u64) {
        let (command_id, namespace) = (entry.command_id(), entry.namespace());
        if let Some(link) = &self.link {
            let queue = link.queue;
            let lba = if queue > 0 && io::names_block(entry.opcode()) { entry.two_dwords(10) } else { 0 };
            self.target.with(link.key, |controller| {
                controller.errors.record(FailedCommand { queue, command_id, status, lba, namespace });
            });
        }
        let completion = self.completion(command_id, status, result);
        self.ends.push_back(CommandEnd { completion, data: Vec::new() });
    }

    fn completion(&self, id: u16, status: NvmeStatus, result: u64) -> [u8; 16] {
        // Without flow control, the head is all ones once, in the completion of Connect; hosts ignore it later.
        let (head, queue) =
            self.link.as_ref().map_or((0, 0), |link| (link.head.unwrap_or(u16::MAX), link.queue));
        completion(result, head, queue, id, status)
    }
}
