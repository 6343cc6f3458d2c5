//! Do tables over time add up to the figures of the whole run, and do their last rows show the drive as it is?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_decisions::SuperblockState;
use outlast_engine::Scenario;
use outlast_ftl::Ftl;
use outlast_units::{Lpn, SuperblockId};
use proptest::prelude::*;
use support::{DriveText, Run, assert_close, run, scenario};

/// 8 dies on 4 channels that collect, `more` settings of the controller; windows of `window`.
fn drive(more: &str, window: &str, utilisation: bool) -> Scenario {
    scenario(&format!(
        r#"
{drive}
[workload.synthetic]
read_percent = 40
queue_depth = 8
duration = "800ms"
[run]
warm_up = "100ms"
window = "{window}"
utilisation = {utilisation}
"#,
        drive = DriveText::channels(4)
            .dies(2)
            .planes(2)
            .blocks(32, 16, "4KiB")
            .spare(0.4)
            .buffer("512KiB")
            .controller(more)
    ))
}

const PROCESSORS: &str = r#"
link = "50MB/s"
master_cost = "3us"
read_cost = "2us"
write_cost = "4us"
flash_cores = 2
"#;

/// The rows of `table` of which column `part` is `number`: lengths of spans in seconds, and shares.
fn rows(run: &Run, table: &str, part: &str, number: u64) -> Vec<(f64, f64)> {
    let table = run.table(table);
    let spans = table.f64("start_s").iter().zip(table.f64("end_s")).map(|(start, end)| end - start);
    let each = spans.zip(table.f64("busy")).zip(table.u64(part));
    each.filter(|(_, part)| **part == number).map(|((span, &busy), _)| (span, busy)).collect()
}

fn sum(rows: &[(f64, f64)]) -> f64 {
    rows.iter().map(|(span, busy)| span * busy).sum()
}

#[track_caller]
fn adds_up(run: &Run) {
    let summary = run.summary();
    let span = summary.time.simulated_s;
    let dies: Vec<f64> = (0..8).map(|die| sum(&rows(run, "dies_over_time", "die", die)) / span).collect();
    let figures = &summary.queue.die_utilisation;
    assert_close("mean of dies", dies.iter().sum::<f64>() / 8.0, figures.mean, 1e-9);
    assert_close("busiest die", dies.iter().copied().fold(0.0, f64::max), figures.max, 1e-9);
    assert_close("idlest die", dies.iter().copied().fold(1.0, f64::min), figures.min, 1e-9);
    for (channel, &figure) in (0u64..).zip(&summary.queue.channel_utilisation) {
        let channel_rows = rows(run, "channels_over_time", "channel", channel);
        assert_close("channel", sum(&channel_rows) / span, figure, 1e-9);
        assert_close("spans", channel_rows.iter().map(|(span, _)| span).sum(), span, 1e-9);
        assert!(channel_rows.iter().all(|&(_, busy)| (0.0..=1.0 + 1e-9).contains(&busy)));
    }
}

/// An open loop lets the drive go on until the next request comes, beyond what has completed.
#[test]
fn spans_of_an_open_loop_add_up_too() {
    let mut scenario = drive(PROCESSORS, "2ms", true);
    let synthetic = scenario.workload.synthetic.as_mut().unwrap();
    (synthetic.queue_depth, synthetic.rate_iops) = (None, Some(700.0));
    let run = run(scenario);
    adds_up(&run);
    let (table, controller) =
        (run.table("controller_over_time"), run.summary().queue.controller.as_ref().unwrap());
    let spans = table.f64("start_s").iter().zip(table.f64("end_s")).map(|(start, end)| end - start);
    let names = match &table.columns.iter().find(|(name, _)| name == "part").unwrap().1 {
        outlast_engine::ResultColumn::Text(names) => names,
        other => panic!("{other:?}"),
    };
    let all: Vec<_> = spans.zip(table.f64("busy")).zip(names).collect();
    for (part, figure) in [
        ("link_in", controller.link_in.unwrap()),
        ("link_out", controller.link_out.unwrap()),
        ("master", controller.master),
    ] {
        let busy = all.iter().filter(|(_, name)| *name == part).map(|((span, busy), _)| span * **busy);
        assert_close(part, busy.sum::<f64>() / run.summary().time.simulated_s, figure, 1e-9);
    }
    assert!(all.iter().all(|((_, busy), _)| (0.0..=1.0 + 1e-9).contains(*busy)));
}

/// 35 windows, and 7000 that are joined until 512 are left at most.
#[test]
fn spans_add_up_to_the_run_however_often_they_were_joined() {
    for (window, least, most) in [("20ms", 30, 40), ("100us", 256, 513)] {
        let run = run(drive("", window, true));
        adds_up(&run);
        let spans = rows(&run, "dies_over_time", "die", 0).len();
        assert!((least..=most).contains(&spans), "{spans} spans of {window}");
    }
}

/// The last moment of the map is the drive as it is, and a long run has no more moments than a short one may have.
#[test]
fn the_map_of_superblocks_is_bounded_and_ends_with_the_drive_as_it_is() {
    for window in ["20ms", "100us"] {
        let run = run(drive("", window, true));
        let table = run.table("superblocks_over_time");
        let (at, cells) = (table.f64("at_s"), table.u64("cell"));
        let moments = cells.iter().filter(|&&cell| cell == 0).count();
        assert!((20..=64).contains(&moments), "{moments} moments of {window}");
        let map = run.simulation.ssd().superblock_map(256);
        let each = map.states.len();
        assert!(each <= 256 && cells.len() == moments * each, "{} rows", cells.len());
        let first = cells.len() - each;
        assert!(
            at[first..].iter().all(|time| time.total_cmp(&at[cells.len() - 1]).is_eq()) && at[0] < at[first]
        );
        let valid: Vec<f64> = map.valid.iter().map(|&share| f64::from(share) / 100.0).collect();
        assert_eq!(&table.f64("valid")[first..], &valid);
        assert!(valid.iter().any(|&share| share > 0.0 && share < 1.0));
    }
}

#[test]
fn utilisation_is_absent_unless_asked_for_and_changes_no_other_result() {
    let (off, on) = (run(drive(PROCESSORS, "20ms", false)), run(drive(PROCESSORS, "20ms", true)));
    let tables = |run: &Run| run.result.tables.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let more = [
        "dies_over_time",
        "channels_over_time",
        "controller_over_time",
        "valid_over_time",
        "cycles_over_time",
        "superblocks_over_time",
        "victims",
    ];
    assert!(more.iter().all(|name| tables(&on).iter().any(|table| table == name)));
    assert!(!more.iter().any(|name| tables(&off).iter().any(|table| table == name)));
    for (name, table) in &off.result.tables {
        // Not equal to itself where a window has no figure.
        assert_eq!(format!("{table:?}"), format!("{:?}", on.table(name)), "{name}");
    }
    let text = |run: &Run| {
        let summary = run.summary();
        let queue = outlast_engine::LoadFigures { controller: None, ..summary.queue.clone() };
        format!("{:?} {queue:?} {:?} {:?}", summary.latency_us, summary.flash, summary.wear)
    };
    assert_eq!(text(&off), text(&on));
    assert!(off.summary().queue.controller.is_none());
}

/// Each part is busy for as long as what it did takes; beside that, the work that was under way at the start and the end.
#[test]
fn the_controller_is_busy_for_the_time_of_its_work() {
    let run = run(drive(PROCESSORS, "20ms", true));
    let summary = run.summary();
    let (host, span) = (&summary.host, summary.time.simulated_s);
    let controller = summary.queue.controller.as_ref().unwrap();
    let commands = (host.reads + host.writes) as f64;
    // As many as are in flight, either way.
    let chance = 8.0 / commands.min(host.reads as f64).min(host.writes as f64) * 2.0;
    assert_close("master", controller.master, 3e-6 * commands / span, chance);
    let units = (host.reads as f64 * 1e-6 + host.writes as f64 * 2e-6) / span;
    assert_close("cores", controller.cores.iter().sum::<f64>() / 2.0, units, chance);
    assert_close("link in", controller.link_in.unwrap(), host.bytes_written as f64 / 50e6 / span, chance);
    assert_close("link out", controller.link_out.unwrap(), host.bytes_read as f64 / 50e6 / span, chance);
    let table = run.table("controller_over_time");
    assert!(table.f64("busy").iter().all(|busy| (0.0..=1.0 + 1e-9).contains(busy)));
}

/// Filled superblocks by valid share, counted from the mapping alone.
fn recounted(ftl: &Ftl, steps: &mut [u64]) {
    let layout = ftl.layout();
    let mut valid = vec![0u64; layout.superblocks() as usize];
    for lpn in (0..layout.logical_units()).map(Lpn) {
        let slot = ftl.lookup(lpn);
        if slot.0 < layout.slots() {
            valid[layout.superblock_of(slot).0 as usize] += 1;
        }
    }
    for superblock in (0..layout.superblocks()).map(SuperblockId) {
        if ftl.superblock(superblock).state() == SuperblockState::Sealed {
            let units = u64::from(layout.units_per_superblock());
            let step = valid[superblock.0 as usize] * steps.len() as u64 / units;
            steps[(step as usize).min(steps.len() - 1)] += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// The last histograms are those of the drive as the run left it, and the victims those that were counted.
    #[test]
    fn the_last_histograms_show_the_drive_as_it_is_left(seed in 0u64..1000, cores in 1u16..3, spare in 0.3f64..0.8) {
        let mut scenario = drive("", "20ms", true);
        scenario.seed = seed;
        scenario.device.controller.flash_cores = cores;
        scenario.device.ftl.over_provisioning = Some(spare);
        let run = run(scenario);
        let mut steps = [0; 20];
        run.simulation.ssd().ftls().for_each(|ftl| recounted(ftl, &mut steps));
        let valid = run.table("valid_over_time");
        let last = valid.u64("superblocks").len() - 20;
        prop_assert_eq!(&valid.u64("superblocks")[last..], &steps);

        let (cycles, wear) = (run.table("cycles_over_time"), run.table("wear"));
        let end = *cycles.f64("at_s").last().unwrap();
        let rows = cycles.f64("at_s").iter().zip(cycles.u64("from")).zip(cycles.u64("to")).zip(cycles.u64("blocks"));
        for (((_, from), to), blocks) in rows.filter(|(((at, _), _), _)| **at >= end) {
            let own = wear.u64("cycles").iter().zip(wear.u64("bad")).filter(|(own, bad)| (from..to).contains(own) && **bad == 0);
            prop_assert_eq!(own.count() as u64, *blocks);
        }

        let (victims, gc) = (run.table("victims"), &run.summary().gc);
        let shares = victims.f64("valid_share");
        prop_assert_eq!(shares.len() as u64, gc.victims);
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        prop_assert!((mean - gc.mean_valid.unwrap()).abs() < 1e-9);
        // What a superblock is older than the whole run, preparation wrote it; none is younger than nothing.
        prop_assert!(victims.f64("age_writes").iter().all(|age| (0.0..100.0).contains(age)));
    }
}
