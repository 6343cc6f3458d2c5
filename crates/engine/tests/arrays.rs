//! Does an array of drives run as a scenario: prepared through the array, failing, rebuilt, replaced, and the same every time?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::ArrayHealth;
use outlast_engine::{RunControl, RunSummary, Scenario, Simulation, parse_text};
use outlast_ftl::{ProgramCause, ReadCause};
use support::{DriveText, assert_close, run, scenario};

/// Drives of 60 MiB with 20 % to spare, and random writes of one unit.
pub(crate) fn array(array: &str, workload: &str) -> Scenario {
    scenario(&text(array, workload))
}

pub(crate) fn text(array: &str, workload: &str) -> String {
    format!(
        r#"
{drive}
[device.defects]
endurance = 1000
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
"#,
        drive = DriveText::of_60_mib()
    )
}

pub(crate) const WRITES: &str = "read_percent = 0\nrequests = 4000";
pub(crate) const MIXED: &str = "read_percent = 60\nrate_iops = 2000\nduration = \"4s\"";

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
