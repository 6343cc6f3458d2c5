//! JSON Schema of scenario files, for editors and for the reference page.

use super::Scenario;
use serde_json::{Value, json};

/// The schema of a scenario file. Since a file may inherit any setting, it requires none.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(Scenario).to_value();
    drop_required(&mut schema);
    if let Some(whole) = schema.as_object_mut() {
        whole.insert("$id".to_owned(), json!("urn:outlast:schema:scenario:1"));
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let extends = json!({
            "description": "What this scenario starts from: the name of a preset, or the path of another scenario from this \
                file's folder, or a list of them, of which later ones win. This file's own settings win over all.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
        });
        properties.insert("extends".to_owned(), extends);
    }
    schema
}

/// Removes every `required`, at any depth. No property of a scenario has that name.
fn drop_required(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            entries.remove("required");
            entries.values_mut().for_each(drop_required);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_required),
        _ => {}
    }
}
