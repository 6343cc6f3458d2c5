//! Summing up: from what was recorded to `result.json` and the tables.

use crate::array_report::array_summary;
use crate::drives::Drives;
use crate::histogram::{ByOp, OPS};
use crate::member::Member;
use crate::precondition::Prepared;
use crate::recorder::Recorder;
use crate::repair_report::{self, RepairSummary};
use crate::scenario::{Overwrite, Scenario};
use crate::steady::is_steady;
use crate::summary::{
    ClosedForm, DeviceFacts, Flash, FlashByCause, Gc, Host, Latency, LatencyByOp, LittlesLaw, MeasuredState,
    Memory, PreconditionState, Queue, SCHEMA, Spread, SteadyState, StreamLatency, Summary, Throughput, Time,
    Wear, WriteAmplification,
};
use crate::table::{Column, Table};
use crate::window::Window;
use outlast_device::{Device, Op};
use outlast_ftl::VictimPolicy;
use outlast_models::{bandwidth, write_amplification};
use outlast_ssd::Ssd;
use outlast_units::Bytes;
use outlast_units::Nanos;
use outlast_workload::{Pacing, Pattern, Workload};

/// Blocks of a drive up to which the wear table is made.
const WEAR_ROWS: usize = 4_000_000;
/// SNIA PTS: range and slope excursion over five rounds.
const STEADY_RANGE: f64 = 0.2;
const STEADY_EXCURSION: f64 = 0.1;
const STEADY_ROUNDS: usize = 5;
/// Completions below which five rounds say nothing.
const STEADY_COMMANDS: u64 = 1_000;

/// Everything that a summary is made of.
pub(crate) struct Facts<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) ssd: &'a Drives<'a>,
    pub(crate) workload: &'a Workload,
    pub(crate) recorder: &'a Recorder,
    pub(crate) prepared: &'a Prepared,
    /// What the twin without errors found.
    pub(crate) twin: Option<&'a Summary>,
    /// Whether the run ended within its warm-up.
    pub(crate) warming: bool,
    pub(crate) partial: bool,
    pub(crate) run_cpu_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
}

pub(crate) fn summarise(facts: &Facts<'_>) -> Summary {
    let device = device_facts(facts.ssd);
    Summary {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        name: facts.scenario.name.clone(),
        seed: facts.scenario.seed,
        partial: facts.partial,
        notes: notes(facts),
        host: host(facts),
        time: time(facts),
        throughput: throughput(facts),
        latency_us: latency(facts.recorder),
        write_amplification: amplification(facts.ssd),
        flash: flash(facts.ssd),
        gc: gc(facts.ssd),
        reliability: crate::reliability::reliability(facts),
        protection: crate::reliability::protection(facts),
        array: facts.ssd.array.map(|volume| array_summary(facts, volume)),
        repair: repairs(facts),
        wear: wear(facts.ssd),
        smart: facts.ssd.smart(),
        queue: queue(facts),
        steady_state: SteadyState {
            precondition: precondition_state(facts.prepared),
            measured: measured_state(facts),
        },
        closed_form: closed_form(facts, device.effective_spare_factor),
        memory: Memory {
            mapping_bytes_per_unit: facts.ssd.table_bytes() as f64 / facts.ssd.units() as f64,
            peak_rss_mib: None,
        },
        device,
        scenario: facts.scenario.clone(),
    }
}

fn notes(facts: &Facts<'_>) -> Vec<String> {
    let mut notes = facts.workload.notes.clone();
    notes.extend(facts.prepared.note.clone());
    if facts.prepared.steady == Some(false) {
        let last = facts.prepared.rounds.last().map_or(0.0, |&(at, _)| at);
        notes.push(format!(
            "Preconditioning gave up after {last:.1} drive writes without a steady write amplification."
        ));
    }
    let unmapped = facts.ssd.counters().unmapped_reads;
    if unmapped != 0 {
        notes.push(format!("{unmapped} mapping units read had never been written and cost no flash read."));
    }
    notes.extend(crate::reliability::notes(facts));
    notes.extend(facts.ssd.array.iter().flat_map(|volume| crate::array_report::notes(facts, volume)));
    if facts.warming {
        let warm_up = facts.scenario.run.warm_up;
        notes.push(format!(
            "The run ended within its warm-up of {warm_up}: what is shown is the warm-up itself."
        ));
    }
    if facts.partial {
        notes.push(
            "The run was stopped before its end; everything here is of the part that was run.".to_owned(),
        );
    }
    notes
}

fn host(facts: &Facts<'_>) -> Host {
    let completed = &facts.recorder.completed;
    let counters = facts.ssd.counters();
    let count = |op: Op| completed.commands[op as usize];
    let bytes = |op: Op| completed.bytes[op as usize];
    Host {
        reads: count(Op::Read),
        writes: count(Op::Write),
        trims: count(Op::Trim),
        flushes: count(Op::Flush),
        bytes_read: bytes(Op::Read),
        bytes_written: bytes(Op::Write),
        bytes_trimmed: bytes(Op::Trim),
        errors: completed.errors,
        unmapped_reads: counters.unmapped_reads,
        buffer_hits: counters.buffer_hits,
        partial_writes: counters.partial_writes,
        jobs: facts.recorder.jobs.figures(facts.workload.lanes.as_ref(), facts.recorder.end),
    }
}

fn time(facts: &Facts<'_>) -> Time {
    Time {
        simulated_s: facts.recorder.span().as_secs_f64(),
        warm_up_s: facts.recorder.start.as_secs_f64(),
        wall_s: facts.wall_s,
        cpu_s: facts.cpu_s,
        precondition_cpu_s: facts.prepared.cpu_s,
        precondition_wall_s: facts.prepared.wall_s,
    }
}

/// `value` per `span`, and zero where there was no span.
fn per(value: f64, span: f64) -> f64 {
    if span > 0.0 { value / span } else { 0.0 }
}

fn throughput(facts: &Facts<'_>) -> Throughput {
    let span = facts.recorder.span().as_secs_f64();
    let completed = &facts.recorder.completed;
    let rate = |op: Op| per(completed.commands[op as usize] as f64, span);
    let mib = |op: Op| per(Bytes(completed.bytes[op as usize]).as_mib(), span);
    Throughput {
        iops: per(completed.total() as f64, span),
        read_iops: rate(Op::Read),
        write_iops: rate(Op::Write),
        read_mib_s: mib(Op::Read),
        write_mib_s: mib(Op::Write),
        requests_per_cpu_s: per(completed.total() as f64, facts.run_cpu_s),
    }
}

fn streams(recorder: &Recorder) -> Vec<(u8, ByOp)> {
    if recorder.by_stream.is_empty() {
        return Vec::new();
    }
    let zero = recorder.by_stream.iter().fold(recorder.latency.clone(), |rest, (_, part)| rest.without(part));
    let mut streams = vec![(0, zero)];
    streams.extend(recorder.by_stream.iter().cloned());
    streams.sort_by_key(|&(stream, _)| stream);
    streams
}

fn latency(recorder: &Recorder) -> LatencyByOp {
    let of = |op: Op| Latency::of(recorder.latency.of(op));
    LatencyByOp {
        read: of(Op::Read),
        write: of(Op::Write),
        trim: of(Op::Trim),
        flush: of(Op::Flush),
        by_stream: streams(recorder)
            .iter()
            .map(|(stream, by_op)| StreamLatency {
                stream: *stream,
                read: Latency::of(by_op.of(Op::Read)),
                write: Latency::of(by_op.of(Op::Write)),
            })
            .collect(),
    }
}

fn amplification(ssd: &Drives<'_>) -> Option<WriteAmplification> {
    let written = ssd.written();
    let counters = ssd.counters();
    let unit = ssd.config().ftl.mapping_unit.0 as f64;
    let host_bytes = ssd.host_bytes();
    if host_bytes == 0 {
        return None;
    }
    let host = host_bytes as f64;
    let array = counters.host_bytes_written as f64 / host - 1.0;
    let share = |units: u64| units as f64 * unit / host;
    Some(WriteAmplification {
        total: share(written.total()),
        parity: share(written.parity()),
        reencode: share(written.reencode),
        migrated: share(written.migrated),
        lists: share(written.lists),
        by_core: by_core(ssd),
        partial_parity: share(written.partial_parity),
        gc: share(written.gc),
        padding: share(written.padding),
        wear_leveling: share(written.wear_leveling),
        scrub: share(written.scrub),
        rewritten: share(written.rewritten),
        host_parity: share(written.host_parity),
        gc_parity: share(written.gc_parity),
        wear_leveling_parity: share(written.wear_leveling_parity),
        scrub_parity: share(written.scrub_parity),
        partial_write: share(written.host) - 1.0 - array,
        array,
    })
}

/// Of a drive by itself with several flash cores.
fn by_core(ssd: &Drives<'_>) -> Vec<f64> {
    if ssd.array.is_some() || ssd.config().controller.flash_cores == 1 {
        return Vec::new();
    }
    ssd.first().write_amplification_by_core()
}

fn flash(ssd: &Drives<'_>) -> Flash {
    let counters = ssd.counters();
    let written = ssd.written();
    let config = ssd.config();
    let pages =
        |units: u64| units as f64 * config.ftl.mapping_unit.0 as f64 / config.geometry.page_size.0 as f64;
    let planes = if config.ftl.multi_plane { u64::from(config.geometry.planes_per_die) } else { 1 };
    Flash {
        reads: counters.reads(),
        programs: counters.programs,
        erases: counters.erases,
        multi_plane_programs: if planes > 1 { counters.programs / planes } else { 0 },
        suspends: counters.suspends,
        by_cause: FlashByCause {
            host_reads: counters.host_reads,
            rmw_reads: counters.rmw_reads,
            gc_reads: counters.gc_reads,
            wear_leveling_reads: counters.wear_leveling_reads,
            scrub_reads: counters.scrub_reads,
            patrol_reads: counters.patrol_reads,
            rereads: counters.rereads,
            stripe_reads: counters.stripe_reads,
            host_programs: pages(written.host),
            gc_programs: pages(written.gc),
            padding_programs: pages(written.padding),
            wear_leveling_programs: pages(written.wear_leveling),
            scrub_programs: pages(written.scrub),
            rewritten_programs: pages(written.rewritten),
            reencode_programs: pages(written.reencode),
            migrated_programs: pages(written.migrated),
            lists_programs: pages(written.lists),
            parity_programs: pages(written.parity()),
            partial_parity_programs: pages(written.partial_parity),
        },
    }
}

fn gc(ssd: &Drives<'_>) -> Gc {
    let (victims, units) = ssd.victims();
    let per_superblock = ssd.ftls().next().map_or(0, |ftl| ftl.layout().units_per_superblock());
    Gc {
        victims,
        mean_valid: (victims != 0).then(|| units as f64 / (victims as f64 * f64::from(per_superblock))),
        blocked_s: ssd.counters().blocked_ns as f64 * 1e-9,
    }
}

fn wear(ssd: &Drives<'_>) -> Wear {
    let cores = ssd.ftls().count() as f64;
    Wear {
        mean_pe: ssd.ftls().map(|ftl| ftl.blocks().mean_cycles()).sum::<f64>() / cores,
        max_pe: ssd.ftls().map(|ftl| ftl.blocks().max_cycles()).max().unwrap_or(0),
        min_pe: ssd.ftls().map(|ftl| ftl.cycle_range().0).min().unwrap_or(0),
        bad_blocks: ssd.ftls().map(|ftl| ftl.blocks().bad_blocks()).sum(),
        spare_blocks_left: ssd.ftls().map(outlast_ftl::Ftl::spare_blocks_left).sum(),
    }
}

fn queue(facts: &Facts<'_>) -> Queue {
    let recorder = facts.recorder;
    let span = recorder.span();
    let l = per(recorder.in_flight.area_until(recorder.end) as f64, span.0 as f64);
    let lambda_w = per(recorder.latency_sum as f64, span.0 as f64);
    let dies = facts.ssd.die_utilisation(recorder.end, span);
    let mean = dies.iter().sum::<f64>() / dies.len() as f64;
    Queue {
        mean_in_flight: l,
        max_in_flight: recorder.in_flight.most,
        littles_law: LittlesLaw { l, lambda_w, relative_error: per((l - lambda_w).abs(), l) },
        channel_utilisation: facts.ssd.channel_utilisation(span),
        die_utilisation: Spread {
            mean,
            min: dies.iter().copied().fold(f64::INFINITY, f64::min),
            max: dies.iter().copied().fold(0.0, f64::max),
        },
        host_queue_depth: match facts.workload.pacing {
            Pacing::Closed { queue_depth } | Pacing::Lanes { queue_depth, held: false } => Some(queue_depth),
            Pacing::Open | Pacing::Lanes { held: true, .. } => None,
        },
    }
}

fn precondition_state(prepared: &Prepared) -> PreconditionState {
    PreconditionState {
        reached: prepared.steady,
        drive_writes: prepared.rounds.last().map_or(0.0, |&(at, _)| at),
        write_amplification: prepared.rounds.last().map(|&(_, amplification)| amplification),
        rounds: prepared.rounds.len() as u64,
    }
}

/// The measured time cut into five rounds of equal length: completions per second in a closed loop, mean latency in an open
/// one (where the rate is the workload's, not the drive's).
fn measured_state(facts: &Facts<'_>) -> MeasuredState {
    let windows = facts.recorder.windows.closed();
    let span = facts.recorder.span();
    let unknown = |why: &str| MeasuredState { reached: None, why: why.to_owned() };
    if facts.recorder.completed.total() < STEADY_COMMANDS || span.0 == 0 {
        return unknown("too few commands to tell");
    }
    let mut rounds = [(0.0, 0.0, 0.0); STEADY_ROUNDS];
    for window in windows {
        let middle = window.end_minus_half() - facts.recorder.start;
        let round = (middle.0 as f64 / span.0 as f64 * STEADY_ROUNDS as f64) as usize;
        let round = &mut rounds[round.min(STEADY_ROUNDS - 1)];
        round.0 += window.total() as f64;
        round.1 += window.span().as_secs_f64();
        round.2 += window.latency_sum();
    }
    if windows.len() < 4 * STEADY_ROUNDS || rounds.iter().any(|round| round.0 == 0.0) {
        return unknown("too few windows to tell");
    }
    let closed = matches!(facts.workload.pacing, Pacing::Closed { .. } | Pacing::Lanes { held: false, .. });
    let values =
        rounds.map(|(count, seconds, latency)| if closed { count / seconds } else { latency / count });
    let what = if closed { "completions per second" } else { "mean latency" };
    MeasuredState {
        reached: Some(is_steady(&values, STEADY_RANGE, STEADY_EXCURSION)),
        why: format!(
            "{what} over five equal rounds: range within 20 %, linear trend within 10 % of the mean (SNIA PTS)"
        ),
    }
}

fn device_facts(ssd: &Drives<'_>) -> DeviceFacts {
    let identity = ssd.identify();
    let config = ssd.config();
    let drive = ssd.first();
    let raw = config.geometry.raw_capacity().0 as f64;
    let user = drive.identify().capacity.0 as f64;
    let unit = config.ftl.mapping_unit.0 as f64;
    // Held back: free superblocks; open ones are on average half empty.
    let usable: f64 = drive
        .ftls()
        .map(|ftl| {
            let lost = f64::from(ftl.reserve()) + 0.5 * f64::from(ftl.streams());
            (f64::from(ftl.layout().superblocks()) - lost)
                * f64::from(ftl.data_units(ftl.gc_stream(0)))
                * unit
        })
        .sum();
    DeviceFacts {
        model: identity.model,
        capacity_bytes: identity.capacity.0,
        raw_bytes: ssd.raw_bytes(),
        mapping_unit: config.ftl.mapping_unit.0,
        units: ssd.units(),
        superblocks: ssd.ftls().map(|ftl| u64::from(ftl.layout().superblocks())).sum(),
        units_per_superblock: ssd
            .ftls()
            .next()
            .map_or(0, |ftl| u64::from(ftl.layout().units_per_superblock())),
        spare_factor: (raw - user) / user,
        effective_spare_factor: (usable - user) / user,
    }
}

fn closed_form(facts: &Facts<'_>, spare: f64) -> ClosedForm {
    let config = facts.ssd.config();
    let policy = facts.ssd.ftls().next().map(outlast_ftl::Ftl::victim_policy);
    let waf = match policy {
        Some(VictimPolicy::Greedy) => write_amplification::greedy(spare).ok(),
        Some(VictimPolicy::Fifo) => write_amplification::fifo(spare).ok(),
        _ => None,
    };
    let filled = facts.scenario.precondition.fill_fraction >= 1.0;
    let prepared_randomly =
        facts.ssd.array.is_none() && facts.scenario.precondition.overwrite == Overwrite::Random && filled;
    let not_comparable = why_not_uniform(facts);
    let note = match (&not_comparable, waf) {
        (_, None) => "There is no closed form for this victim policy.".to_owned(),
        (Some(why), _) => format!("The closed form holds for uniform random writes; here {why}."),
        (None, Some(_)) => "Uniform random writes over the whole capacity: the closed form holds.".to_owned(),
    };
    let timing = &config.timing;
    let flash = bandwidth::Flash {
        channels: f64::from(config.geometry.channels),
        dies: f64::from(config.geometry.dies()),
        planes: if config.ftl.multi_plane { f64::from(config.geometry.planes_per_die) } else { 1.0 },
        page_bytes: config.geometry.page_size.0 as f64,
        spare_bytes: config.geometry.spare_per_page.0 as f64,
        read_s: timing.read.mean_ns() * 1e-9,
        program_s: timing.program.mean_ns() * 1e-9,
        command_s: timing.command.as_secs_f64(),
        bus_bytes_per_s: timing.bus.bytes_per_s() as f64,
    };
    let link = config.controller.link.map(|link| link.bytes_per_s() as f64);
    let mib = |limits: Result<bandwidth::Limits, _>| {
        limits.map_or(0.0, |limits| limits.bytes_per_s() / f64::from(1 << 20))
    };
    ClosedForm {
        greedy_waf: waf.filter(|_| not_comparable.is_none()),
        precondition_waf: waf.filter(|_| prepared_randomly),
        spare_factor: spare,
        sequential_read_mib_s: mib(flash.sequential_read(link)),
        sequential_write_mib_s: mib(flash.sequential_write(link)),
        note,
    }
}

/// Why the workload is not uniform random writing of whole mapping units over the whole capacity, if it is not.
fn why_not_uniform(facts: &Facts<'_>) -> Option<&'static str> {
    if facts.ssd.array.is_some() {
        return Some("an array adds writes of its own");
    }
    let Some(synthetic) = &facts.scenario.workload.synthetic else {
        return Some("the workload is recorded or a fio job");
    };
    if synthetic.pattern.unwrap_or_default() != Pattern::Uniform || !synthetic.phases.is_empty() {
        return Some("the workload is skewed, sequential or has phases");
    }
    let counters = facts.ssd.counters();
    let written = facts.ssd.written();
    if written.migrated + written.lists != 0 {
        return Some("flash cores take over each other's data, or lists of it take space");
    }
    if written.scrub + written.rewritten + written.reencode + written.partial_parity != 0 {
        return Some("scrubbing moves data, or failed programs are repeated");
    }
    if facts
        .ssd
        .config()
        .protection
        .as_ref()
        .is_some_and(|p| p.streams != outlast_ftl::ProtectedStreams::All || p.classes.len() > 1)
    {
        return Some("some superblocks hold parity and some do not");
    }
    if counters.partial_writes != 0 {
        return Some("some writes cover mapping units only in part");
    }
    if facts.recorder.completed.commands[Op::Trim as usize] != 0 {
        return Some("some space is trimmed");
    }
    if written.host == 0 {
        return Some("nothing is written");
    }
    let whole = facts.workload.footprint.as_ref().is_none_or(|range| {
        let sectors = facts.ssd.units() * u64::from(facts.ssd.sectors_per_unit());
        // An alignment may leave a rest of less than a unit at the end.
        range.start.0 == 0 && range.end.0 * 100 >= sectors * 99
    });
    if !whole {
        return Some("the workload covers a part of the capacity");
    }
    if facts.recorder.completed.bytes[Op::Write as usize]
        > facts.recorder.completed.commands[Op::Write as usize] * 2 * facts.ssd.config().ftl.mapping_unit.0
    {
        return Some("writes span many mapping units");
    }
    None
}

pub(crate) fn precondition_table(prepared: &Prepared) -> Table {
    let mut table = Table::default();
    table.counts("round", 1..=prepared.rounds.len() as u64);
    table.measures("drive_writes", prepared.rounds.iter().map(|&(at, _)| at));
    table.measures("write_amplification", prepared.rounds.iter().map(|&(_, amplification)| amplification));
    table
}

/// Cumulative distributions: one row for each latency that occurred, at the histogram's resolution.
pub(crate) fn latency_table(recorder: &Recorder) -> Table {
    let (mut ops, mut names, mut latencies, mut quantiles, mut counts) =
        (vec![], vec![], vec![], vec![], vec![]);
    let mut add = |name: &str, by_op: &ByOp| {
        for op in OPS {
            let histogram = by_op.of(op);
            let mut below = 0;
            for step in histogram.iter_recorded() {
                below += step.count_at_value();
                ops.push(format!("{op:?}").to_lowercase());
                names.push(name.to_owned());
                latencies.push(step.value_iterated_to() as f64 * 1e-3);
                quantiles.push(below as f64 / histogram.len() as f64);
                counts.push(step.count_at_value());
            }
        }
    };
    add("all", &recorder.latency);
    for (stream, by_op) in streams(recorder) {
        add(&stream.to_string(), &by_op);
    }
    let mut table = Table::default();
    table.push("op", Column::Text(ops));
    table.push("stream", Column::Text(names));
    table.push("latency_us", Column::F64(latencies));
    table.push("quantile", Column::F64(quantiles));
    table.push("count", Column::U64(counts));
    table
}

/// One row for each block; `None` for a drive with more than so many that nobody could look at them.
pub(crate) fn wear_table(drives: &Drives<'_>) -> Option<Table> {
    let rows = |ssd: &Ssd| ssd.config().geometry.planes() * ssd.config().geometry.blocks_per_plane as usize;
    if drives.all().iter().map(|ssd| rows(ssd)).sum::<usize>() > WEAR_ROWS {
        return None;
    }
    let mut columns: [Vec<u64>; 8] = Default::default();
    match drives.array {
        None => wear_rows(drives.first(), 0, &mut columns),
        Some(volume) => {
            for device in 0..usize::from(volume.array.config().members) {
                if let Some(ssd) = volume.array.member(device).and_then(Member::drive) {
                    wear_rows(ssd, device as u64, &mut columns);
                }
            }
        }
    }
    let mut table = Table::default();
    let names = ["core", "die", "channel", "plane", "block", "cycles", "bad", "device"];
    let shown = if drives.array.is_some() { 8 } else { 7 };
    for (name, column) in names.into_iter().zip(columns).take(shown) {
        table.push(name, Column::U64(column));
    }
    Some(table)
}

fn wear_rows(ssd: &Ssd, device: u64, columns: &mut [Vec<u64>; 8]) {
    let geometry = &ssd.config().geometry;
    let per_plane = geometry.blocks_per_plane as usize;
    for (core, ftl) in ssd.ftls().enumerate() {
        let planes = usize::from(geometry.planes_per_die);
        for (index, (&cycles, bad)) in
            ftl.blocks().all_cycles().iter().zip(ftl.blocks().all_bad()).enumerate()
        {
            let plane = index / per_plane;
            let die = ssd.dies_of_core(core)[plane / planes];
            let channel = geometry.locate(outlast_units::DieId(die)).channel.0;
            let row = [
                core as u64,
                u64::from(die),
                u64::from(channel),
                (plane % planes) as u64,
                (index % per_plane) as u64,
                u64::from(cycles),
                u64::from(bad),
                device,
            ];
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
    }
}

impl Window {
    fn end_minus_half(&self) -> outlast_units::Nanos {
        outlast_units::Nanos(self.end().0 - self.span().0 / 2)
    }
}

fn repairs(facts: &Facts<'_>) -> Vec<RepairSummary> {
    let run = &facts.scenario.run;
    match facts.ssd.array {
        None => repair_report::of_drive(facts.ssd.first(), run, facts.recorder.end),
        Some(volume) => {
            let end = volume.went_on_until.unwrap_or(Nanos::ZERO).max(facts.recorder.end);
            repair_report::of_array(volume, run, end)
        }
    }
}
