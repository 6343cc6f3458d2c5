//! Serde's deserializer over the tree of settings. Each step down adds its key or index to an error that comes back.

use super::amounts::{Amount, parse_amount, unclear_amount};
use super::{DecodeError, DecodeFault};
use crate::tree::{PathStep, SettingNode, SettingValue};
use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use std::collections::btree_map;

/// Decodes one node of the tree.
#[derive(Clone, Copy)]
pub(super) struct TreeDecoder<'a> {
    pub(super) node: &'a SettingNode,
    /// The setting's own name; empty at the top.
    pub(super) key: &'a str,
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

impl TreeDecoder<'_> {
    /// Decodes a whole number, which has no point.
    fn whole<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let value = match &self.node.value {
            SettingValue::Bare { value, .. } => value,
            value => value,
        };
        match *value {
            SettingValue::Float(number) if number.fract() == 0.0 && (0.0..1e15).contains(&number) => {
                let limit = format!("must be a whole number; write {number} without a point");
                Err(DecodeError::new(DecodeFault::Invalid(limit)))
            }
            _ => self.number(visitor),
        }
    }

    /// Decodes a number, which may be written with a suffix.
    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let text = match &self.node.value {
            SettingValue::Text(text) => Some(text),
            SettingValue::Bare { text, value } if matches!(**value, SettingValue::Text(_)) => Some(text),
            _ => None,
        };
        match text.and_then(|text| parse_amount(text, self.key)) {
            Some(Amount::Whole(value)) => visitor.visit_u64(value),
            Some(Amount::Part(value)) => visitor.visit_f64(value),
            None => match text.and_then(|text| unclear_amount(text)) {
                Some(limit) => Err(DecodeError::new(DecodeFault::Invalid(limit))),
                None => Self::visit(&self.node.value, visitor),
            },
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

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.whole(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.whole(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.whole(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.whole(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.number(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u128 f32 char bytes byte_buf unit unit_struct seq tuple
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
        seed.deserialize(TreeDecoder { node, key })
            .map_err(|error| error.within(PathStep::Key(key.to_owned())))
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
        seed.deserialize(TreeDecoder { node, key: "" })
            .map(Some)
            .map_err(|error| error.within(PathStep::Index(index)))
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
