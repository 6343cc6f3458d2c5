//! Wear, age and reads of the cells before the measurement begins.

use super::TICK;
use crate::ConfigError;
use crate::reliability::normal::inverse_normal;
use crate::reliability::open_unit;
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// Wear, age and reads of the flash when measuring begins. Default: as from the factory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InitialState {
    /// Mean P/E cycles of the blocks; at most 10 000 000.
    pub pe_cycles: u32,
    /// Standard deviation of the P/E cycles from block to block, in cycles; at most `pe_cycles`. Normally distributed, rounded,
    /// and never below 0: that it is normal is this simulator's assumption.
    pub pe_spread: f64,
    /// Time since the data were written: one time for all, or two between which each row of pages is uniformly distributed.
    /// At most 3650d.
    pub age: AgeRange,
    /// Reads of each block since its erasure. Where reads disturb only their own page (`scope = "page"`) they are spread evenly
    /// over its pages, rounded down.
    pub block_reads: u32,
}

/// One age for all data, or the youngest and the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum AgeRange {
    /// All data have the same age.
    Same(Nanos),
    /// Ages are uniform between the two.
    Between([Nanos; 2]),
}

impl Default for AgeRange {
    fn default() -> Self {
        Self::Same(Nanos::ZERO)
    }
}

impl AgeRange {
    /// The least age.
    pub fn youngest(self) -> Nanos {
        match self {
            Self::Same(age) | Self::Between([age, _]) => age,
        }
    }

    /// The greatest age.
    pub fn oldest(self) -> Nanos {
        match self {
            Self::Same(age) | Self::Between([_, age]) => age,
        }
    }
}

impl InitialState {
    /// Greatest initial age: together with the run it must stay within what [`super::Cells`] can count.
    pub const MAX_AGE: Nanos = Nanos::secs(3650 * 86_400);
    /// Greatest initial mean of P/E cycles: a hundred times what single-level cells endure.
    pub const MAX_CYCLES: u32 = 10_000_000;

    /// Checks the settings; `field` is their dotted name, such as `device.errors.initial`.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self, field: &str) -> Result<(), ConfigError> {
        let refuse = |name: &str, value: &dyn fmt::Display, limit: String| {
            Err(ConfigError::new(&format!("{field}.{name}"), value, limit))
        };
        if self.pe_cycles > Self::MAX_CYCLES {
            let limit = format!("must be at most {} cycles", Self::MAX_CYCLES);
            return refuse("pe_cycles", &self.pe_cycles, limit);
        }
        if !(0.0..=f64::from(self.pe_cycles)).contains(&self.pe_spread) {
            let limit = format!("must be between 0 and pe_cycles = {}", self.pe_cycles);
            return refuse("pe_spread", &self.pe_spread, limit);
        }
        let (youngest, oldest) = (self.age.youngest(), self.age.oldest());
        if youngest > oldest {
            let limit = "must begin with the youngest".to_owned();
            return refuse("age", &format!("[{youngest}, {oldest}]"), limit);
        }
        if oldest > Self::MAX_AGE {
            return refuse("age", &oldest, format!("must be at most {}", Self::MAX_AGE));
        }
        Ok(())
    }

    /// P/E cycles of block `block`, counted over the whole drive: a pure function of seed and block.
    pub fn cycles_of(&self, seed: u64, block: u64) -> u32 {
        if self.pe_spread == 0.0 {
            return self.pe_cycles;
        }
        let word = mix(sub_seed(seed, "media.initial_cycles") ^ mix(block));
        let cycles = f64::from(self.pe_cycles) + self.pe_spread * inverse_normal(open_unit(word));
        cycles.round().max(0.0) as u32
    }

    /// Age of program-time group `group` of the set of dies that begins with block `set`, in ticks of [`TICK`], rounded down.
    pub(super) fn age_in_ticks(&self, seed: u64, set: u64, group: u32) -> u32 {
        let (youngest, oldest) = (self.age.youngest().0, self.age.oldest().0);
        let word = mix(mix(sub_seed(seed, "media.initial_age") ^ mix(set)) ^ u64::from(group));
        let span = u128::from(oldest - youngest) + 1;
        let age = youngest + ((u128::from(word) * span) >> 64) as u64;
        (age / TICK.0) as u32
    }
}

impl Serialize for AgeRange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Same(age) => age.serialize(serializer),
            Self::Between(ages) => ages.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AgeRange {
    // Not `#[serde(untagged)]`: that would lose the message of the inner error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = AgeRange;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a time such as \"90d\", or two between which ages lie, such as [\"30d\", \"90d\"]",
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<AgeRange, E> {
                text.parse().map(AgeRange::Same).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<AgeRange, E> {
                Nanos::deserialize(de::value::I64Deserializer::new(value)).map(AgeRange::Same)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<AgeRange, E> {
                Nanos::deserialize(de::value::U64Deserializer::new(value)).map(AgeRange::Same)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<AgeRange, A::Error> {
                let mut next =
                    |index| seq.next_element()?.ok_or_else(|| de::Error::invalid_length(index, &Visitor));
                let ages = [next(0)?, next(1)?];
                match seq.next_element::<de::IgnoredAny>()? {
                    None => Ok(AgeRange::Between(ages)),
                    Some(_) => Err(de::Error::invalid_length(3, &Visitor)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
