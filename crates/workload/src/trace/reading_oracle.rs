//! Tests of the fast parsers of text against plain ones, which read one byte after the other: the same values, and the same faults to the
//! letter.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::fields::{self, FieldFault, fault, shown};
use super::formats::{LineWords, split};
use super::input::{TraceInput, TraceOrigin};
use crate::{TracePosition, WorkloadError};
use proptest::prelude::*;
use std::io::Write as _;

/// The value of one or more decimal digits, as the standard library reads it; `None` from 2^64 on.
fn value_of(digits: &[u8]) -> Option<u64> {
    assert!(!digits.is_empty() && digits.iter().all(u8::is_ascii_digit), "a sign, or no digits");
    std::str::from_utf8(digits).unwrap().parse().ok()
}

/// A whole number of decimal digits.
fn whole(field: &'static str, text: &[u8]) -> Result<u64, Box<FieldFault>> {
    let text = text.trim_ascii();
    if text.starts_with(b"-") {
        return Err(fault(field, text, "a number of at least 0"));
    }
    let digits = Some(text).filter(|text| !text.is_empty() && text.iter().all(u8::is_ascii_digit));
    digits.and_then(value_of).ok_or_else(|| fault(field, text, "a whole number below 2^64"))
}

/// A time, with or without decimals, in units of 10^`zeros` nanoseconds: the point moves so many digits to the right, and what is still
/// behind it is dropped.
fn time(text: &[u8], zeros: usize) -> Result<u64, Box<FieldFault>> {
    let text = text.trim_ascii();
    let mut parts = text.splitn(2, |&byte| byte == b'.');
    let (integer, fraction) = (parts.next().unwrap_or_default(), parts.next());
    if integer.is_empty() || fraction.is_some_and(<[u8]>::is_empty) {
        return Err(fault("time", text, "a number"));
    }
    whole("time", integer).map_err(|fault| Box::new(FieldFault { value: shown(text), ..*fault }))?;
    let fraction = fraction.unwrap_or_default();
    if !fraction.iter().all(u8::is_ascii_digit) {
        return Err(fault("time", text, "a decimal number"));
    }
    let moved = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(zeros);
    let nanoseconds: Vec<u8> = integer.trim_ascii().iter().copied().chain(moved).collect();
    let limit = "a time below 2^64 ns (584 years) in the unit of the trace";
    value_of(&nanoseconds).ok_or_else(|| fault("time", text, limit))
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

/// All lines that [`TraceInput`] gives, or its fault.
fn read(text: &[u8]) -> Result<Vec<Vec<u8>>, WorkloadError> {
    let mut input = TraceInput::open(&TraceOrigin::Memory(text.into()))?;
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
    fn numbers_are_read_alike(text in numbers(), zeros in 0usize..10) {
        let unit = 10u64.pow(zeros as u32);
        prop_assert_eq!(fields::whole("size", text.as_bytes()), whole("size", text.as_bytes()));
        prop_assert_eq!(fields::time(text.as_bytes(), unit), time(text.as_bytes(), zeros));
        if let Some(exact) = fields::exact_time(text.as_bytes(), unit) {
            prop_assert_eq!(Ok(exact), time(text.as_bytes(), zeros));
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
        let words: Vec<&[u8]> = LineWords::of(&line).collect();
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
    for (bytes, has_end) in [(65_537, true), (65_537, false), (400_000, true)] {
        let mut text = b"first\n".to_vec();
        text.resize(6 + bytes, b'x');
        if has_end {
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
    let mut input =
        TraceInput::open(&TraceOrigin::Memory((0..200_000u32).map(|at| at as u8).collect())).unwrap();
    for at in 0..4878u32 {
        let record = input.record(41, TracePosition::Line(1)).unwrap();
        assert_eq!((record.len(), record[0]), (41, (at * 41) as u8));
    }
    assert_eq!(input.record(41, TracePosition::Line(1)).unwrap().len(), 200_000 - 4878 * 41);
    assert!(input.record(41, TracePosition::Line(1)).unwrap().is_empty());
}
