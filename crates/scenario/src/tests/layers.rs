//! Do layers merge as the guide says?

use super::*;
use crate::{OverwritePattern, parse_text, presets};
use outlast_units::Bytes;

fn json(text: &str) -> ScenarioLayer {
    ScenarioLayer::Json { name: "arguments".to_owned(), text: text.to_owned() }
}

fn text(text: &str) -> ScenarioLayer {
    ScenarioLayer::Toml { name: "t".to_owned(), text: text.to_owned(), folder: PathBuf::new() }
}

fn nothing(_: &Path) -> io::Result<String> {
    Err(io::Error::other("no file is to be read"))
}

fn layered(layers: &[ScenarioLayer]) -> Scenario {
    load(layers, &[], &nothing).unwrap().0
}

#[test]
fn settings_left_out_have_their_defaults() {
    let (scenario, _) = file(SMALL).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("unnamed", 1));
    assert_eq!(scenario.precondition, super::super::PreconditionSpec::default());
    assert_eq!(scenario.run, super::super::RunSpec::default());
}

#[test]
fn tables_merge_and_later_layers_win() {
    let scenario = layered(&[
        text(SMALL),
        text("seed = 5\n[device.geometry]\nchannels = 4\n[precondition]\noverwrite = \"workload\""),
        json(r#"{"seed": 6, "device": {"timing": {"read": ["50us", "70us"]}}}"#),
    ]);
    assert_eq!((scenario.seed, scenario.device.geometry.channels), (6, 4));
    assert_eq!(scenario.device.geometry.blocks_per_plane, 64);
    assert_eq!(scenario.precondition.overwrite, OverwritePattern::Workload);
    assert!((scenario.device.timing.read.mean_ns() - 60_000.0).abs() < 1e-9);
}

#[test]
fn one_source_of_requests_replaces_another() {
    let scenario = layered(&[text(SMALL), text("[workload.trace]\nfile = \"t.csv\"")]);
    assert!(scenario.workload.synthetic.is_none() && scenario.workload.trace.is_some());
    let scenario = layered(&[
        text(SMALL),
        text("[workload.trace]\nfile = \"t.csv\""),
        json(r#"{"workload": {"synthetic": {"rate_iops": 100}}}"#),
    ]);
    let synthetic = scenario.workload.synthetic.unwrap();
    assert!(scenario.workload.trace.is_none() && synthetic.queue_depth.is_none());
    // Both in one layer is no replacement but a mistake.
    let both = format!("{SMALL}[workload.trace]\nfile = \"t.csv\"");
    assert!(
        message(&both).contains("workload = synthetic and trace: must have exactly one"),
        "{}",
        message(&both)
    );
}

#[test]
fn choices_that_exclude_each_other_replace_each_other() {
    let scenario = layered(&[text(SMALL), text("[device.ftl]\ncapacity = \"300KiB\"")]);
    assert_eq!(
        (scenario.device.ftl.capacity, scenario.device.ftl.over_provisioning),
        (Some(Bytes::kib(300)), None)
    );
    let scenario = layered(&[text(SMALL), text("[workload.synthetic]\nrate_iops = 5\narrival = \"fixed\"")]);
    assert_eq!(scenario.workload.synthetic.as_ref().unwrap().queue_depth, None);
    let scenario = layered(&[
        text(SMALL),
        text(
            "[workload.synthetic]\nrate_iops = 5\narrival = \"fixed\"\npattern = \"hotcold\"\nhot_stream = 1",
        ),
        text("[workload.synthetic]\nqueue_depth = 3\npattern = \"uniform\""),
    ]);
    let synthetic = scenario.workload.synthetic.unwrap();
    assert_eq!((synthetic.queue_depth, synthetic.rate_iops, synthetic.arrival), (Some(3), None, None));
    assert_eq!(synthetic.hot_stream, None);
    let again = "[workload.synthetic]\npattern = \"hotcold\"";
    let hot = format!("{again}\nhot_stream = 1");
    let scenario = layered(&[text(SMALL), text(&hot), text(again)]);
    assert!(
        scenario.workload.synthetic.unwrap().hot_stream.is_some(),
        "nothing changed, so nothing is dropped"
    );
    let limited = "[workload.synthetic]\nrequests = 5\nbytes = 4096";
    let scenario = layered(&[text(SMALL), text("[workload.synthetic]\nduration = \"1s\""), text(limited)]);
    let synthetic = scenario.workload.synthetic.unwrap();
    assert_eq!((synthetic.requests, synthetic.bytes, synthetic.duration), (Some(5), Some(Bytes(4096)), None));
    // What one layer itself gives stays together, for validation to refuse.
    let both = format!(
        "{}[device.ftl]\ncapacity = \"1MiB\"\nover_provisioning = 0.1",
        SMALL.replace("[device.ftl]\nover_provisioning = 0.28", "")
    );
    assert!(message(&both).contains("either capacity or over_provisioning"), "{}", message(&both));
}

#[test]
fn another_trace_file_drops_the_inherited_format_and_units() {
    let base = "[workload.trace]\nfile = \"a\"\nformat = \"msr\"\ndevice = 1\nrepeat = 3";
    let scenario = layered(&[text(SMALL), text(base), text("[workload.trace]\nfile = \"b\"")]);
    let trace = scenario.workload.trace.unwrap();
    assert_eq!((trace.file.as_str(), trace.repeat, trace.device), ("b", 3, None));
    assert_eq!(trace.format, outlast_workload::TraceFormat::Auto);
}

#[test]
fn null_removes_an_inherited_setting() {
    let with = text("[device.controller]\nlink = \"1GB/s\"\n[run]\nwindow = \"1s\"");
    let scenario = layered(&[
        text(SMALL),
        with,
        json(r#"{"device": {"controller": {"link": null}}, "run": null, "name": null}"#),
    ]);
    assert_eq!((scenario.device.controller.link, scenario.run.window), (None, None));
}

#[test]
fn files_extend_files_and_presets_in_order() {
    let sources = [
        ("dir/a.toml", "extends = [\"../base.toml\", \"b.toml\"]\nseed = 3"),
        ("dir/../base.toml", SMALL),
        ("dir/b.toml", "seed = 9\nname = \"b\"\n[run]\ncapacity_scale = 2"),
    ];
    let (scenario, provenance) = files(&sources, &["dir/a.toml"], &[]).unwrap();
    assert_eq!((scenario.seed, scenario.name.as_str(), scenario.run.capacity_scale), (3, "b", 2.0));
    assert_eq!(provenance.locate("name"), Some(("dir/b.toml".to_owned(), 2)));
    assert_eq!(provenance.locate("seed"), Some(("dir/a.toml".to_owned(), 2)));
    let (scenario, provenance) = parse_text("extends = \"demo\"\nseed = 2").unwrap();
    assert_eq!((scenario.seed, scenario.name.as_str()), (2, "demo"));
    assert_eq!(provenance.locate("device.geometry.channels").unwrap().0, "preset demo");
    let extended = files(&[], &[], &[("extends", "demo"), ("seed", "4")]).unwrap().0;
    assert_eq!((extended.seed, extended.name.as_str()), (4, "demo"));
}

#[test]
fn extending_in_a_diamond_is_accepted_and_in_a_circle_refused() {
    let sources = [
        ("a.toml", "extends = [\"b.toml\", \"c.toml\"]"),
        ("b.toml", "extends = \"d.toml\"\nseed = 1"),
        ("c.toml", "extends = \"d.toml\"\nname = \"c\""),
        ("d.toml", SMALL),
        ("x.toml", "seed = 1\nextends = \"./y.toml\""),
        ("./y.toml", "extends = \"x.toml\""),
    ];
    assert!(files(&sources, &["a.toml"], &[]).is_ok());
    let sources: Vec<_> = sources.iter().map(|&(path, text)| (path, text)).collect();
    let message = files(&sources, &["x.toml"], &[]).unwrap_err().to_string();
    assert!(message.contains("extends itself: x.toml -> y.toml -> x.toml"), "{message}");
}

#[test]
fn a_chain_of_extends_has_a_limit() {
    let texts: Vec<(String, String)> =
        (0..40).map(|i| (format!("{i}.toml"), format!("extends = \"{}.toml\"", i + 1))).collect();
    let sources: Vec<(&str, &str)> =
        texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let message = files(&sources, &["0.toml"], &[]).unwrap_err().to_string();
    assert!(message.contains("the depth of extends is limited to 16"), "{message}");
}

#[test]
fn paths_count_from_the_file_that_gives_them() {
    let sources =
        [("dir/a.toml", SMALL), ("dir/t.toml", "extends = \"a.toml\"\n[workload.trace]\nfile = \"t.csv\"")];
    let (scenario, _) = files(&sources, &["dir/t.toml"], &[]).unwrap();
    assert_eq!(scenario.workload.trace.unwrap().file, "dir/t.csv");
    let (scenario, _) = files(&sources, &["dir/a.toml"], &[("workload.trace.file", "t.csv")]).unwrap();
    assert_eq!(scenario.workload.trace.unwrap().file, "t.csv");
    let sources = [("dir/t.toml", "[workload.fio]\nfile = \"/abs/j.fio\""), ("a.toml", SMALL)];
    let (scenario, _) = files(&sources, &["a.toml", "dir/t.toml"], &[]).unwrap();
    assert_eq!(scenario.workload.fio.unwrap().file.as_deref(), Some("/abs/j.fio"));
}

/// A layer over another, each with its name.
fn over(lower: &str, upper: &str) -> Scenario {
    layered(&[
        text(SMALL),
        text(lower),
        ScenarioLayer::Toml { name: "upper".to_owned(), text: upper.to_owned(), folder: PathBuf::new() },
    ])
}

#[test]
fn a_setting_that_still_makes_sense_outlives_another_pattern() {
    let lower =
        "[workload.synthetic]\npattern = \"hotcold\"\nscramble = true\nhot_stream = 1\nhot_fraction = 0.1";
    for pattern in ["uniform", "zipf", "jesd219"] {
        let scenario = over(lower, &format!("[workload.synthetic]\npattern = \"{pattern}\""));
        let synthetic = scenario.workload.synthetic.unwrap();
        assert_eq!(synthetic.scramble, Some(true), "{pattern}");
        assert_eq!(synthetic.hot_stream.is_some(), pattern == "jesd219", "{pattern}");
        assert_eq!(synthetic.hot_fraction, None, "{pattern}");
    }
    let scenario = over(lower, "[workload.synthetic]\npattern = \"sequential\"");
    assert_eq!(scenario.workload.synthetic.unwrap().scramble, None);
    assert!(
        scenario.void.iter().any(|sentence| sentence.contains("scramble = true (t:3)")),
        "{:?}",
        scenario.void
    );
}

#[test]
fn void_settings_are_reported_with_both_positions() {
    let lower = "[workload.synthetic]\npattern = \"zipf\"\nzipf_theta = 1.2";
    let upper = "[workload.synthetic]\npattern = \"uniform\"";
    assert_eq!(
        over(lower, upper).void,
        ["workload.synthetic.zipf_theta = 1.2 (t:3) does not count: pattern = \"uniform\" (upper:2)."]
    );
    // Taken away, the pattern is the default one.
    let taken = load(
        &[text(SMALL), text(lower)],
        &[("workload.synthetic.pattern".to_owned(), "null".to_owned())],
        &nothing,
    );
    assert_eq!(taken.unwrap().0.void.len(), 1);
    // Given again, it counts again, and there is no more to say.
    let again = "[workload.synthetic]\npattern = \"zipf\"\nzipf_theta = 0.9";
    let scenario = layered(&[text(SMALL), text(lower), text(upper), text(again)]);
    assert!(scenario.void.is_empty(), "{:?}", scenario.void);
    // One of two ways to say the same takes the place of the other without a word.
    assert!(over("", "[workload.synthetic]\nrate_iops = 5").void.is_empty());
}

#[test]
fn settings_of_records_and_marks_are_void_under_another_consistency_of_the_array() {
    let array = "[array]\nlevel = \"raid5\"\nmembers = 4\n";
    let void = |settings: &str| over(array, settings).void;
    for (setting, on) in [
        ("safe_mode_delay = \"1s\"", "ppl"),
        ("log.place = \"controller\"", "resync"),
        ("log.size = \"4MiB\"", "bitmap"),
        ("log.bitmap_chunk = \"1MiB\"", "journal"),
        ("log.bitmap_delay = \"1s\"", "resync"),
    ] {
        let sentence = format!("array.{setting} (upper:2) does not count: consistency = \"{on}\" (upper:3).");
        assert_eq!(void(&format!("[array]\n{setting}\nconsistency = \"{on}\"")), [sentence]);
    }
    assert_eq!(void("[array]\nlog.size = \"4MiB\"").len(), 1, "by default");
    let none = void("[array]\nlog = { size = \"4MiB\", place = \"controller\" }\nconsistency = \"journal\"");
    assert!(none.is_empty(), "{none:?}");
    let window = "[array]\nbackground = { window = 4, chunks = \"in-turn\" }";
    assert!(void(window)[0].contains("array.background.window = 4 (upper:2) does not count: chunks"));
}

#[test]
fn every_table_with_variants_reports_the_settings_that_its_choice_makes_void() {
    let array = "[array]\nlevel = \"raid10\"\nmembers = 4\ncopies = 3\ncopy_layout = \"far\"";
    for (lower, upper, void) in [
        (
            "[device.ftl.gc]\npolicy = \"d-choices\"\nchoices = 3",
            "[device.ftl.gc]\npolicy = \"fifo\"",
            &["gc.choices = 3"][..],
        ),
        (array, "[array]\nlevel = \"raid1\"", &["array.copies = 3", "array.copy_layout = \"far\""]),
        (
            "[workload.synthetic]\nsize = \"8KiB\"\nalign = \"4KiB\"",
            "[workload.synthetic]\nsize = \"16KiB\"",
            &["align = \"4KiB\""],
        ),
        (
            "[workload.trace]\nfile = \"a\"\nformat = \"msr\"",
            "[workload.trace]\nfile = \"b\"",
            &["format = \"msr\""],
        ),
        (
            "",
            "[workload.synthetic]\nhot_fraction = 0.1",
            &["hot_fraction = 0.1 (upper:2) does not count: pattern = \"uniform\""],
        ),
        (
            "[workload.synthetic]\nphases = [{ pattern = \"zipf\", zipf_theta = 0.5, requests = 3 }, { requests = 4 }]",
            "[workload.synthetic]\nzipf_theta = 0.7",
            &["zipf_theta = 0.7 (upper:2)"],
        ),
    ] {
        let scenario = over(lower, upper);
        let said = scenario.void.join(" ");
        assert_eq!(scenario.void.len(), void.len(), "{said}");
        assert!(void.iter().all(|part| said.contains(part)), "{said}");
    }
}

#[test]
fn a_scenario_that_is_written_out_has_no_void_settings() {
    for preset in presets() {
        let (scenario, _) = load(&[ScenarioLayer::Preset(preset.name.to_owned())], &[], &nothing).unwrap();
        let whole = json(&scenario.to_json().unwrap());
        assert!(layered(&[whole]).void.is_empty(), "{}", preset.name);
    }
}
