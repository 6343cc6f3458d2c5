//! Members of an array as read-only exports.

use outlast_device::{Command, Op};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

use super::completions::lost_runs;
use super::{ExportedDevice, MAX_STATUS_BYTES, ReadyReplies};
use crate::input::DeviceInput;
use crate::pending::CommandPurpose;
use crate::protocol::{BlockOp, BlockReply, BlockRequest, FailureKind, HealthPage};
use crate::session::RequestOrigin;

impl ExportedDevice {
    /// Begins a request to member `member` of the array. Requests that would change it fail as read-only.
    pub(crate) fn request_member(
        &mut self,
        now: Nanos,
        origin: RequestOrigin,
        member: u8,
        request: &BlockRequest<'_>,
        replies: &mut ReadyReplies,
    ) {
        let (lba, sectors) = (Lba(request.offset / SECTOR_BYTES), request.length.0 / SECTOR_BYTES);
        match request.op {
            BlockOp::Read { .. } => {
                let command = Command::new(Op::Read, lba, sectors as u32);
                let tag = self.register(now, origin, CommandPurpose::MemberRead, command);
                let input = DeviceInput::ReadMember { tag, member, lba, sectors: sectors as u32 };
                self.apply_command(now, tag, &input, replies);
            }
            BlockOp::Status => {
                let sectors = sectors.min(MAX_STATUS_BYTES / SECTOR_BYTES);
                let extents = self.device.member_extents(member, lba, sectors);
                replies.push((origin, BlockReply::Extents(extents)));
            }
            BlockOp::LbaStatus => {
                let wanted = self.device.lba_status(member.into(), lba, sectors).unwrap_or_default();
                let extents = self.device.member_extents(member, lba, sectors);
                replies.push((origin, BlockReply::LostRuns(lost_runs(&wanted, &extents))));
            }
            BlockOp::Health(page) => {
                let page = match page {
                    HealthPage::Smart => self.device.health_log(member.into()).map(|log| log.page()),
                    HealthPage::Extended => self.device.extended_health(member.into()).map(|log| log.page()),
                };
                let missing = BlockReply::Failed(FailureKind::Unavailable.into());
                replies.push((origin, page.map_or(missing, |page| BlockReply::Health(Box::new(page)))));
            }
            BlockOp::Prefetch => replies.push((origin, BlockReply::Done)),
            BlockOp::Write { .. }
            | BlockOp::Flush
            | BlockOp::Trim { .. }
            | BlockOp::WriteZeroes { .. }
            | BlockOp::Placement
            | BlockOp::UpdateHandle(_)
            | BlockOp::Append { .. }
            | BlockOp::ManageZone(_)
            | BlockOp::ListZones(_) => {
                replies.push((origin, BlockReply::Failed(FailureKind::ReadOnly.into())));
            }
        }
    }
}
