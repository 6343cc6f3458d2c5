//! Does an array of drives run as a scenario: prepared through the array, failing, rebuilt, replaced, and the same every time?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::ArrayHealth;
use outlast_engine::{RebuildLimit, RunControl, RunSummary, Scenario, Simulation, parse_text};
use outlast_ftl::{ProgramCause, ReadCause};
use support::{TIMING, assert_close, run, scenario};

/// Drives of 60 MiB with 20 % to spare, and random writes of one unit.
fn array(array: &str, workload: &str) -> Scenario {
    scenario(&text(array, workload))
}

fn text(array: &str, workload: &str) -> String {
    format!(
        r#"
{TIMING}
[device.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 48
pages_per_block = 32
page_size = "16KiB"
[device.defects]
endurance = 1000
[device.ftl]
over_provisioning = 0.25
[device.controller]
write_buffer = "1MiB"
[array]
chunk = "16KiB"
background = {{ min_rate = "200MB/s" }}
{array}
[precondition]
min_drive_writes = 0.5
max_drive_writes = 1
[workload.synthetic]
pattern = "uniform"
{workload}
"#
    )
}

const WRITES: &str = "read_percent = 0\nrequests = 4000";
const MIXED: &str = "read_percent = 60\nrate_iops = 2000\nduration = \"4s\"";

fn bytes(summary: &RunSummary) -> Vec<f64> {
    let array = summary.array.as_ref().unwrap();
    array.wear.iter().map(|member| member.bytes_written as f64).collect()
}

#[test]
fn a_random_write_to_raid5_writes_data_and_parity_and_every_member_alike() {
    let run = run(array("level = \"raid5\"\nmembers = 4", WRITES));
    let summary = run.summary();
    let host = summary.host.bytes_written as f64;
    let members = bytes(summary);
    assert_close("data and parity", members.iter().sum::<f64>() / host, 2.0, 1e-12);
    for written in members {
        // 4000 writes hit a member with probability 1/2 each: four standard deviations.
        assert_close("a member's share", written / host, 0.5, 4.0 / 4000f64.sqrt());
    }
    let waf = summary.write_amplification.as_ref().unwrap();
    assert_close("the array's own part", waf.array, 1.0, 1e-12);
    let moved = waf.causes.total() - waf.causes[ProgramCause::Host];
    let sum = 1.0 + moved + waf.partial_write + waf.array;
    assert_close("the parts and the whole", sum, waf.total, 1e-9);
}

/// With bytes kept the array is filled stripe by stripe, without them drive by drive.
#[test]
fn filling_drive_by_drive_leaves_the_drives_as_filling_through_the_array_does() {
    for level in ["raid5", "raid6", "raid1"] {
        let mut scenario = array(&format!("level = \"{level}\"\nmembers = 4"), WRITES);
        scenario.precondition.fill_fraction = 0.73;
        let fast = run(scenario.clone());
        scenario.device.bytes = true;
        let slow = run(scenario);
        let (fast, slow) = (fast.summary(), slow.summary());
        assert_eq!(fast.time.simulated_s.to_bits(), slow.time.simulated_s.to_bits(), "{level}");
        let waf = |summary: &RunSummary| summary.write_amplification.as_ref().unwrap().total.to_bits();
        assert_eq!(waf(fast), waf(slow), "{level}");
        let wear = |summary: &RunSummary| {
            let array = summary.array.as_ref().unwrap();
            array
                .wear
                .iter()
                .map(|member| (member.mean_pe.unwrap().to_bits(), member.programs))
                .collect::<Vec<_>>()
        };
        assert_eq!(wear(fast), wear(slow), "{level}");
    }
}

#[test]
fn a_drive_behaves_the_same_among_light_members_and_among_drives() {
    let full = run(array("level = \"raid5\"\nmembers = 4", WRITES));
    let light = run(array(
        "level = \"raid5\"\nmembers = 4\nlight = { devices = [1, 2, 3], rate = \"200MB/s\" }",
        WRITES,
    ));
    let (full, light) = (&full.summary().array, &light.summary().array);
    let (full, light) = (full.as_ref().unwrap(), light.as_ref().unwrap());
    assert_eq!(full.member_commands.writes, light.member_commands.writes);
    // The host's commands are the same; what differs is when they come.
    assert_eq!(full.wear[0].bytes_written, light.wear[0].bytes_written);
    assert!(full.wear[0].mean_pe.is_some() && light.wear[1].mean_pe.is_none());
}

#[test]
fn impossible_light_members_are_refused() {
    let refuse = |light: &str, device: &str| {
        let text = text(&format!("level = \"raid5\"\nmembers = 3\nlight = {light}"), WRITES) + device;
        let Err(error) = parse_text(&text)
            .map_err(|e| e.to_string())
            .and_then(|s| s.0.validate().map_err(|e| e.to_string()))
        else {
            panic!("accepted {light}")
        };
        error
    };
    assert!(refuse("{ devices = [3] }", "").contains("array.light.devices[0] = 3: must be less than 3"));
    assert!(refuse("{ devices = [0, 1, 2] }", "").contains("must leave one member that is a drive"));
    let fault = "[[faults]]\nat = \"1s\"\ndevice = 1\nkind = \"die\"\ndie = 0\n";
    assert!(refuse("{ devices = [1] }", fault).contains("faults[0].device = 1: is a light member"));
}

#[test]
fn percentages_wear_members_as_equation_1_says() {
    // Diff-RAID, Equation 1: q + (1 - q)/(n - 1) writes for each of the host's.
    let run = run(array("level = \"raid5\"\nmembers = 5\nparity_percent = [80, 5, 5, 5, 5]", WRITES));
    let host = run.summary().host.bytes_written as f64;
    for (written, q) in bytes(run.summary()).into_iter().zip([0.8, 0.05, 0.05, 0.05, 0.05]) {
        assert_close("a member's share", written / host, q + (1.0 - q) / 4.0, 0.12);
    }
}

#[test]
fn filling_writes_parity_once_for_each_stripe() {
    let mut filled = array("level = \"raid5\"\nmembers = 4", WRITES);
    filled.precondition.overwrite = outlast_engine::OverwritePattern::None;
    let mut simulation = Simulation::new(filled).unwrap();
    let result = simulation.run(&mut |_| RunControl::Continue).unwrap();
    // Everything was written before the counters began; the pages of the fill are what blocks hold.
    assert!(result.summary.steady_state.precondition.reached.is_none());
    assert_eq!(result.summary.host.unmapped_reads, 0, "read-modify-write finds what the fill has written");
    assert!(result.summary.flash.by_cause.reads[ReadCause::Host] > 0);
}

#[test]
fn a_failed_member_is_rebuilt_onto_the_spare() {
    let scenario = array(
        "level = \"raid5\"\nmembers = 4\nspares = 1\nmember = [{ device = 1, fail_at = \"1s\" }]",
        MIXED,
    );
    let run = run(scenario);
    let summary = run.summary();
    let array = summary.array.as_ref().unwrap();
    assert_eq!((array.state, array.spares_left, summary.host.errors), (ArrayHealth::Clean, 0, 0));
    let rebuild = array.rebuild.as_ref().unwrap();
    assert_eq!((rebuild.member, rebuild.started_s), (1, 1.0));
    let finished = rebuild.finished_s.unwrap();
    assert_close("degraded", array.degraded_s, finished - 1.0, 1e-9);
    assert_close(
        "read per byte written",
        rebuild.bytes_read as f64 / rebuild.bytes_written as f64,
        3.0,
        0.01,
    );
    // Rebuilding may not be faster than the limit.
    assert!(rebuild.rate_mib_s <= 200e6 / f64::from(1 << 20) * 1.01, "{}", rebuild.rate_mib_s);
    assert!(array.degraded_reads > 0);
}

#[test]
fn faults_of_flash_strike_the_member_that_they_name() {
    let with = |fault: &str| {
        let faulty = text("level = \"raid5\"\nmembers = 3", MIXED)
            + &format!("[[faults]]\nat = \"1s\"\ndevice = 2\n{fault}");
        run(parse_text(&faulty).unwrap().0).result.summary
    };
    // A block: what it held is had from the other members and written anew.
    let summary = with("kind = \"block\"\ndie = 1\nplane = 0\nblock = 20\n");
    let array = summary.array.as_ref().unwrap();
    assert_eq!((summary.reliability.faults, summary.host.errors, array.lost_bytes), (1, 0, 0));
    assert!(array.read_errors > 0 && array.sectors_repaired > 0, "{array:?}");
    assert_eq!(array.state, ArrayHealth::Clean);
    // Half its flash: the drive cannot take writes any more, and is thrown out.
    let summary = with("kind = \"die\"\ndie = 1\n");
    let array = summary.array.as_ref().unwrap();
    assert_eq!((array.ejected, array.state, summary.host.errors), (1, ArrayHealth::Degraded, 0));
    assert!(!array.wear[2].present && array.status == "raid5 [3/2] [UU_]", "{array:?}");
}

#[test]
fn a_member_is_replaced_and_parity_moves_to_the_oldest() {
    let members = "level = \"raid5\"\nmembers = 4\nparity_percent = [70, 10, 10, 10]\n\
        member = [{ device = 0, pe_cycles = 900 }, { device = 2, pe_cycles = 500 }]";
    let replaced = text(members, MIXED) + "[[faults]]\nat = \"500ms\"\ndevice = 0\nkind = \"replace\"\n";
    let run = run(parse_text(&replaced).unwrap().0);
    let array = run.summary().array.as_ref().unwrap();
    assert_eq!((array.state, array.stripes_to_move), (ArrayHealth::Clean, 0));
    let parity: Vec<f64> = array.wear.iter().map(|member| member.parity_percent.unwrap()).collect();
    assert_eq!(parity, [10.0, 10.0, 70.0, 10.0], "the 500 cycles of member 2 are now the most");
    assert!(array.wear[0].mean_pe.unwrap() < 10.0, "the new drive is new");
}

#[test]
fn a_worn_member_is_replaced_by_a_spare() {
    let members = "level = \"raid5\"\nmembers = 4\nspares = 1\nreplacement = { limit_percent = 99 }\n\
        member = [{ device = 2, pe_cycles = 988 }, { device = 4, pe_cycles = 7 }]";
    let run = run(array(members, "read_percent = 0\nrate_iops = 1500\nduration = \"6s\""));
    let array = run.summary().array.as_ref().unwrap();
    let events = run.table("array_events");
    let (_, names) = events.columns.iter().find(|(name, _)| name == "event").unwrap();
    let outlast_engine::ResultColumn::Text(names) = names else { panic!("events have names") };
    assert_eq!(names.as_slice(), ["replaced", "rebuild started", "rebuilt"]);
    assert_eq!((array.state, array.spares_left, run.summary().host.errors), (ArrayHealth::Clean, 0, 0));
    let spare = array.wear[2].mean_pe.unwrap();
    assert!(spare > 7.0 && spare < 20.0, "the spare that was in use before: {spare}");
    let others = [0, 1, 3].map(|column: usize| array.wear[column].mean_pe.unwrap());
    assert!(others.iter().all(|&cycles| cycles < 30.0), "{others:?}");
}

#[test]
fn lost_sectors_are_listed() {
    let faulty = text("level = \"raid5\"\nmembers = 3\nspares = 1", MIXED)
        + "[[faults]]\nat = \"1s\"\ndevice = 0\nkind = \"block\"\ndie = 0\nplane = 0\nblock = 7\n\
           [[faults]]\nat = \"1s\"\ndevice = 1\nkind = \"device\"\n";
    let mut scenario = parse_text(&faulty).unwrap().0;
    // Nothing is written, so that what is lost stays so.
    scenario.workload.synthetic.as_mut().unwrap().read_percent = Some(100.0);
    let run = run(scenario);
    let array = run.summary().array.as_ref().unwrap();
    let table = run.table("array_lost");
    let sectors: u64 = table.u64("sectors").iter().sum();
    assert!(
        sectors > 0 && sectors * 512 == array.lost_bytes,
        "{sectors} sectors, {} bytes",
        array.lost_bytes
    );
    let last = table.u64("first_sector").last().unwrap() + table.u64("sectors").last().unwrap();
    assert!(last * 512 <= run.summary().device.capacity_bytes);
}

#[test]
fn the_only_copy_is_not_replaced_without_force() {
    let only = |force: &str| {
        text("level = \"raid0\"\nmembers = 2", MIXED)
            + &format!("[[faults]]\nat = \"1s\"\ndevice = 1\nkind = \"replace\"\n{force}")
    };
    let attempt =
        |text: &str| Simulation::new(parse_text(text).unwrap().0).unwrap().run(&mut |_| RunControl::Continue);
    let refused = attempt(&only("")).unwrap_err().to_string();
    assert!(refused.starts_with("faults[0].device = 1: ") && refused.contains("only copy"), "{refused}");
    let forced = attempt(&only("force = true\n")).unwrap().summary;
    assert!(forced.array.unwrap().lost_bytes > 0, "it was the only copy, indeed");
}

#[test]
fn one_seed_gives_one_result_and_members_differ() {
    let scenario = || {
        array(
            "level = \"raid6\"\nmembers = 5\nspares = 1\nmember = [{ device = 0, fail_at = \"1s\" }]",
            MIXED,
        )
    };
    let once = |scenario: Scenario| {
        let result = Simulation::new(scenario).unwrap().run(&mut |_| RunControl::Continue).unwrap();
        let mut json = serde_json::to_value(&result.summary).unwrap();
        for key in ["time", "throughput", "memory"] {
            json.as_object_mut().unwrap().remove(key);
        }
        (json.to_string(), format!("{:?}", result.tables))
    };
    let (first, second) = (once(scenario()), once(scenario()));
    assert!(first == second, "the same scenario twice");
    let mut other = scenario();
    other.seed = 2;
    assert!(once(other) != first, "another seed");
}

#[test]
fn the_smallest_member_decides_the_capacity_and_a_note_says_so() {
    let run =
        run(array("level = \"raid1\"\nmembers = 2\nmember = [{ device = 1, capacity = \"50MiB\" }]", WRITES));
    let summary = run.summary();
    assert_eq!(summary.device.capacity_bytes, 50 << 20);
    let said = summary.notes.iter().any(|note| note.contains("differ in size") && note.contains("50MiB"));
    assert!(said, "{:?}", summary.notes);
}

#[test]
fn memory_grows_with_the_drives_and_no_faster() {
    let tables = |members: u64| {
        let config = array(&format!("level = \"raid0\"\nmembers = {members}"), WRITES);
        let run = run(config);
        run.summary().memory.mapping_bytes_per_unit * run.summary().device.units as f64
    };
    let (two, eight) = (tables(2), tables(8));
    assert_close("eight drives against four times two", eight, 4.0 * two, 0.01);
}

#[test]
fn bad_arrays_are_refused_by_name() {
    let refuse = |array: &str, more: &str| {
        let text = text(array, MIXED) + more;
        parse_text(&text).map(drop).unwrap_err().to_string()
    };
    let raid5 = "level = \"raid5\"\nmembers = 3";
    let says = |message: String, part: &str| assert!(message.contains(part), "{message}");
    says(refuse("level = \"raid6\"\nmembers = 2", ""), "array.members = 2: must be between 3");
    says(refuse(&format!("{raid5}\nparity_percent = [50, 20, 20]"), ""), "must sum to 100");
    says(refuse(raid5, "[[faults]]\nat = 0\nkind = \"device\"\ndevice = 3\n"), "faults[0].device = 3");
    says(refuse(raid5, "[[faults]]\nat = 0\nkind = \"die\"\ndie = 0\n"), "faults[0].device = absent");
    says(refuse(raid5, "[[faults]]\nat = 0\nkind = \"device\"\ndevice = 1\ndie = 0\n"), "faults[0].die = 0");
    says(refuse(&format!("{raid5}\nmember = [{{ device = 9 }}]"), ""), "array.member[0].device = 9");
    let single = format!("{}[[faults]]\nat = 0\nkind = \"device\"\ndevice = 0\n", text(raid5, MIXED));
    let single = single.replace("[array]", "[array_]");
    assert!(parse_text(&single).is_err());
}

/// Mean time to data loss by the closed form of the level, computed without the engine, from members, hours of a rebuild and the probability
/// that the last one fails.
#[allow(clippy::many_single_char_names, reason = "the names of the equations")]
fn mttdl(level: &str, members: f64, mttf: f64, hours: f64, read_failure: f64) -> f64 {
    let (l, m, h) = (1.0 / mttf, 1.0 / hours, read_failure);
    match level {
        "raid0" => mttf / members,
        // A state for each failed member, solved by hand from the last.
        "raid5" => ((2.0 * members - 1.0) * l + m) / (members * l * ((members - 1.0) * l + m * h)),
        "raid6" => {
            let (a, b, c) = (members * l, (members - 1.0) * l, (members - 2.0) * l + 2.0 * m * h);
            let back = 2.0 * m * (1.0 - h);
            // T0 = 1/a + T1; T1·(b + m) = 1 + b·T2 + m·T0; T2·(c + back) = 1 + back·T1.
            let left = (b + m) - b * back / (c + back) - m;
            let t1 = (1.0 + b / (c + back) + m / a) / left;
            1.0 / a + t1
        }
        // Pairs, each a RAID-1, the first of which to lose data ends it.
        _ => (3.0 * l + m) / (2.0 * l * (l + m * h)) / (members / 2.0),
    }
}

/// Bytes a second of a rebuild that nothing but the default of `max_rate` and a member's bandwidth limits.
fn alone(limits: &outlast_engine::ClosedForm) -> f64 {
    let member = limits.sequential_read_mib_s.min(limits.sequential_write_mib_s) * f64::from(1 << 20);
    member.min(200_000.0 * 1024.0)
}

/// A rebuild that was not measured is one beside which the host does nothing, and what limits it is said.
#[test]
fn an_assumed_rebuild_has_the_rate_of_one_without_a_host() {
    for (max, limit) in [("1MB/s", RebuildLimit::MaxRate), ("100GB/s", RebuildLimit::Member)] {
        let text = text("level = \"raid5\"\nmembers = 4", "read_percent = 50\nrequests = 500")
            .replace("min_rate = \"200MB/s\"", &format!("min_rate = \"1MB/s\", max_rate = \"{max}\""));
        let summary = run(scenario(&text)).result.summary;
        let loss = summary.array.unwrap().data_loss.unwrap();
        assert_eq!((loss.repair_measured, loss.repair_limit), (Some(false), Some(limit)));
        let limits = &summary.closed_form;
        let member = limits.sequential_read_mib_s.min(limits.sequential_write_mib_s) * f64::from(1 << 20);
        let rate = if limit == RebuildLimit::MaxRate { 1e6 } else { member };
        let bytes = 96.0 * 1024.0 * 1024.0 / 1.25;
        assert_close(max, loss.repair_hours.unwrap(), bytes / rate / 3600.0, 1e-3);
    }
}

/// A member that fails takes its chunks with it: writes of them fail, and count on neither side of the write amplification.
#[test]
fn write_amplification_counts_no_writes_that_failed() {
    for level in ["raid0", "raid4", "raid5", "raid6", "raid1", "raid10"] {
        for failing in 1..=3 {
            let fails =
                |device: u32| format!("{{ device = {device}, fail_at = \"{}ms\" }}", 100 + 50 * device);
            let member = (0..failing).map(fails).collect::<Vec<_>>().join(", ");
            let settings = format!("level = \"{level}\"\nmembers = 4\nmember = [{member}]");
            let text = text(&settings, "read_percent = 0\nrate_iops = 2000\nduration = \"1s\"");
            let summary = run(scenario(&text)).result.summary;
            let amplification = summary.write_amplification.unwrap();
            // What was in the buffers, 1 MiB of each member, when members failed and at the end.
            let buffered = 4.0 * f64::from(1 << 20) / summary.host.bytes_written as f64;
            assert!(amplification.total >= 1.0 - buffered, "{level}, {failing} failed: {amplification:?}");
            assert!(
                amplification.array >= 0.0 && amplification.partial_write >= 0.0,
                "{level}, {failing} failed: {amplification:?}"
            );
            let programmed = summary.flash.by_cause.programs.total() * 16384.0;
            assert_close(
                "of bytes written",
                amplification.total,
                programmed / summary.host.bytes_written as f64,
                1e-3,
            );
        }
    }
}

/// The same wear is a hundredth of a chip's rating, or all of one that is set; without either a percentage means nothing.
#[test]
fn members_are_replaced_at_a_percentage_of_their_rating() {
    let rated = |rating: &str, chip: &str| {
        let settings = "level = \"raid5\"\nmembers = 4\nspares = 1\nreplacement = { limit_percent = 99 }";
        let text = text(settings, "read_percent = 0\nrequests = 500").replace("endurance = 1000", rating);
        format!("{text}\n{chip}")
    };
    let chip = "[device.reliability]\nchip = \"mlc-3x-nm\"\ninitial = { pe_cycles = 500 }";
    let replaced = |text: &str| {
        let run = run(scenario(text));
        let array = run.summary().array.clone().unwrap();
        (array.spares_left == 0, array.wear.iter().map(|member| member.percentage_used.unwrap()).max())
    };
    assert_eq!(replaced(&rated("", chip)), (false, Some(1)), "500 of 50 000 cycles");
    assert!(replaced(&rated("endurance = 505", chip)).0, "500 of 505");
    let refused = Simulation::new(parse_text(&rated("", "")).unwrap().0).err().unwrap().to_string();
    assert!(
        refused.contains("array.replacement.limit_percent") && refused.contains("needs a rating"),
        "{refused}"
    );
}

/// The same question for every level: which loses data within a year? Eight drives whose flash errs.
#[test]
fn data_loss_per_year_can_be_compared_between_levels() {
    let loss = |level: &str, more: &str| {
        let text = format!(
            "{}\n[device.reliability]\nchip = \"tlc-72-layer\"\necc = {{ strength = 72 }}\ninitial = {{ pe_cycles = 3000, age = [\"1d\", \"60d\"] }}\n{more}",
            text(&format!("level = \"{level}\"\nmembers = 8"), "read_percent = 50\nrequests = 500")
                .replace("endurance = 1000", "endurance = 10000")
        );
        run(scenario(&text)).result.summary
    };
    let mut per_year = Vec::new();
    for (level, redundancy, read) in
        [("raid0", 0, 0.0), ("raid5", 1, 7.0), ("raid6", 2, 6.0), ("raid10", 1, 1.0)]
    {
        let summary = loss(level, "[run]\nmember_mttf_hours = 20000\ncapacity_scale = 4e5");
        let array = summary.array.unwrap();
        let loss_figures = array.data_loss.unwrap();
        assert_eq!(loss_figures.read_failure.is_some(), redundancy > 0);
        let bytes = 96.0 * 1024.0 * 1024.0 / 1.25;
        let hours = loss_figures.repair_hours.unwrap_or(1.0);
        if redundancy > 0 {
            assert_eq!(
                (loss_figures.repair_measured, loss_figures.read_failure_measured),
                (Some(false), Some(true)),
                "{level}"
            );
            // All but what does not fill a mapping unit.
            assert_close(
                "hours of a rebuild",
                hours,
                bytes * 4e5 / alone(&summary.closed_form) / 3600.0,
                1e-3,
            );
            let ubers = array.wear.iter().map(|member| 10f64.powf(member.log10_uber.unwrap()));
            let mean = ubers.sum::<f64>() / 8.0;
            let expected = 1.0 - (-mean * hours * 3600.0 * alone(&summary.closed_form) * 8.0 * read).exp();
            assert_close("a read failure", loss_figures.read_failure.unwrap(), expected, 1e-6);
        }
        let expected = mttdl(level, 8.0, 20000.0, hours, loss_figures.read_failure.unwrap_or(0.0));
        // Pairs are not quite independent of each other's time: terms of the order of 8 · λ / μ.
        assert_close(
            level,
            loss_figures.mttdl_hours,
            expected,
            if level == "raid10" { 8.0 * hours / 20000.0 } else { 1e-9 },
        );
        assert_close("a year", loss_figures.per_year, 1.0 - (-8760.0 / loss_figures.mttdl_hours).exp(), 1e-9);
        assert_eq!(array.data_loss_after_failures.unwrap().failures, redundancy);
        per_year.push(loss_figures.per_year);
    }
    let [none, raid5, raid6, raid10] = per_year[..] else { panic!("four levels") };
    assert!(raid6 < raid10 && raid10 < raid5 && raid5 < none, "{per_year:?}");
    // Flash that never errs takes the stated rate, and a rebuild that took place its time.
    let text = text(
        "level = \"raid5\"\nmembers = 4\nspares = 1\nmember = [{ device = 1, fail_at = \"50ms\" }]",
        "read_percent = 50\nrequests = 4000",
    );
    let array = run(scenario(&text)).summary().array.clone().unwrap();
    let (loss, rebuild) = (array.data_loss.unwrap(), array.rebuild.unwrap());
    assert_eq!((loss.repair_measured, loss.read_failure_measured), (Some(true), Some(false)));
    let took = (rebuild.finished_s.unwrap() - rebuild.started_s) / 3600.0;
    assert_close("hours", loss.repair_hours.unwrap(), took, 1e-9);
    assert!(array.data_loss_after_failures.is_none());
}

/// A member fails at 1 s and its rebuild begins at 2 s, when a new drive comes: requests are told apart by what they met, and together they are
/// all there are.
#[test]
fn latencies_are_recorded_by_state_of_the_array() {
    let text = text("level = \"raid5\"\nmembers = 4", MIXED)
        .replace("\"200MB/s\"", "\"20MB/s\", max_rate = \"20MB/s\"");
    let faults = "[[faults]]\nat = \"1s\"\nkind = \"device\"\ndevice = 1\n[[faults]]\nat = \"2s\"\nkind = \"replace\"\ndevice = 1\n";
    let run = run(scenario(&format!("{text}\n{faults}")));
    let summary = run.summary();
    let array = summary.array.as_ref().unwrap();
    let by = &array.latency_us_by_state;
    let counts = |state: &outlast_engine::LatencyInState| {
        let count = |latency: &Option<outlast_engine::LatencyFigures>| {
            latency.as_ref().map_or(0, |figures| figures.count)
        };
        (count(&state.read), count(&state.write))
    };
    let rebuild = array.rebuild.as_ref().unwrap();
    assert_close("started", rebuild.started_s, 2.0, 1e-9);
    let rebuilt = rebuild.finished_s.unwrap().min(4.0);
    for (state, seconds) in
        [(&by.healthy, 1.0 + (4.0 - rebuilt)), (&by.degraded, 1.0), (&by.rebuilding, rebuilt - 2.0)]
    {
        let (reads, writes) = counts(state);
        // 2000 a second, at even distances or nearly: one or two are under way at each change of state.
        assert!(
            ((reads + writes) as f64 - 2000.0 * seconds).abs() < 200.0,
            "{} in {seconds} s",
            reads + writes
        );
        assert!(reads > writes);
    }
    assert_eq!((counts(&by.resyncing), counts(&by.failed)), ((0, 0), (0, 0)));
    let sums = [&by.healthy, &by.degraded, &by.rebuilding].map(counts);
    assert_eq!(sums.iter().map(|counts| counts.0).sum::<u64>(), summary.host.reads);
    assert_eq!(sums.iter().map(|counts| counts.1).sum::<u64>(), summary.host.writes);
    let mean = |state: &outlast_engine::LatencyInState| state.read.as_ref().unwrap().mean;
    assert!(mean(&by.healthy) < mean(&by.degraded) && mean(&by.healthy) < mean(&by.rebuilding));
    // The parts make the whole.
    let parts =
        [&by.healthy, &by.degraded, &by.rebuilding].map(|state| (counts(state).0 as f64, mean(state)));
    let whole = parts.iter().map(|(count, mean)| count * mean).sum::<f64>() / summary.host.reads as f64;
    assert_close("the mean of all", whole, summary.latency_us.read.as_ref().unwrap().mean, 1e-9);
}
