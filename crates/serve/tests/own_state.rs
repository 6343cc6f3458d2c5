//! What a device writes of itself it takes again, at any moment of its service: checks of state that is read refuse nothing that a machine comes to.
//!
//! Drives and arrays are those whose results are kept as hashes, which have each mechanism in turn; one in sixteen of them, and all of them in nightly
//! runs (`OUTLAST_ALL_CASES`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "the environment says how many cases there are")]

use crate::checkpoint::RandomHost;
use outlast_engine::{Scenario, ScenarioLayer, load};
use outlast_serve::ServedDevice;
use serde_json::Value;

const TABLES: [&str; 2] =
    [include_str!("../../bench/src/hashes/drives.toml"), include_str!("../../bench/src/hashes/arrays.toml")];

/// Cases of which one is looked at, where not all are.
const ONE_IN: usize = 16;
/// Commands between two looks, and looks.
const TURNS: u32 = 37;
const LOOKS: u32 = 6;

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

/// The scenarios of a file of cases, by name; those that say how another's bytes are kept, or need files, do not load and are left out.
fn scenarios(text: &str) -> Vec<(String, Scenario)> {
    let tables: toml::Table = text.parse().unwrap();
    let layer = |name: &str| {
        let mut table = tables[name].as_table().unwrap().clone();
        let like = table.remove("like").and_then(|like| like.as_str().map(str::to_owned));
        let text = absent(serde_json::to_value(&table).unwrap()).to_string();
        (ScenarioLayer::Json { name: name.to_owned(), text }, like)
    };
    let scenario = |name: &String| {
        let (own, like) = layer(name);
        let below = like.map(|like| layer(&like).0);
        let layers: Vec<_> = [layer("base").0].into_iter().chain(below).chain([own]).collect();
        let loaded = load(&layers, &[], &|_| Err(std::io::Error::other("no files"))).ok()?;
        Some((name.clone(), loaded.0))
    };
    tables.keys().filter(|name| *name != "base").filter_map(scenario).collect()
}

#[test]
fn what_a_device_writes_of_itself_it_takes_again() {
    let all = std::env::var_os("OUTLAST_ALL_CASES").is_some();
    let cases = TABLES.into_iter().flat_map(scenarios);
    let mut looked_at = 0;
    for (index, (name, scenario)) in cases.enumerate() {
        if !all && index % ONE_IN != 0 {
            continue;
        }
        let Ok(mut device) = ServedDevice::new(&scenario) else { continue };
        let mut life = RandomHost::new(index as u64 + fuzzed::drawn());
        for look in 0..LOOKS {
            life.go_on(&mut device, TURNS);
            let mut file = Vec::new();
            device.write(&mut file).unwrap();
            match ServedDevice::read(&scenario, &mut file.as_slice(), None) {
                Ok(twin) => device = twin,
                Err(error) => panic!("{name}, look {look}: {error}"),
            }
        }
        looked_at += 1;
    }
    assert!(looked_at >= if all { 120 } else { 8 }, "{looked_at} devices");
}
