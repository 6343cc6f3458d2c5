//! Members of an array as exports that are only read.

use outlast_device::{Command, Op};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

use crate::input::Input;
use crate::pending::Work;
use crate::protocol::{Answer, BlockOp, BlockRequest, FailureKind};
use crate::served::{Answers, LOOKED_AT, Served};
use crate::session::Origin;

impl Served {
    /// A client asks of a member of the array, which only lets itself be read.
    pub(crate) fn ask_member(
        &mut self,
        now: Nanos,
        from: Origin,
        member: u8,
        request: &BlockRequest<'_>,
        answers: &mut Answers,
    ) {
        let (lba, sectors) = (Lba(request.offset / SECTOR_BYTES), request.length.0 / SECTOR_BYTES);
        match request.op {
            BlockOp::Read => {
                let command = Command::new(Op::Read, lba, sectors as u32);
                let tag = self.note(now, from, Work::Member, command);
                let input = Input::ReadMember { tag, member, lba, sectors: sectors as u32 };
                self.give(now, tag, &input, answers);
            }
            BlockOp::Status => {
                let looked_at = sectors.min(LOOKED_AT / SECTOR_BYTES);
                let known = self.machine.member_extents(member, lba, looked_at);
                answers.push((from, Answer::Extents(known)));
            }
            BlockOp::Prefetch => answers.push((from, Answer::Done)),
            BlockOp::Write { .. } | BlockOp::Flush | BlockOp::Trim { .. } | BlockOp::WriteZeroes { .. } => {
                answers.push((from, Answer::Failed(FailureKind::ReadOnly.into())));
            }
        }
    }
}
