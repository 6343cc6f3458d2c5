//! Requests that take no simulated time.

use outlast_units::{Lba, Nanos, SECTOR_BYTES};

use super::{ExportedDevice, MAX_STATUS_BYTES};
use crate::input::DeviceInput;
use crate::protocol::{BlockOp, BlockReply, BlockRequest, FailureKind, HealthPage};

impl ExportedDevice {
    /// Carries out a request that takes no simulated time: a question about the device, or an update of a handle.
    pub(super) fn answer_at_once(&mut self, now: Nanos, request: &BlockRequest<'_>) -> BlockReply {
        let (lba, length) = (Lba(request.offset / SECTOR_BYTES), request.length.0);
        match request.op {
            // The device model has no host-visible read-ahead to start.
            BlockOp::Prefetch => BlockReply::Done,
            BlockOp::Status => {
                let sectors = length.min(MAX_STATUS_BYTES) / SECTOR_BYTES;
                BlockReply::Extents(self.device.extents(lba, sectors))
            }
            BlockOp::ListZones(query) => {
                BlockReply::Zones(self.device.list_zones(lba, length / SECTOR_BYTES, query))
            }
            BlockOp::Placement => {
                let report = self.device.placement_report();
                let failed = BlockReply::Failed(FailureKind::Internal.into());
                report.map_or(failed, |report| BlockReply::Placement(Box::new(report)))
            }
            BlockOp::UpdateHandle(identifier) => {
                let done = self.apply(now, &DeviceInput::UpdateHandle(identifier));
                let failed = |_| BlockReply::Failed(FailureKind::Unavailable.into());
                done.map_or_else(failed, |()| BlockReply::Done)
            }
            BlockOp::Health(page) => BlockReply::Health(Box::new(match page {
                HealthPage::Smart => self.device.whole_health_log().page(),
                HealthPage::Extended => self.device.whole_extended_health().page(),
            })),
            // All others are commands of the device.
            _ => BlockReply::Failed(FailureKind::Internal.into()),
        }
    }
}
