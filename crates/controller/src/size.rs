//! How large a drive is.

/// Sectors and mapping units of a drive.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct Size {
    /// Mapping units that the host addresses.
    pub units: u64,
    /// Sectors that the host addresses.
    pub sectors: u64,
    /// Sectors of a mapping unit.
    pub sectors_per_unit: u32,
    /// log₂ of `sectors_per_unit` where it is a power of two.
    unit_shift: Option<u32>,
}

impl Size {
    /// Of `units` mapping units of `sectors_per_unit` sectors.
    ///
    /// # Panics
    /// If units have no sectors.
    pub fn new(units: u64, sectors_per_unit: u32) -> Self {
        assert!(sectors_per_unit != 0, "a mapping unit has sectors");
        let unit_shift = sectors_per_unit.is_power_of_two().then(|| sectors_per_unit.trailing_zeros());
        Self { units, sectors: units * u64::from(sectors_per_unit), sectors_per_unit, unit_shift }
    }

    /// The unit in which a sector lies, and the sector's place in it.
    #[inline]
    pub fn unit_of(&self, sector: u64) -> (u64, u32) {
        if let Some(shift) = self.unit_shift {
            (sector >> shift, (sector & ((1 << shift) - 1)) as u32)
        } else {
            let per_unit = u64::from(self.sectors_per_unit);
            (sector / per_unit, (sector % per_unit) as u32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn a_sector_is_in_the_unit_that_its_number_says() {
        for per_unit in [1, 3, 7, 8, 9, 32, 33] {
            let size = Size::new(5, per_unit);
            assert_eq!(size.sectors, 5 * u64::from(per_unit));
            let mut at = (0, 0);
            for sector in 0..size.sectors {
                assert_eq!(size.unit_of(sector), at, "sector {sector} of units of {per_unit}");
                at = if at.1 + 1 == per_unit { (at.0 + 1, 0) } else { (at.0, at.1 + 1) };
            }
        }
    }
}
