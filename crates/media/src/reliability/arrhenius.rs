//! Effect of temperature on retention.

/// Boltzmann's constant in electronvolts per kelvin (CODATA 2018, exact).
pub const BOLTZMANN: f64 = 8.617_333_262e-5;
/// Activation energy of charge loss in electronvolts that JEDEC's JESD218 and JESD47 take for retention tests of flash.
pub const ACTIVATION_ENERGY: f64 = 1.1;
const KELVIN: f64 = 273.15;

/// Factor by which charge is lost faster at `temperature` than at `reference`, both in °C, by Arrhenius: `exp(Ea/k · (1/T_ref − 1/T))` with the
/// activation energy `energy` in electronvolts. A time at `temperature` times this is the time at `reference` that does the same.
pub fn acceleration(energy: f64, reference: f64, temperature: f64) -> f64 {
    (energy / BOLTZMANN * ((reference + KELVIN).recip() - (temperature + KELVIN).recip())).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JESD218 asks client drives for a year at 30 °C, and takes 500 hours at 52 °C or 96 hours at 66 °C for the same (1.1 eV). It rounds
    /// the temperatures to whole degrees: half a degree is a factor of exp(0.5 · Ea/k/T²), about 1.06.
    #[test]
    fn the_retention_tests_of_jesd218() {
        for (temperature, hours) in [(52.0, 500.0), (66.0, 96.0)] {
            let needed = 8760.0 / acceleration(ACTIVATION_ENERGY, 30.0, temperature);
            let half_a_degree = acceleration(ACTIVATION_ENERGY, temperature, temperature + 0.5);
            assert!(
                needed < hours * half_a_degree && needed > hours / half_a_degree,
                "{temperature}: {needed} h"
            );
        }
    }

    /// The example of the Python package `reliability` (`PoF.acceleration_factor`): 60 °C, 100 °C, 1.2 eV. Its constant of Boltzmann has
    /// five digits.
    #[test]
    fn another_program_gives_the_same() {
        let factor = acceleration(1.2, 60.0, 100.0);
        assert!((factor / 88.295_745_884_633_38 - 1.0).abs() < 1e-3, "{factor}");
    }

    #[test]
    fn the_reference_itself_changes_nothing() {
        assert_eq!(acceleration(1.1, 40.0, 40.0).to_bits(), 1.0f64.to_bits());
        let there_and_back = acceleration(1.1, 55.0, 30.0) * acceleration(1.1, 30.0, 55.0);
        assert!((there_and_back - 1.0).abs() < 1e-14);
    }
}
