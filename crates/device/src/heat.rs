//! How hot a place is: how often it has been written, compared with the mean place.

use outlast_units::SECTOR_BYTES;

/// Bytes of the counts of [`Heat`] over a drive of `sectors` sectors.
pub fn heat_bytes(sectors: u64) -> u64 {
    sectors.div_ceil(PLACE) * size_of::<u32>() as u64
}

/// How often each megabyte of the address space has been written lately.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Heat {
    writes: Vec<u32>,
    total: u64,
}

/// The sectors of a megabyte.
const PLACE: u64 = (1 << 20) / SECTOR_BYTES;
/// When there have been so many writes for each place, all counts are halved: what was long ago matters little.
const MEMORY: u64 = 512;

impl Heat {
    /// Of a drive of `sectors` sectors, never written.
    pub fn new(sectors: u64) -> Self {
        Self { writes: vec![0; sectors.div_ceil(PLACE) as usize], total: 0 }
    }

    /// The place of `sector` has been written once more.
    pub fn note(&mut self, sector: u64) {
        self.writes[(sector / PLACE) as usize] += 1;
        self.total += 1;
        if self.total >= MEMORY * self.writes.len() as u64 {
            self.writes.iter_mut().for_each(|count| *count /= 2);
            self.total = self.writes.iter().map(|&count| u64::from(count)).sum();
        }
    }

    /// How many times as often as the mean place that of `sector` has been written lately; 0 where nothing has.
    pub fn of(&self, sector: u64) -> f64 {
        let own = f64::from(self.writes[(sector / PLACE) as usize]);
        if own == 0.0 { 0.0 } else { own * self.writes.len() as f64 / self.total as f64 }
    }

    /// Whether the place of `sector` has been written, and at least `times` times as often as the mean place.
    pub fn is_above(&self, sector: u64, times: f64) -> bool {
        let own = self.writes[(sector / PLACE) as usize];
        own != 0 && f64::from(own) * self.writes.len() as f64 >= times * self.total as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_written_ten_times_as_often_is_hot_until_others_are() {
        let mut heat = Heat::new(100 * PLACE);
        for round in 0..1000 {
            heat.note(round % 100 * PLACE);
            for _ in 0..if round % 100 == 7 { 9 } else { 0 } {
                heat.note(7 * PLACE);
            }
        }
        // The mean place has been written 10.9 times, this one 100 times: 9.17 times as often.
        assert!(heat.is_above(7 * PLACE, 9.1) && !heat.is_above(7 * PLACE, 9.3));
        assert!(!heat.is_above(8 * PLACE, 1.0));
        for _ in 0..500_000 {
            heat.note(8 * PLACE);
        }
        assert!(!heat.is_above(7 * PLACE, 1.0) && heat.is_above(8 * PLACE, 90.0));
    }

    #[test]
    fn a_place_that_was_never_written_is_not_hot() {
        let mut heat = Heat::new(100 * PLACE);
        assert!((0..100).all(|place| !heat.is_above(place * PLACE, 0.01)), "nothing has been written");
        heat.note(7 * PLACE);
        assert!(heat.is_above(7 * PLACE, 100.0) && !heat.is_above(8 * PLACE, 0.01));
    }
}
