//! Members of an array as exports that are only read.

use outlast_device::{Command, Op};
use outlast_nbd::{ErrorCode, Op as Asked, Request};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

use crate::input::Input;
use crate::pending::Work;
use crate::served::{Answers, Served};
use crate::session::{Answer, Origin};
use crate::status;

impl Served {
    /// A client asks of a member of the array, which only lets itself be read.
    pub(crate) fn ask_member(
        &mut self,
        now: Nanos,
        from: Origin,
        member: u8,
        request: &Request<'_>,
        answers: &mut Answers,
    ) {
        let (lba, sectors) = (Lba(request.offset / SECTOR_BYTES), request.length.0 / SECTOR_BYTES);
        match request.op {
            Asked::Read => {
                let command = Command::new(Op::Read, lba, sectors as u32);
                let tag = self.note(now, from, Work::Member, command);
                let input = Input::ReadMember { tag, member, lba, sectors: sectors as u32 };
                self.give(now, tag, &input, answers);
            }
            Asked::Status { contexts, .. } => {
                let looked_at = sectors.min(status::LOOKED_AT / SECTOR_BYTES);
                let known = self.machine.member_extents(member, lba, looked_at);
                answers.push((from, Answer::Extents(status::of_all(contexts, &known))));
            }
            Asked::Cache => answers.push((from, Answer::Done)),
            Asked::Write { .. } | Asked::Flush | Asked::Trim { .. } | Asked::WriteZeroes { .. } => {
                answers.push((from, Answer::Failed(ErrorCode::Perm.into())));
            }
        }
    }
}
