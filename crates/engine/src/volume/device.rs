//! The array as a device: commands go to the array, and time stops at each happening on its way.

use super::ArrayVolume;
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LatencyParts, Peek, SectorRun, Smart, Tag,
};
use outlast_units::{Lba, Nanos};

impl Device for ArrayVolume {
    #[inline]
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.array.submit(now, command, tag);
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.array.submit_data(now, command, tag, data);
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.array.take_data(tag)
    }

    fn take_parts(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.array.take_parts(tag)
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.array.take_failed(tag)
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        self.array.peek(lba, sectors, to);
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        self.array.under_way()
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.array.extents(lba, sectors)
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let next = self.array.next_deadline().unwrap_or(Nanos::MAX).min(self.next_happening());
        (next != Nanos::MAX).then_some(next)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while self.next_happening() <= now {
            // Everything due before the happening, or at its time, is done first.
            let at = self.next_happening();
            self.array.advance(at, completions);
            self.apply_due(at);
        }
        self.array.advance(now, completions);
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        loop {
            let due = self.next_happening();
            if due > limit || due == Nanos::MAX {
                return self.array.advance_to_completion(limit, completions);
            }
            // The happening may change what completes, so the array must not pass it.
            let before = completions.len();
            let reached = self.array.advance_to_completion(due, completions);
            if completions.len() > before {
                // The caller reacts first; the happening waits for the next call.
                return reached;
            }
            self.apply_due(due);
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        self.array.hint(upcoming);
    }

    fn identify(&self) -> Identity {
        self.array.identify()
    }

    fn smart(&self) -> Smart {
        self.array.smart()
    }

    fn self_check(&self) -> Result<(), String> {
        self.array.self_check()
    }
}
