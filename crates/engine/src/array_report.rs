//! Summing up an array: its state over time, rebuilding, wear by member, the probability that a rebuild loses data.

mod state_spans;
mod tables;

use crate::data_loss::{self, RebuildExposure};
use crate::facts::RunFacts;
use crate::member::ArrayMember;
use crate::summary::{
    ArrayAmplification, ArraySummary, ArrayWrites, DataLossAfterFailures, DriveWear, RebuildSummary,
    StateTimes,
};
use crate::volume::ArrayVolume;
use outlast_array::coarse::{loss_of_copies, loss_probabilities};
use outlast_array::{ArrayEventKind, ArrayHealth, ColumnIndex};
use outlast_device::Device;
use outlast_ftl::BlockWear;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use state_spans::spans;
pub(crate) use tables::array_tables;

/// Blocks of a member over which error rates are sampled.
const BLOCKS: usize = 4_096;

/// One rebuild of a member; unfinished without `finished`.
struct RebuildSpan {
    member: ColumnIndex,
    started: Nanos,
    finished: Option<Nanos>,
}

/// End of the simulated time: of the host, or of what the array did after it.
fn end_of(facts: &RunFacts<'_>, volume: &ArrayVolume) -> Nanos {
    volume.went_on_until.unwrap_or(Nanos::ZERO).max(facts.recorder.end)
}

/// Rebuilds in the order in which they began. A rebuild that starts over because its drive was exchanged again counts twice.
fn rebuilds(volume: &ArrayVolume) -> Vec<RebuildSpan> {
    let mut all: Vec<RebuildSpan> = Vec::new();
    for event in volume.array.events() {
        match event.kind {
            ArrayEventKind::RebuildStarted { member } => {
                all.push(RebuildSpan { member, started: event.at, finished: None });
            }
            ArrayEventKind::Rebuilt { member } => {
                let open = all
                    .iter_mut()
                    .rev()
                    .find(|rebuild| rebuild.member == member && rebuild.finished.is_none());
                if let Some(rebuild) = open {
                    rebuild.finished = Some(event.at);
                }
            }
            _ => {}
        }
    }
    all
}

pub(crate) fn array_summary(facts: &RunFacts<'_>, volume: &ArrayVolume) -> ArraySummary {
    let (config, counters) = (volume.array.config(), volume.counters());
    let end = end_of(facts, volume);
    let status = volume.array.status(end);
    let spans = spans(volume, end);
    let time_in = |state: ArrayHealth| {
        let in_state = spans.iter().filter(|span| span.state == state);
        in_state.fold(0.0, |sum, span| sum + (span.until - span.from).as_secs_f64())
    };
    // Groups written in part, by whatever method; a share of full stripes needs all of them.
    let small = counters.delta_writes + counters.complete_writes + counters.decoded_writes;
    let groups = counters.full_writes + small;
    ArraySummary {
        level: config.level.name(),
        members: config.members,
        spares_left: status.spares as u64,
        chunk_bytes: config.chunk.0,
        state: status.state,
        read_only: status.read_only,
        time_s: StateTimes {
            clean: time_in(ArrayHealth::Clean),
            degraded: time_in(ArrayHealth::Degraded),
            failed: time_in(ArrayHealth::Failed),
        },
        degraded_s: time_in(ArrayHealth::Degraded),
        rebuild: rebuild(volume, end),
        rebuilds: rebuilds(volume).len() as u64,
        power_cuts: counters.power_cuts,
        write_hole_repairs: counters.records_replayed + counters.groups_resynced,
        write_holes: counters.write_holes,
        mismatches: counters.mismatches,
        scrubs: count(volume, |kind| matches!(kind, ArrayEventKind::Scrubbed { .. })),
        ejected: counters.ejected.into(),
        read_errors: counters.read_errors,
        sectors_repaired: counters.sectors_repaired,
        degraded_reads: counters.degraded_reads,
        lost_bytes: status.lost_sectors * SECTOR_BYTES,
        bad_sectors: status.members.iter().map(|member| member.bad_sectors).sum(),
        writes: ArrayWrites {
            full: counters.full_writes,
            delta: counters.delta_writes,
            complete: counters.complete_writes,
            decoded: counters.decoded_writes,
            full_stripe_share: (groups != 0).then(|| counters.full_writes as f64 / groups as f64),
        },
        member_commands: ArrayAmplification {
            reads: counters.member_reads,
            writes: counters.member_writes,
            log_writes: counters.log_writes,
        },
        age_differential: status.age_differential,
        stripes_to_move: status.stripes_to_move,
        wear: (0..usize::from(config.members)).map(|column| wear(volume, column, end)).collect(),
        data_loss: data_loss::data_loss(volume, &facts.scenario.run, &exposure(volume, end)),
        data_loss_after_failures: after_failures(volume, end),
        latency_us_by_state: facts.recorder.by_state.summary(),
        status: status.to_string(),
    }
}

fn count(volume: &ArrayVolume, is_counted: fn(&ArrayEventKind) -> bool) -> u64 {
    volume.array.events().iter().filter(|event| is_counted(&event.kind)).count() as u64
}

/// Summary of all rebuilds, from the start of the first to the end of the last; `None` where there was none.
fn rebuild(volume: &ArrayVolume, end: Nanos) -> Option<RebuildSummary> {
    let all = rebuilds(volume);
    let started = all.first()?.started;
    // `None` is the least, so one unfinished rebuild does not hide the others: `is_rebuilding` decides whether it is over.
    let finished = all.iter().map(|rebuild| rebuild.finished).max().flatten();
    let finished = finished.filter(|_| !volume.array.is_rebuilding());
    // From the beginning, as the events are: a rebuild may begin before the warm-up is over.
    let counters = volume.array.counters();
    let written = counters.rebuild_sectors_written * SECTOR_BYTES;
    let span = (finished.unwrap_or(end) - started).as_secs_f64();
    let progress = volume.array.progress(end).filter(|_| volume.array.is_rebuilding());
    // Of a rebuild that was broken off, what its drive has of it.
    let members = volume.array.status(end).members;
    let kept =
        all.last().filter(|_| finished.is_none()).map(|last| members[last.member.index()].filled_share);
    Some(RebuildSummary {
        member: all[0].member.0.into(),
        started_s: started.as_secs_f64(),
        finished_s: finished.map(Nanos::as_secs_f64),
        bytes_read: counters.rebuild_sectors_read * SECTOR_BYTES,
        bytes_written: written,
        rate_mib_s: if span > 0.0 { Bytes(written).as_mib() / span } else { 0.0 },
        done: progress.map_or(kept.unwrap_or(1.0), |pass| pass.done.0 as f64 / pass.total.0.max(1) as f64),
        left_s: progress.and_then(|pass| pass.left).map(Nanos::as_secs_f64),
    })
}

fn wear(volume: &ArrayVolume, column: usize, end: Nanos) -> DriveWear {
    let status = &volume.array.status(end).members[column];
    let member = volume.array.member(column).and_then(ArrayMember::drive);
    let worn = member.map(|ssd| ssd.ftls().map(|ftl| ftl.space().worn()).sum::<BlockWear>());
    DriveWear {
        device: column as u64,
        present: status.present,
        in_sync: status.in_sync,
        mean_pe: worn.map(|wear| wear.mean()),
        max_pe: worn.map(|wear| wear.most.into()),
        percentage_used: member.map(|ssd| u64::from(ssd.smart().percentage_used)),
        parity_percent: status.parity_percent,
        bytes_written: member.map_or(0, |ssd| ssd.counters().host_bytes_written),
        programs: member.map_or(0, |ssd| ssd.counters().programs),
        write_amplification: member.and_then(|ssd| {
            let host = ssd.counters().host_bytes_written;
            let unit = ssd.config().ftl.mapping_unit.0;
            (host != 0).then(|| (ssd.written().total() * unit) as f64 / host as f64)
        }),
        rber: member.and_then(|ssd| ssd.rber_levels(end, BLOCKS)).map(|levels| levels.mean),
        log10_uber: member.and_then(|ssd| ln_uber(ssd, end)).map(|ln| ln / std::f64::consts::LN_10),
        read_errors: status.read_errors.into(),
        bad_sectors: status.bad_sectors,
    }
}

/// Natural logarithm of the probability that a bit of a drive is still wrong after ECC, at the mean error rate of its blocks with data.
fn ln_uber(ssd: &Ssd, now: Nanos) -> Option<f64> {
    let ecc = &ssd.config().reliability.as_ref()?.ecc;
    ecc.strength?;
    let rber = ssd.rber_levels(now, BLOCKS)?.mean;
    Some(ecc.log_p_uncorrectable(rber) - f64::from(ecc.data_bits).ln())
}

/// Mean duration of the finished rebuilds, and the uncorrectable bit error rates of the members.
fn exposure(volume: &ArrayVolume, now: Nanos) -> RebuildExposure {
    let spans: Vec<f64> = rebuilds(volume)
        .iter()
        .filter_map(|rebuild| Some((rebuild.finished? - rebuild.started).as_secs_f64() / 3600.0))
        .collect();
    let members = 0..usize::from(volume.array.config().members);
    let drives = members.filter_map(|column| volume.array.member(column)?.drive());
    RebuildExposure {
        measured_hours: (!spans.is_empty()).then(|| spans.iter().sum::<f64>() / spans.len() as f64),
        ln_ubers: drives.filter_map(|ssd| ln_uber(ssd, now)).collect(),
    }
}

/// Probabilities of data loss when redundancy is used up; `None` where flash does not err or members are missing.
fn after_failures(volume: &ArrayVolume, now: Nanos) -> Option<DataLossAfterFailures> {
    let config = volume.array.config();
    let members = usize::from(config.members);
    let present: Vec<&Ssd> = (0..members).filter_map(|column| volume.array.member(column)?.drive()).collect();
    let ln_ubers: Vec<f64> = present.iter().filter_map(|ssd| ln_uber(ssd, now)).collect();
    if ln_ubers.len() != members {
        return None;
    }
    let ages: Vec<f64> = present.iter().map(|ssd| ssd.mean_cycles()).collect();
    // The smallest member decides how much of each is used.
    let capacity = present.iter().map(|ssd| ssd.identify().capacity.0).min()?;
    let failures = usize::from(config.redundancy());
    let bits = capacity as f64 * 8.0;
    let loss = match volume.array.copy_groups() {
        None => loss_probabilities(&ln_ubers, &ages, bits, failures),
        Some(groups) => {
            // Mirrors hold each bit `copies` times, so the array has that many times fewer bits of data than of flash.
            let data = bits * members as f64 / f64::from(config.copies);
            loss_of_copies(&ln_ubers, &ages, data, &groups, failures)
        }
    };
    Some(DataLossAfterFailures { failures: failures as u64, oldest: loss.oldest, any: loss.any })
}

/// Notes of the result about the array.
pub(crate) fn notes(facts: &RunFacts<'_>, volume: &ArrayVolume) -> Vec<String> {
    let mut notes: Vec<String> = volume.array.notices().iter().map(|notice| sentence(notice)).collect();
    notes.extend(volume.notes.iter().cloned());
    if let Some(until) = volume.went_on_until {
        notes.push(format!(
            "The workload ended at {:.3} s and the array continued {} until {:.3} s: `after_host` has the flash operations of that time; wear and the figures of the array include it.",
            facts.recorder.end.as_secs_f64(),
            match (rebuilds(volume).is_empty(), volume.array.repairs().is_empty()) {
                (false, _) => "rebuilding",
                (true, false) => "recovering the data of failed dies",
                (true, true) => "making parity consistent",
            },
            until.as_secs_f64()
        ));
    }
    notes
}

/// `words` with a capital at the beginning and a full stop at the end.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).chain(std::iter::once('.')).collect()
    })
}
