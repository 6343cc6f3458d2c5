//! Time as whole nanoseconds, written `"60us"`, `"3.5ms"`, `"1h"`.

use crate::text::{ParseUnitError, parse_scaled};
use outlast_persist::{Damage, Persist, Reader, Writer, shape};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time since the start of the run, or a span of it, in nanoseconds. 2^64 ns are 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

const SCALES: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A later time than this is [`Nanos::MAX`] in any state: half of what can be counted leaves room for what is added.
const LATEST: u64 = 1 << 63;

impl Persist for Nanos {
    const SHAPE: u64 = shape("Nanos", &[("0", u64::SHAPE)]);

    #[inline]
    fn write(&self, to: &mut Writer<'_>) {
        self.0.write(to);
    }

    #[inline]
    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        match u64::read(from)? {
            value if value <= LATEST || value == u64::MAX => Ok(Self(value)),
            value => Err(Damage::Value { what: "time within 292 years", value }),
        }
    }
}

impl Nanos {
    /// Time zero.
    pub const ZERO: Self = Self(0);
    /// Later than any event: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// `n` microseconds.
    pub const fn micros(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// `n` milliseconds.
    pub const fn millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// `n` seconds.
    pub const fn secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// The time in seconds, as a fraction.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }
    /// The time in microseconds, as a fraction.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 * 1e-3
    }
    /// `self − earlier`, or zero where `earlier` is later.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
    /// The span that `bytes` take at `bytes_per_s`, rounded up to a whole nanosecond.
    ///
    /// # Panics
    /// If `bytes_per_s` is zero: a link without bandwidth is refused by validation.
    #[must_use]
    pub fn of_transfer(bytes: u64, bytes_per_s: u64) -> Self {
        let nanos = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s));
        Self(nanos as u64)
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, span: Self) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, span: Self) {
        self.0 += span.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, earlier: Self) -> Self {
        Self(self.0 - earlier.0)
    }
}

impl std::str::FromStr for Nanos {
    type Err = ParseUnitError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "a time such as \"60us\", \"3.5ms\", \"10min\" or \"30d\" (ns, us, ms, s, min, h, d)";
        parse_scaled(text, SCALES, None, expected, "nanoseconds").map(Self)
    }
}

impl fmt::Display for Nanos {
    /// The largest unit that divides the time exactly, so that parsing gives the same time back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, scale) = SCALES
            .iter()
            .rev()
            .filter(|(name, _)| *name != "µs")
            .find(|&&(_, scale)| self.0 != 0 && self.0.is_multiple_of(scale))
            .copied()
            .unwrap_or(("ns", 1));
        write!(f, "{}{name}", self.0 / scale)
    }
}

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Nanos;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time with its unit, such as \"60us\", \"3.5ms\" or \"1h\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Nanos, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Nanos, E> {
                if value == 0 {
                    return Ok(Nanos::ZERO);
                }
                Err(E::custom(format!("time {value} has no unit; write for example \"{value}us\"")))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Nanos, E> {
                if value < 0 {
                    return Err(E::custom(format!("time {value} is negative; the least is 0")));
                }
                self.visit_u64(value.unsigned_abs())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

crate::schema_of!(Nanos, {
    "type": ["string", "integer"],
    "maximum": 0,
    "minimum": 0,
    "pattern": r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|ms|s|min|h|d)\s*$",
    "description": "A time: text with a unit such as \"60us\", \"3.5ms\" or \"1h\"; or 0."
});
