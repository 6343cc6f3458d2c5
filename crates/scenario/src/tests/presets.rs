//! Are the presets complete, sourced and sensible?

use super::*;
use crate::{json_schema, parse_text, presets};
use outlast_settings::ftl::FtlConfig;

fn preset(name: &str) -> Scenario {
    load(&[ScenarioLayer::Preset(name.to_owned())], &[], &|_| unreachable!("presets read no files"))
        .unwrap()
        .0
}

#[test]
fn every_preset_loads_and_prints_and_loads_again_equal() {
    for built_in in presets() {
        let scenario = preset(built_in.name);
        assert_eq!(scenario.name, built_in.name);
        opens(&scenario);
        assert!(!scenario.description.is_empty() && !built_in.title.is_empty(), "{}", built_in.name);
        let printed = scenario.to_toml().unwrap();
        let (again, _) =
            parse_text(&printed).unwrap_or_else(|error| panic!("{}: {error}\n{printed}", built_in.name));
        assert_eq!(again, scenario, "{}", built_in.name);
        let json = serde_json::to_string(&scenario).unwrap();
        let layer = ScenarioLayer::Json { name: "json".to_owned(), text: json };
        assert_eq!(load(&[layer], &[], &|_| unreachable!("none")).unwrap().0, scenario, "{}", built_in.name);
    }
}

#[test]
fn the_folder_holds_the_presets_and_nothing_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/presets");
    let paths = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = paths(&folder)
        .filter(|path| path.is_file())
        .chain(paths(&folder.join("drives")))
        .chain(paths(&folder.join("client")))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mut built_in: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    found.sort();
    built_in.sort_unstable();
    assert_eq!(found, built_in);
}

/// Every setting states its source on its own line, or the comment directly above its table does for all of it.
#[test]
fn every_number_has_a_source() {
    for built_in in presets() {
        let mut sourced_table = false;
        let mut comment_above = false;
        for (number, line) in built_in.text.lines().enumerate() {
            let trimmed = line.trim();
            if trimmed.starts_with('#') {
                comment_above = true;
            } else if trimmed.starts_with('[') {
                sourced_table = comment_above;
            } else if trimmed.contains('=') {
                let comment = trimmed.rsplit_once('#').map_or("", |(_, comment)| comment.trim());
                assert!(
                    !comment.is_empty() || sourced_table,
                    "{}:{}: {line}: no source",
                    built_in.name,
                    number + 1
                );
                comment_above = false;
            } else {
                comment_above = false;
            }
        }
    }
}

/// Superblocks of a flash core, and the superblocks that its share of the user data fills.
fn superblocks(scenario: &Scenario) -> (f64, f64) {
    let geometry = &scenario.device.geometry;
    let ftl: &FtlConfig = &scenario.device.ftl;
    let all = f64::from(geometry.blocks_per_plane - ftl.spare_blocks);
    let usable = geometry.raw_capacity().0 as f64 * all / f64::from(geometry.blocks_per_plane);
    (all, all * ftl.user_capacity(geometry).0 as f64 / usable)
}

#[test]
fn every_preset_has_superblocks_to_spare() {
    // Open ones of each stream and of collection, one or two free, and as many again so that collection is not desperate.
    for built_in in presets() {
        let scenario = preset(built_in.name);
        let (all, data) = superblocks(&scenario);
        let needed = 2.0 * (f64::from(scenario.device.ftl.streams) + 3.0);
        assert!(all - data >= needed, "{}: {all} superblocks, {data} of data", built_in.name);
    }
}

#[test]
fn presets_have_the_figures_of_the_papers() {
    let capacity = |name: &str| {
        let scenario = preset(name);
        let geometry = &scenario.device.geometry;
        (geometry.raw_capacity(), scenario.device.ftl.user_capacity(geometry), geometry.dies())
    };
    let gib = |bytes: outlast_units::Bytes| bytes.0 as f64 / f64::from(1 << 30);
    let (raw, user, dies) = capacity("hrm-200g");
    assert!((gib(raw) - 256.0).abs() < 1e-9 && (gib(user) - 200.0).abs() < 1e-9 && dies == 16);
    let (raw, user, _) = capacity("msapl-128g");
    // Two pages of eight are parity; 4 % of spare space beside what is left.
    assert!((gib(raw) - 128.0).abs() < 1e-9 && (0.75 * gib(raw) / gib(user) - 1.04).abs() < 1e-3);
    let (raw, user, dies) = capacity("flexible-8cards");
    assert!((gib(raw) - 1.0).abs() < 1e-9 && (gib(user) - 0.625).abs() < 1e-9 && dies == 64);
    let (raw, user, dies) = capacity("x25m-80g");
    assert!((gib(raw) - 80.0).abs() < 1e-9 && user.0 == 80_000_000_000 / 4096 * 4096 && dies == 40);
    let (raw, user, dies) = capacity("pm1643-4t");
    assert!((gib(user) / gib(raw) - 0.9).abs() < 1e-6 && dies == 64, "{raw} {user}");
    let (raw, user, dies) = capacity("peers-32g");
    assert!((gib(raw) - 32.0).abs() < 1e-9 && (gib(user) / gib(raw) - 0.85).abs() < 1e-6 && dies == 32);
    let (raw, user, _) = capacity("demo");
    let spare = raw.0 as f64 / user.0 as f64 - 1.0;
    assert!(outlast_models::write_amplification::greedy(spare).unwrap() > 1.5);
}

#[test]
fn the_schema_of_the_package_is_that_of_the_settings() {
    let committed = include_str!("../../../../python/outlast/scenario.schema.json");
    assert!(committed == format!("{:#}\n", json_schema()), "scenario.schema.json is old: run make schema");
}

#[test]
fn the_names_that_hints_know_are_those_of_the_settings() {
    let committed = include_str!("../synonyms/settings.txt");
    assert!(committed == crate::setting_names().join("\n") + "\n", "settings.txt is old: run make schema");
}

#[test]
fn the_schema_knows_every_setting_of_every_preset() {
    fn walk(schema: &serde_json::Value, root: &serde_json::Value, value: &serde_json::Value, path: &str) {
        let mut schema = schema;
        while let Some(reference) = schema.get("$ref").and_then(|reference| reference.as_str()) {
            schema = root.pointer(reference.trim_start_matches('#')).unwrap();
        }
        let serde_json::Value::Object(entries) = value else { return };
        let options: Vec<&serde_json::Value> = match schema.get("anyOf").and_then(|any| any.as_array()) {
            Some(any) => any.iter().collect(),
            None => vec![schema],
        };
        for (key, value) in entries {
            let found = options.iter().find_map(|option| {
                let mut option = *option;
                if let Some(reference) = option.get("$ref").and_then(|reference| reference.as_str()) {
                    option = root.pointer(reference.trim_start_matches('#')).unwrap();
                }
                option.get("properties").and_then(|properties| properties.get(key))
            });
            let found = found.unwrap_or_else(|| panic!("{path}.{key} is not in the schema"));
            walk(found, root, value, &format!("{path}.{key}"));
        }
    }
    let schema = json_schema();
    assert!(schema["properties"]["extends"].is_object());
    assert!(!schema.to_string().contains("\"required\""));
    for built_in in presets() {
        walk(&schema, &schema, &serde_json::to_value(preset(built_in.name)).unwrap(), built_in.name);
    }
}
