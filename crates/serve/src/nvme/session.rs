//! Sessions of hosts: one for each queue.

use std::io::IoSlice;
use std::time::Duration;

use outlast_device::PlacementId;
use outlast_nvme::{
    DeviceAnswer, DeviceFailure, DeviceOp, DeviceRequest, HealthLogPage, LostRange, PlacementReport,
    QueueEvent,
};
use outlast_nvme_tcp::TcpConnection;
use outlast_settings::placement::UNKNOWN_IDENTIFIER;
use outlast_ssd::PlacementEvents;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};

use super::{whole_seconds, zones};
use crate::protocol::{
    BlockOp, BlockReply, BlockRequest, DeviceNews, FailureKind, HealthPage, RequestFailure, RequestTag,
    SessionEnd, SessionEvent, WireSession,
};

/// An `NVMe/TCP` connection as a [`WireSession`].
#[derive(Debug)]
pub(super) struct NvmeSession {
    connection: TcpConnection,
    /// Place of the opened subsystem in the offer.
    export: Option<usize>,
}

impl NvmeSession {
    pub(super) fn new(connection: TcpConnection) -> Self {
        Self { connection, export: None }
    }
}

impl WireSession for NvmeSession {
    fn space(&mut self) -> &mut [u8] {
        self.connection.space()
    }

    fn filled(&mut self, count: usize) {
        self.connection.filled(count);
    }

    fn wants_input(&self) -> bool {
        self.connection.wants_input()
    }

    fn poll(&mut self) -> Option<SessionEvent<'_>> {
        match self.connection.poll()? {
            QueueEvent::Opened(place) => {
                self.export = Some(place);
                Some(SessionEvent::Opened)
            }
            QueueEvent::Reset => Some(SessionEvent::OthersEnded),
            QueueEvent::Request(request) => Some(SessionEvent::Request(block_request(request))),
        }
    }

    fn export(&self) -> Option<usize> {
        self.export
    }

    fn reply(&mut self, tag: RequestTag, reply: BlockReply) {
        self.connection.answer(tag.0, device_answer(reply));
    }

    fn in_flight(&self) -> usize {
        self.connection.in_flight()
    }

    fn output<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slice, bytes) in slices.iter_mut().zip(self.connection.output()) {
            *slice = IoSlice::new(bytes);
            count += 1;
        }
        count
    }

    fn output_len(&self) -> usize {
        self.connection.output_len()
    }

    fn sent(&mut self, count: usize) {
        self.connection.sent(count);
    }

    fn held(&self) -> u64 {
        self.connection.held()
    }

    fn allow(&mut self, bytes: u64) {
        self.connection.allow(bytes);
    }

    fn is_short(&self) -> bool {
        self.connection.is_short()
    }

    fn tls_started(&mut self) {}

    fn report_news(&mut self, news: DeviceNews) {
        self.connection.report_warning(news.critical_warning);
    }

    fn silence_limit(&self) -> Option<Duration> {
        self.connection.silence_limit().map(Duration::from_millis)
    }

    fn shut_down(&mut self) {
        self.connection.shut_down();
    }

    fn end(&self) -> Option<SessionEnd> {
        if self.connection.is_abandoned() {
            return Some(SessionEnd::Broken);
        }
        // A termination request is sent before the connection is closed.
        self.connection.is_ended().then_some(SessionEnd::Parted)
    }
}

// Drives and controllers name such writes alike.
const _: () = assert!(outlast_nvme::UNKNOWN_IDENTIFIER == UNKNOWN_IDENTIFIER);

/// A request of a controller as a [`BlockRequest`].
fn block_request(request: DeviceRequest<'_>) -> BlockRequest<'_> {
    let DeviceRequest { tag, offset, length, op } = request;
    let op = match op {
        DeviceOp::Read { limited_retry } => BlockOp::Read { limited_retry },
        DeviceOp::Write { data, fua, identifier } => {
            BlockOp::Write { data, fua, placement: PlacementId(identifier) }
        }
        DeviceOp::Flush => BlockOp::Flush,
        DeviceOp::Deallocate => BlockOp::Trim { fua: false },
        DeviceOp::WriteZeroes { fua, may_deallocate } => {
            BlockOp::WriteZeroes { fua, may_punch: may_deallocate, fast: false }
        }
        DeviceOp::LostBlocks => BlockOp::LbaStatus,
        DeviceOp::Health(HealthLogPage::Smart) => BlockOp::Health(HealthPage::Smart),
        DeviceOp::Health(HealthLogPage::Extended) => BlockOp::Health(HealthPage::Extended),
        DeviceOp::Placement => BlockOp::Placement,
        DeviceOp::Append { data, fua } => BlockOp::Append { data, fua },
        DeviceOp::ManageZone(action) => BlockOp::ManageZone(zones::action(action)),
        DeviceOp::ListZones(request) => BlockOp::ListZones(zones::query(request)),
        DeviceOp::UpdateHandle(identifier) => BlockOp::UpdateHandle(PlacementId(identifier)),
    };
    BlockRequest { tag: RequestTag(tag), offset, length: Bytes(length), op }
}

/// A reply in the controller's terms.
fn device_answer(reply: BlockReply) -> DeviceAnswer {
    match reply {
        BlockReply::Done => DeviceAnswer::Done,
        BlockReply::Data(data) => DeviceAnswer::Data(data),
        BlockReply::LostRuns(runs) => DeviceAnswer::Lost(
            runs.iter()
                .map(|run| LostRange { offset: run.lba.0 * SECTOR_BYTES, length: run.sectors * SECTOR_BYTES })
                .collect(),
        ),
        BlockReply::Health(page) => DeviceAnswer::Health(page),
        BlockReply::Appended(offset) => DeviceAnswer::Appended(offset),
        BlockReply::Zones(list) => DeviceAnswer::Zones(zones::reports(&list)),
        BlockReply::Placement(report) => DeviceAnswer::Placement(Box::new(placement_report(&report))),
        BlockReply::Extents(_) => unreachable!("a controller does not ask for the state of sectors"),
        BlockReply::Failed(failure) => DeviceAnswer::Failed(device_failure(failure)),
    }
}

fn placement_report(report: &crate::device::PlacementReport) -> PlacementReport {
    let statistics = report.statistics;
    let events = |own: &PlacementEvents| {
        [
            own.reclaim_unit_not_fully_written,
            own.reclaim_unit_time_limit_exceeded,
            own.reset_modified_handles,
            own.media_reallocated,
            own.implicitly_modified_handle,
        ]
    };
    PlacementReport {
        now_ms: report.now_ns / 1_000_000,
        host_bytes_written: statistics.host_bytes_written,
        media_bytes_written: statistics.media_bytes_written,
        media_bytes_erased: statistics.media_bytes_erased,
        events: report.events_by_unit.iter().map(events).collect(),
        remaining_bytes: report.units().map(|unit| unit.remaining_bytes).collect(),
        remaining_s: report
            .units()
            .map(|unit| unit.remaining_ns.map_or(0, |time| whole_seconds(Nanos(time))))
            .collect(),
    }
}

fn device_failure(failure: RequestFailure) -> DeviceFailure {
    match failure.kind {
        FailureKind::Unreadable => DeviceFailure::Unreadable(failure.at),
        FailureKind::ReadOnly => DeviceFailure::ReadOnly,
        FailureKind::OutOfRange => DeviceFailure::OutOfRange,
        FailureKind::Zone(error) => DeviceFailure::Zone(zones::refusal(error)),
        FailureKind::Unavailable => DeviceFailure::Unavailable,
        FailureKind::SlowZeroes | FailureKind::Internal => DeviceFailure::Internal,
    }
}
