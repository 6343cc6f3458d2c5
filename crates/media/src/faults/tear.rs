//! Tears: the state of a unit whose program operation was under way when power failed.
//!
//! A drive that keeps a sequence number with each page finds such a program unit incomplete and passes over it. Some drives do not: Zheng et
//! al. ("Understanding the Robustness of SSDs under Power Fault", FAST 2013) found *shorn* writes, of which the first 3/8 or 7/8 of 4 KiB were
//! new, on three of fifteen; what mixes old and new sectors at random is what a file system has to expect of any disk.

use crate::ConfigError;
use outlast_units::rng::mix;
use outlast_units::{Bytes, SECTOR_BYTES};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A part of a whole, `"3/8"`: more than nothing and less than all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ShornShare {
    parts: u16,
    of: u16,
}

impl ShornShare {
    /// `parts` of `of`; `None` where that is nothing, all, or more.
    pub fn new(parts: u16, of: u16) -> Option<Self> {
        (0 < parts && parts < of).then_some(Self { parts, of })
    }

    /// Parts, and how many make the whole.
    pub fn parts(self) -> (u16, u16) {
        (self.parts, self.of)
    }

    /// The share of `length` bytes, rounded down to whole sectors.
    fn sectors_of(self, length: u64) -> u64 {
        let share = length * u64::from(self.parts) / u64::from(self.of);
        share - share % SECTOR_BYTES
    }
}

impl std::str::FromStr for ShornShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(parts, of)| Some((parts.parse().ok()?, of.parse().ok()?)));
        let share = parts.and_then(|(parts, of)| Self::new(parts, of));
        share.ok_or_else(|| {
            format!("\"{text}\": must be a part of a whole such as \"3/8\", more than 0 and less than 1")
        })
    }
}

impl fmt::Display for ShornShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.parts, self.of)
    }
}

impl Serialize for ShornShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ShornShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

outlast_units::schema_of!(ShornShare, {
    "type": "string",
    "pattern": "^[0-9]+/[0-9]+$",
    "description": "A part of a whole, more than nothing and less than all: \"3/8\"."
});

/// State of units whose program operation was under way when power failed. Units that a flush has covered are never torn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub enum UnitTear {
    /// The drive recognises and skips them.
    #[default]
    Nothing,
    /// The first part of each is new, the rest old.
    Shorn(ShornShare),
    /// Each run of so many bytes is new or old by itself.
    Torn {
        /// Bytes of a run: whole sectors.
        run: u32,
    },
}

impl UnitTear {
    /// The tear that `shorn` and `torn` of `field` describe, in a drive with mapping units of `unit`.
    ///
    /// # Errors
    /// Both are given, or one is out of range.
    pub fn of(
        field: &str,
        shorn: Option<ShornShare>,
        torn: Option<Bytes>,
        unit: Bytes,
    ) -> Result<Self, ConfigError> {
        let refused = |name: &str, value: &dyn fmt::Display, limit: String| {
            Err(ConfigError::new(&format!("{field}.{name}"), value, limit))
        };
        match (shorn, torn) {
            (None, None) => Ok(Self::Nothing),
            (Some(_), Some(torn)) => refused("torn", &torn, "must be absent where shorn is given".to_owned()),
            (Some(share), None) if share.sectors_of(unit.0) == 0 => refused(
                "shorn",
                &share,
                format!("must be a sector of 512 bytes at least, of a mapping unit of {unit}"),
            ),
            (Some(share), None) => Ok(Self::Shorn(share)),
            (None, Some(run)) if run.0 == 0 || run.0 >= unit.0 || !run.0.is_multiple_of(SECTOR_BYTES) => {
                let limit = format!("must be a multiple of 512 bytes, less than a mapping unit of {unit}");
                refused("torn", &run, limit)
            }
            (None, Some(run)) => Ok(Self::Torn { run: run.0 as u32 }),
        }
    }

    /// Which bytes of a unit of `length` are new; `draw` is the random number that belongs to it.
    pub fn new_bytes(self, length: usize, draw: u64) -> impl Iterator<Item = Range<usize>> {
        let (count, run) = match self {
            Self::Nothing => (0, length),
            Self::Shorn(share) => (1, share.sectors_of(length as u64) as usize),
            Self::Torn { run } => (length.div_ceil(run as usize), run as usize),
        };
        let runs = (0..count).map(move |index| index * run..length.min((index + 1) * run));
        let is_shorn = matches!(self, Self::Shorn(_));
        runs.zip(0u64..).filter(move |&(_, index)| is_shorn || mix(draw ^ index) & 1 == 1).map(|(run, _)| run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_more_than_nothing_and_less_than_all() {
        assert_eq!("3/8".parse(), Ok(ShornShare { parts: 3, of: 8 }));
        for text in ["0/8", "8/8", "9/8", "3", "3/", "/8", "-1/8", "3/8 ", "1/0", "0.5"] {
            let refused = text.parse::<ShornShare>().unwrap_err();
            assert!(refused.starts_with(&format!("\"{text}\": must be a part of a whole")), "{refused}");
        }
        let share: ShornShare = serde_json::from_str("\"7/8\"").unwrap();
        assert_eq!(serde_json::to_string(&share).unwrap(), "\"7/8\"");
    }

    #[test]
    fn tears_that_do_not_fit_a_unit_are_refused() {
        let share = |text: &str| Some(text.parse().unwrap());
        let of = |shorn, torn: Option<u64>| UnitTear::of("faults[2]", shorn, torn.map(Bytes), Bytes::kib(4));
        assert_eq!(of(None, None).unwrap(), UnitTear::Nothing);
        assert_eq!(of(None, Some(1024)).unwrap(), UnitTear::Torn { run: 1024 });
        assert!(of(share("1/8"), None).is_ok());
        for (shorn, torn, message) in [
            (
                share("1/9"),
                None,
                "faults[2].shorn = 1/9: must be a sector of 512 bytes at least, of a mapping unit of 4KiB",
            ),
            (share("3/8"), Some(512), "faults[2].torn = 512B: must be absent where shorn is given"),
            (
                None,
                Some(4096),
                "faults[2].torn = 4KiB: must be a multiple of 512 bytes, less than a mapping unit of 4KiB",
            ),
            (
                None,
                Some(0),
                "faults[2].torn = 0B: must be a multiple of 512 bytes, less than a mapping unit of 4KiB",
            ),
            (
                None,
                Some(700),
                "faults[2].torn = 700B: must be a multiple of 512 bytes, less than a mapping unit of 4KiB",
            ),
        ] {
            assert_eq!(of(shorn, torn).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn new_bytes_are_the_first_or_any() {
        let shorn = UnitTear::Shorn(ShornShare { parts: 3, of: 8 });
        assert!(shorn.new_bytes(4096, 7).eq(std::iter::once(0..1536)));
        assert!(shorn.new_bytes(16384, 8).eq(std::iter::once(0..6144)));
        assert_eq!(UnitTear::Nothing.new_bytes(4096, 7).count(), 0);
        let torn = UnitTear::Torn { run: 512 };
        let mut counts = [0; 9];
        for draw in 0..1000 {
            let runs: Vec<_> = torn.new_bytes(4096, mix(draw)).collect();
            assert!(runs.iter().all(|run| run.len() == 512 && run.start.is_multiple_of(512)));
            counts[runs.len()] += 1;
        }
        assert!((200..350).contains(&counts[4]) && counts[0] < 20 && counts[8] < 20, "{counts:?}");
        // A unit that is no multiple of the run ends with a shorter one.
        let ends = (0..64).filter_map(|draw| UnitTear::Torn { run: 1536 }.new_bytes(4096, draw).last());
        assert!(ends.map(|run| run.end).all(|end| [1536, 3072, 4096].contains(&end)));
    }
}
