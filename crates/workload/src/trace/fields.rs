//! Exact parsing of numbers in text. Faults name the field, its text and the expected form.

use outlast_units::SECTOR_BYTES;

/// The largest request in bytes: the most that one discard of Linux can cover.
pub(crate) const MOST_BYTES: u64 = 4 << 30;
/// Sectors in 2^64 bytes.
pub(crate) const MOST_SECTORS: u64 = u64::MAX / SECTOR_BYTES;

/// A malformed or impossible field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldFault {
    /// Name of the field.
    pub(crate) field: &'static str,
    /// Its text, as [`shown`] shortens it.
    pub(crate) value: String,
    /// The expected form, such as "at most 4 GiB".
    pub(crate) expected: String,
}

/// A fault in `field`, boxed so that results without a fault fit into registers.
#[cold]
#[allow(clippy::unnecessary_box_returns, reason = "every result that may be a fault is to be small")]
pub(crate) fn fault(field: &'static str, value: &[u8], expected: impl Into<String>) -> Box<FieldFault> {
    Box::new(FieldFault { field, value: shown(value), expected: expected.into() })
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

/// Digits behind the point that are read; further ones are far below a nanosecond in every unit.
const MOST_DECIMALS: usize = 18;

/// Powers of ten up to 10^19, the largest in a `u64`.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut digits = 1;
    while digits < powers.len() {
        powers[digits] = powers[digits - 1] * 10;
        digits += 1;
    }
    powers
};

/// The value of eight decimal digits, the first of them in the lowest byte; `None` if any byte is no digit. Each line adds up neighbours:
/// digits to pairs, pairs to fours, fours to all eight.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(bytes);
    // All upper halves are 3, also once 6 has been added, which takes ':' and beyond out of that range.
    let upper = |word: u64| word & 0xf0f0_f0f0_f0f0_f0f0;
    if upper(word) | upper(word.wrapping_add(0x0606_0606_0606_0606)) >> 4 != 0x3333_3333_3333_3333 {
        return None;
    }
    let digits = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// The value of up to 19 digits, which cannot overflow; `None` if there is anything else, or nothing.
#[inline]
fn digits(text: &[u8]) -> Option<u64> {
    let Some(last) = text.last_chunk::<8>() else { return few_digits(text) };
    if text.len() > 19 {
        return None;
    }
    // Nineteen digits stay below 2^64, so the wrapping operations only spare the checks.
    let (mut value, mut remaining) = (0u64, text);
    while let Some((head, tail)) = remaining.split_first_chunk::<8>() {
        value = value.wrapping_mul(100_000_000).wrapping_add(eight_digits(*head)?);
        remaining = tail;
    }
    if remaining.is_empty() {
        return Some(value);
    }
    // The last eight digits of the text, with those that have been counted replaced by zeros.
    let counted = u64::MAX >> (8 * remaining.len());
    let word = u64::from_le_bytes(*last) & !counted | 0x3030_3030_3030_3030 & counted;
    Some(value.wrapping_mul(POWERS[remaining.len()]).wrapping_add(eight_digits(word.to_le_bytes())?))
}

/// The value of fewer than eight digits; `None` if there is anything else, or nothing.
#[inline]
fn few_digits(text: &[u8]) -> Option<u64> {
    let (mut value, mut valid) = (0u32, !text.is_empty());
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        valid &= digit < 10;
        value = value.wrapping_mul(10).wrapping_add(u32::from(digit));
    }
    valid.then_some(u64::from(value))
}

/// A whole number of decimal digits.
#[inline]
pub(crate) fn whole(field: &'static str, text: &[u8]) -> Result<u64, Box<FieldFault>> {
    match digits(text) {
        Some(value) => Ok(value),
        None => whole_slowly(field, text),
    }
}

/// [`whole`] for any text: with blanks around it, with leading zeros, with twenty digits, or without a number.
#[cold]
fn whole_slowly(field: &'static str, text: &[u8]) -> Result<u64, Box<FieldFault>> {
    let text = text.trim_ascii();
    if text.first() == Some(&b'-') {
        return Err(fault(field, text, "a number of at least 0"));
    }
    // Leading zeros are dropped, unless one is the only digit.
    let zeros = text.iter().take(text.len().saturating_sub(1)).take_while(|&&byte| byte == b'0').count();
    let (head, last) = text[zeros..].split_at((text.len() - zeros).min(19));
    let last = match last {
        [] => return digits(head).ok_or_else(|| fault(field, text, "a whole number below 2^64")),
        [digit @ b'0'..=b'9'] => Some(u64::from(digit - b'0')),
        _ => None,
    };
    let value = digits(head).zip(last).and_then(|(head, last)| head.checked_mul(10)?.checked_add(last));
    value.ok_or_else(|| fault(field, text, "a whole number below 2^64"))
}

/// A time, with or without decimals, in units of `unit` nanoseconds. Digits below a nanosecond are dropped.
#[inline]
pub(crate) fn time(text: &[u8], unit: u64) -> Result<u64, Box<FieldFault>> {
    exact_time(text, unit).map_or_else(|| time_slowly(text, unit), Ok)
}

/// [`time`] for the common form: digits, perhaps a point and more digits, without overflow; `None` for any other text.
#[inline]
pub(crate) fn exact_time(text: &[u8], unit: u64) -> Option<u64> {
    if let Some(integer) = digits(text) {
        return integer.checked_mul(unit);
    }
    let dot = text.iter().position(|&byte| byte == b'.')?;
    let fraction = &text[dot + 1..];
    if fraction.len() > MOST_DECIMALS {
        return None;
    }
    let part = digits(fraction)?.checked_mul(unit)? / POWERS[fraction.len()];
    digits(&text[..dot])?.checked_mul(unit)?.checked_add(part)
}

/// [`time`] for any text.
#[cold]
fn time_slowly(text: &[u8], unit: u64) -> Result<u64, Box<FieldFault>> {
    const FIELD: &str = "time";
    let text = text.trim_ascii();
    let dot = text.iter().position(|&byte| byte == b'.');
    let (integer, fraction) = text.split_at(dot.unwrap_or(text.len()));
    let fraction = fraction.get(1..).unwrap_or_default();
    if integer.is_empty() || (dot.is_some() && fraction.is_empty()) {
        return Err(fault(FIELD, text, "a number"));
    }
    let overflow = || fault(FIELD, text, "a time below 2^64 ns (584 years) in the unit of the trace");
    let integer =
        whole(FIELD, integer).map_err(|fault| Box::new(FieldFault { value: shown(text), ..*fault }))?;
    if !fraction.iter().all(u8::is_ascii_digit) {
        return Err(fault(FIELD, text, "a decimal number"));
    }
    // The sum stays below 2^128.
    let fraction = &fraction[..fraction.len().min(MOST_DECIMALS)];
    let part = digits(fraction).map_or(0, |value| u128::from(value) * u128::from(unit));
    let part = part / u128::from(POWERS[fraction.len()]);
    u64::try_from(u128::from(integer) * u128::from(unit) + part).map_err(|_| overflow())
}

/// First sector and length of a range of sectors, both checked. `address` and `size` are the fields for messages.
pub(crate) fn sectors(
    lba: u64,
    count: u64,
    address: &[u8],
    size: &[u8],
) -> Result<(u64, u32), Box<FieldFault>> {
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

/// First sector and length of a range of bytes, rounded out to whole sectors, and true if that changed it.
pub(crate) fn bytes(
    offset: u64,
    length: u64,
    address: &[u8],
    size: &[u8],
) -> Result<(u64, u32, bool), Box<FieldFault>> {
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
    fn faults_name_the_field_and_the_limit() {
        assert_eq!(whole("size", b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(whole("size", b"000000000000000000000000000512"), Ok(512));
        assert_eq!(whole("size", b"000000000000000000000000000000"), Ok(0));
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
