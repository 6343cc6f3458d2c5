//! Does any text, however odd, give a scenario or an error, and never a panic?

use super::*;
use crate::merge::{MergeNotes, merge};
use crate::override_path::{override_tree, parse_path};
use crate::parse::toml_tree;
use crate::tree::{SettingNode, SettingValue, dotted};
use crate::{ScenarioError, parse_text, split_override};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Words that make texts likely to get somewhere.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("device"),
        Just("geometry"),
        Just("workload"),
        Just("synthetic"),
        Just("trace"),
        Just("phases"),
        Just("ftl"),
        Just("capacity"),
        Just("extends"),
        Just("\"demo\""),
        Just("seed"),
        Just("="),
        Just("."),
        Just("["),
        Just("]"),
        Just("{"),
        Just("}"),
        Just(","),
        Just("\n"),
        Just("\""),
        Just("-1"),
        Just("4KiB"),
        Just("inf"),
        Just("0"),
        Just("1979-05-27"),
        Just("null"),
        Just("é"),
        Just(" "),
    ]
    .prop_map(str::to_owned)
}

/// A tree of tables and numbers, as text.
fn settings(depth: u32) -> impl Strategy<Value = BTreeMap<String, serde_json::Value>> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from)
    ];
    let value = leaf.prop_recursive(depth, 16, 3, |inner| {
        prop::collection::btree_map("[a-d]", inner, 1..4)
            .prop_map(|map| serde_json::Value::Object(map.into_iter().collect()))
    });
    prop::collection::btree_map("[a-d]", value, 0..4)
}

fn tree(settings: &BTreeMap<String, serde_json::Value>) -> SettingNode {
    toml_tree("t", &toml::to_string(settings).unwrap()).unwrap()
}

/// The values of a tree without their positions.
fn values_of(node: &SettingNode) -> serde_json::Value {
    match &node.value {
        SettingValue::Table(table) => {
            table.iter().map(|(key, node)| (key.clone(), values_of(node))).collect()
        }
        SettingValue::Integer(value) => serde_json::Value::from(i64::try_from(*value).unwrap()),
        SettingValue::Boolean(value) => serde_json::Value::from(*value),
        other => panic!("{other:?}"),
    }
}

fn laid_over(base: &mut serde_json::Value, over: &serde_json::Value) {
    match (base, over) {
        (serde_json::Value::Object(base), serde_json::Value::Object(over)) => {
            for (key, value) in over {
                laid_over(base.entry(key.clone()).or_insert(serde_json::Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse_text(&text);
        let _ = split_override(&text);
        let _ = parse_path(&text);
    }

    #[test]
    fn no_likely_text_panics(words in prop::collection::vec(word(), 0..40)) {
        let text = words.concat();
        let _ = parse_text(&text);
        let _ = parse_text(&format!("extends = \"demo\"\n{text}"));
        let layer = ScenarioLayer::Json { name: "j".to_owned(), text: text.clone() };
        let _ = load(&[layer], &[], &|_| Err(io::Error::other("none")));
    }

    #[test]
    fn no_override_panics(
        name in prop::collection::vec(word(), 1..8), value in prop::collection::vec(word(), 0..8), more in "\\PC{0,40}",
    ) {
        let (name, value) = (name.concat(), value.concat());
        let _ = small_with(&[(&name, &value), (&more, &name), ("workload.synthetic.phases[0].seed", &more)]);
        let _ = small_with(&[(&name, &more), (&name, &value)]);
    }

    #[test]
    fn a_complaint_is_a_line_for_each_mistake(from in 0..SMALL.len(), length in 0usize..40, with in "[ -~]{0,12}") {
        let to = (from + length).min(SMALL.len());
        let text = format!("{}{with}{}", &SMALL[..from], &SMALL[to..]);
        if let Err(error) = parse_text(&text) {
            let message = error.to_string();
            let mistakes = match &error {
                ScenarioError::Several(errors) => errors.len(),
                _ => 1,
            };
            prop_assert_eq!(message.split('\n').count(), mistakes, "{}", message);
            prop_assert!(message.split('\n').all(|line| !line.is_empty()), "{message}");
        }
    }

    #[test]
    fn merging_agrees_with_a_plain_model(layers in prop::collection::vec(settings(3), 1..5)) {
        let mut merged = tree(&BTreeMap::new());
        let mut model = serde_json::Value::Object(serde_json::Map::new());
        for layer in &layers {
            merge(&mut merged, tree(layer), &mut MergeNotes::default()).unwrap();
            laid_over(&mut model, &serde_json::to_value(layer).unwrap());
        }
        prop_assert_eq!(values_of(&merged), model);
    }

    #[test]
    fn merging_a_layer_twice_changes_nothing(base in settings(3), over in settings(3)) {
        let mut once = tree(&base);
        merge(&mut once, tree(&over), &mut MergeNotes::default()).unwrap();
        let mut twice = once.clone();
        merge(&mut twice, tree(&over), &mut MergeNotes::default()).unwrap();
        prop_assert_eq!(values_of(&once), values_of(&twice));
    }

    #[test]
    fn paths_print_as_they_were_written(path in "[a-z_]{1,8}(\\.[a-z_]{1,8}|\\[[0-9]{1,3}\\]){0,6}") {
        let steps = parse_path(&path).unwrap();
        let printed = dotted(&steps);
        prop_assert_eq!(parse_path(&printed).unwrap(), steps);
    }

    #[test]
    fn an_override_is_found_at_its_path(path in "[a-z]{1,3}(\\.[a-z]{1,3}){0,4}", value in any::<i32>()) {
        let root = override_tree(&[(path.clone(), value.to_string())]).unwrap();
        let node = root.deepest(&parse_path(&path).unwrap());
        let SettingValue::Bare { value: parsed, .. } = &node.value else { panic!("{node:?}") };
        prop_assert_eq!(&**parsed, &SettingValue::Integer(i128::from(value)));
    }

    #[test]
    fn a_changed_scenario_prints_and_loads_again_equal(
        seed in 0..=i64::MAX as u64, over in 0.01..1.0f64, read in 0..4_000_000u64, rate in 0.1..1e6f64, bytes: bool,
    ) {
        let overrides = [
            ("seed", seed.to_string()),
            ("device.ftl.over_provisioning", over.to_string()),
            ("device.timing.read", format!("{read}ns")),
            ("workload.synthetic.rate_iops", rate.to_string()),
            ("device.bytes", bytes.to_string()),
        ];
        let overrides: Vec<(&str, &str)> = overrides.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let scenario = small_with(&overrides).unwrap();
        prop_assert_eq!(parse_text(&scenario.to_toml().unwrap()).unwrap().0, scenario);
    }
}
