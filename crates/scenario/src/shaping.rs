//! What of the settings shapes a prepared drive's state. The rest may be another when the drive is taken up again.

use super::Scenario;
use outlast_persist::shape;
use outlast_settings::drive::SsdConfig;
use serde_json::{Map, Value};

/// Settings of `[device]` that are looked up when something is decided or timed, and that nothing of the state follows from.
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

/// The settings of a drive, as a number, without those that are free.
pub fn shape_of_drive(config: &SsdConfig) -> u64 {
    shape(&of_drive(config).to_string(), &[])
}

/// The settings of what `scenario` builds, as a number, without those that are free and when members fail, which has not happened yet.
pub fn shape_of_machine(scenario: &Scenario) -> u64 {
    shape(&of(scenario).to_string(), &[])
}

fn of_drive(config: &SsdConfig) -> Value {
    without_free(serde_json::to_value(config).unwrap_or_default())
}

fn of(scenario: &Scenario) -> Value {
    let array = serde_json::to_value(&scenario.array).unwrap_or_default();
    both(of_drive(&scenario.device), array)
}

fn both(device: Value, mut array: Value) -> Value {
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

/// A setting that shapes a machine.
pub struct OtherSetting {
    /// Its name.
    pub name: String,
    /// What it was, as JSON, or "absent".
    pub was: String,
    /// What it is.
    pub is: String,
}

/// A setting that is another in `scenario` than in the one that a machine was made of, which is JSON.
pub fn other_setting(made: &str, scenario: &Scenario) -> Option<OtherSetting> {
    let mut made: Value = serde_json::from_str(made).ok()?;
    let (device, array) = (made["device"].take(), made["array"].take());
    let (name, was, is) = differs("", &both(without_free(device), array), &of(scenario))?;
    let told = |value: Option<Value>| value.map_or_else(|| "absent".to_owned(), |value| value.to_string());
    Some(OtherSetting { name, was: told(was), is: told(is) })
}

type Difference = (String, Option<Value>, Option<Value>);

/// The first place in which two trees of settings differ.
fn differs(name: &str, one: &Value, other: &Value) -> Option<Difference> {
    let (Value::Object(own), Value::Object(others)) = (one, other) else {
        let told = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
        return (one != other).then(|| (name.to_owned(), told(one), told(other)));
    };
    own.keys().chain(others.keys()).find_map(|key| {
        let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        let null = Value::Null;
        differs(&name, own.get(key).unwrap_or(&null), others.get(key).unwrap_or(&null))
    })
}
