//! Settings derive `JsonSchema`, which only the tests and `make schema` need; any other build takes this derive instead of schemars's.

/// Derives nothing, and lets schemars's attributes stand.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn json_schema(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    proc_macro::TokenStream::new()
}
