//! Do figures of arrays that fail or wear out follow their closed forms: rebuild, risk of data loss, replacement, latency by state?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::arrays::{MIXED, array, text};
use crate::support;

use outlast_array::ArrayHealth;
use outlast_engine::{RebuildLimit, Simulation, parse_text};
use support::{assert_close, run, scenario};

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

/// Of the copies of a mirror all but the first were taken for parity, and a summary called them uneven.
#[test]
fn members_have_a_share_of_parity_only_where_there_is_parity() {
    let shares = |level: &str| -> Vec<Option<f64>> {
        let run = run(array(&format!("level = \"{level}\"\nmembers = 4"), "requests = 10"));
        run.summary().array.as_ref().unwrap().wear.iter().map(|member| member.parity_percent).collect()
    };
    for level in ["raid0", "raid1", "raid10"] {
        assert_eq!(shares(level), [None; 4], "{level}");
    }
    assert_eq!(shares("raid4"), [0.0, 0.0, 0.0, 100.0].map(Some));
    assert_eq!(shares("raid5"), [Some(25.0); 4]);
}
