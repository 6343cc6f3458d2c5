//! Cases that are layers over a base: tables of a TOML file.

use super::NamedCase;
use outlast_engine::{ScenarioLayer, load_scenario};
use serde_json::Value;

/// The tables of `text` as cases of `group`. The table `base` is below all of them, and the one that `like` names below its own; the text
/// "null" takes an inherited setting away.
pub(super) fn all(group: &str, text: &str) -> Vec<NamedCase> {
    let tables: toml::Table = match text.parse() {
        Ok(tables) => tables,
        Err(error) => return vec![NamedCase::new(group.to_owned(), Err(error.to_string()))],
    };
    let layer = |name: &str| {
        let mut table = tables.get(name)?.as_table()?.clone();
        let like = table.remove("like");
        let text = absent(serde_json::to_value(&table).ok()?).to_string();
        Some((ScenarioLayer::Json { name: name.to_owned(), text }, like))
    };
    let scenario = |name: &str| {
        let unknown = |name: &str| format!("there is no table {name}");
        let (own, like) = layer(name).ok_or_else(|| unknown(name))?;
        let mut layers = vec![layer("base").ok_or_else(|| unknown("base"))?.0];
        if let Some(like) = like {
            let like = like.as_str().unwrap_or_default();
            layers.push(layer(like).ok_or_else(|| unknown(like))?.0);
        }
        layers.push(own);
        load_scenario(&layers, &[]).map(|(scenario, _)| scenario).map_err(|error| error.to_string())
    };
    let names = tables.keys().filter(|name| *name != "base");
    names.map(|name| NamedCase::new(format!("{group}/{name}"), scenario(name))).collect()
}

/// The same with null in place of the text "null", which TOML has not.
fn absent(value: Value) -> Value {
    match value {
        Value::String(text) if text == "null" => Value::Null,
        Value::Object(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, absent(value))).collect())
        }
        other => other,
    }
}
