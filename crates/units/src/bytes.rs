//! Sizes in bytes, written `"4KiB"`, `"200GiB"`, `"80GB"`.

use crate::text::{ParseUnitError, parse_scaled};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
pub struct Bytes(pub u64);

const SCALES: &[(&str, u64)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
    ("EiB", 1 << 60),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("EB", 1_000_000_000_000_000_000),
];

/// How many of them are the byte and its binary multiples.
const BINARY: usize = 7;
/// The largest number that is told by itself.
const MOST_AT_A_GLANCE: u64 = 9_999;

impl Bytes {
    /// `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
    /// `n` GiB.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }
    /// The size in the largest binary unit that divides it, so that parsing gives the same size back.
    pub fn written(self) -> impl fmt::Display {
        WrittenSize(self)
    }
    fn exact_unit(self) -> (&'static str, u64) {
        let divides = |&(_, scale): &(&str, u64)| self.0 != 0 && self.0.is_multiple_of(scale);
        SCALES[..BINARY].iter().rev().copied().find(divides).unwrap_or(SCALES[0])
    }
    /// The size in a unit that leaves few digits, if [`Bytes::written`] has more of them than a person takes in.
    pub(crate) fn at_a_glance(self) -> Option<(f64, &'static str)> {
        if self.0 / self.exact_unit().1 <= MOST_AT_A_GLANCE {
            return None;
        }
        let &(name, scale) = SCALES[..BINARY].iter().rev().find(|&&(_, scale)| self.0 >= scale)?;
        Some((self.0 as f64 / scale as f64, name))
    }
    /// The size in MiB, as a fraction.
    pub fn as_mib(self) -> f64 {
        self.0 as f64 / f64::from(1 << 20)
    }
}

impl std::str::FromStr for Bytes {
    type Err = ParseUnitError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(text, SCALES, Some(1), "a size such as \"4KiB\", \"80GB\" or \"512B\"", "bytes")
            .map(Self)
    }
}

impl fmt::Display for Bytes {
    /// As [`Bytes::written`], and where nobody could read that at a glance in a larger unit, too: `12883722KiB (12.29 GiB)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.written())?;
        match self.at_a_glance() {
            Some((amount, unit)) => write!(f, " ({amount:.2} {unit})"),
            None => Ok(()),
        }
    }
}

/// A size as it is written in files.
struct WrittenSize(Bytes);

impl fmt::Display for WrittenSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, scale) = self.0.exact_unit();
        write!(f, "{}{name}", self.0.0 / scale)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.written())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"4KiB\", \"80GB\" or a whole number of bytes")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
            // 2e9 is a whole number, whatever TOML and Python call it.
            fn visit_f64<E: de::Error>(self, bytes: f64) -> Result<Bytes, E> {
                if bytes < 0.0 {
                    return Err(E::custom(format!("size {bytes} is negative; the least is 0")));
                }
                // Up to here every whole number has a float of its own.
                if bytes.fract() != 0.0 || bytes > (1u64 << 53) as f64 {
                    return Err(E::invalid_type(de::Unexpected::Float(bytes), &self));
                }
                Ok(Bytes(bytes as u64))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Bytes, E> {
                u64::try_from(bytes)
                    .map(Bytes)
                    .map_err(|_| E::custom(format!("size {bytes} is negative; the least is 0")))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

crate::schema_of!(Bytes, {
    "type": ["string", "integer"],
    "minimum": 0,
    "pattern": r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(B|KiB|MiB|GiB|TiB|PiB|EiB|KB|kB|MB|GB|TB|PB|EB)?\s*$",
    "description": "A size: text with a unit such as \"16KiB\" or \"80GB\", or a whole number of bytes."
});
