//! Checks of a run's figures against each other, and against the flash at rest.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::float_cmp, reason = "neighbouring windows share the very same number")]

use crate::support;

use outlast_device::Device;
use outlast_engine::{LatencyFigures, ResultColumn, RunSummary, TimingMode};
use outlast_ftl::{ByProgramCause, ByReadCause, Ftl, ProgramCause};
use outlast_media::BlockAddress;
use outlast_settings::drive::WriteCache;
use outlast_ssd::Ssd;
use outlast_units::{BlockId, Nanos};
use support::{Run, assert_close};

/// The drive some time later, when all that was under way has ended.
pub(super) fn at_rest(ssd: &Ssd, timing: TimingMode) -> Ssd {
    let mut ssd = ssd.clone();
    if timing == TimingMode::None {
        // Collection has a victim that is half moved.
        ssd.begin_timed();
    }
    let mut late = Vec::new();
    ssd.advance(Nanos(u64::MAX - 1), &mut late);
    assert!(late.is_empty(), "a command completed after the run");
    assert!(ssd.is_idle());
    ssd
}

/// Pages of all blocks that are programmed now, looked at one by one.
pub(super) fn pages_on_flash(ssd: &Ssd) -> u64 {
    let geometry = &ssd.config().geometry;
    let mut pages = 0;
    for ftl in ssd.ftls() {
        for die in ftl.layout().local_dies() {
            for plane in 0..geometry.planes_per_die {
                for block in 0..geometry.blocks_per_plane {
                    let at = BlockAddress { die, plane, block: BlockId(block) };
                    pages += u64::from(ftl.space().programmed_rows(ftl.space().blocks().index(at)));
                }
            }
        }
    }
    pages
}

/// Page rows of all blocks that lie on several planes of a die, looked at one by one: blocks of a die with one number are programmed
/// together, unless planes work by themselves.
pub(super) fn rows_over_planes(ssd: &Ssd) -> u64 {
    let geometry = &ssd.config().geometry;
    let mut rows = 0;
    for ftl in ssd.ftls() {
        for die in ftl.layout().local_dies() {
            for block in (0..geometry.blocks_per_plane).map(BlockId) {
                let of = |plane| {
                    ftl.space().programmed_rows(ftl.space().blocks().index(BlockAddress {
                        die,
                        plane,
                        block,
                    }))
                };
                let mut planes: Vec<u32> = (0..geometry.planes_per_die).map(of).collect();
                planes.sort_unstable();
                // Rows that at least two planes have.
                rows += planes.iter().rev().nth(1).map_or(0, |&rows| u64::from(rows));
            }
        }
    }
    rows
}

/// Units in program units that are begun and not full, or held back on purpose: all that an idle drive does not program.
pub(super) fn begun(ssd: &Ssd) -> u64 {
    let of = |ftl: &Ftl| -> u64 {
        let begun = ftl.streams().all().map(|stream| u64::from(ftl.stream(stream).begun_units()));
        begun.sum::<u64>() + u64::from(ftl.held_units())
    };
    ssd.ftls().map(of).sum()
}

/// A drive that was empty at the start, so that nothing was begun before.
pub(super) fn check_flash(run: &Run) {
    let summary = run.summary();
    let ssd = run.simulation.ssd();
    let geometry = &ssd.config().geometry;
    let resting = at_rest(ssd, summary.scenario.run.timing);
    let unit = ssd.config().ftl.mapping_unit.0;
    let page = geometry.page_size.0;

    // Programs, counted where pages are programmed, against units, counted where they are written.
    let (written, counters) = (resting.written(), resting.counters());
    assert_eq!(counters.programs * page, (written.total() - begun(&resting)) * unit, "programs by cause");
    // And against the flash itself: an erased superblock had every page programmed.
    let erased = counters.erases * u64::from(geometry.pages_per_block);
    assert_eq!(counters.programs, pages_on_flash(&resting) + erased, "pages on flash and erased");

    // Operations on several planes, of pages that are there and of those erased.
    let together = geometry.planes_per_die > 1 && ssd.config().ftl.multi_plane;
    let erased_rows = erased / u64::from(geometry.planes_per_die);
    let expected = if together { rows_over_planes(&resting) + erased_rows } else { 0 };
    assert_eq!(counters.multi_plane_programs, expected, "programs of several planes");

    // Erasures: every victim, and no other superblock, loses all its blocks.
    let blocks_per_superblock = geometry.planes() as u64 / u64::from(ssd.config().controller.flash_cores);
    let (victims, valid) = resting.victims();
    assert_eq!(counters.erases % blocks_per_superblock, 0, "a superblock was erased in part");
    let config = &summary.scenario.device;
    let waiting = victims - counters.erases / blocks_per_superblock;
    // Where the buffer is not protected, the last victim of each task may wait until its data is on flash, which an idle
    // drive has no reason to hasten.
    let protected = config.controller.write_cache == WriteCache::Protected;
    let tasks = 1 + u64::from(config.ftl.wear_leveling.static_gap.is_some());
    // So may the one before it, where what the host wrote over its units is held back.
    let each = 1 + u64::from(config.controller.hold_back.0 != 0);
    let most = if protected { 0 } else { each * tasks * u64::from(config.controller.flash_cores) };
    assert!(waiting <= most, "{waiting} victims were never erased");
    let moved = written[ProgramCause::Gc] + written[ProgramCause::WearLeveling];
    // Units that the host overwrote or trimmed while their victim was moved are in `valid` and were not moved.
    assert!(valid >= moved, "more units moved than the victims held");

    // The summary says what the drive counted when the run ended.
    let by_cause = &summary.flash.by_cause;
    let pages = |units: u64| units as f64 * (unit as f64 / page as f64);
    assert_eq!(by_cause.programs, ssd.written().map(pages), "programs by cause");
    assert_eq!(by_cause.reads, ssd.counters().reads, "reads by cause");
    assert_eq!(summary.flash.reads, by_cause.reads.iter().map(|(_, pages)| pages).sum::<u64>());
    assert_eq!(summary.gc.victims, ssd.victims().0);
    check_amplification(summary);
}

/// `total` = 1 + all causes = bytes programmed (or about to be) over bytes written.
pub(super) fn check_amplification(summary: &RunSummary) {
    let waf = summary.write_amplification.as_ref().expect("something was written");
    assert_close(
        "total",
        waf.total,
        1.0 + waf.causes.total() - waf.causes[ProgramCause::Host] + waf.partial_write + waf.coalesced,
        1e-12,
    );
    let pages = summary.flash.by_cause.programs.total();
    let page = summary.scenario.device.geometry.page_size.0 as f64;
    // The drive counts bytes as they enter the buffer, the host as commands complete: after a warm-up up to the commands
    // then in flight, 16 of 64 KiB, may be counted by one and not by the other.
    let bytes = summary.host.bytes_written as f64;
    let cut = if summary.time.warm_up_s > 0.0 { 16.0 * 65536.0 / bytes } else { 0.0 };
    assert_close("total", waf.total, pages * page / bytes, 1e-12 + cut);
}

/// Every command asked for came back, and every table adds up to the totals.
pub(super) fn check_tables(run: &Run, requests: u64) {
    let summary = run.summary();
    let host = &summary.host;
    assert_eq!(host.reads + host.writes + host.trims + host.flushes, requests, "commands lost or made up");
    assert_eq!(host.errors, 0);
    assert!(!summary.partial);

    let series = run.table("timeseries");
    let sum = |name: &str| series.u64(name).iter().sum::<u64>();
    let by_cause = &summary.flash.by_cause;
    for (name, total) in [
        ("reads", host.reads),
        ("writes", host.writes),
        ("trims", host.trims),
        ("flushes", host.flushes),
        ("errors", host.errors),
        ("flash_reads", summary.flash.reads),
        ("flash_programs", summary.flash.programs),
        ("flash_erases", summary.flash.erases),
    ] {
        assert_eq!(sum(name), total, "{name}");
    }
    let unit = summary.device.mapping_unit as f64 / summary.scenario.device.geometry.page_size.0 as f64;
    let units = ByProgramCause::of(|cause| sum(&format!("{}_units", cause.name())));
    assert_eq!(units.map(|units| units as f64 * unit), by_cause.programs, "programs by cause");
    assert_eq!(ByReadCause::of(|cause| sum(cause.name())), by_cause.reads, "reads by cause");
    let bytes = (sum("programmed_bytes"), sum("host_write_bytes"));
    assert_eq!(bytes.0, units.total() * summary.device.mapping_unit);
    let total = summary.write_amplification.as_ref().map(|waf| waf.total);
    assert_eq!(total, (bytes.1 != 0).then(|| bytes.0 as f64 / bytes.1 as f64), "write amplification");
    let mib = |name: &str| series.f64(name).iter().sum::<f64>();
    assert_close("read_mib", mib("read_mib") + 1.0, host.bytes_read as f64 / 1_048_576.0 + 1.0, 1e-9);
    assert_close("write_mib", mib("write_mib") + 1.0, host.bytes_written as f64 / 1_048_576.0 + 1.0, 1e-9);
    if summary.scenario.run.timing == outlast_engine::TimingMode::Full {
        check_time(run);
    }
    check_latencies(run);
}

/// The windows follow each other without a gap from the first moment to the last.
pub(super) fn check_time(run: &Run) {
    let summary = run.summary();
    let series = run.table("timeseries");
    let (start, end) = (series.f64("start_s"), series.f64("end_s"));
    assert!(start.len() <= 10_000, "{} windows", start.len());
    assert!((start[0] - summary.time.warm_up_s).abs() < 1e-9);
    assert!(end.iter().zip(&start[1..]).all(|(end, next)| end == next), "a gap between windows");
    assert!(start.iter().zip(end).all(|(start, end)| start < end), "an empty window");
    let last = summary.time.warm_up_s + summary.time.simulated_s;
    assert!((end[end.len() - 1] - last).abs() < 1e-9, "{} against {last}", end[end.len() - 1]);
    // Little's L again, from the windows.
    let area: f64 =
        series.f64("in_flight_mean").iter().zip(start.iter().zip(end)).map(|(l, (s, e))| l * (e - s)).sum();
    assert_close("in flight", area / summary.time.simulated_s, summary.queue.mean_in_flight, 1e-6);
}

pub(super) fn check_latencies(run: &Run) {
    let summary = run.summary();
    let table = run.table("latency");
    let text = |name: &str| match table.columns.iter().find(|(column, _)| column == name) {
        Some((_, ResultColumn::Text(values))) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (ops, streams) = (text("op"), text("stream"));
    let (counts, quantiles, values) = (table.u64("count"), table.f64("quantile"), table.f64("latency_us"));
    let latency = &summary.latency_us;
    let check = |op: &str, stream: &str, expected: Option<&LatencyFigures>| {
        let rows: Vec<usize> =
            (0..ops.len()).filter(|&row| ops[row] == op && streams[row] == stream).collect();
        let counted: u64 = rows.iter().map(|&row| counts[row]).sum();
        assert_eq!(counted, expected.map_or(0, |latency| latency.count), "{op}, stream {stream}");
        assert!(rows.windows(2).all(|w| values[w[0]] < values[w[1]] && quantiles[w[0]] < quantiles[w[1]]));
        assert_eq!(rows.last().map(|&row| quantiles[row]), expected.map(|_| 1.0));
        if let Some(expected) = expected {
            let ordered = [
                expected.min,
                expected.p50,
                expected.p90,
                expected.p95,
                expected.p99,
                expected.p99_9,
                expected.p99_99,
            ];
            assert!(ordered.is_sorted() && expected.p99_99 <= expected.max * 1.001, "{expected:?}");
            // Each row's value is the upper end of a bucket of three digits.
            let sum: f64 = rows.iter().map(|&row| values[row] * counts[row] as f64).sum();
            assert_close("mean", sum / counted as f64 + 1e-9, expected.mean + 1e-9, 1e-3);
        }
    };
    check("read", "all", latency.read.as_ref());
    check("write", "all", latency.write.as_ref());
    check("trim", "all", latency.trim.as_ref());
    check("flush", "all", latency.flush.as_ref());
    for stream in &latency.by_stream {
        check("read", &stream.stream.to_string(), stream.read.as_ref());
        check("write", &stream.stream.to_string(), stream.write.as_ref());
    }
    if summary.scenario.run.timing == outlast_engine::TimingMode::None {
        // There are no latencies, or they are all zero.
        return;
    }
    let host = &summary.host;
    let count = |op: &Option<LatencyFigures>| op.as_ref().map_or(0, |latency| latency.count);
    assert_eq!(
        [host.reads, host.writes, host.trims, host.flushes],
        [count(&latency.read), count(&latency.write), count(&latency.trim), count(&latency.flush)]
    );
}
