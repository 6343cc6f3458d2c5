//! The JSON Schema of settings, which only builds with the feature `schema` have: each crate with settings has that feature.

/// Derives the JSON Schema of a setting; nothing without the feature `schema`.
#[cfg(not(feature = "schema"))]
pub use outlast_no_schema::JsonSchema;
/// Derives the JSON Schema of a setting; nothing without the feature `schema`.
#[cfg(feature = "schema")]
pub use schemars::JsonSchema;

/// `schema_of!(Type, { … })`: the JSON Schema of a type that serde reads by code of its own, in place of a derived one.
#[macro_export]
macro_rules! schema_of {
    ($of:ident, $schema:tt) => {
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $of {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($of).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}
