//! Settings that shape the state of a prepared drive. The others may change when a run continues from a snapshot.

use super::Scenario;
use outlast_persist::shape;
use outlast_settings::drive::SsdConfig;
use serde_json::{Map, Value};

/// Settings of `[device]` that only decisions and times depend on, and no stored state.
const FREE: [&str; 12] = [
    "ftl.gc.policy",
    "ftl.gc.choices",
    "timing.read",
    "timing.program",
    "timing.erase",
    "timing.bus",
    "timing.command",
    "controller.read_cost",
    "controller.write_cost",
    "controller.relocation_cost",
    "controller.encode_cost",
    "controller.decode_cost",
];

/// Hash of the settings of a drive, without the free ones.
pub fn shape_of_drive(config: &SsdConfig) -> u64 {
    shape(&drive_settings(config).to_string(), &[])
}

/// Hash of the settings of the drive and the array of a scenario, without the free ones and without the times at which members fail, which lie ahead.
pub fn shape_of_machine(scenario: &Scenario) -> u64 {
    shape(&machine_settings(scenario).to_string(), &[])
}

fn drive_settings(config: &SsdConfig) -> Value {
    without_free(serde_json::to_value(config).unwrap_or_default())
}

fn machine_settings(scenario: &Scenario) -> Value {
    let array = serde_json::to_value(&scenario.array).unwrap_or_default();
    with_array(drive_settings(&scenario.device), array)
}

fn with_array(device: Value, mut array: Value) -> Value {
    let members = array.get_mut("member").and_then(Value::as_array_mut);
    for member in members.into_iter().flatten().filter_map(Value::as_object_mut) {
        member.remove("fail_at");
    }
    Value::Object(Map::from_iter([("device".to_owned(), device), ("array".to_owned(), array)]))
}

fn without_free(mut device: Value) -> Value {
    for name in FREE {
        let (groups, last) = name.rsplit_once('.').unwrap_or(("", name));
        let mut group = Some(&mut device);
        for part in groups.split('.') {
            group = group.and_then(|group| group.get_mut(part));
        }
        group.and_then(Value::as_object_mut).map(|group| group.remove(last));
    }
    device
}

/// A setting that shapes a machine, with two different values.
pub struct ChangedSetting {
    /// Dotted name.
    pub name: String,
    /// Value with which the machine was made, as JSON, or "absent".
    pub was: String,
    /// Value in the scenario, as JSON, or "absent".
    pub is: String,
}

/// The first setting that differs between `scenario` and `made`, the JSON of the scenario from which a machine was made.
pub fn first_changed_setting(made: &str, scenario: &Scenario) -> Option<ChangedSetting> {
    let mut made: Value = serde_json::from_str(made).ok()?;
    let (device, array) = (made["device"].take(), made["array"].take());
    let (name, was, is) =
        first_difference("", &with_array(without_free(device), array), &machine_settings(scenario))?;
    let text = |value: Option<Value>| value.map_or_else(|| "absent".to_owned(), |value| value.to_string());
    Some(ChangedSetting { name, was: text(was), is: text(is) })
}

/// Name and both values of a setting; `None` for an absent value.
type SettingDifference = (String, Option<Value>, Option<Value>);

/// The first difference between two trees of settings, below the setting `name`.
fn first_difference(name: &str, one: &Value, other: &Value) -> Option<SettingDifference> {
    let (Value::Object(left), Value::Object(right)) = (one, other) else {
        let present = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
        return (one != other).then(|| (name.to_owned(), present(one), present(other)));
    };
    left.keys().chain(right.keys()).find_map(|key| {
        let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        let null = Value::Null;
        first_difference(&name, left.get(key).unwrap_or(&null), right.get(key).unwrap_or(&null))
    })
}
