//! Parsing "number and unit", exactly: decimals are scaled in integers, never through a float.

use thiserror::Error;

/// Why a text is not a size or a time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseUnitError {
    /// Not a number followed by a known unit.
    #[error("\"{text}\" is not {expected}")]
    Malformed {
        /// The text as given.
        text: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// A unit that is short for one or more known ones, or spelt in other letters: `4T`, `16kib`.
    #[error("\"{text}\": did you mean {meant}?")]
    Unclear {
        /// The text as given.
        text: String,
        /// The number with each unit that could be meant.
        meant: String,
    },
    /// A minus sign.
    #[error("\"{text}\" is negative; the least is 0")]
    Negative {
        /// The text as given.
        text: String,
    },
    /// Zero where only more than zero makes sense.
    #[error("\"{text}\" is zero; it must be more than 0")]
    Zero {
        /// The text as given.
        text: String,
    },
    /// Larger than 2^64 − 1 of the base unit.
    #[error("\"{text}\" is too large; it must be below 2^64 {base}")]
    TooLarge {
        /// The text as given.
        text: String,
        /// The base unit, in the plural.
        base: &'static str,
    },
    /// A fraction of the base unit (half a byte).
    #[error("\"{text}\" is not a whole number of {base}")]
    Fraction {
        /// The text as given.
        text: String,
        /// The base unit, in the plural.
        base: &'static str,
    },
}

/// Parses `text` as a decimal number and one of the units in `scales`, in the unit that is called `base` in the plural; `bare` is the scale
/// of a number without unit.
pub(crate) fn parse_scaled(
    text: &str,
    scales: &[(&str, u64)],
    bare: Option<u64>,
    expected: &'static str,
    base: &'static str,
) -> Result<u64, ParseUnitError> {
    let malformed = || ParseUnitError::Malformed { text: text.to_owned(), expected };
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(ParseUnitError::Negative { text: text.to_owned() });
    }
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let unit = unit.trim();
    let scale = if unit.is_empty() {
        bare.filter(|_| !number.is_empty())
    } else {
        scales.iter().find(|(name, _)| *name == unit).map(|&(_, scale)| scale)
    }
    .ok_or_else(|| unclear(text, number, unit, scales).unwrap_or_else(malformed))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !whole.starts_with(|c: char| c.is_ascii_digit()) || (number.contains('.') && fraction.is_empty()) {
        return Err(malformed());
    }
    let digits = |part: &str| part.replace('_', "");
    let too_large = || ParseUnitError::TooLarge { text: text.to_owned(), base };
    let whole: u128 = digits(whole).parse().map_err(|_| too_large())?;
    let fraction = digits(fraction);
    if fraction.contains('.') || fraction.len() > 18 {
        return Err(malformed());
    }
    let divisor = 10u128.pow(fraction.len() as u32);
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| malformed())? };
    let scaled = whole
        .checked_mul(divisor)
        .and_then(|value| value.checked_add(fraction))
        .and_then(|value| value.checked_mul(u128::from(scale)))
        .ok_or_else(too_large)?;
    if !scaled.is_multiple_of(divisor) {
        return Err(ParseUnitError::Fraction { text: text.to_owned(), base });
    }
    u64::try_from(scaled / divisor).map_err(|_| too_large())
}

/// The units that `unit` could stand for, in the order of `scales`: `T` for `TB` and `TiB`, `kib` for `KiB`, `m` for `ms` and `min`.
fn unclear(text: &str, number: &str, unit: &str, scales: &[(&str, u64)]) -> Option<ParseUnitError> {
    if unit.is_empty() || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let could = |name: &str| {
        ["", "B", "iB", "s", "in"].iter().any(|end| name.eq_ignore_ascii_case(&format!("{unit}{end}")))
    };
    let mut fitting: Vec<&(&str, u64)> = scales.iter().filter(|(name, _)| could(name)).collect();
    fitting.dedup_by_key(|(_, scale)| *scale);
    let meant: Vec<String> = fitting.iter().map(|(name, _)| format!("{number}{name}")).collect();
    (!meant.is_empty()).then(|| ParseUnitError::Unclear { text: text.to_owned(), meant: meant.join(" or ") })
}

#[cfg(test)]
mod tests {
    use crate::{ByteRate, Bytes, Nanos};

    #[test]
    fn a_time_of_an_unclear_unit_is_told_with_the_units_that_there_are() {
        let told = |text: &str| text.parse::<Nanos>().unwrap_err().to_string();
        assert_eq!(told("10m"), "\"10m\": did you mean 10ms or 10min?");
        assert_eq!(told("10u"), "\"10u\": did you mean 10us?");
        for text in ["10 minutes", "10", "m"] {
            assert!(
                told(text).ends_with("\"10min\" or \"30d\" (ns, us, ms, s, min, h, d)"),
                "{}",
                told(text)
            );
        }
    }

    #[test]
    fn texts_parse_exactly() {
        assert_eq!("16KiB".parse(), Ok(Bytes(16_384)));
        assert_eq!("1.5 GiB".parse(), Ok(Bytes(3 << 29)));
        assert_eq!("80GB".parse(), Ok(Bytes(80_000_000_000)));
        assert_eq!("2PiB".parse(), Ok(Bytes(2 << 50)));
        assert_eq!("1EB".parse(), Ok(Bytes(1_000_000_000_000_000_000)));
        assert_eq!(Bytes(1 << 60).to_string(), "1EiB");
        assert!("16EiB".parse::<Bytes>().is_err());
        assert_eq!("3.5ms".parse(), Ok(Nanos(3_500_000)));
        assert_eq!("1_000us".parse(), Ok(Nanos(1_000_000)));
        assert_eq!("512".parse(), Ok(Bytes(512)));
    }

    #[test]
    fn bad_texts_name_the_value_and_the_limit() {
        for text in ["", "KiB", "4kib", "4 5KiB", "1.KiB", "1..5KiB", "_1KiB", "60 lightyears", "."] {
            assert!(text.parse::<Bytes>().is_err(), "{text:?}");
        }
        assert!("60".parse::<Nanos>().is_err());
        let message = "-4KiB".parse::<Bytes>().unwrap_err().to_string();
        assert!(message.contains("-4KiB") && message.contains("least is 0"), "{message}");
        let message = "99999999TiB".parse::<Bytes>().unwrap_err().to_string();
        assert!(message.contains("2^64"), "{message}");
        assert!("0.5B".parse::<Bytes>().is_err());
    }

    #[test]
    fn units_that_are_short_or_in_other_letters_are_asked_about() {
        let told = |text: &str| text.parse::<Bytes>().unwrap_err().to_string();
        assert_eq!(told("4T"), "\"4T\": did you mean 4TiB or 4TB?");
        assert_eq!(told("4k"), "\"4k\": did you mean 4KiB or 4KB?");
        assert_eq!(told("16kib"), "\"16kib\": did you mean 16KiB?");
        assert_eq!("60MS".parse::<Nanos>().unwrap_err().to_string(), "\"60MS\": did you mean 60ms?");
        assert!(told("4X").contains("is not a size"), "{}", told("4X"));
        assert!(told(".5T").contains("is not a size"), "{}", told(".5T"));
    }

    #[test]
    fn a_size_of_many_digits_is_told_in_a_larger_unit_too_and_written_without() {
        for (bytes, told) in [
            (0, "0B"),
            (3584 << 20, "3584MiB"),
            (9_999, "9999B"),
            (10_001, "10001B (9.77 KiB)"),
            (12_883_722 << 10, "12883722KiB (12.29 GiB)"),
            (u64::MAX, "18446744073709551615B (16.00 EiB)"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), told);
            let written = Bytes(bytes).written().to_string();
            assert_eq!(Some(written.as_str()), told.split(' ').next());
        }
        let told = |rate: u64| ByteRate::new(rate).unwrap().to_string();
        assert_eq!(told(12_000_000_000), "12000MB/s");
        assert_eq!(told(204_800_000), "200000KiB/s (195.31 MiB/s)");
        assert_eq!(ByteRate::new(204_800_000).unwrap().written().to_string(), "200000KiB/s");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_parses_back(value: u64) {
            proptest::prop_assert_eq!(Bytes(value).written().to_string().parse(), Ok(Bytes(value)));
            if let Some(rate) = ByteRate::new(value) {
                proptest::prop_assert_eq!(rate.written().to_string().parse(), Ok(rate));
            }
            proptest::prop_assert_eq!(Nanos(value).to_string().parse(), Ok(Nanos(value)));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Nanos>();
            let _ = text.parse::<ByteRate>();
        }
    }
}
