//! Does `--set a.b=c` set what it says?

use super::*;
use crate::split_override;
use outlast_settings::ftl::VictimPolicy;
use outlast_units::{Bytes, Nanos};

#[test]
fn values_are_toml_or_text() {
    let scenario = small_with(&[
        ("device.timing.read", "50us"),
        ("seed", "7"),
        ("device.ftl.gc.policy", "fifo"),
        ("device.ftl.mapping_unit", "8192"),
        ("device.ftl.multi_plane", "false"),
        ("device.timing.program", "[\"1ms\", \"2ms\"]"),
        ("run.warm_up", "\"1s\""),
        ("device.defects", "{ factory_bad = 0.01 }"),
        ("description", ""),
    ])
    .unwrap();
    assert!((scenario.device.timing.read.mean_ns() - 50_000.0).abs() < 1e-9);
    assert_eq!((scenario.seed, scenario.device.ftl.gc.policy), (7, VictimPolicy::Fifo));
    assert_eq!((scenario.device.ftl.mapping_unit, scenario.device.ftl.multi_plane), (Bytes::kib(8), false));
    assert!((scenario.device.timing.program.mean_ns() - 1.5e6).abs() < 1e-6);
    assert_eq!(scenario.run.warm_up, Nanos::secs(1));
    assert!((scenario.device.defects.factory_bad - 0.01).abs() < 1e-12);
}

#[test]
fn a_number_is_text_for_a_setting_of_text() {
    for value in ["7", "true", "1e3", "2024-01-01", "0x10", " a b "] {
        assert_eq!(small_with(&[("name", value)]).unwrap().name, value);
    }
    assert_eq!(small_with(&[("name", "\"7\"")]).unwrap().name, "7");
}

#[test]
fn the_later_of_two_wins_and_choices_replace_inherited_ones() {
    let scenario = small_with(&[("seed", "7"), ("seed", "8"), ("device.ftl.capacity", "256KiB")]).unwrap();
    assert_eq!((scenario.seed, scenario.device.ftl.over_provisioning), (8, None));
    let scenario =
        small_with(&[("workload.synthetic.arrival", "fixed"), ("workload.synthetic.rate_iops", "10")])
            .unwrap();
    let synthetic = scenario.workload.synthetic.unwrap();
    assert!(synthetic.arrival.is_some() && synthetic.queue_depth.is_none());
    let scenario =
        small_with(&[("device.ftl.over_provisioning", "null"), ("device.ftl.capacity", "256KiB")]).unwrap();
    assert_eq!(scenario.device.ftl.capacity, Some(Bytes::kib(256)));
}

const PHASES: &str = "
[[workload.synthetic.phases]]
requests = 10
rate_iops = 5
[[workload.synthetic.phases]]
requests = 20
";

#[test]
fn elements_of_lists_are_set_by_index() {
    let text = changed("queue_depth = 8", "read_percent = 50") + PHASES;
    let known = [("s.toml", text.as_str())];
    let overrides =
        [("workload.synthetic.phases[0].requests", "11"), ("workload.synthetic.phases.1.rate_iops", "6")];
    let phases = files(&known, &["s.toml"], &overrides).unwrap().0.workload.synthetic.unwrap().phases;
    assert_eq!((phases[0].requests, phases[1].requests), (Some(11), Some(20)));
    assert_eq!((phases[0].rate_iops, phases[1].rate_iops), (Some(5.0), Some(6.0)));
    let whole = [
        ("workload.synthetic.phases", "[{ requests = 1 }, {}]"),
        ("workload.synthetic.phases[1].requests", "2"),
    ];
    let phases = files(&known, &["s.toml"], &whole).unwrap().0.workload.synthetic.unwrap().phases;
    assert_eq!((phases[0].requests, phases[1].requests), (Some(1), Some(2)));
    let beyond = [("workload.synthetic.phases[2].requests", "1")];
    let message = files(&known, &["s.toml"], &beyond).unwrap_err().to_string();
    assert!(
        message.contains("workload.synthetic.phases[2] = { … }: there is no such element; the list has 2"),
        "{message}"
    );
    assert!(small_with(&[("seed[0]", "1")]).unwrap_err().to_string().contains("the list has 0"));
}

#[test]
fn bad_overrides_are_named() {
    let message = small_with(&[("device.geometry.chanels", "2")]).unwrap_err().to_string();
    assert_eq!(message, "overrides: device.geometry.chanels: unknown setting; did you mean `channels`?");
    let message = small_with(&[("device.ftl.mapping_unit", "-4096")]).unwrap_err().to_string();
    assert_eq!(message, "overrides: device.ftl.mapping_unit = -4096: size -4096 is negative; the least is 0");
    let message = small_with(&[("device.controller.flash_cores", "3")]).unwrap_err().to_string();
    assert!(
        message.starts_with("overrides: device.controller.flash_cores = 3: must divide the 2 dies"),
        "{message}"
    );
    for name in ["", ".", "a..b", "a[", "a[x]", "a[0", "a]0[", "a[0]b", "a[99999999999]", "a[70000]"] {
        assert!(matches!(small_with(&[(name, "1")]), Err(ScenarioError::Override { .. })), "{name}");
    }
}

#[test]
fn overrides_are_split_at_the_first_equals_sign() {
    assert_eq!(split_override("a.b=c=d").unwrap(), ("a.b".to_owned(), "c=d".to_owned()));
    assert_eq!(split_override(" seed = 7").unwrap(), ("seed".to_owned(), " 7".to_owned()));
    assert_eq!(small_with(&[("seed", " 7")]).unwrap().seed, 7);
    assert!(split_override("seed").is_err() && split_override("=7").is_err());
}
