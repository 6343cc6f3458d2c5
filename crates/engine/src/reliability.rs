//! Summary of errors, corrections, parity and scrubbing.

mod notes;

use crate::drives::DriveSet;
use crate::facts::RunFacts;
use crate::latency::LatencyFigures;
use crate::summary::{
    ChangeMade, ClassFigures, CorrectedBy, ExactProbabilities, PredictionFigures, ProtectionFigures,
    RberFigures, RedundancyFigures, RedundancyLost, ReliabilityFigures, StripeRecovery, TailProbability,
    TwinComparison,
};
use crate::table::{ResultColumn, ResultTable};
pub(crate) use notes::notes;
use outlast_device::{Op, Outcome};
use outlast_ftl::ReadCause;
use outlast_ssd::{Decision, DriveRedundancy};
use std::f64::consts::LN_10;

/// Blocks over which error rates are sampled at the end of the run.
const BLOCKS: usize = 65_536;

pub(crate) fn reliability(facts: &RunFacts<'_>) -> ReliabilityFigures {
    let ssd = facts.ssd;
    let counters = &facts.measured.counts.drives;
    let corrections = &facts.measured.counts.corrections;
    let unit = ssd.config().ftl.mapping_unit.0;
    let exact = exact(facts);
    let reads = &counters.reads;
    let rereads = reads[ReadCause::Reread];
    let first_reads = reads.total() - rereads - reads[ReadCause::Stripe];
    ReliabilityFigures {
        uber_exact: exact.as_ref().map(|exact| exact.after_stripe.uber),
        exact,
        uncorrectable_reads: counters.medium_errors,
        rereads_per_read: if first_reads == 0 { 0.0 } else { rereads as f64 / first_reads as f64 },
        corrected_by: CorrectedBy {
            ecc: corrections.ecc,
            reread: corrections.reread,
            block: corrections.block,
            stripe: corrections.stripe,
        },
        limited_retry_errors: (corrections.limited != 0).then_some(corrections.limited),
        medium_errors: facts.recorder.completed.ended(Outcome::MediumError),
        stripe_recovery: StripeRecovery {
            attempts: corrections.stripe_attempts,
            failures: corrections.stripe_failures,
        },
        scrub_pages: reads[ReadCause::Scrub] + reads[ReadCause::Patrol],
        scrubbed: facts.measured.scrubbed.clone(),
        data_loss_bytes: counters.lost_units * unit,
        lost_bytes: ssd.lost_units() * unit,
        program_failures: counters.program_failures,
        erase_failures: counters.erase_failures,
        faults: ssd.faults_injected(),
        predicted: ssd.predictions().map(PredictionFigures::from),
        rber: rber(facts),
        twin: twin(facts),
    }
}

/// Exact probabilities per unit and per bit, from sums over all units read; `None` where flash never errs or nothing was read.
fn exact(facts: &RunFacts<'_>) -> Option<ExactProbabilities> {
    let exact = facts.measured.exact?;
    let bits = facts.ssd.config().ftl.mapping_unit.0 as f64 * 8.0;
    let tail = |ln_sum: f64| {
        let ln_mean = ln_sum - (exact.units as f64).ln();
        let ln = ln_mean - bits.ln();
        let log10 = ln / LN_10;
        TailProbability {
            per_unit: ln_mean.exp(),
            uber: ln.exp(),
            log10_uber: log10.is_finite().then_some(log10),
        }
    };
    Some(ExactProbabilities {
        units_read: exact.units,
        after_ecc: tail(exact.ln_after_ecc),
        after_rereads: tail(exact.ln_after_rereads),
        after_stripe: tail(exact.ln_after_stripe),
    })
}

/// Parity by class; `None` for drives without parity.
pub(crate) fn protection(facts: &RunFacts<'_>) -> Option<ProtectionFigures> {
    let drives = &facts.ssd;
    let config = drives.config();
    config.protection.as_ref()?;
    let first = drives.first();
    let by_class = (0..first.classes()).map(|class| {
        let code = first.code(class);
        ClassFigures {
            class,
            k: code.data,
            m: code.parity,
            block: code.block,
            pages: drives.all().iter().map(|ssd| ssd.pages_of_class(class)).sum(),
            unprotected_page_seconds: facts.measured.unprotected[usize::from(class)],
        }
    });
    let changes = first.changes().iter().map(|change| {
        let request = &change.asked;
        let what = if request.dies.is_empty() {
            let code = first.code(request.class);
            let (data, parity) = (request.data.unwrap_or(code.data), request.parity.unwrap_or(code.parity));
            format!("class {} gets ({data}, {parity})", request.class)
        } else {
            format!("{} dies are added", request.dies.len())
        };
        ChangeMade { at_s: change.at.as_secs_f64(), what, refused: change.refused.clone() }
    });
    let progress = drives.all().iter().map(|ssd| ssd.encoding_progress());
    let (outdated_superblocks, superblocks) =
        progress.fold((0, 0), |sum, drive| (sum.0 + drive.0, sum.1 + drive.1));
    let moved: u64 = drives.all().iter().map(|ssd| ssd.covers_moved()).sum();
    Some(ProtectionFigures {
        by_class: by_class.collect(),
        partial_parity_moved_pages: moved as f64 * config.ftl.mapping_unit.0 as f64
            / config.geometry.page_size.0 as f64,
        superblocks,
        outdated_superblocks,
        changes: changes.collect(),
        redundancy: redundancy(drives),
    })
}

/// Redundancy lost to failed dies; `None` where none was lost.
fn redundancy(drives: &DriveSet<'_>) -> Option<RedundancyFigures> {
    let in_array = drives.array.is_some();
    let unit = drives.config().ftl.mapping_unit.0;
    let each = drives.all().iter().zip(0u64..);
    let losses: Vec<RedundancyLost> = each
        .flat_map(|(ssd, device)| {
            ssd.redundancy_losses().iter().map(move |loss| RedundancyLost {
                device: in_array.then_some(device),
                die: loss.die,
                plane: loss.plane,
                at_s: loss.at.as_secs_f64(),
                superblocks: loss.superblocks,
                bytes: loss.units * unit,
                time_to_full_redundancy_s: loss
                    .restored_at
                    .map(|restored| restored.saturating_sub(loss.at).as_secs_f64()),
            })
        })
        .collect();
    if losses.is_empty() {
        return None;
    }
    let views: Vec<DriveRedundancy> = drives.all().iter().map(|ssd| ssd.redundancy()).collect();
    Some(RedundancyFigures {
        data_survives: views.iter().map(|view| view.data_survives).min().unwrap_or(0),
        degraded_superblocks: views.iter().map(|view| view.degraded_superblocks).sum(),
        degraded_bytes: views.iter().map(|view| view.degraded_units).sum::<u64>() * unit,
        lacks_space: views.iter().any(|view| view.lacks_space),
        losses,
    })
}

fn rber(facts: &RunFacts<'_>) -> Option<RberFigures> {
    let levels = facts.ssd.rber_levels(facts.recorder.end, BLOCKS)?;
    let config = facts.ssd.config().reliability.as_ref()?;
    Some(RberFigures {
        mean: levels.mean,
        p50: levels.p50,
        p99: levels.p99,
        max: levels.max,
        fresh_errors: config.fresh_errors(config.initial.pe_cycles).0,
        saturated_reads: facts.ssd.saturations().0,
    })
}

fn twin(facts: &RunFacts<'_>) -> Option<TwinComparison> {
    let twin = facts.twin?;
    let latency = &facts.recorder.latency;
    let of = |op: Op| LatencyFigures::of(latency.of(op));
    let ratio = |drive: &Option<LatencyFigures>,
                 twin: &Option<LatencyFigures>,
                 value: fn(&LatencyFigures) -> f64| match (drive, twin) {
        (Some(drive), Some(twin)) if value(twin) > 0.0 => Some(value(drive) / value(twin)),
        _ => None,
    };
    let (read, write) = (of(Op::Read), of(Op::Write));
    let all = |read: &Option<LatencyFigures>, write: &Option<LatencyFigures>| {
        let parts = || read.iter().chain(write);
        let count: u64 = parts().map(|part| part.count).sum();
        (count != 0).then(|| parts().map(|part| part.mean * part.count as f64).sum::<f64>() / count as f64)
    };
    let (twin_read, twin_write) = (twin.latency_us.read.clone(), twin.latency_us.write.clone());
    let mean_ratio = match (all(&read, &write), all(&twin_read, &twin_write)) {
        (Some(drive), Some(twin)) if twin > 0.0 => Some(drive / twin),
        _ => None,
    };
    Some(TwinComparison {
        read_mean_ratio: ratio(&read, &twin_read, |latency| latency.mean),
        read_p99_9_ratio: ratio(&read, &twin_read, |latency| latency.p99_9),
        write_mean_ratio: ratio(&write, &twin_write, |latency| latency.mean),
        mean_ratio,
        write_amplification: twin.write_amplification.as_ref().map(|waf| waf.total),
        read_us: twin_read,
        write_us: twin_write,
    })
}

/// Tables of errors. `errors`: codewords by wrong bits; `decisions`: superblocks that were moved, and why.
pub(crate) fn reliability_tables(facts: &RunFacts<'_>) -> Vec<(String, ResultTable)> {
    let ssd = facts.ssd;
    let mut tables = Vec::new();
    if ssd.config().reliability.is_some() {
        let histogram = &facts.measured.error_histogram;
        let mut table = ResultTable::default();
        table.counts("wrong_bits", 0..histogram.len() as u64);
        table.counts("codewords", histogram.iter().copied());
        tables.push(("errors".to_owned(), table));
    }
    if ssd.can_fail() {
        let all: Vec<(u64, &Decision)> = (0u64..)
            .zip(ssd.all())
            .flat_map(|(index, ssd)| ssd.decisions().iter().map(move |decision| (index, decision)))
            .collect();
        let decisions = || all.iter().map(|&(_, decision)| decision);
        let mut table = ResultTable::default();
        table.measures("at_s", decisions().map(|decision| decision.at.as_secs_f64()));
        table.counts("core", decisions().map(|decision| u64::from(decision.core)));
        table.counts("superblock", decisions().map(|decision| u64::from(decision.superblock.0)));
        let reasons = decisions().map(|decision| decision.reason.name().to_owned());
        table.push("reason", ResultColumn::Text(reasons.collect()));
        table.counts("valid_units", decisions().map(|decision| u64::from(decision.valid)));
        table.counts("rereads", decisions().map(|decision| u64::from(decision.rereads)));
        table.measures("expected_errors", decisions().map(|decision| decision.expected_errors));
        table.counts("protected", decisions().map(|decision| u64::from(decision.protected)));
        table.counts("will_be_protected", decisions().map(|decision| u64::from(decision.will_be_protected)));
        if ssd.array.is_some() {
            table.counts("device", all.iter().map(|&(index, _)| index));
        }
        tables.push(("decisions".to_owned(), table));
    }
    tables
}
