//! Commands of hosts, to the device or directly to a member of an array.

use super::{RefusedInput, ServedDevice, TAG_LIMIT};
use outlast_device::{Command, Device, Tag};
use outlast_engine::ServiceError;
use outlast_units::{Lba, Nanos};

impl ServedDevice {
    pub(super) fn submit(
        &mut self,
        now: Nanos,
        tag: Tag,
        command: Command,
        data: &[u8],
    ) -> Result<(), RefusedInput> {
        self.check_power()?;
        let is_write = command.op.writes();
        // A write comes with its data, any other command without.
        let needed =
            if is_write { command.sectors as usize * outlast_units::SECTOR_BYTES as usize } else { 0 };
        if data.len() != needed {
            return Err(RefusedInput::Bytes { got: data.len(), needed });
        }
        self.claim_tag(tag)?;
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
    ) -> Result<(), RefusedInput> {
        self.check_power()?;
        if self.service.array().is_none() {
            return Err(ServiceError::NoArray.into());
        }
        self.claim_tag(tag)?;
        Ok(self.service.read_member(now, member, lba, sectors, tag)?)
    }

    /// Takes `tag` for a command that begins.
    fn claim_tag(&mut self, tag: Tag) -> Result<(), RefusedInput> {
        if tag.0 < TAG_LIMIT && self.tags.begin(tag) { Ok(()) } else { Err(RefusedInput::TagInUse(tag)) }
    }
}
