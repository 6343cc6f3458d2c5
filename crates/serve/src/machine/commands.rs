//! Commands of hosts, to the machine or past an array to a member of it.

use super::{Machine, Refused, TAGS};
use outlast_device::{Command, Device, Tag};
use outlast_engine::ServiceError;
use outlast_units::{Lba, Nanos};

impl Machine {
    pub(super) fn submit(
        &mut self,
        now: Nanos,
        tag: Tag,
        command: Command,
        data: &[u8],
    ) -> Result<(), Refused> {
        self.need_power()?;
        let is_write = command.op == outlast_device::Op::Write;
        let needed =
            if is_write { command.sectors as usize * outlast_units::SECTOR_BYTES as usize } else { 0 };
        if data.len() != needed {
            return Err(Refused::Bytes { given: data.len(), needed });
        }
        self.begin(tag)?;
        self.service.submit_data(now, command, tag, data);
        Ok(())
    }

    pub(super) fn read_member(
        &mut self,
        now: Nanos,
        tag: Tag,
        member: u16,
        lba: Lba,
        sectors: u32,
    ) -> Result<(), Refused> {
        self.need_power()?;
        if self.service.array().is_none() {
            return Err(ServiceError::NoArray.into());
        }
        self.begin(tag)?;
        Ok(self.service.read_member(now, member, lba, sectors, tag)?)
    }

    /// A command by the name `tag` begins.
    fn begin(&mut self, tag: Tag) -> Result<(), Refused> {
        if tag.0 < TAGS && self.flight.begin(tag) { Ok(()) } else { Err(Refused::TagInUse(tag)) }
    }
}
