//! Fields of requests, checked before they are read, so that a value of another kind is refused with the field and its limit.

use outlast_media::ShornShare;
use outlast_units::{Bytes, Nanos, ParseUnitError};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// Values that a field takes.
pub(crate) enum FieldKind {
    /// A whole number from 0 to this.
    Whole(u64),
    Number(RangeInclusive<f64>),
    Flag,
    Text,
    /// A span of time; one that is longer than can be counted is refused later, with the limit that counts.
    Time,
    Size,
    Share,
}

/// A field that a request may have.
pub(crate) struct RequestField {
    name: &'static str,
    kind: FieldKind,
    /// True if `null` stands for its absence.
    takes_null: bool,
}

impl RequestField {
    pub(crate) const fn new(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, takes_null: false }
    }

    pub(crate) const fn nullable(name: &'static str, kind: FieldKind) -> Self {
        Self { name, kind, takes_null: true }
    }
}

/// Checks the fields of a request that are among `known`; `prefix` stands before their names in messages.
///
/// # Errors
/// Field, value and limit, in one line.
pub(crate) fn check_fields(
    request: &Map<String, Value>,
    known: &[RequestField],
    prefix: &str,
) -> Result<(), String> {
    for field in known {
        match request.get(field.name) {
            None => {}
            Some(Value::Null) if field.takes_null => {}
            Some(value) => field
                .kind
                .check(value)
                .map_err(|why| format!("{prefix}{} = {}{why}", field.name, written(value)))?,
        }
    }
    Ok(())
}

/// Checks a field that takes one of several words, which are those of `T`.
///
/// # Errors
/// Field and words, in one line.
pub(crate) fn check_word<'a, T: Deserialize<'a>>(
    request: &'a Map<String, Value>,
    name: &str,
    prefix: &str,
) -> Result<(), String> {
    match request.get(name) {
        Some(value @ Value::String(_)) => {
            T::deserialize(value).map(|_| ()).map_err(|error| format!("{prefix}{name}: {error}"))
        }
        _ => Ok(()),
    }
}

impl FieldKind {
    /// Says what is wrong with a value, to be put behind it.
    fn check(&self, value: &Value) -> Result<(), String> {
        let must = |is_right: bool, limit: &str| {
            if is_right { Ok(()) } else { Err(format!(": must be {limit}")) }
        };
        match (self, value) {
            (Self::Whole(u64::MAX), _) => must(value.is_u64(), "a whole number of at least 0"),
            (Self::Whole(most), _) => must(
                value.as_u64().is_some_and(|number| number <= *most),
                &format!("a whole number from 0 to {most}"),
            ),
            (Self::Number(range), _) => must(
                value.as_f64().is_some_and(|number| range.contains(&number)),
                &format!("a number within {} to {}", range.start(), range.end()),
            ),
            (Self::Flag, _) => must(value.is_boolean(), "true or false"),
            (Self::Text, _) => must(value.is_string(), "text"),
            (Self::Time, Value::String(text)) => of_text(text.parse::<Nanos>(), text),
            (Self::Time, Value::Number(number)) if number.as_u64().is_some_and(|number| number > 0) => {
                Err(format!(" has no unit; write for example \"{number}us\""))
            }
            (Self::Time, _) => must(
                value.as_u64() == Some(0),
                "a time with its unit, such as \"3.5ms\" or \"2s\", of at least 0",
            ),
            (Self::Size, Value::String(text)) => of_text(text.parse::<Bytes>(), text),
            (Self::Size, _) => must(
                Bytes::deserialize(value).is_ok(),
                "a size such as \"4KiB\" or a whole number of bytes, of at least 0",
            ),
            (Self::Share, _) => must(
                ShornShare::deserialize(value).is_ok(),
                "a part of a whole such as \"3/8\", more than 0 and less than 1",
            ),
        }
    }
}

/// Words of the error of a text, to be put behind the text.
fn of_text<T>(parsed: Result<T, ParseUnitError>, text: &str) -> Result<(), String> {
    match parsed {
        Ok(_) | Err(ParseUnitError::TooLarge { base: "nanoseconds", .. }) => Ok(()),
        Err(error) => {
            let told = error.to_string();
            Err(told.strip_prefix(&format!("\"{text}\"")).unwrap_or(&told).to_owned())
        }
    }
}

/// A value as messages show it: no text commands a terminal.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        value => value.to_string(),
    }
}
