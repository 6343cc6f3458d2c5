//! What columns of tables hold, and how Parquet calls it.

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::{ColumnDescriptor, Type};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Real,
    Truth,
    Text,
}

impl Kind {
    const ALL: [(&'static str, Self); 5] = [
        ("u64", Self::Unsigned),
        ("i64", Self::Signed),
        ("f64", Self::Real),
        ("bool", Self::Truth),
        ("text", Self::Text),
    ];

    pub(super) fn of(name: &str) -> PyResult<Self> {
        let found = Self::ALL.into_iter().find(|(own, _)| *own == name);
        found
            .map(|(_, kind)| kind)
            .ok_or_else(|| PyValueError::new_err(format!("no kind of column '{name}'")))
    }

    /// The column of a file's schema; anything but these is not of a file that Outlast wrote.
    pub(super) fn read(column: &ColumnDescriptor) -> Option<Self> {
        match (column.physical_type(), column.converted_type()) {
            (Physical::INT64, ConvertedType::UINT_64) => Some(Self::Unsigned),
            (Physical::INT64, ConvertedType::NONE | ConvertedType::INT_64) => Some(Self::Signed),
            (Physical::DOUBLE, _) => Some(Self::Real),
            (Physical::BOOLEAN, _) => Some(Self::Truth),
            (Physical::BYTE_ARRAY, ConvertedType::UTF8 | ConvertedType::ENUM) => Some(Self::Text),
            _ => None,
        }
    }

    pub(super) fn schema(self, name: &str, nullable: bool) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Self::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Self::Signed => (Physical::INT64, None),
            Self::Real => (Physical::DOUBLE, None),
            Self::Truth => (Physical::BOOLEAN, None),
            Self::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
    }
}
