//! A serde deserializer from the tree of settings, which adds the path of the setting to each error.

use super::error::{ScenarioError, hint};
use super::position::one_line;
use super::tree::{PathStep, SettingNode, SettingValue, dotted};
use super::{Provenance, SourcePosition};
use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::collections::btree_map;
use std::fmt;

/// Errors that are listed at once.
const MOST_LISTED: usize = 10;

/// Reads a `T` from the merged tree in `provenance`.
///
/// # Errors
/// Every setting that is unknown or invalid by itself, in the order of the lines. Serde stops at the first error, so each such setting is
/// removed and the rest decoded again.
pub(super) fn decode<T: DeserializeOwned>(provenance: &Provenance) -> Result<T, ScenarioError> {
    let mut errors = Vec::new();
    let first = match T::deserialize(TreeDecoder { node: provenance.root() }) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let (mut remaining, mut error) = (provenance.root().clone(), first);
    loop {
        let path: Vec<PathStep> = error.path.iter().rev().cloned().collect();
        let position = provenance.position_of(&path);
        let missing = matches!(error.fault, DecodeFault::Missing(_));
        if missing && !errors.is_empty() {
            break; // perhaps only because it was taken away, or because its name is what was misspelt
        }
        errors.push((position, error.located(provenance)));
        if missing || !remaining.remove(&path) || errors.len() == MOST_LISTED {
            break;
        }
        match T::deserialize(TreeDecoder { node: &remaining }) {
            Ok(_) => break,
            Err(next) => error = next,
        }
    }
    errors
        .sort_by_cached_key(|(position, _)| position.clone().map(|position| (position.file, position.line)));
    let mut errors: Vec<ScenarioError> = errors.into_iter().map(|(_, error)| error).collect();
    match errors.pop() {
        Some(only) if errors.is_empty() => Err(only),
        last => {
            errors.extend(last);
            Err(ScenarioError::Several(errors))
        }
    }
}

/// An error about a setting. `path` is filled from the inside out while the error travels up.
#[derive(Debug)]
struct DecodeError {
    path: Vec<PathStep>,
    fault: DecodeFault,
}

#[derive(Debug)]
enum DecodeFault {
    /// A value of the wrong type or outside its limits, with the limit.
    Invalid(String),
    UnknownKey(&'static [&'static str]),
    UnknownChoice(&'static [&'static str]),
    Missing(&'static str),
}

impl DecodeError {
    fn new(fault: DecodeFault) -> Self {
        Self { path: Vec::new(), fault }
    }

    /// The error with the step that leads to the setting from the table or list around it.
    fn within(mut self, step: PathStep) -> Self {
        self.path.push(step);
        self
    }

    /// The error for the user, with the position of the setting.
    fn located(mut self, provenance: &Provenance) -> ScenarioError {
        self.path.reverse();
        let node = provenance.root().deepest(&self.path);
        let at: Option<SourcePosition> = provenance.position_of(&self.path);
        let field = dotted(&self.path);
        let name_of = |node: &SettingNode| match &node.value {
            SettingValue::Text(text) => text.clone(),
            _ => node.shown(),
        };
        match self.fault {
            DecodeFault::Invalid(limit) => ScenarioError::Setting { at, field, value: node.shown(), limit },
            DecodeFault::UnknownChoice(names) => {
                let limit = format!("unknown choice{}", hint(&name_of(node), names));
                ScenarioError::Setting { at, field, value: node.shown(), limit }
            }
            DecodeFault::UnknownKey(names) => {
                let key = match self.path.last() {
                    Some(PathStep::Key(key)) => key.as_str(),
                    _ => "",
                };
                // A name of another table is near none of this one, which `hint` then lists.
                ScenarioError::Unknown { at, field, hint: hint(key, names) }
            }
            DecodeFault::Missing(name) => {
                self.path.push(PathStep::Key(name.to_owned()));
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
        match &self.fault {
            DecodeFault::Invalid(limit) => f.write_str(limit),
            DecodeFault::UnknownKey(names) => write!(f, "unknown setting; known are {}", names.join(", ")),
            DecodeFault::UnknownChoice(names) => write!(f, "unknown choice; known are {}", names.join(", ")),
            DecodeFault::Missing(name) => write!(f, "{name} is missing"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The text for a type in a message of serde, such as `u8`.
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
        Self::new(DecodeFault::Invalid(one_line(&message.to_string())))
    }
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(unexpected, expected)
    }
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let mut limit = in_words(&expected.to_string());
        if matches!(unexpected, Unexpected::Signed(value) if value < 0) {
            limit.push_str("; the least is 0");
        }
        Self::new(DecodeFault::Invalid(limit))
    }
    fn unknown_field(_: &str, names: &'static [&'static str]) -> Self {
        Self::new(DecodeFault::UnknownKey(names))
    }
    fn unknown_variant(_: &str, names: &'static [&'static str]) -> Self {
        Self::new(DecodeFault::UnknownChoice(names))
    }
    fn missing_field(name: &'static str) -> Self {
        Self::new(DecodeFault::Missing(name))
    }
}

/// Decodes one node of the tree.
#[derive(Clone, Copy)]
struct TreeDecoder<'a> {
    node: &'a SettingNode,
}

impl<'a> TreeDecoder<'a> {
    fn visit<'de, V: Visitor<'de>>(value: &'a SettingValue, visitor: V) -> Result<V::Value, DecodeError> {
        match value {
            SettingValue::Table(table) => {
                visitor.visit_map(TableEntries { entries: table.iter(), value: None })
            }
            SettingValue::Array(items) => visitor.visit_seq(ListItems { items: items.iter().enumerate() }),
            SettingValue::Text(text) => visitor.visit_str(text),
            SettingValue::Boolean(value) => visitor.visit_bool(*value),
            SettingValue::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => Err(DecodeError::new(DecodeFault::Invalid(
                    "must be a whole number of at most 64 bits".to_owned(),
                ))),
            },
            SettingValue::Float(value) if !value.is_finite() => {
                Err(DecodeError::new(DecodeFault::Invalid("must be a finite number".to_owned())))
            }
            SettingValue::Float(value) => visitor.visit_f64(*value),
            SettingValue::Bare { value, .. } => Self::visit(value, visitor),
            SettingValue::Null | SettingValue::Patch(_) => visitor.visit_unit(),
            SettingValue::Date(_) => Err(DecodeError::new(DecodeFault::Invalid(
                "no setting is a date; text is written in quotes".to_owned(),
            ))),
        }
    }
}

impl<'de> Deserializer<'de> for TreeDecoder<'_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        Self::visit(&self.node.value, visitor)
    }

    // `--set name=7` is text for a setting that is text.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            SettingValue::Bare { text, .. } => visitor.visit_str(text),
            value => Self::visit(value, visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.node.value {
            SettingValue::Null => visitor.visit_none(),
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

    // Derived code accepts a list as the fields in order, which would make nonsense of `[[name]]`.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            SettingValue::Array(_) => Err(DecodeError::new(DecodeFault::Invalid(
                "must be one table of settings, as under [name], and not a list of them, as under [[name]]"
                    .to_owned(),
            ))),
            value => Self::visit(value, visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            SettingValue::Text(text) | SettingValue::Bare { text, .. } => {
                visitor.visit_enum(NamedChoice(text))
            }
            value => {
                let limit = format!("must be one of {}, not {}", names.join(", "), value.described());
                Err(DecodeError::new(DecodeFault::Invalid(limit)))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// The entries of a table, for serde.
struct TableEntries<'a> {
    entries: btree_map::Iter<'a, String, SettingNode>,
    value: Option<(&'a str, &'a SettingNode)>,
}

impl<'de> MapAccess<'de> for TableEntries<'_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, node)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, node));
        let name: StringDeserializer<DecodeError> = key.clone().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| error.within(PathStep::Key(key.clone())))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its name"));
        };
        seed.deserialize(TreeDecoder { node }).map_err(|error| error.within(PathStep::Key(key.to_owned())))
    }
}

/// The elements of a list, for serde.
struct ListItems<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, SettingNode>>,
}

impl<'de> SeqAccess<'de> for ListItems<'_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        seed.deserialize(TreeDecoder { node }).map(Some).map_err(|error| error.within(PathStep::Index(index)))
    }
}

/// A choice among names; no setting is a choice that carries data.
struct NamedChoice<'a>(&'a str);

impl<'de, 'a> EnumAccess<'de> for NamedChoice<'a> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        let name: de::value::StrDeserializer<'a, DecodeError> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for NamedChoice<'_> {
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
