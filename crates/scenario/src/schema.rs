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

/// Every setting and table by its dotted name; those of a list of tables as `[[namespace]] capacity`.
pub fn setting_names() -> Vec<String> {
    let schema = json_schema();
    let mut names = Vec::new();
    collect_names(&schema, &schema, "", 0, &mut names);
    names.sort_unstable();
    names.dedup();
    names
}

/// The table whose settings its own list repeats.
const REPEATED: &str = "workload.synthetic.phases";

/// Adds what `node`, a part of `schema`, has below `place`. No setting has more than six tables around it; a list within a list is left out.
fn collect_names(schema: &Value, node: &Value, place: &str, depth: usize, names: &mut Vec<String>) {
    if depth > 6 {
        return;
    }
    if let Some(path) = node.get("$ref").and_then(Value::as_str) {
        if let Some(meant) = path.strip_prefix('#').and_then(|path| schema.pointer(path)) {
            collect_names(schema, meant, place, depth, names);
        }
        return;
    }
    for kind in ["anyOf", "oneOf", "allOf"] {
        for part in node.get(kind).and_then(Value::as_array).into_iter().flatten() {
            collect_names(schema, part, place, depth, names);
        }
    }
    let list = place.trim_end_matches('.');
    if let Some(item) = node.get("items").filter(|_| list != REPEATED && !list.starts_with('[')) {
        collect_names(schema, item, &format!("[[{list}]] "), depth, names);
    }
    for (key, value) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
        names.push(format!("{place}{key}"));
        collect_names(schema, value, &format!("{place}{key}."), depth + 1, names);
    }
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
