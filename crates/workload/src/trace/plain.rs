//! Does the quick reading of text find what plain reading finds, to the letter of every fault? The plain way is here: one byte after the
//! other, as one would write it down.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::fields::{self, Fault, fault, shown};
use super::formats::{Words, split};
use super::input::{Input, Origin};
use crate::{Position, WorkloadError};
use proptest::prelude::*;
use std::io::Write as _;

/// A whole number of decimal digits.
fn whole(field: &'static str, text: &[u8]) -> Result<u64, Box<Fault>> {
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
fn time(text: &[u8], unit: u64) -> Result<u64, Box<Fault>> {
    const FIELD: &str = "time";
    let text = text.trim_ascii();
    let dot = text.iter().position(|&byte| byte == b'.');
    let (integer, fraction) = text.split_at(dot.unwrap_or(text.len()));
    let fraction = fraction.get(1..).unwrap_or_default();
    if integer.is_empty() || (dot.is_some() && fraction.is_empty()) {
        return Err(fault(FIELD, text, "a number"));
    }
    let overflow = || fault(FIELD, text, "a time below 2^64 ns (584 years) in the unit of the trace");
    let integer = whole(FIELD, integer).map_err(|fault| Box::new(Fault { value: shown(text), ..*fault }))?;
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

/// Splits at commas or, without any, at blanks, into exactly `N` fields; more are ignored if `more`.
fn fields_of<const N: usize>(line: &[u8], comma: bool, more: bool) -> Result<[&[u8]; N], usize> {
    let all: Vec<&[u8]> = if comma {
        line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect()
    } else {
        line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect()
    };
    let mut fields = [&[] as &[u8]; N];
    fields.iter_mut().zip(&all).for_each(|(slot, field)| *slot = field);
    if all.len() == N || (more && all.len() > N) { Ok(fields) } else { Err(all.len()) }
}

/// The lines of a text, each without its end and, where it has one, the carriage return before it.
fn lines_of(text: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let ended = lines.len() - 1;
    for line in &mut lines[..ended] {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    lines.pop_if(|last| last.is_empty());
    lines
}

/// All lines that [`Input`] gives, or its fault.
fn read(text: &[u8]) -> Result<Vec<Vec<u8>>, WorkloadError> {
    let mut input = Input::open(&Origin::Memory(text.into()))?;
    let mut lines = Vec::new();
    while let Some(line) = input.line(lines.len() as u64 + 1)? {
        lines.push(line.to_vec());
    }
    Ok(lines)
}

/// Texts that are numbers, nearly numbers, or anything.
fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,22}",
        "[0-9]{0,20}\\.[0-9]{0,22}",
        "[ \t]?[-+]?[0-9]{1,20}[ \t]?",
        "0{0,30}[0-9]{1,19}",
        "[0-9./:; a\u{7f}-]{0,24}",
        Just("18446744073709551615".to_owned()),
        Just("18446744073709551616".to_owned()),
        any::<String>(),
    ]
}

/// Lines of few different bytes, so that every mixture of separators comes up.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::sample::select(b"019ab,, \t.\r\x0b\x0c\x01\xff".to_vec());
    prop::collection::vec(bytes, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn numbers_are_read_alike(text in numbers(), unit in prop::sample::select(vec![1u64, 100, 1_000, 1_000_000, 1_000_000_000])) {
        prop_assert_eq!(fields::whole("size", text.as_bytes()), whole("size", text.as_bytes()));
        prop_assert_eq!(fields::time(text.as_bytes(), unit), time(text.as_bytes(), unit));
        if let Some(exact) = fields::exact_time(text.as_bytes(), unit) {
            prop_assert_eq!(Ok(exact), time(text.as_bytes(), unit));
        }
    }

    #[test]
    fn any_eight_bytes_are_digits_or_none(bytes in any::<[u8; 8]>(), digits in 0u32..100_000_000, at in 0usize..8, other in any::<u8>()) {
        prop_assert_eq!(fields::whole("", &bytes), whole("", &bytes));
        let mut text = format!("{digits:08}").into_bytes();
        prop_assert_eq!(fields::whole("", &text), Ok(u64::from(digits)));
        text[at] = other;
        prop_assert_eq!(fields::whole("", &text), whole("", &text));
    }

    #[test]
    fn lines_are_split_alike(line in line(), comma in any::<bool>(), more in any::<bool>()) {
        prop_assert_eq!(split::<3>(&line, comma, more), fields_of::<3>(&line, comma, more));
        prop_assert_eq!(split::<7>(&line, comma, more), fields_of::<7>(&line, comma, more));
        let words: Vec<&[u8]> = Words::of(&line).collect();
        let plain: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        prop_assert_eq!(words, plain);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Lines across the ends of buffers, with and without an end of their own, plain and compressed.
    #[test]
    fn texts_are_cut_into_lines_alike(
        lengths in prop::collection::vec(prop_oneof![0usize..90, 0usize..30_000, 65_530usize..=65_536], 0..30),
        returns in any::<u64>(),
        ended in any::<bool>(),
    ) {
        let mut text = Vec::new();
        for (index, &length) in lengths.iter().enumerate() {
            let carriage = returns >> (index % 64) & 1 == 1 && length > 0;
            text.extend((0..length).map(|at| b"0123456789,"[at % 11]));
            if carriage {
                text.pop();
                text.push(b'\r');
            }
            text.push(b'\n');
        }
        if !ended {
            text.pop();
        }
        prop_assert_eq!(read(&text).unwrap(), lines_of(&text));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        prop_assert_eq!(read(&gzip.finish().unwrap()).unwrap(), lines_of(&text));
        prop_assert_eq!(read(&zstd::encode_all(&text[..], 1).unwrap()).unwrap(), lines_of(&text));
    }
}

#[test]
fn a_line_that_is_too_long_is_named() {
    for (bytes, whole) in [(65_537, true), (65_537, false), (400_000, true)] {
        let mut text = b"first\n".to_vec();
        text.resize(6 + bytes, b'x');
        if whole {
            text.push(b'\n');
        }
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("at most 65536 bytes in a line"), "{error}");
    }
    let mut fits = vec![b'x'; 65_536];
    fits.push(b'\n');
    assert_eq!(read(&fits).unwrap()[0].len(), 65_536);
}

#[test]
fn records_are_whole_until_the_end() {
    let mut input = Input::open(&Origin::Memory((0..200_000u32).map(|at| at as u8).collect())).unwrap();
    for at in 0..4878u32 {
        let record = input.record(41, Position::Line(1)).unwrap();
        assert_eq!((record.len(), record[0]), (41, (at * 41) as u8));
    }
    assert_eq!(input.record(41, Position::Line(1)).unwrap().len(), 200_000 - 4878 * 41);
    assert!(input.record(41, Position::Line(1)).unwrap().is_empty());
}
