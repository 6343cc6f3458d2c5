//! Asynchronous events, and the error log.

use std::collections::VecDeque;

use crate::bytes::put;
use crate::facts::ERROR_ENTRIES;
use crate::log_pages;
use crate::status::NvmeStatus;

/// Length of an entry of the error log, in bytes.
const ERROR_BYTES: usize = 64;

/// Bit of the critical warning that spare blocks run out.
const SPARE: u8 = 1 << 0;

/// Type and information of events, as in a completion's dword 0.
const HEALTH_EVENT: u64 = 1;
const RELIABILITY: u64 = 0x00 << 8;
const SPARE_BELOW: u64 = 0x02 << 8;

/// Events that wait for a request.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    waiting: VecDeque<u64>,
    /// Critical warnings of which the host has been told or knows.
    seen_warnings: u8,
    /// Set from a health event until the host has read the health log.
    is_masked: bool,
}

impl EventQueue {
    /// Notes the critical warning of the device; new bits among `reported` become an event.
    pub(crate) fn report_warnings(&mut self, warnings: u8, reported: u8) {
        let new = warnings & !self.seen_warnings & reported;
        // A warning that is not told now is told once it is configured.
        self.seen_warnings = self.seen_warnings & warnings | new;
        if new == 0 || self.is_masked {
            return;
        }
        let information = if new == SPARE { SPARE_BELOW } else { RELIABILITY };
        self.waiting.push_back(HEALTH_EVENT | information | u64::from(log_pages::HEALTH) << 16);
        self.is_masked = true;
    }

    /// Notes that the host has read the health log with this critical warning.
    pub(crate) fn health_read(&mut self, warnings: u8) {
        (self.seen_warnings, self.is_masked) = (warnings, false);
        // What the host has just read need not be told any more; all events are of this log.
        self.waiting.clear();
    }

    /// The next event.
    pub(crate) fn take(&mut self) -> Option<u64> {
        self.waiting.pop_front()
    }
}

/// A command that has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedCommand {
    pub(crate) queue: u16,
    pub(crate) command_id: u16,
    pub(crate) status: NvmeStatus,
    pub(crate) lba: u64,
    pub(crate) namespace: u32,
}

/// The latest failed commands.
#[derive(Debug, Default)]
pub(crate) struct ErrorLog {
    entries: VecDeque<FailedCommand>,
    count: u64,
}

impl ErrorLog {
    pub(crate) fn record(&mut self, failed: FailedCommand) {
        self.entries.truncate(ERROR_ENTRIES - 1);
        self.entries.push_front(failed);
        self.count += 1;
    }

    /// The log page, latest entry first.
    pub(crate) fn page(&self) -> Vec<u8> {
        let mut page = vec![0; ERROR_ENTRIES * ERROR_BYTES];
        for ((entry, failed), age) in page.chunks_exact_mut(ERROR_BYTES).zip(&self.entries).zip(0..) {
            put(entry, 0, &(self.count - age).to_le_bytes());
            put(entry, 8, &failed.queue.to_le_bytes());
            put(entry, 10, &failed.command_id.to_le_bytes());
            put(entry, 12, &failed.status.field().to_le_bytes());
            // No field of the command is named as the cause.
            put(entry, 14, &u16::MAX.to_le_bytes());
            put(entry, 16, &failed.lba.to_le_bytes());
            put(entry, 24, &failed.namespace.to_le_bytes());
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_told_once_until_the_log_is_read() {
        let mut events = EventQueue::default();
        events.report_warnings(4, 0);
        assert_eq!(events.take(), None, "not configured");
        events.report_warnings(4, 0xFF);
        assert_eq!(events.take(), Some(0x02_0001));
        events.report_warnings(5, 0xFF);
        assert_eq!(events.take(), None, "masked until the log is read");
        events.health_read(4);
        events.report_warnings(5, 0xFF);
        assert_eq!(events.take(), Some(0x02_0201), "spare");
        events.health_read(5);
        events.report_warnings(5, 0xFF);
        assert_eq!(events.take(), None, "known from the log");
        events.report_warnings(0, 0xFF);
        events.report_warnings(8, 0xFF);
        events.health_read(8);
        assert_eq!(events.take(), None, "read before it could be told");
    }

    #[test]
    fn the_error_log_keeps_the_latest() {
        let mut log = ErrorLog::default();
        for id in 0..20 {
            let status = NvmeStatus::INVALID_FIELD;
            log.record(FailedCommand { queue: 1, command_id: id, status, lba: 7, namespace: 1 });
        }
        let page = log.page();
        assert_eq!(page.len(), 1024);
        assert_eq!((page[0], page[10], page[64], page[74]), (20, 19, 19, 18));
        assert_eq!(page[12..14], (0x8004_u16).to_le_bytes());
        assert_eq!(page[15 * 64], 5);
    }
}
