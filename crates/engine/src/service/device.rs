//! A drive or an array in service is a device.

use super::{InService, ServedDevice};
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LbaRun, Notice, Peek, SectorRun, Smart, Tag,
};
use outlast_units::{Lba, Nanos};

impl Device for InService {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        either!(&mut self.kind, device => device.submit(now, command, tag));
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        either!(&mut self.kind, device => device.submit_data(now, command, tag, data));
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        either!(&mut self.kind, device => device.take_data(tag))
    }

    fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        either!(&mut self.kind, device => device.take_lba_status(tag))
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        either!(&mut self.kind, device => device.take_failed(tag))
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        either!(&self.kind, device => device.peek(lba, sectors, to));
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        either!(&self.kind, device => device.under_way())
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        either!(&self.kind, device => device.extents(lba, sectors))
    }

    fn take_notice(&mut self) -> Option<Notice> {
        either!(&mut self.kind, device => device.take_notice())
    }

    fn has_notice(&self) -> bool {
        either!(&self.kind, device => device.has_notice())
    }

    #[inline]
    fn next_deadline(&self) -> Option<Nanos> {
        either!(&self.kind, device => device.next_deadline())
    }

    #[inline]
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        match &mut self.kind {
            ServedDevice::Drive(ssd) => ssd.advance(now, completions),
            // Event by event: of members that do something at one time the first in line depends on how far each was let go, so an array
            // that is to be the same again has to be advanced the same way, whoever asks when.
            ServedDevice::Array(volume) => {
                while let Some(at) = volume.next_deadline().filter(|&at| at <= now) {
                    volume.advance(at, completions);
                }
            }
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        either!(&self.kind, device => device.hint(upcoming));
    }

    fn identify(&self) -> Identity {
        either!(&self.kind, device => device.identify())
    }

    fn smart(&self) -> Smart {
        either!(&self.kind, device => device.smart())
    }

    fn self_check(&self) -> Result<(), String> {
        either!(&self.kind, device => device.self_check())
    }
}
