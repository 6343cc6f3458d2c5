//! Tree to settings: a serde deserializer that knows at every moment which setting it is at, so that an error does too.

use super::error::{ScenarioError, hint};
use super::place::one_line;
use super::tree::{Kind, Node, Step, dotted};
use super::{Place, Provenance};
use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::collections::btree_map;
use std::fmt;

/// Mistakes that are listed at once.
const MOST_LISTED: usize = 10;

/// Reads a `T` from the merged tree in `provenance`.
///
/// # Errors
/// Every setting that is unknown or unfit by itself, in the order of the lines: each is taken away once it is noted, so that the next one is
/// found.
pub(super) fn decode<T: DeserializeOwned>(provenance: &Provenance) -> Result<T, ScenarioError> {
    let mut errors = Vec::new();
    let first = match T::deserialize(Decoder { node: provenance.root() }) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let (mut rest, mut error) = (provenance.root().clone(), first);
    loop {
        let path: Vec<Step> = error.path.iter().rev().cloned().collect();
        let place = provenance.place_of(&path);
        let missing = matches!(error.what, What::Missing(_));
        if missing && !errors.is_empty() {
            break; // perhaps only because it was taken away, or because its name is what was misspelt
        }
        errors.push((place, error.located(provenance)));
        if missing || !rest.remove(&path) || errors.len() == MOST_LISTED {
            break;
        }
        match T::deserialize(Decoder { node: &rest }) {
            Ok(_) => break,
            Err(next) => error = next,
        }
    }
    errors.sort_by_cached_key(|(place, _)| place.clone().map(|place| (place.file, place.line)));
    let mut errors: Vec<ScenarioError> = errors.into_iter().map(|(_, error)| error).collect();
    match errors.pop() {
        Some(only) if errors.is_empty() => Err(only),
        last => {
            errors.extend(last);
            Err(ScenarioError::Several(errors))
        }
    }
}

/// What is wrong with a setting. `path` is filled in from the inside out while the error travels up.
#[derive(Debug)]
struct DecodeError {
    path: Vec<Step>,
    what: What,
}

#[derive(Debug)]
enum What {
    Unfit(String),
    UnknownKey(&'static [&'static str]),
    UnknownChoice(&'static [&'static str]),
    Missing(&'static str),
}

impl DecodeError {
    fn new(what: What) -> Self {
        Self { path: Vec::new(), what }
    }

    fn within(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    fn located(mut self, provenance: &Provenance) -> ScenarioError {
        self.path.reverse();
        let node = provenance.root().deepest(&self.path);
        let at: Option<Place> = provenance.place_of(&self.path);
        let field = dotted(&self.path);
        let given = |node: &Node| match &node.kind {
            Kind::Text(text) => text.clone(),
            _ => node.shown(),
        };
        match self.what {
            What::Unfit(limit) => ScenarioError::Setting { at, field, value: node.shown(), limit },
            What::UnknownChoice(known) => {
                let limit = format!("unknown choice{}", hint(&given(node), known));
                ScenarioError::Setting { at, field, value: node.shown(), limit }
            }
            What::UnknownKey(known) => {
                let key = match self.path.last() {
                    Some(Step::Key(key)) => key.as_str(),
                    _ => "",
                };
                // A misplaced but right name is not near any name here: then all of them help.
                ScenarioError::Unknown { at, field, hint: hint(key, known) }
            }
            What::Missing(name) => {
                self.path.push(Step::Key(name.to_owned()));
                let hint = match name {
                    "device" | "workload" => {
                        format!(": write a [{name}] table, or extend a preset, such as extends = \"demo\"")
                    }
                    _ => ": it has no default".to_owned(),
                };
                ScenarioError::Missing { at, field: dotted(&self.path), hint }
            }
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Unfit(limit) => f.write_str(limit),
            What::UnknownKey(known) => write!(f, "unknown setting; known are {}", known.join(", ")),
            What::UnknownChoice(known) => write!(f, "unknown choice; known are {}", known.join(", ")),
            What::Missing(name) => write!(f, "{name} is missing"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The name of a Rust type in a message of serde's, in words.
fn in_words(expected: &str) -> String {
    let range = |most: u64| format!("must be a whole number from 0 to {most}");
    match expected {
        "u8" => range(u64::from(u8::MAX)),
        "u16" => range(u64::from(u16::MAX)),
        "u32" => range(u64::from(u32::MAX)),
        "u64" => range(u64::MAX),
        "f64" | "f32" => "must be a number".to_owned(),
        "a boolean" => "must be true or false".to_owned(),
        "a string" => "must be text in quotes".to_owned(),
        "a sequence" => "must be a list, such as [1, 2]".to_owned(),
        _ if expected.starts_with("struct ") => "must be a table of settings".to_owned(),
        other => format!("must be {}", other.strip_prefix("any ").unwrap_or(other)),
    }
}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(What::Unfit(one_line(&message.to_string())))
    }
    fn invalid_type(given: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(given, expected)
    }
    fn invalid_value(given: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let mut limit = in_words(&expected.to_string());
        if matches!(given, Unexpected::Signed(value) if value < 0) {
            limit.push_str("; the least is 0");
        }
        Self::new(What::Unfit(limit))
    }
    fn unknown_field(_: &str, known: &'static [&'static str]) -> Self {
        Self::new(What::UnknownKey(known))
    }
    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self::new(What::UnknownChoice(known))
    }
    fn missing_field(name: &'static str) -> Self {
        Self::new(What::Missing(name))
    }
}

#[derive(Clone, Copy)]
struct Decoder<'a> {
    node: &'a Node,
}

impl<'a> Decoder<'a> {
    fn visit<'de, V: Visitor<'de>>(kind: &'a Kind, visitor: V) -> Result<V::Value, DecodeError> {
        match kind {
            Kind::Table(table) => visitor.visit_map(Table { entries: table.iter(), value: None }),
            Kind::Array(items) => visitor.visit_seq(List { items: items.iter().enumerate() }),
            Kind::Text(text) => visitor.visit_str(text),
            Kind::Boolean(value) => visitor.visit_bool(*value),
            Kind::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => {
                    Err(DecodeError::new(What::Unfit("must be a whole number of at most 64 bits".to_owned())))
                }
            },
            Kind::Float(value) if !value.is_finite() => {
                Err(DecodeError::new(What::Unfit("must be a finite number".to_owned())))
            }
            Kind::Float(value) => visitor.visit_f64(*value),
            Kind::Bare { value, .. } => Self::visit(value, visitor),
            Kind::Null | Kind::Patch(_) => visitor.visit_unit(),
            Kind::Date(_) => Err(DecodeError::new(What::Unfit(
                "no setting is a date; text is written in quotes".to_owned(),
            ))),
        }
    }
}

impl<'de> Deserializer<'de> for Decoder<'_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        Self::visit(&self.node.kind, visitor)
    }

    // `--set name=7` gives text where text is wanted.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.kind {
            Kind::Bare { text, .. } => visitor.visit_str(text),
            kind => Self::visit(kind, visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.node.kind {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    // Serde would take the elements of a list for the fields in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.kind {
            Kind::Array(_) => Err(DecodeError::new(What::Unfit(
                "must be one table of settings, as under [name], and not a list of them, as under [[name]]"
                    .to_owned(),
            ))),
            kind => Self::visit(kind, visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.kind {
            Kind::Text(text) | Kind::Bare { text, .. } => visitor.visit_enum(Choice(text)),
            kind => {
                let limit = format!("must be one of {}, not {}", known.join(", "), kind.described());
                Err(DecodeError::new(What::Unfit(limit)))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Table<'a> {
    entries: btree_map::Iter<'a, String, Node>,
    value: Option<(&'a str, &'a Node)>,
}

impl<'de> MapAccess<'de> for Table<'_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, node)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, node));
        let name: StringDeserializer<DecodeError> = key.clone().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| error.within(Step::Key(key.clone())))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its name"));
        };
        seed.deserialize(Decoder { node }).map_err(|error| error.within(Step::Key(key.to_owned())))
    }
}

struct List<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> SeqAccess<'de> for List<'_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        seed.deserialize(Decoder { node }).map(Some).map_err(|error| error.within(Step::Index(index)))
    }
}

/// A choice among names; no setting is a choice that carries data.
struct Choice<'a>(&'a str);

impl<'de, 'a> EnumAccess<'de> for Choice<'a> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        let name: de::value::StrDeserializer<'a, DecodeError> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, DecodeError> {
        Err(de::Error::custom("must be a table of settings"))
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, DecodeError> {
        Err(de::Error::custom("must be a list"))
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, DecodeError> {
        Err(de::Error::custom("must be a table of settings"))
    }
}
