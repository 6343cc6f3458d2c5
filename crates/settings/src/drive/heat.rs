//! Settings of heat: how a drive warms up, and what it does about it.

use outlast_media::ConfigError;
use outlast_units::{ByteRate, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Absolute zero, degrees Celsius.
const ABSOLUTE_ZERO: f64 = -273.15;
/// Highest temperature that a setting may name, degrees Celsius.
const HOTTEST: f64 = 1000.0;
/// Fewest and most kelvins per watt or joules per kelvin of a node.
const CONSTANTS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// Heat of a drive: two nodes, the controller and the case with the flash. The controller heats the case, and the case the air. Needs `device.energy`: the
/// controller and the link heat the first node, dies and channels the second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeatConfig {
    /// Temperature of the air, °C. Default: 25.
    #[serde(default = "room")]
    pub ambient: f64,
    /// Thermal resistance between controller and case, K/W.
    pub controller_to_case: f64,
    /// Thermal resistance between case and air, K/W: small with a heatsink.
    pub case_to_air: f64,
    /// Heat capacity of the controller, J/K.
    pub controller_capacity: f64,
    /// Heat capacity of the case with flash, board and heatsink, J/K.
    pub case_capacity: f64,
    /// Time between two looks at the sensor, 100 us to 10 s; power counts as constant in between. Default: 10 ms.
    #[serde(default = "ten_milliseconds")]
    pub every: Nanos,
    /// Temperature of both nodes at the beginning, °C. Default: that of a drive that has been idle for a long time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// Steps of throttling, each hotter than the one before. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<ThrottleStep>,
    /// Shut-down. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shutdown: Option<ThermalShutdown>,
}

/// A step of throttling, which begins at one temperature of the controller and ends at a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThrottleStep {
    /// Temperature of the controller at which it begins, °C.
    pub from: f64,
    /// Temperature of the controller at which it ends, °C; below `from`.
    pub until: f64,
    /// Bytes a second of reads and writes that are let in meanwhile.
    pub rate: ByteRate,
}

/// Temperature at which a drive takes no command until it has cooled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThermalShutdown {
    /// Temperature of the controller at which the drive stops, °C.
    pub from: f64,
    /// Temperature of the controller at which it takes commands again, °C; below `from`.
    pub until: f64,
}

fn room() -> f64 {
    25.0
}

fn ten_milliseconds() -> Nanos {
    Nanos(10_000_000)
}

impl HeatConfig {
    /// Checks constants, and that steps of throttling follow each other.
    ///
    /// # Errors
    /// The first setting that makes no sense, with its limit.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let constants = [
            ("controller_to_case", self.controller_to_case),
            ("case_to_air", self.case_to_air),
            ("controller_capacity", self.controller_capacity),
            ("case_capacity", self.case_capacity),
        ];
        for (name, value) in constants {
            if !CONSTANTS.contains(&value) {
                let limit = format!("must be between {:e} and {:e}", CONSTANTS.start(), CONSTANTS.end());
                return Err(ConfigError::new(&format!("device.heat.{name}"), value, limit));
            }
        }
        check_temperature("device.heat.ambient", self.ambient)?;
        if let Some(start) = self.start {
            check_temperature("device.heat.start", start)?;
        }
        if !(100_000..=10_000_000_000).contains(&self.every.0) {
            return Err(ConfigError::new("device.heat.every", self.every, "must be between 100us and 10s"));
        }
        let mut before: Option<(f64, ByteRate)> = None;
        for (index, step) in self.throttle.iter().enumerate() {
            let name = |field: &str| format!("device.heat.throttle[{index}].{field}");
            check_span((&name("from"), step.from), (&name("until"), step.until), self.ambient)?;
            if let Some((from, rate)) = before {
                if step.from <= from {
                    let limit = format!("must be above that of the step before, {from}");
                    return Err(ConfigError::new(&name("from"), step.from, limit));
                }
                if step.rate >= rate {
                    let limit = format!("must be below that of the step before, {rate}");
                    return Err(ConfigError::new(&name("rate"), step.rate, limit));
                }
            }
            before = Some((step.from, step.rate));
        }
        if let Some(shutdown) = self.shutdown {
            let (from, until) = ("device.heat.shutdown.from", "device.heat.shutdown.until");
            check_span((from, shutdown.from), (until, shutdown.until), self.ambient)?;
            if let Some((hottest, _)) = before
                && shutdown.from <= hottest
            {
                let limit = format!("must be above that of the last step of throttling, {hottest}");
                return Err(ConfigError::new(from, shutdown.from, limit));
            }
        }
        Ok(())
    }
}

impl HeatConfig {
    /// Time in which a drive whose controller is no cooler than its case, and that is left alone, loses all but the e-th part of its warmth, or more: each node's
    /// capacity times all resistance between it and the air, which is the sum of both time constants. In seconds.
    pub fn cooling_seconds(&self) -> f64 {
        self.controller_capacity * (self.controller_to_case + self.case_to_air)
            + self.case_capacity * self.case_to_air
    }

    /// Checks that a drive which has shut down cools enough to start again while its controller draws `watts`, as commands wait.
    ///
    /// # Errors
    /// A shut-down that would never end.
    pub(super) fn check_cooling(&self, watts: f64) -> Result<(), ConfigError> {
        let coolest = self.ambient + watts * (self.controller_to_case + self.case_to_air);
        match self.shutdown {
            Some(shutdown) if shutdown.until <= coolest => {
                let limit = format!(
                    "must be above {coolest:.1}, which the drive has while commands wait: it would never start again"
                );
                Err(ConfigError::new("device.heat.shutdown.until", shutdown.until, limit))
            }
            _ => Ok(()),
        }
    }
}

fn check_temperature(field: &str, value: f64) -> Result<(), ConfigError> {
    if (ABSOLUTE_ZERO..=HOTTEST).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(
        field,
        value,
        format!("must be between {ABSOLUTE_ZERO} and {HOTTEST} degrees Celsius"),
    ))
}

/// Checks a span of temperatures that ends below its beginning, but above the air: nothing cools below that.
fn check_span(from: (&str, f64), until: (&str, f64), ambient: f64) -> Result<(), ConfigError> {
    check_temperature(from.0, from.1)?;
    check_temperature(until.0, until.1)?;
    if until.1 >= from.1 {
        return Err(ConfigError::new(until.0, until.1, format!("must be below {}, {}", from.0, from.1)));
    }
    if until.1 <= ambient {
        let limit = format!("must be above device.heat.ambient, {ambient}: nothing cools below that");
        return Err(ConfigError::new(until.0, until.1, limit));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare() -> HeatConfig {
        HeatConfig {
            ambient: 25.0,
            controller_to_case: 2.0,
            case_to_air: 5.0,
            controller_capacity: 3.0,
            case_capacity: 20.0,
            every: ten_milliseconds(),
            start: None,
            throttle: vec![ThrottleStep {
                from: 81.0,
                until: 76.0,
                rate: ByteRate::new(1 << 30).expect("a rate"),
            }],
            shutdown: Some(ThermalShutdown { from: 90.0, until: 60.0 }),
        }
    }

    #[test]
    fn temperatures_that_contradict_each_other_are_refused_by_name() {
        assert!(bare().validate().is_ok());
        let refused = |change: &dyn Fn(&mut HeatConfig)| {
            let mut config = bare();
            change(&mut config);
            config.validate().expect_err("it is refused").field
        };
        assert_eq!(refused(&|own| own.throttle[0].until = 81.0), "device.heat.throttle[0].until");
        assert_eq!(refused(&|own| own.throttle[0].until = 20.0), "device.heat.throttle[0].until");
        assert_eq!(refused(&|own| own.throttle.push(own.throttle[0])), "device.heat.throttle[1].from");
        assert_eq!(refused(&|own| own.case_to_air = 0.0), "device.heat.case_to_air");
        assert_eq!(refused(&|own| own.ambient = f64::NAN), "device.heat.ambient");
        // 25 °C and 7 K/W: 5 W make 60 °C.
        assert!(bare().check_cooling(4.9).is_ok());
        assert_eq!(bare().check_cooling(5.0).expect_err("it stays warm").field, "device.heat.shutdown.until");
        let early = ThermalShutdown { from: 80.0, until: 60.0 };
        assert_eq!(refused(&|own| own.shutdown = Some(early)), "device.heat.shutdown.from");
    }
}
