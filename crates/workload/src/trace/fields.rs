//! Numbers in text, parsed exactly, with faults that say what was wrong.

use outlast_units::SECTOR_BYTES;

/// The largest request that is accepted: the most that one Linux discard can cover.
pub(crate) const MOST_BYTES: u64 = 4 << 30;
/// Sectors that 2^64 bytes hold.
pub(crate) const MOST_SECTORS: u64 = u64::MAX / SECTOR_BYTES;

/// What is wrong with a field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) field: &'static str,
    pub(crate) value: String,
    pub(crate) expected: String,
}

/// A fault in `field`.
#[cold]
pub(crate) fn fault(field: &'static str, value: &[u8], expected: impl Into<String>) -> Fault {
    Fault { field, value: shown(value), expected: expected.into() }
}

/// Text for a message: at most 40 characters, nothing unprintable.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(160)];
    let text: String =
        String::from_utf8_lossy(cut).chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() || cut.len() < bytes.len() {
        short.push('…');
    }
    short
}

/// A whole number of decimal digits.
pub(crate) fn whole(field: &'static str, text: &[u8]) -> Result<u64, Fault> {
    let text = text.trim_ascii();
    if text.first() == Some(&b'-') {
        return Err(fault(field, text, "a number of at least 0"));
    }
    let wrong = || fault(field, text, "a whole number below 2^64");
    let (mut value, mut valid) = (0u64, !text.is_empty());
    // Up to 19 digits cannot overflow, so one test at the end serves them all.
    let (head, tail) = text.split_at(text.len().min(19));
    for byte in head {
        let digit = byte.wrapping_sub(b'0');
        valid &= digit < 10;
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    match tail {
        [] if valid => Ok(value),
        [digit @ b'0'..=b'9'] if valid => {
            value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0'))).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// A time, with or without decimals, in units of `unit` nanoseconds. Digits below a nanosecond are dropped.
pub(crate) fn time(text: &[u8], unit: u64) -> Result<u64, Fault> {
    const FIELD: &str = "time";
    let text = text.trim_ascii();
    let dot = text.iter().position(|&byte| byte == b'.');
    let (integer, fraction) = text.split_at(dot.unwrap_or(text.len()));
    let fraction = fraction.get(1..).unwrap_or_default();
    if integer.is_empty() || (dot.is_some() && fraction.is_empty()) {
        return Err(fault(FIELD, text, "a number"));
    }
    let overflow = || fault(FIELD, text, "a time below 2^64 ns (584 years) in the unit of the trace");
    let integer = whole(FIELD, integer).map_err(|fault| Fault { value: shown(text), ..fault })?;
    if fraction.is_empty() {
        return integer.checked_mul(unit).ok_or_else(overflow);
    }
    if !fraction.iter().all(u8::is_ascii_digit) {
        return Err(fault(FIELD, text, "a decimal number"));
    }
    // 18 digits hold every fraction of a day in nanoseconds; the sum stays below 2^128.
    let digits = &fraction[..fraction.len().min(18)];
    let value = digits.iter().fold(0u128, |value, digit| value * 10 + u128::from(digit - b'0'));
    let part = value * u128::from(unit) / 10u128.pow(digits.len() as u32);
    let total = u128::from(integer) * u128::from(unit) + part;
    u64::try_from(total).map_err(|_| overflow())
}

/// First sector and length of a range of sectors; checks both.
pub(crate) fn sectors(lba: u64, count: u64, address: &[u8], size: &[u8]) -> Result<(u64, u32), Fault> {
    if count == 0 {
        return Err(fault("size", size, "more than 0"));
    }
    if count > MOST_BYTES / SECTOR_BYTES {
        return Err(fault("size", size, "at most 4 GiB (8388608 sectors)"));
    }
    if lba > MOST_SECTORS - count {
        return Err(fault("address", address, "an end below 2^64 bytes"));
    }
    Ok((lba, count as u32))
}

/// First sector and length of a range of bytes, rounded out to sectors, and whether that was needed.
pub(crate) fn bytes(
    offset: u64,
    length: u64,
    address: &[u8],
    size: &[u8],
) -> Result<(u64, u32, bool), Fault> {
    if length > MOST_BYTES {
        return Err(fault("size", size, "at most 4 GiB (4294967296 bytes)"));
    }
    let end =
        offset.checked_add(length).ok_or_else(|| fault("address", address, "an end below 2^64 bytes"))?;
    let first = offset / SECTOR_BYTES;
    let past = end.div_ceil(SECTOR_BYTES);
    let count = if length == 0 { 0 } else { past - first };
    // Rounding out may exceed the largest size by one sector; that is harmless.
    let (lba, count) = sectors(first, count.min(MOST_BYTES / SECTOR_BYTES), address, size)?;
    Ok((lba, count, !offset.is_multiple_of(SECTOR_BYTES) || !length.is_multiple_of(SECTOR_BYTES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        assert_eq!(time(b"0.000001581", 1_000_000_000), Ok(1581));
        assert_eq!(time(b"5265.313", 1_000_000), Ok(5_265_313_000));
        assert_eq!(time(b"128166385295514663", 100), Ok(12_816_638_529_551_466_300));
        assert_eq!(time(b"0.0000000019", 1_000_000_000), Ok(1));
        for text in ["", ".", "1.", ".5", "-1", "1e5", "1.2.3", "99999999999999999999"] {
            assert!(time(text.as_bytes(), 1000).is_err(), "{text}");
        }
    }

    #[test]
    fn faults_say_what_is_wrong() {
        assert_eq!(whole("size", b"18446744073709551615"), Ok(u64::MAX));
        for text in ["18446744073709551616", "99999999999999999999", "118446744073709551615", "", "1a", "+1"]
        {
            assert!(whole("size", text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(whole("size", b"-5").unwrap_err().expected, "a number of at least 0");
        assert!(sectors(0, 0, b"0", b"0").is_err());
        assert!(sectors(u64::MAX, 1, b"", b"").is_err());
        assert_eq!(bytes(511, 2, b"", b""), Ok((0, 2, true)));
        assert_eq!(bytes(512, 512, b"", b""), Ok((1, 1, false)));
        assert_eq!(bytes(u64::MAX, 1, b"", b"").unwrap_err().field, "address");
        assert!(shown(&[b'x'; 100]).ends_with('…'));
    }
}
