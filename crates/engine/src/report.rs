//! Summary of a run: the sections of `result.json` and its notes.

use crate::array_report::array_summary;
use crate::facts::RunFacts;
use crate::repair_report::{self, RepairSummary};
use crate::summary::{self, MemoryFigures, RunSummary, SCHEMA, SteadyState};
use outlast_device::{Op, Outcome, ZoneError};
use outlast_scenario::OverwritePattern;
use outlast_units::Nanos;

pub(crate) fn summarise(facts: &RunFacts<'_>) -> RunSummary {
    let device = summary::device_facts(facts.ssd);
    RunSummary {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        name: facts.scenario.name.clone(),
        seed: facts.scenario.seed,
        partial: facts.partial,
        notes: notes(facts),
        beyond_range: facts.scenario.beyond_range(),
        host: summary::host(facts),
        time: summary::time(facts),
        throughput: summary::throughput(facts),
        latency_us: summary::latency(facts.recorder),
        latency_causes: facts.kept.splits.as_ref().map(summary::latency_causes),
        write_amplification: summary::amplification(facts),
        flash: summary::flash(facts),
        after_host: summary::after_host(facts),
        gc: summary::gc(facts),
        reliability: crate::reliability::reliability(facts),
        protection: crate::reliability::protection(facts),
        placement: summary::placement(facts),
        slc_cache: summary::slc_cache(facts),
        energy: summary::energy(facts),
        zones: summary::zones(facts),
        power: summary::power(facts.ssd),
        array: facts.ssd.array.map(|volume| array_summary(facts, volume)),
        repair: repairs(facts),
        wear: summary::wear(facts.ssd),
        smart: facts.ssd.smart(),
        queue: summary::queue(facts),
        queues: summary::queues(facts),
        namespaces: summary::namespaces(facts),
        steady_state: SteadyState {
            precondition: summary::precondition_state(facts.prepared),
            measured: summary::measured_state(facts),
        },
        closed_form: summary::closed_form(facts, device.effective_spare_factor),
        memory: MemoryFigures {
            mapping_bytes_per_unit: facts.ssd.table_bytes() as f64 / facts.ssd.units() as f64,
            peak_rss_mib: None,
        },
        device,
        scenario: facts.scenario.clone(),
    }
}

/// Sentences about guesses, limits and surprises, in a fixed order.
fn notes(facts: &RunFacts<'_>) -> Vec<String> {
    let mut notes = facts.scenario.void.clone();
    notes.extend(facts.workload.notes.iter().cloned());
    notes.extend(facts.workload.source.notes());
    notes.extend(facts.prepared.note.clone());
    notes.extend(summary::overload_note(facts));
    notes.extend(facts.prepared.unsteady_note(facts.ssd.identify().capacity));
    notes.extend(other_preparation_note(facts));
    notes.extend(unserved_note(facts));
    notes.extend(no_collection_note(facts));
    notes.extend(no_spare_note(facts));
    let unmapped = facts.measured.counts.drives.unmapped_reads;
    if unmapped != 0 {
        notes.push(format!("{unmapped} mapping units read had never been written and cost no flash read."));
    }
    notes.extend(crate::reliability::notes(facts));
    notes.extend(facts.ssd.array.iter().flat_map(|volume| crate::array_report::notes(facts, volume)));
    notes.extend(facts.by_hand.iter().cloned());
    notes.extend(idle_notes(facts));
    notes.extend(warm_up_note(facts));
    notes.extend(ending_note(facts));
    notes
}

/// Note if the drive was prepared by uniform writes and measured under others for less than one drive write.
fn other_preparation_note(facts: &RunFacts<'_>) -> Option<String> {
    let written = facts.recorder.completed.bytes[Op::Write as usize] as f64;
    let drive_writes = written / facts.ssd.identify().capacity.0 as f64;
    let is_prepared = facts.scenario.precondition.overwrite == OverwritePattern::Random
        && !facts.prepared.rounds.is_empty();
    let is_short = written > 0.0 && drive_writes < 1.0 && !facts.prepared.stopped;
    (is_prepared && is_short && !summary::writes_uniformly(facts)).then(|| {
        format!(
            "The drive was prepared by uniform random writes and measured under others, for {drive_writes:.2} drive writes: its write \
             amplification is still on its way from one to the other. precondition.overwrite = \"workload\" prepares it by the workload."
        )
    })
}

/// Note of requests that were not served, by reason: the figures do not include them.
fn unserved_note(facts: &RunFacts<'_>) -> Option<String> {
    let completed = &facts.recorder.completed;
    let causes = [
        (Outcome::ReadOnly, "refused because the drive takes no more writes"),
        (Outcome::MediumError, "ended with a medium error"),
        (Outcome::Aborted, "cut off by a loss of power"),
        (Outcome::OutOfRange, "beyond the capacity"),
        (Outcome::InvalidNamespace, "of a namespace that the device does not have"),
        (
            Outcome::Zone(ZoneError::InvalidWrite),
            "refused by their zone, for reasons that zones.refused counts",
        ),
        (Outcome::InvalidOpcode, "commands to zones of a device that has none"),
    ];
    let reasons: Vec<String> = causes
        .into_iter()
        .filter(|&(outcome, _)| completed.ended(outcome) != 0)
        .map(|(outcome, why)| format!("{} {why}", completed.ended(outcome)))
        .collect();
    (!reasons.is_empty()).then(|| {
        format!(
            "{} of {} requests were not served: {}. Rates and latencies are those of the requests that were.",
            completed.errors(),
            completed.total(),
            reasons.join(", "),
        )
    })
}

/// Note if nothing was collected although the host wrote: the write amplification is then that of an empty drive.
fn no_collection_note(facts: &RunFacts<'_>) -> Option<String> {
    summary::is_without_collection(facts).then(|| {
        "No superblock was collected during the measurement: write amplification says nothing about spare space or policy.".to_owned()
    })
}

/// Note if the remaining flash holds less than the capacity.
fn no_spare_note(facts: &RunFacts<'_>) -> Option<String> {
    let short = summary::device_facts(facts.ssd).effective_spare_factor.is_none();
    short.then(|| {
        "The flash that is left holds less than the capacity: there is no spare space, and device.effective_spare_factor is absent."
            .to_owned()
    })
}

/// Note of a run without requests, or of each job that was ended before its first request.
fn idle_notes(facts: &RunFacts<'_>) -> Vec<String> {
    if facts.recorder.completed.total() == 0 && facts.recorder.warmed == 0 && !facts.prepared.stopped {
        return vec!["No request completed: all figures are those of a drive at rest.".to_owned()];
    }
    // The workload says itself which jobs cannot issue any request.
    let is_noted = |name: &str| {
        let mut notes = facts.workload.notes.iter();
        notes.any(|note| note.starts_with(&format!("job {name}: ")) && note.contains("issues no request"))
    };
    let mut notes: Vec<String> = Vec::new();
    for name in
        facts.recorder.jobs.idle(facts.workload.jobs.as_ref()).into_iter().filter(|name| !is_noted(name))
    {
        let note = format!("Job {name} issued no request: it was ended before its first.");
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Note if the warm-up took most of the requests.
fn warm_up_note(facts: &RunFacts<'_>) -> Option<String> {
    let (warmed, measured) = (facts.recorder.warmed, facts.recorder.completed.total());
    (measured != 0 && warmed >= measured).then(|| {
        format!(
            "The warm-up of {} took {warmed} of the {} requests: the figures cover the other {measured}.",
            facts.scenario.run.warm_up.max(facts.workload.ramp),
            warmed + measured,
        )
    })
}

/// Note of what the result covers, if the run did not end as planned.
fn ending_note(facts: &RunFacts<'_>) -> Option<String> {
    let warm_up = facts.scenario.run.warm_up.max(facts.workload.ramp);
    if facts.prepared.stopped {
        let written = facts.prepared.rounds.last().map_or(0.0, |round| round.drive_writes);
        return Some(format!(
            "The run was stopped while the drive was being prepared, after {written:.1} drive writes of \
             overwriting: nothing was measured."
        ));
    }
    match (facts.warming, facts.partial) {
        (true, true) => {
            Some(format!("The run was stopped within its warm-up of {warm_up}: nothing was measured."))
        }
        (true, false) => {
            Some(format!("The run ended within its warm-up of {warm_up}: nothing was measured."))
        }
        (false, true) => {
            Some("The run was stopped before its end; all figures cover the part that was run.".to_owned())
        }
        (false, false) => None,
    }
}

fn repairs(facts: &RunFacts<'_>) -> Vec<RepairSummary> {
    let run = &facts.scenario.run;
    match facts.ssd.array {
        None => repair_report::drive_repairs(facts.ssd.first(), run, facts.recorder.end),
        Some(volume) => {
            let end = volume.went_on_until.unwrap_or(Nanos::ZERO).max(facts.recorder.end);
            repair_report::array_repairs(volume, run, end)
        }
    }
}
