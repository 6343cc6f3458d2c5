//! Checks of a restored bitmap.

use super::{BitmapPhase, BitmapRegion, IntentBitmap};

impl IntentBitmap {
    /// Checks that marks are queued exactly if their regions say so, and that regions have as many writers as `writers` says.
    pub(crate) fn check(&self, writers: &[u32]) -> Result<(), String> {
        let mut queued = vec![(false, false); self.regions.len()];
        for &index in &self.next {
            queued.get_mut(index).ok_or_else(|| format!("region {index} is to be marked"))?.0 = true;
        }
        for &index in &self.batch {
            queued.get_mut(index).ok_or_else(|| format!("region {index} is being marked"))?.1 = true;
        }
        // A durable mark needs no write; `queued` holds (in `next`, in `batch`).
        let is_right = |((region, &queued), &writers): ((&BitmapRegion, &(bool, bool)), &u32)| {
            (region.is_pending, region.is_writing) == queued
                && region.writers == writers
                && !(region.is_writing && region.durable)
        };
        let durable = self.regions.iter().filter(|region| region.durable).count() as u64;
        // No region is listed twice.
        let is_once = queued.iter().filter(|flags| flags.0).count() == self.next.len()
            && queued.iter().filter(|flags| flags.1).count() == self.batch.len();
        // Only the setting of marks has a batch, and operations that wait for it.
        let sets = self.phase == BitmapPhase::Setting || self.batch.is_empty() && self.waiting.is_empty();
        let is_busy = self.phase != BitmapPhase::No || self.left == 0;
        if self.regions.iter().zip(&queued).zip(writers).all(is_right)
            && durable == self.durable
            && is_once
            && sets
            && is_busy
        {
            Ok(())
        } else {
            Err(format!("marks of {} regions do not fit what is done with them", self.regions.len()))
        }
    }
}
