//! Does every complaint name file, line, setting, value and limit?

use super::*;
use crate::{ScenarioError, ScenarioLayer, load_scenario, parse_text};
use outlast_media::ConfigError;
use outlast_workload::WorkloadError;

/// The line of `needle` in `text`, counted from 1.
fn line_of(text: &str, needle: &str) -> usize {
    text.lines().position(|line| line.contains(needle)).unwrap() + 1
}

#[test]
fn a_misspelt_key_gets_a_suggestion() {
    let text = changed("channels = 2", "chanels = 2");
    let line = line_of(&text, "chanels");
    let expected =
        format!("s.toml:{line}: device.geometry.chanels: unknown setting; did you mean `channels`?");
    assert_eq!(message(&text), expected);
}

#[test]
fn a_misspelt_table_gets_a_suggestion() {
    let text = format!("{SMALL}[preconditoin]\nrounds = 3\n");
    let line = line_of(&text, "preconditoin");
    assert_eq!(
        message(&text),
        format!("s.toml:{line}: preconditoin: unknown setting; did you mean `precondition`?")
    );
}

#[test]
fn a_key_unlike_any_other_gets_the_list() {
    let text = format!("{SMALL}[run]\nbanana = 3\n");
    let message = message(&text);
    assert!(
        message.ends_with(
            "run.banana: unknown setting; known are timing, warm_up, window, ageing, twin, finish_rebuild, capacity_scale, member_mttf_hours, threads, causes, utilisation, log"
        ),
        "{message}"
    );
}

#[test]
fn a_layout_with_word_lines_and_one_shot_is_checked() {
    let with = |settings: &str| message(&changed("[device.ftl]", &format!("[device.ftl]\n{settings}")));
    let line = line_of(&changed("[device.ftl]", "[device.ftl]\none_shot"), "one_shot");
    for count in [0, 9] {
        let expected = format!(
            "s.toml:{line}: device.ftl.one_shot = {count}: must be between 1 and 8 page rows: those of a word line"
        );
        assert_eq!(with(&format!("one_shot = {count}")), expected);
    }
    let divides = with("one_shot = 7");
    assert!(
        divides.ends_with("7 page rows are programmed together, which must divide the block"),
        "{divides}"
    );
}

#[test]
fn impossible_promises_of_durability_are_refused() {
    let with = |settings: &str| {
        message(&changed("[device.ftl]", &format!("[device.controller]\n{settings}\n[device.ftl]")))
    };
    let line = line_of(&changed("[device.ftl]", "flush"), "flush") + 1;
    let forms = "is none of \"honour\", \"ignore\" or \"late:\" with a time, such as \"late:2ms\"";
    for text in ["sometimes", "late", "late:", "late:soon", "late:-2ms", "Honour"] {
        let expected = format!("s.toml:{line}: device.controller.flush = \"{text}\": \"{text}\" {forms}");
        assert_eq!(with(&format!("flush = \"{text}\"")), expected);
    }
    assert_eq!(
        with("flush = \"ignore\""),
        format!(
            "s.toml:{line}: device.controller.flush = ignore: needs write_cache = \"volatile\": only there a flush has something to do"
        )
    );
    assert!(with("trims = \"lost\"").contains("device.controller.trims"));
}

#[test]
fn negative_numbers_are_refused() {
    let text = changed("[device.ftl]", "[device.ftl]\nmapping_unit = -4096");
    let line = line_of(&text, "mapping_unit");
    let expected =
        format!("s.toml:{line}: device.ftl.mapping_unit = -4096: size -4096 is negative; the least is 0");
    assert_eq!(message(&text), expected);
    let text = changed("channels = 2", "channels = -2");
    let message = message(&text);
    let line = line_of(&text, "channels = -2");
    assert_eq!(
        message,
        format!(
            "s.toml:{line}: device.geometry.channels = -2: must be a whole number from 0 to 65535; the least is 0"
        )
    );
    let text = changed("page_size = \"4KiB\"", "page_size = \"-4KiB\"");
    assert!(
        super::message(&text)
            .contains("device.geometry.page_size = \"-4KiB\": \"-4KiB\" is negative; the least is 0")
    );
}

#[test]
fn over_provisioning_in_per_cent_is_refused() {
    let text = changed("over_provisioning = 0.28", "over_provisioning = 7");
    let expected = format!(
        "s.toml:{}: device.ftl.over_provisioning = 7: must be above 0 and at most 5: spare over user space, 0.07 for 7 %",
        line_of(&text, "over_provisioning")
    );
    assert_eq!(message(&text), expected);
}

#[test]
fn values_of_wrong_types_are_refused() {
    let cases = [
        ("channels = 2", "channels = \"two\"", "channels = \"two\": must be a whole number from 0 to 65535"),
        ("channels = 2", "channels = 70000", "channels = 70000: must be a whole number from 0 to 65535"),
        ("channels = 2", "channels = 2.5", "channels = 2.5: must be a whole number from 0 to 65535"),
        (
            "over_provisioning = 0.28",
            "over_provisioning = true",
            "over_provisioning = true: must be a number",
        ),
        (
            "over_provisioning = 0.28",
            "over_provisioning = nan",
            "over_provisioning = NaN: must be a finite number",
        ),
        ("erase = \"3.5ms\"", "erase = 3", "timing.erase = 3: time 3 has no unit; write for example \"3us\""),
        ("erase = \"3.5ms\"", "erase = 2020-01-01", "timing.erase = 2020-01-01: no setting is a date"),
        ("read = \"60us\"", "read = [\"60us\", \"x\"]", "timing.read[1] = \"x\": must be a time"),
        ("bus = \"667MB/s\"", "bus = \"667MB\"", "timing.bus = \"667MB\": must be a bandwidth"),
        ("[device.ftl]", "[device.ftl]\nmulti_plane = 1", "multi_plane = 1: must be true or false"),
        ("[device.ftl]", "[device.ftl]\nallocation = \"CCDP\"", "allocation \"CCDP\" is not a permutation"),
        (
            "[device.ftl]",
            "[device]\ndefects = 3\n[device.ftl]",
            "device.defects = 3: must be a table of settings",
        ),
        (
            "[device.ftl]",
            "[device.ftl]\nstreams = 99999999999999999999999",
            "must be a whole number of at most 64 bits",
        ),
        ("queue_depth = 8", "sizes = 3", "workload.synthetic.sizes = 3: \"jesd219\" or a list"),
    ];
    for (from, to, expected) in cases {
        let text = changed(from, to);
        let message = message(&text);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(message.starts_with("s.toml:") && !message.contains('\n'), "{to}: {message}");
    }
}

#[test]
fn a_misspelt_choice_gets_a_suggestion() {
    let text = changed("[device.ftl]", "[device.ftl]\ngc.policy = \"greddy\"");
    let line = line_of(&text, "greddy");
    let expected =
        format!("s.toml:{line}: device.ftl.gc.policy = \"greddy\": unknown choice; did you mean `greedy`?");
    assert_eq!(message(&text), expected);
    let text = changed("[device.ftl]", "[device.ftl]\ngc.policy = \"best\"");
    assert!(
        message(&text)
            .contains("unknown choice; known are greedy, cost-benefit, cost-age-times, fifo, d-choices")
    );
    let text = changed("[device.ftl]", "[device.ftl]\ngc.policy = 3");
    assert!(
        message(&text).contains(
            "gc.policy = 3: must be one of greedy, cost-benefit, cost-age-times, fifo, d-choices, not a whole number"
        )
    );
}

#[test]
fn missing_settings_are_named() {
    assert!(message("").starts_with("device is missing: write a [device] table, or extend a preset"));
    let text = changed("channels = 2\n", "");
    assert!(message(&text).contains("s.toml:2: device.geometry.channels is missing"), "{}", message(&text));
    let text = changed("queue_depth = 8", "").replace("[workload.synthetic]", "[workload]");
    assert!(
        message(&text).contains("workload = empty: must have exactly one of synthetic, trace, fio and zoned")
    );
}

#[test]
fn limits_of_the_rooms_below_get_their_line() {
    let text = changed("channels = 2", "channels = 0");
    let line = line_of(&text, "channels = 0");
    assert_eq!(message(&text), format!("s.toml:{line}: device.geometry.channels = 0: must be at least 1"));
    let (_, provenance) = file(SMALL).unwrap();
    let line = line_of(SMALL, "blocks_per_plane");
    assert_eq!(
        provenance.locate("device.geometry.blocks_per_plane"),
        Some(("s.toml".to_owned(), line as u32))
    );
    let error = ConfigError::new("device.geometry.blocks_per_plane", 64, "is too few");
    let shown = ScenarioError::invalid(&provenance, &error).to_string();
    assert_eq!(shown, format!("s.toml:{line}: device.geometry.blocks_per_plane = 64: is too few"));
    // A setting left to its default: the table around it.
    let line = line_of(SMALL, "[device.ftl]");
    assert_eq!(provenance.locate("device.ftl.spare_blocks"), Some(("s.toml".to_owned(), line as u32)));
    assert!(
        provenance.is_given("device.ftl.over_provisioning")
            && !provenance.is_given("device.ftl.spare_blocks")
    );
    assert_eq!(provenance.locate("run.window"), None);
    assert_eq!(provenance.locate(""), None);
}

#[test]
fn errors_of_the_workload_get_their_line() {
    let (_, provenance) = file(SMALL).unwrap();
    let line = line_of(SMALL, "queue_depth");
    let field = "workload.synthetic.queue_depth".to_owned();
    let error =
        WorkloadError::Setting { field: field.clone(), value: "0".to_owned(), limit: "must be 1".to_owned() };
    let shown = ScenarioError::invalid_workload(&provenance, error).to_string();
    assert_eq!(shown, format!("s.toml:{line}: {field} = 0: must be 1"));
    let error = WorkloadError::Conflict { first: "a".to_owned(), second: field.clone(), why: "because" };
    let shown = ScenarioError::invalid_workload(&provenance, error).to_string();
    assert_eq!(shown, format!("s.toml:{line}: {field} = given: excludes a: because"));
}

#[test]
fn limits_of_precondition_and_run_are_checked() {
    let bad = [
        ("precondition.fill_fraction", "1.5"),
        ("precondition.round", "0"),
        ("precondition.rounds", "1"),
        ("precondition.tolerance", "0"),
        ("precondition.min_drive_writes", "-1"),
        ("precondition.max_drive_writes", "0.5"),
        ("run.window", "0"),
        ("run.threads", "0"),
        ("seed", "18446744073709551615"),
    ];
    for (name, value) in bad {
        let message = small_with(&[(name, value)]).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("overrides: {name} = ")) && message.contains("must be"),
            "{message}"
        );
    }
}

#[test]
fn texts_that_are_not_toml_are_refused_with_their_line() {
    let message = message("[device\nmodel = 3\n");
    assert!(message.starts_with("s.toml:1: not valid TOML: "), "{message}");
    let doubled = format!("{SMALL}queue_depth = 9\n");
    let message = super::message(&doubled);
    let line = doubled.lines().count();
    assert!(message.starts_with(&format!("s.toml:{line}: not valid TOML: ")), "{message}");
    let layer = ScenarioLayer::Json { name: "arguments".to_owned(), text: "{\"seed\": }".to_owned() };
    let message = load_scenario(&[layer], &[]).unwrap_err().to_string();
    assert!(message.starts_with("arguments:1: not valid JSON: "), "{message}");
    let layer = ScenarioLayer::Json { name: "arguments".to_owned(), text: "[1]".to_owned() };
    assert!(load_scenario(&[layer], &[]).unwrap_err().to_string().contains("must be an object"));
}

#[test]
fn texts_that_are_too_long_or_too_deep_are_refused() {
    let long = format!("# {}\n", "x".repeat(1 << 20));
    assert!(message(&long).contains("the length of a scenario in bytes is limited to 1048576"));
    let deep = format!("{} = 1", vec!["a"; 60].join("."));
    assert!(message(&deep).contains("limited to"), "{}", message(&deep));
    assert!(parse_text(&"[".repeat(100_000)).is_err());
    assert!(parse_text(&format!("{} = 1", vec!["a"; 100_000].join("."))).is_err());
    assert!(parse_text(&format!("a = {}{}", "[".repeat(50), "]".repeat(50))).is_err());
}

#[test]
fn missing_presets_and_files_are_named_with_a_suggestion() {
    let message = load_scenario(&[ScenarioLayer::Preset("hrm-200".to_owned())], &[]).unwrap_err().to_string();
    assert_eq!(message, "no preset or file \"hrm-200\"; did you mean `hrm-200g`?");
    let message = super::message("seed = 1\nextends = \"dmeo\"\n");
    assert_eq!(message, "s.toml:2: no preset or file \"dmeo\"; did you mean `demo`?");
    let message = super::message("extends = \"zzzzzzzzzzzz\"\n");
    assert!(message.contains("known are demo, hrm-200g,"), "{message}");
    let message = super::message("\nextends = \"sub/other.toml\"\n");
    assert_eq!(message, "sub/other.toml: cannot be read: no such file (extended by s.toml:2)");
    let message = super::message("extends = 3\n");
    assert!(message.starts_with("s.toml:1: extends = 3: must be the name of a preset"), "{message}");
    let missing =
        load_scenario(&[ScenarioLayer::File("/nonexistent/demo.toml".into())], &[]).unwrap_err().to_string();
    assert!(missing.contains("did you mean the preset \"demo\"?"), "{missing}");
}
