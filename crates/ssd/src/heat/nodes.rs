//! Two nodes that conduct heat: controller and case.

use outlast_settings::drive::HeatConfig;

/// Temperatures of the nodes, °C.
#[derive(Clone, Copy, Debug, PartialEq, outlast_persist::Persist)]
pub struct Temperatures {
    /// The controller, where the sensor is.
    pub controller: f64,
    /// The case, with flash and board.
    pub case: f64,
}

/// Temperatures to which the nodes tend while controller and case take up `watts`.
pub(super) fn steady(config: &HeatConfig, watts: [f64; 2]) -> Temperatures {
    let case = config.ambient + config.case_to_air * (watts[0] + watts[1]);
    Temperatures { controller: case + config.controller_to_case * watts[0], case }
}

/// Temperatures after `seconds` in which controller and case take up `watts`.
///
/// The deviation x from the [steady] temperatures obeys x' = A x, with a matrix of two negative eigenvalues p > q, so that
/// exp(A t) = (e^(p t) (A - q) - e^(q t) (A - p)) / (p - q): exact for any time, in one step.
pub(super) fn after(config: &HeatConfig, from: Temperatures, watts: [f64; 2], seconds: f64) -> Temperatures {
    let goal = steady(config, watts);
    let inner = 1.0 / (config.controller_capacity * config.controller_to_case);
    let outer = 1.0 / (config.case_capacity * config.controller_to_case);
    let loss = outer + 1.0 / (config.case_capacity * config.case_to_air);
    let matrix = [[-inner, inner], [outer, -loss]];
    let middle = -f64::midpoint(inner, loss);
    // Positive, since `inner` and `outer` are: the eigenvalues differ.
    let half = (((inner - loss) / 2.0).powi(2) + inner * outer).sqrt();
    let fast = middle - half;
    // The determinant over the other one: a difference of two nearly equal numbers would lose its digits.
    let slow = inner / (config.case_capacity * config.case_to_air) / fast;
    let grown = [(slow * seconds).exp() / (slow - fast), (fast * seconds).exp() / (slow - fast)];
    let away = [from.controller - goal.controller, from.case - goal.case];
    let entry = |row: usize, column: usize| {
        let own = |value: f64| matrix[row][column] - if row == column { value } else { 0.0 };
        grown[0] * own(fast) - grown[1] * own(slow)
    };
    Temperatures {
        controller: goal.controller + entry(0, 0) * away[0] + entry(0, 1) * away[1],
        case: goal.case + entry(1, 0) * away[0] + entry(1, 1) * away[1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::Nanos;
    use proptest::prelude::*;

    fn config(constants: [f64; 4]) -> HeatConfig {
        let [controller_to_case, case_to_air, controller_capacity, case_capacity] = constants;
        HeatConfig {
            ambient: 25.0,
            controller_to_case,
            case_to_air,
            controller_capacity,
            case_capacity,
            every: Nanos(10_000_000),
            start: None,
            throttle: Vec::new(),
            shutdown: None,
        }
    }

    proptest! {
        /// Euler's method in steps of a ten-thousandth of the shortest time constant is another way to the same temperatures.
        #[test]
        fn temperatures_are_those_of_small_steps(
            constants in [0.2..5.0f64, 0.2..10.0, 0.5..10.0, 5.0..50.0],
            watts in [0.0..15.0f64, 0.0..15.0],
            from in [20.0..90.0f64, 20.0..90.0],
        ) {
            let own = config(constants);
            let [to_case, to_air, of_controller, of_case] = constants;
            let quickest = 1.0 / (1.0 / (of_controller * to_case) + 1.0 / (of_case * to_case) + 1.0 / (of_case * to_air));
            let (step, steps) = (quickest / 1e4, 30_000);
            let mut small = from;
            for _ in 0..steps {
                let inward = (small[0] - small[1]) / to_case;
                small = [
                    small[0] + step * (watts[0] - inward) / of_controller,
                    small[1] + step * (watts[1] + inward - (small[1] - 25.0) / to_air) / of_case,
                ];
            }
            let start = Temperatures { controller: from[0], case: from[1] };
            let found = after(&own, start, watts, step * f64::from(steps));
            // The method's error is about a step's share of the way: 1e-4 of at most some hundred kelvins.
            prop_assert!((found.controller - small[0]).abs() < 0.03, "{} and {}", found.controller, small[0]);
            prop_assert!((found.case - small[1]).abs() < 0.03, "{} and {}", found.case, small[1]);
        }

        /// A drive whose controller is no cooler than its case loses, in each of the times that it takes to cool down, all but the e-th part of its warmth W, each
        /// node's joules times its resistance to the air: W falls by x, the controller's kelvins, and x is no less than W over that time.
        #[test]
        fn a_drive_left_alone_has_lost_its_warmth_by_the_time_told(
            exponents in [-6.0..6.0f64, -6.0..6.0, -6.0..6.0, -6.0..6.0],
            case in 25.0..90.0f64,
            above in 0.0..60.0f64,
            times in 1u32..30,
        ) {
            let own = config(exponents.map(|exponent| 10f64.powf(exponent)));
            let start = Temperatures { controller: case + above, case };
            let found = after(&own, start, [0.0, 0.0], f64::from(times) * own.cooling_seconds());
            let warmth = |now: Temperatures| {
                let to_air = own.controller_to_case + own.case_to_air;
                own.controller_capacity * to_air * (now.controller - 25.0)
                    + own.case_capacity * own.case_to_air * (now.case - 25.0)
            };
            let most = warmth(start) * ((-f64::from(times)).exp() * (1.0 + 1e-6) + 1e-9);
            prop_assert!(warmth(found) <= most, "{found:?}");
        }

        /// Two spans of time one after the other are one span.
        #[test]
        fn time_adds_up(first in 0.0..100.0f64, second in 0.0..100.0f64, watts in [0.0..15.0f64, 0.0..15.0]) {
            let own = config([1.5, 4.0, 2.0, 25.0]);
            let start = Temperatures { controller: 60.0, case: 30.0 };
            let halves = after(&own, after(&own, start, watts, first), watts, second);
            let whole = after(&own, start, watts, first + second);
            prop_assert!((halves.controller - whole.controller).abs() < 1e-9);
            prop_assert!((halves.case - whole.case).abs() < 1e-9);
        }
    }

    #[test]
    fn a_long_time_ends_at_the_resistances() {
        let own = config([2.0, 5.0, 3.0, 20.0]);
        let found = after(&own, steady(&own, [0.0, 0.0]), [4.0, 2.0], 1e5);
        // The case: 25 + 5 x 6; the controller: 2 x 4 more.
        assert!((found.case - 55.0).abs() < 1e-9 && (found.controller - 63.0).abs() < 1e-9, "{found:?}");
    }
}
