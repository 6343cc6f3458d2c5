//! A part of the capacity, written as a size (`"10GiB"`) or a share (`"25%"`).

use outlast_units::{Bytes, SECTOR_BYTES};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A length or position within the capacity: a size, or a percentage of the capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeOrPercent {
    /// A number of bytes.
    Size(Bytes),
    /// Percent of the capacity, 0 to 100.
    Percent(f64),
}

impl SizeOrPercent {
    /// Whole sectors of a device of `capacity` sectors, rounded down. A size may exceed `capacity`.
    pub(crate) fn sectors(self, capacity: u64) -> u64 {
        match self {
            Self::Size(bytes) => bytes.0 / SECTOR_BYTES,
            // Exact: a float would round a capacity above 2^53 sectors.
            Self::Percent(percent) if percent >= 100.0 => capacity,
            Self::Percent(percent) => (capacity as f64 * (percent / 100.0)) as u64,
        }
    }
}

/// As a person reads it; files have what [`Serialize`] gives.
impl fmt::Display for SizeOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(bytes) => bytes.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl std::str::FromStr for SizeOrPercent {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let Some(number) = text.trim().strip_suffix('%') else {
            return text.parse().map(Self::Size).map_err(|error| error.to_string());
        };
        match number.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self::Percent(percent)),
            _ => Err(format!("\"{text}\" is not a percentage of 0 to 100")),
        }
    }
}

impl Serialize for SizeOrPercent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Size(bytes) => bytes.serialize(serializer),
            Self::Percent(percent) => serializer.collect_str(&format_args!("{percent}%")),
        }
    }
}

impl<'de> Deserialize<'de> for SizeOrPercent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = SizeOrPercent;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"10GiB\" or a percentage of the capacity such as \"25%\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeOrPercent, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<SizeOrPercent, E> {
                Ok(SizeOrPercent::Size(Bytes(bytes)))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<SizeOrPercent, E> {
                let bytes = u64::try_from(bytes)
                    .map_err(|_| E::custom(format!("{bytes} is negative; the least is 0")))?;
                Ok(SizeOrPercent::Size(Bytes(bytes)))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

outlast_units::schema_of!(SizeOrPercent, {
    "type": ["string", "integer"],
    "minimum": 0,
    "pattern": r"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*(%|B|KiB|MiB|GiB|TiB|KB|kB|MB|GB|TB)?\s*$",
    "description": "A size such as \"10GiB\", or a percentage of the capacity such as \"25%\"."
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_percentages_are_parsed_and_resolved() {
        assert_eq!("10GiB".parse(), Ok(SizeOrPercent::Size(Bytes::gib(10))));
        assert_eq!("25%".parse(), Ok(SizeOrPercent::Percent(25.0)));
        assert_eq!(SizeOrPercent::Percent(25.0).sectors(1000), 250);
        assert_eq!(SizeOrPercent::Percent(100.0).sectors(u64::MAX / 512), u64::MAX / 512);
        for text in ["101%", "-1%", "NaN%", "%", "ten"] {
            assert!(text.parse::<SizeOrPercent>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        /// Sizes of any number of digits are read back as they are written; a person is told more.
        #[test]
        fn what_is_written_is_read_back(bytes: u64, percent in 0.0..=100.0f64) {
            for own in [SizeOrPercent::Size(Bytes(bytes)), SizeOrPercent::Percent(percent)] {
                let written = serde_json::to_string(&own).unwrap();
                proptest::prop_assert_eq!(serde_json::from_str::<SizeOrPercent>(&written).unwrap(), own, "{}", written);
            }
        }
    }
}
