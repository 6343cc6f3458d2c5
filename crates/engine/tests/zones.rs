//! Runs of drives with zones: write amplification with what finishes cost, states at the end, times, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_engine::{RunControl, RunSummary, Simulation, parse_text};

/// 16 superblocks of 3 MiB each, 10 of them zones.
const DRIVE: &str = r#"
name = "zoned"
[device]
model = "zoned"
[device.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 24
pages_per_block = 24
page_size = "16KiB"
[device.timing]
read = "60us"
program = "700us"
erase = "3.5ms"
bus = "667MB/s"
[device.ftl]
mapping_unit = "4KiB"
[device.controller]
write_buffer = "1MiB"
"#;

fn text(zones: &str, workload: &str, fill: &str) -> String {
    format!(
        "{DRIVE}\n[device.zones]\ncount = 10\nmax_active = 4\n{zones}\n[precondition]\noverwrite = \"none\"\n{fill}\n[workload.zoned]\n{workload}"
    )
}

fn run(text: &str) -> RunSummary {
    let mut simulation = Simulation::new(parse_text(text).unwrap().0).unwrap();
    let summary = simulation.run(&mut |_| RunControl::Continue).unwrap().summary;
    simulation.self_check().unwrap();
    summary
}

fn refused(text: &str) -> String {
    let scenario = match parse_text(text) {
        Ok((scenario, _)) => scenario,
        Err(error) => return error.to_string(),
    };
    match Simulation::new(scenario) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

/// Zones that are written to their end cost what is written; a zone that is finished halfway costs twice that.
#[test]
fn a_finish_is_in_the_write_amplification() {
    let whole = run(&text("", "size = \"64KiB\"\nzones_in_flight = 2\nbytes = \"90MiB\"", "fill = \"none\""));
    let zones = whole.zones.unwrap();
    assert_eq!(zones.refused.len(), 0, "{:?}", zones.refused);
    assert_eq!((zones.filled, zones.reset, zones.finished, zones.finish_bytes), (30, 20, 0, 0));
    let amplification = whole.write_amplification.unwrap();
    assert!((amplification.total - 1.0).abs() < 0.02, "{}", amplification.total);

    let half = run(&text("", "size = \"64KiB\"\nfinish_at = 0.5\nbytes = \"60MiB\"", "fill = \"none\""));
    let zones = half.zones.unwrap();
    assert_eq!((zones.finished, zones.reset), (40, 30));
    assert_eq!(zones.finish_bytes, 60 << 20, "as much as the host has written");
    assert!(half.closed_form.note.contains("zones are written in order"), "{}", half.closed_form.note);
    let amplification = half.write_amplification.unwrap();
    assert!((amplification.total - 2.0).abs() < 0.05, "{}", amplification.total);
    assert_eq!(amplification.finish, Some(1.0));
    assert!(amplification.partial_write.abs() < 1e-9, "{}", amplification.partial_write);

    let free = run(&text(
        "finish = \"free\"",
        "size = \"64KiB\"\nfinish_at = 0.5\nbytes = \"60MiB\"",
        "fill = \"none\"",
    ));
    let amplification = free.write_amplification.unwrap();
    assert!((amplification.total - 1.0).abs() < 0.02, "{}", amplification.total);
}

/// A finish takes the time of a sequential write of the rest, a reset that of an erasure and of the settings.
#[test]
fn finish_and_reset_take_their_time() {
    let workload = "size = \"64KiB\"\nfinish_at = 0.5\nbytes = \"60MiB\"";
    let zones = "reset_time = \"1ms\"\nerase_time = \"10ms\"\nfinish_time = \"2ms\"";
    // A small buffer, so that little is on its way to the dies when a command ends.
    let text = text(zones, workload, "fill = \"none\"").replace("\"1MiB\"", "\"256KiB\"");
    let summary = run(&text);
    let times = summary.zones.unwrap().latency_us;
    let reset = times.reset.unwrap();
    // Half of 10 ms, 1 ms more, and at most two programs that are before it on a die.
    assert!((5_990.0..7_900.0).contains(&reset.mean), "{} us", reset.mean);
    let finish = times.finish.unwrap();
    // 1.5 MiB over 4 dies × 2 planes × 16 KiB are 12 programs of 700 us and their transfers, behind those of writes before it; and 2 ms.
    assert!((10_400.0..12_700.0).contains(&finish.mean), "{} us", finish.mean);
}

/// Preparation fills whole zones, which the workload then resets.
#[test]
fn a_drive_is_filled_by_zones() {
    let workload = "command = \"append\"\nsize = \"32KiB\"\nqueue_depth = 8\nzones_in_flight = 3\nread_percent = 40\nrequests = 4000";
    let summary = run(&text("", workload, "fill = \"sequential\"\nfill_fraction = 0.75"));
    let zones = summary.zones.unwrap();
    assert_eq!(zones.refused.len(), 0, "{:?}", zones.refused);
    assert_eq!(zones.states.values().sum::<u32>(), 10);
    assert!(zones.reset > 10 && zones.filled > 10);
    assert!(summary.host.failed.is_none());
    assert!((summary.write_amplification.unwrap().total - 1.0).abs() < 0.03);
}

/// A workload of the whole drive writes the zones of one namespace side by side first, and that has half of four.
#[test]
fn a_workload_writes_as_many_zones_side_by_side_as_a_namespace_has() {
    let two = "[[namespace]]\ncapacity = \"20MiB\"\nblock_size = \"4KiB\"\n".repeat(2);
    let in_flight = |count, zones: &str, namespaces: &str| {
        let workload =
            format!("size = \"64KiB\"\nzones_in_flight = {count}\nbytes = \"60MiB\"\n{zones}\n{namespaces}");
        text("size = \"4MiB\"", &workload, "fill = \"none\"")
    };
    let zones = run(&in_flight(2, "", &two)).zones.unwrap();
    assert_eq!(zones.refused.len(), 0, "{:?}", zones.refused);
    assert!(zones.filled >= 18, "{} zones, of both namespaces", zones.filled);
    let message = refused(&in_flight(3, "", &two));
    assert!(message.contains("workload.zoned.zones_in_flight = 3: must be between 1 and 2"), "{message}");
    run(&in_flight(4, "", ""));
    // Behind two namespaces that share all there are zones that cannot be written.
    let part = two.replace("20MiB", "16MiB");
    let message = refused(&in_flight(2, "", &part));
    assert!(
        message.contains("workload.zoned.zones = 10: must be at most those of the namespaces"),
        "{message}"
    );
    assert_eq!(run(&in_flight(2, "zones = 8", &part)).zones.unwrap().refused.len(), 0);
}

/// A job of fio that does not keep to the limits of its namespace takes nothing from the others.
#[test]
fn a_job_that_ignores_limits_is_refused_what_its_namespace_has_not() {
    let two = "[[namespace]]\ncapacity = \"20MiB\"\nblock_size = \"4KiB\"\n".repeat(2);
    let base = text("size = \"4MiB\"", "", "fill = \"none\"").replace("[workload.zoned]", &two);
    let job =
        "zonemode=zbd\nignore_zone_limits=1\nrw=randwrite\nbs=64k\nnumber_ios=40\nfilename=/dev/nvme0n2\n";
    let summary = run(&format!("{base}[workload.fio]\njob = \"\"\"\n[own]\n{job}\"\"\"\n"));
    let zones = summary.zones.unwrap();
    assert!(zones.refused.contains_key("Too Many Active Zones"), "{:?}", zones.refused);
}

#[test]
fn what_does_not_go_with_zones_is_refused_by_name() {
    let fine = "size = \"64KiB\"\nrequests = 10";
    let base = text("", fine, "fill = \"none\"");
    let cases = [
        (base.replace("count = 10", "count = 30"), "device.zones.count"),
        (base.replace("count = 10", "count = 0"), "device.zones.count"),
        (base.replace("max_active = 4", "max_active = 129"), "device.zones.max_active"),
        (base.replace("max_active = 4", "max_active = 4\nmax_open = 5"), "device.zones.max_open"),
        (base.replace("max_active = 4", "max_active = 4\nsize = \"1MiB\""), "device.zones.size"),
        // 10 zones of 2 EiB end beyond 2^64 bytes.
        (base.replace("max_active = 4", "max_active = 4\nsize = \"2EiB\""), "device.zones.size"),
        (base.replace("overwrite = \"none\"", "overwrite = \"random\""), "precondition.overwrite"),
        (base.replace("[device.ftl]", "[device.ftl]\nstreams = 2"), "device.ftl.streams"),
        (base.replace("[device.ftl]", "[device.ftl]\ncapacity = \"1MiB\""), "device.ftl.capacity"),
        (
            base.replace("[device.zones]", "[device.slc_cache]\ndynamic_share = 0.5\n[device.zones]"),
            "device.slc_cache",
        ),
        (
            base.replace("[workload.zoned]", "[workload.zoned]\nzones_in_flight = 5"),
            "workload.zoned.zones_in_flight",
        ),
        (base.replace("[workload.zoned]", "[run]\ntiming = \"none\"\n[workload.zoned]"), "run.timing"),
        (
            base.replace(&format!("[workload.zoned]\n{fine}"), "[workload.synthetic]\nrequests = 10"),
            "workload.synthetic",
        ),
        (
            base.replace(
                &format!("[workload.zoned]\n{fine}"),
                "[workload.fio]\njob = \"\"\"\n[a]\nrw=write\nbs=64k\n\"\"\"",
            ),
            "workload.fio",
        ),
        (format!("{base}\n[array]\nlevel = \"raid5\"\nmembers = 5"), "device.zones"),
    ];
    for (text, name) in cases {
        let message = refused(&text);
        assert!(message.contains(name), "\"{message}\" does not name {name}");
    }
}

/// Writes and appends of the drive that was measured, of which a twentieth is built, take the times that it was fitted to.
#[test]
fn the_measured_drive_takes_its_times() {
    let whole = include_str!("../../../scenarios/presets/drives/wd-zn540.toml");
    let part =
        whole.replace("count = 904", "count = 40").replace("blocks_per_plane = 928", "blocks_per_plane = 64");
    let write = |command: &str| {
        let text = part.replace("requests = 200000", &format!("command = \"{command}\"\nrequests = 20000"));
        run(&text).latency_us.write.unwrap().mean
    };
    let times = [write("write"), write("append")];
    assert!((times[0] / 11.36 - 1.0).abs() < 0.1 && (times[1] / 14.83 - 1.0).abs() < 0.1, "{times:?} us");
    // Smaller zones. Writes of 4 KiB one at a time leave the flash time: nothing waits in the buffer when the finish comes. It takes what the rest takes at
    // 1190 MiB/s, and the last program.
    let cases = [(27, "0.99985", 3 * 6911, 2_570.0, 15_360.0), (270, "0.5", 3 * 34_560, 116_020.0, 8_490.0)];
    for (pages, share, requests, finish, reset) in cases {
        let part = part.replace("pages_per_block = 1077", &format!("pages_per_block = {pages}"));
        let text =
            part.replace("size = \"4KiB\"", &format!("size = \"4KiB\"\nfinish_at = {share}\nzones = 2"));
        let text = text.replace("requests = 200000", &format!("requests = {requests}"));
        let times = run(&text).zones.unwrap().latency_us;
        let found = (times.finish.unwrap().mean, times.reset.unwrap().mean);
        assert!((found.0 / finish - 1.0).abs() < 0.03, "{share}: {} us", found.0);
        assert!((found.1 / reset - 1.0).abs() < 0.03, "{share}: {} us", found.1);
    }
}

/// Jobs of fio with `zonemode=zbd`, side by side and with little room, write at write pointers only: the drive refuses nothing, and resets what they reset.
#[test]
fn jobs_of_fio_write_zones() {
    let jobs = "[global]\nzonemode=zbd\nioengine=libaio\niodepth=8\n\
        [log]\nrw=write\nbs=64k\nsize=4z\nloops=3\n\
        [table]\nrw=randwrite\nbs=20k\noffset=4z\nsize=3z\njob_max_open_zones=2\nio_size=30m\n\
        [mixed]\nrw=randrw\nbs=16k\noffset=4z\nsize=3z\njob_max_open_zones=1\nio_size=20m\nzone_reset_threshold=0.3\nzone_reset_frequency=0.02\n\
        [look]\nrw=randread\nbs=4k\nsize=8z\nio_size=4m\nread_beyond_wp=1\n\
        [drop]\nstonewall\nrw=trim\nbs=4m\noffset=7z\nsize=2z\n";
    let text = text("", "requests = 1", "fill = \"sequential\"\nfill_fraction = 0.9");
    let text = text
        .replace("[workload.zoned]\nrequests = 1", &format!("[workload.fio]\njob = \"\"\"\n{jobs}\"\"\""));
    let summary = run(&text);
    let zones = summary.zones.unwrap();
    assert_eq!(zones.refused.len(), 0, "{:?}", zones.refused);
    assert!(summary.host.failed.is_none());
    // The log's four zones are reset in each of three passes, those of both tables more often than they fit, and two by trims.
    assert!(zones.reset > 12 + 10 + 2, "{} resets", zones.reset);
    let written = 3 * 4 * (3 << 20) + (30 << 20);
    assert!(summary.host.bytes_written >= written, "{}", summary.host.bytes_written);
    assert_eq!(zones.states["empty"], 3, "{:?}", zones.states);
}

/// A trace of commands is carried out as it says: what is written again in a random write area is programmed once, what a zone does not allow is refused by name, and the parts
/// of write amplification sum to it.
#[test]
fn commands_of_a_trace_are_carried_out() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("zone-commands.csv");
    let mut lines = vec!["time,command,place,size".to_owned(), "0,open-random,0z".to_owned()];
    let mut at = 0;
    let mut line = |rest: &str| {
        at += 5;
        lines.push(format!("{}.{:03},{rest}", at / 1000, at % 1000));
    };
    for _ in 0..20 {
        line("write,0z,262144");
    }
    line("commit,0z+258048");
    line("append,0z,4096");
    line("append,1z,4096");
    line("finish,2z");
    line("reset,2z");
    line("close,1z");
    #[allow(clippy::disallowed_methods, reason = "the test writes the trace that it reads")]
    std::fs::write(&path, lines.join("\n")).unwrap();
    let text = text("random_write = { size = \"256KiB\", granularity = \"64KiB\" }", "", "fill = \"none\"");
    let trace = format!(
        "[workload.trace]\nformat = \"commands\"\nfile = {:?}\n[run]\nwarm_up = \"0s\"\n",
        path.to_str().unwrap()
    );
    let summary = run(&text.replace("[workload.zoned]\n", &trace));
    let zones = summary.zones.as_ref().unwrap();
    let own = zones.random_write.as_ref().unwrap();
    assert_eq!((own.opened, own.commits, own.implicit_commits, own.zones), (1, 1, 0, 1));
    assert_eq!((own.host_bytes, own.committed_bytes), (20 << 18, 1 << 18));
    assert_eq!((zones.closed, zones.finished, zones.reset), (1, 1, 1));
    assert_eq!(zones.refused.iter().collect::<Vec<_>>(), [(&"Invalid Zone Operation Request", &1)]);
    let amplification = summary.write_amplification.unwrap();
    let host = summary.host.bytes_written as f64;
    let expected = f64::from((1 << 18) - (20 << 18)) / host;
    assert!((amplification.random_write.unwrap() - expected).abs() < 1e-12);
    assert!(amplification.partial_write.abs() < 1e-12, "{amplification:?}");
}

#[test]
fn random_write_areas_that_cannot_be_are_refused_with_value_and_limit() {
    let workload = "size = \"64KiB\"\nrequests = 10";
    let cases = [
        (
            "random_write = { size = \"6MiB\" }",
            workload,
            ["device.zones.random_write.size", "at most the capacity of a zone"],
        ),
        (
            "random_write = { size = \"64KiB\", granularity = \"6KiB\" }",
            workload,
            ["device.zones.random_write.granularity", "the mapping unit, 4KiB"],
        ),
        (
            "random_write = { size = \"64KiB\", granularity = \"48KiB\" }",
            workload,
            ["device.zones.random_write.size", "the granularity, 48KiB"],
        ),
        (
            "random_write = { size = \"64KiB\", zones = 5 }",
            workload,
            ["device.zones.random_write.zones = 5", "between 1 and device.zones.max_active, 4"],
        ),
        ("", "rewrite_percent = 10", ["workload.zoned.rewrite_percent", "needs [device.zones.random_write]"]),
        (
            "random_write = { size = \"64KiB\" }",
            "rewrite_percent = 100",
            ["workload.zoned.rewrite_percent", "between 0 and 99"],
        ),
        (
            "random_write = { size = \"64KiB\" }",
            "rewrite_percent = 10\nsize = \"128KiB\"",
            ["workload.zoned.size", "64KiB"],
        ),
        (
            "max_open = 2\nrandom_write = { size = \"64KiB\" }",
            "rewrite_percent = 10\nzones_in_flight = 3",
            ["workload.zoned.zones_in_flight = 3", "at most device.zones.max_open, 2"],
        ),
        (
            "random_write = { size = \"64KiB\" }",
            "rewrite_percent = 10\ncommand = \"append\"",
            ["rewrite_percent", "takes no appends"],
        ),
        (
            "random_write = { size = \"64KiB\", zones = 1 }",
            "rewrite_percent = 10\nzones_in_flight = 2",
            ["zones_in_flight", "at most device.zones.random_write.zones, 1"],
        ),
    ];
    for (zones, workload, parts) in cases {
        let message = refused(&text(zones, workload, "fill = \"none\""));
        assert!(parts.iter().all(|part| message.contains(part)), "{zones} {workload}: {message}");
    }
    let volatile = text("random_write = { size = \"64KiB\" }", workload, "fill = \"none\"")
        .replace("write_buffer", "write_cache = \"volatile\"\nwrite_buffer");
    assert!(refused(&volatile).contains("needs device.controller.write_cache"));
}

/// Of the writes of a host that writes again three times out of four, a quarter is programmed, with losses at the ends of zones.
#[test]
fn writing_again_within_areas_saves_programs() {
    let area = "random_write = { size = \"256KiB\", granularity = \"64KiB\" }";
    let workload =
        "size = \"16KiB\"\nzones_in_flight = 3\nqueue_depth = 4\nrewrite_percent = 75\nbytes = \"96MiB\"";
    let summary = run(&text(area, workload, "fill = \"none\""));
    let zones = summary.zones.unwrap();
    assert!(zones.refused.is_empty(), "{:?}", zones.refused);
    let total = summary.write_amplification.unwrap().total;
    assert!((total - 0.25).abs() < 0.02, "{total}");
}
