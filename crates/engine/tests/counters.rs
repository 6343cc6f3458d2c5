//! Does every figure count what it says, over the time that it says, and does every cause appear wherever causes are listed?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::float_cmp, reason = "the very same sums")]

use crate::support;

use outlast_engine::{RunControl, RunSummary, Scenario, Simulation, parse_text};
use outlast_ftl::{ByProgramCause, ByReadCause, ProgramCause, ReadCause};
use serde_json::Value;
use support::{DriveText, Run, assert_close, run, scenario};

/// Drives of 60 MiB with 20 % to spare in an array.
fn array_text(array: &str, workload: &str, more: &str) -> String {
    format!(
        r#"
{drive}
[device.defects]
endurance = 1000
[array]
chunk = "16KiB"
{array}
[precondition]
overwrite = "none"
[workload.synthetic]
pattern = "uniform"
size = "16KiB"
{workload}
{more}
"#,
        drive = DriveText::of_60_mib().ftl("mapping_unit = \"16KiB\"")
    )
}

fn array(array: &str, workload: &str) -> Scenario {
    scenario(&array_text(array, workload, ""))
}

fn json(summary: &RunSummary) -> Value {
    serde_json::to_value(summary).unwrap()
}

/// Sums over the columns of the time series by cause are the result's figures by cause, and those add up to its totals.
fn check_causes(run: &Run) {
    let summary = run.summary();
    let series = run.table("timeseries");
    let sum = |name: &str| series.u64(name).iter().sum::<u64>();
    let by_cause = &summary.flash.by_cause;
    assert_eq!(ByReadCause::of(|cause| sum(cause.name())), by_cause.reads);
    assert_eq!((sum("flash_reads"), by_cause.reads.total()), (summary.flash.reads, summary.flash.reads));
    let per_unit = summary.device.mapping_unit as f64 / summary.scenario.device.geometry.page_size.0 as f64;
    let units = ByProgramCause::of(|cause| sum(&format!("{}_units", cause.name())));
    assert_eq!(units.map(|units| units as f64 * per_unit), by_cause.programs);
    assert_eq!(sum("programmed_bytes"), units.total() * summary.device.mapping_unit);
    assert_eq!((sum("flash_programs"), sum("flash_erases")), (summary.flash.programs, summary.flash.erases));
    let total = summary.write_amplification.as_ref().map(|waf| waf.total);
    let host = sum("host_write_bytes");
    assert_eq!(total, (host != 0).then(|| sum("programmed_bytes") as f64 / host as f64));
}

/// A rebuild that outlives the workload is none of the workload's figures: they are those of a run that ends with the host.
#[test]
fn work_of_drives_after_the_host_is_counted_separately() {
    for (level, members) in [("raid5", 4), ("raid6", 5), ("raid1", 2)] {
        let settings = format!(
            "level = \"{level}\"\nmembers = {members}\nspares = 1\nbackground = {{ min_rate = \"200MB/s\" }}\n\
             member = [{{ device = 1, fail_at = \"90ms\" }}]"
        );
        let workload = "read_percent = 50\nrate_iops = 2000\nduration = \"100ms\"";
        let with = |more: &str| run(scenario(&array_text(&settings, workload, more)));
        let (whole, cut) = (with(""), with("[run]\nfinish_rebuild = false"));
        let (finished, other) = (whole.summary(), cut.summary());
        let after = finished.after_host.as_ref().expect("the rebuild outlives the workload");
        assert!(other.after_host.is_none());
        for key in ["host", "latency_us", "write_amplification", "flash", "gc", "queue"] {
            assert_eq!(json(finished)[key], json(other)[key], "{level}: {key}");
        }
        let queue = &finished.queue;
        let busiest = queue.channel_utilisation.iter().copied().fold(queue.die_utilisation.max, f64::max);
        assert!(busiest > 0.0 && busiest <= 1.0, "{level}: utilisation {busiest}");
        check_causes(&whole);
        // What followed: a whole member, written by the array and programmed by its drive.
        let rebuild = finished.array.as_ref().unwrap().rebuild.as_ref().unwrap();
        let before = other.array.as_ref().unwrap().rebuild.as_ref().unwrap();
        // The array counts bytes as it sends them, drives as they have taken them: apart by what was on its way, at most a write buffer.
        let sent = rebuild.bytes_written - before.bytes_written;
        assert!(after.bytes_written.abs_diff(sent) <= 1 << 20, "{level}: {} of {sent}", after.bytes_written);
        assert!(after.flash.programs * 16_384 >= after.bytes_written - (1 << 20), "{level}: {after:?}");
        assert_close("seconds", after.seconds, rebuild.finished_s.unwrap() - finished.time.simulated_s, 1e-3);
    }
}

/// A superblock of a drive with a dead die has fewer blocks to erase.
#[test]
fn erases_of_the_slc_cache_and_the_others_are_those_of_the_flash() {
    let summary = |faults: &str| {
        let run = run(scenario(&format!(
            r#"
{drive}
[device.slc_cache]
static_size = "2MiB"
when_full = "fold"
native_bits_per_cell = 3
read = "25us"
program = "150us"
{faults}
[workload.synthetic]
pattern = "uniform"
size = "16KiB"
requests = 20000
"#,
            drive =
                DriveText::channels(2).dies(2).planes(2).blocks(96, 12, "16KiB").spare(0.6).buffer("1MiB")
        )));
        let cache = run.summary().slc_cache.unwrap();
        (cache.cache_erases, cache.native_erases, run.summary().flash.erases)
    };
    for faults in ["", "[[faults]]\nat = \"10ms\"\nkind = \"die\"\ndie = 3"] {
        let (cache, native, all) = summary(faults);
        assert_eq!(cache + native, all, "{faults}");
        assert!(cache > 100, "{cache} of {all}");
    }
}

/// A die fails and its data is recovered: reads to hand data over, to probe and to find lists count like all others.
#[test]
fn every_read_has_a_cause_in_results_and_in_the_time_series() {
    let repaired = |identifier: &str| {
        run(scenario(&format!(
            r#"
{drive}
[device.repair]
identifier = "{identifier}"
migration = "device"
bad_blocks = 4
[array]
level = "raid5"
members = 4
chunk = "16KiB"
[precondition]
overwrite = "none"
[[faults]]
at = "5ms"
kind = "die"
device = 1
die = 3
[workload.synthetic]
pattern = "uniform"
read_percent = 50
requests = 20000
"#,
            drive = DriveText::of_two_cores()
        )))
    };
    let mut sum = ByReadCause::<u64>::default();
    for identifier in ["l2p-all-cores", "p2l-block"] {
        let run = repaired(identifier);
        check_causes(&run);
        sum = sum + run.summary().flash.by_cause.reads;
    }
    for cause in [ReadCause::Migration, ReadCause::Probe, ReadCause::Lists] {
        assert!(sum[cause] > 0, "{}: nothing was read for it", cause.name());
    }
}

#[test]
fn every_cause_has_its_keys_and_columns() {
    let run = run(array("level = \"raid0\"\nmembers = 2", "read_percent = 50\nrequests = 200"));
    let (result, series) = (json(run.summary()), run.table("timeseries"));
    let column = |name: &str| series.columns.iter().any(|(column, _)| column == name);
    for cause in ProgramCause::ALL {
        let name = cause.name();
        assert_eq!(result["write_amplification"][name].is_f64(), cause != ProgramCause::Host, "{name}");
        assert!(result["flash"]["by_cause"][format!("{name}_programs")].is_f64(), "{name}");
        assert!(column(&format!("{name}_units")), "{name}");
    }
    for cause in ReadCause::ALL {
        assert!(result["flash"]["by_cause"][cause.name()].is_u64(), "{}", cause.name());
        assert!(column(cause.name()), "{}", cause.name());
    }
    let parity = ["host", "gc", "wear_leveling", "scrub", "map"].map(|whose| format!("{whose}_parity"));
    assert_eq!(ByProgramCause::of(|cause| u64::from(cause.group() == "parity")).total(), parity.len() as u64);
    assert!(parity.iter().all(|name| ProgramCause::ALL.iter().any(|cause| cause.name() == name)));
}

/// Reads of whole units from dies that have a channel each: a die is busy for command, tR and transfer, its channel for the transfer.
#[test]
fn utilisation_of_an_array_is_the_time_that_its_reads_take() {
    for (level, members) in [("raid0", 3), ("raid1", 2), ("raid5", 4)] {
        let run = run(array(
            &format!("level = \"{level}\"\nmembers = {members}"),
            "read_percent = 100\nqueue_depth = 8\nrequests = 5000",
        ));
        let summary = run.summary();
        let queue = &summary.queue;
        let (span, dies) = (summary.time.simulated_s, f64::from(members) * 2.0);
        let timing = &summary.scenario.device.timing;
        let geometry = &summary.scenario.device.geometry;
        let bytes = (geometry.page_size.0 + geometry.spare_per_page.0) as f64;
        let (command, transfer) = (timing.command.as_secs_f64(), bytes / timing.bus.bytes_per_s() as f64);
        let reads = summary.flash.reads as f64;
        assert_eq!(queue.channel_utilisation.len() as f64, dies);
        // The last command may end at the host while its die is done: all reads lie within the span. Rounded to nanoseconds.
        let busy = reads * (command + 60e-6 + transfer) / span / dies;
        assert_close("dies", queue.die_utilisation.mean, busy, 1e-4);
        let channels = queue.channel_utilisation.iter().sum::<f64>() / dies;
        assert_close("channels", channels, reads * (command + transfer) / span / dies, 1e-3);
    }
}

/// Writes of a whole stripe and of a chunk, which their bytes tell apart.
#[test]
fn the_share_of_full_stripes_is_counted() {
    let workload = "read_percent = 0\nrequests = 3000\nalign = \"48KiB\"\n\
                    sizes = [{ size = \"48KiB\", weight = 1 }, { size = \"16KiB\", weight = 2 }]";
    let text =
        array_text("level = \"raid5\"\nmembers = 4", workload, "").replace("size = \"16KiB\"\nread", "read");
    let summary = run(scenario(&text)).result.summary;
    let (writes, chunks) = (summary.host.writes, summary.host.bytes_written / 16_384);
    let full = (chunks - writes) / 2;
    let counted = &summary.array.as_ref().unwrap().writes;
    assert_eq!((counted.full, counted.full + counted.delta + counted.complete), (full, writes));
    assert_eq!(counted.full_stripe_share, Some(full as f64 / writes as f64));
    let none = run(array("level = \"raid5\"\nmembers = 4", "read_percent = 100\nrequests = 100"));
    assert_eq!(none.summary().array.as_ref().unwrap().writes.full_stripe_share, None);
}

/// A write of one chunk writes data and parity, and first a record.
#[test]
fn records_against_the_write_hole_are_counted() {
    for (consistency, records) in [("resync", 0), ("ppl", 1)] {
        let settings = format!("level = \"raid5\"\nmembers = 4\nconsistency = \"{consistency}\"");
        let summary =
            run(array(&settings, "read_percent = 0\nqueue_depth = 1\nrequests = 500")).result.summary;
        let commands = &summary.array.as_ref().unwrap().member_commands;
        assert_eq!(
            (commands.log_writes, commands.writes),
            (500 * records, 500 * (2 + records)),
            "{consistency}"
        );
    }
}

/// The age of a member is the mean wear of its blocks in percent of the rating of 1000 cycles.
#[test]
fn the_difference_of_ages_is_that_of_the_blocks() {
    let members = "level = \"raid5\"\nmembers = 4\nmember = [{ device = 0, pe_cycles = 900 }, { device = 2, pe_cycles = 500 }]";
    let run = run(array(members, "read_percent = 0\nrequests = 9000"));
    let table = run.table("wear");
    let (device, cycles) = (table.u64("device"), table.u64("cycles"));
    let age = |member: u64| {
        let cycles: Vec<u64> =
            device.iter().zip(cycles).filter(|(of, _)| **of == member).map(|(_, c)| *c).collect();
        cycles.iter().sum::<u64>() as f64 / cycles.len() as f64 * 100.0 / 1000.0
    };
    let ages = [0, 1, 2, 3].map(age);
    let spread =
        ages.iter().copied().fold(0.0, f64::max) - ages.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(spread > 85.0 && ages[2] > 50.0, "{ages:?}");
    assert_close("ages", run.summary().array.as_ref().unwrap().age_differential, spread, 1e-9);
}

/// The time that a rebuild has left, foretold halfway, is the time that it then takes where nothing disturbs it.
#[test]
fn a_rebuild_takes_the_time_that_it_has_left() {
    let settings = "level = \"raid5\"\nmembers = 4\nspares = 1\nbackground = { min_rate = \"20MB/s\", max_rate = \"20MB/s\" }\n\
                    member = [{ device = 1, fail_at = \"10ms\" }]";
    let workload = "read_percent = 100\nrate_iops = 20\nduration = \"1500ms\"";
    let with = |more: &str| run(scenario(&array_text(settings, workload, more))).result.summary;
    let (cut, whole) = (with("[run]\nfinish_rebuild = false"), with(""));
    let of = |summary: &RunSummary| summary.array.as_ref().unwrap().rebuild.clone().unwrap();
    let (halfway, done) = (of(&cut), of(&whole));
    assert!(halfway.done > 0.3 && halfway.done < 0.7, "{halfway:?}");
    // At a constant rate: the rest over what is done, times the time so far.
    let so_far = cut.time.simulated_s - halfway.started_s;
    let left = halfway.left_s.unwrap();
    assert_close("proportion", left, so_far * (1.0 - halfway.done) / halfway.done, 0.01);
    assert_close("oracle", left, done.finished_s.unwrap() - cut.time.simulated_s, 0.02);
    assert_eq!(done.left_s, None);
}

/// Without writes, or without anything, every figure by cause is there.
#[test]
fn a_run_without_writes_has_every_figure() {
    let text = array_text("level = \"raid5\"\nmembers = 3", "read_percent = 100\nrequests = 100", "");
    let mut simulation = Simulation::new(parse_text(&text).unwrap().0).unwrap();
    let result = simulation.run(&mut |_| RunControl::Continue).unwrap();
    let (summary, series) = (json(&result.summary), &result.tables[0].1);
    assert!(summary["write_amplification"].is_null() && summary["after_host"].is_null());
    assert!(
        ProgramCause::ALL
            .iter()
            .all(|cause| series.u64(&format!("{}_units", cause.name())).iter().all(|&n| n == 0))
    );
    assert!(series.f64("write_amplification").iter().all(|waf| waf.is_nan()));
}
