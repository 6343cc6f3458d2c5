//! [`Device`] for a drive or an array in service.

use super::{DriveOrArray, InService};
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LbaRun, Notice, Peek, SectorRun, Smart, Tag, ZoneTable,
};
use outlast_units::{Lba, Nanos};

impl Device for InService {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        either!(&mut self.device, device => device.submit(now, command, tag));
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        either!(&mut self.device, device => device.submit_data(now, command, tag, data));
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        either!(&mut self.device, device => device.take_data(tag))
    }

    fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        either!(&mut self.device, device => device.take_lba_status(tag))
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        either!(&mut self.device, device => device.take_failed(tag))
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        either!(&self.device, device => device.peek(lba, sectors, to));
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        either!(&self.device, device => device.under_way())
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        either!(&self.device, device => device.extents(lba, sectors))
    }

    fn take_notice(&mut self) -> Option<Notice> {
        either!(&mut self.device, device => device.take_notice())
    }

    fn has_notice(&self) -> bool {
        either!(&self.device, device => device.has_notice())
    }

    #[inline]
    fn next_deadline(&self) -> Option<Nanos> {
        either!(&self.device, device => device.next_deadline())
    }

    #[inline]
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        match &mut self.device {
            DriveOrArray::Drive(ssd) => ssd.advance(now, completions),
            // Event by event: which of several members acts first at one moment depends on how far each has been advanced. An array must give
            // the same result however often its caller polls.
            DriveOrArray::Array(volume) => {
                while let Some(at) = volume.next_deadline().filter(|&at| at <= now) {
                    volume.advance(at, completions);
                }
            }
        }
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        match &mut self.device {
            DriveOrArray::Drive(ssd) => {
                let reached = ssd.advance_to_completion(limit, completions);
                // What else is due at that moment: a caller that advances to it would find it done.
                ssd.advance(reached, completions);
                reached
            }
            DriveOrArray::Array(volume) => {
                let before = completions.len();
                // Event by event, as above.
                while let Some(at) = volume.next_deadline().filter(|&at| at <= limit) {
                    volume.advance(at, completions);
                    if completions.len() != before || volume.has_notice() {
                        return at;
                    }
                }
                limit
            }
        }
    }

    fn zones(&self) -> Option<&ZoneTable> {
        either!(&self.device, device => device.zones())
    }

    fn hint(&self, upcoming: &[Command]) {
        either!(&self.device, device => device.hint(upcoming));
    }

    fn identify(&self) -> Identity {
        either!(&self.device, device => device.identify())
    }

    fn smart(&self) -> Smart {
        either!(&self.device, device => device.smart())
    }

    fn self_check(&self) -> Result<(), String> {
        either!(&self.device, device => device.self_check())
    }
}
