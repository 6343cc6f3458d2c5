//! Queues and utilisation.

use crate::by_queue::QueueFigures;
use crate::facts::RunFacts;
use crate::overload::{ArrivalTotals, OverloadRates, QueueWindow, overload};
use crate::summary::host::per;
use crate::window::TimeWindow;
use outlast_workload::Pacing;
use serde::Serialize;

/// Queues and utilisation.
#[derive(Clone, Debug, Serialize)]
pub struct LoadFigures {
    /// Mean commands in flight.
    pub mean_in_flight: f64,
    /// Most commands in flight.
    pub max_in_flight: u32,
    /// L against λ·W.
    pub littles_law: LittlesLaw,
    /// Share of the measured time for which each channel was booked.
    pub channel_utilisation: Vec<f64>,
    /// Share of the measured time for which dies were busy.
    pub die_utilisation: UtilisationSpread,
    /// What dies spent this time on: programming and erasing, in shares of the measured time; the mean over them.
    pub die_work: DieWork,
    /// Utilisation of each die of a drive by itself, channel by channel; absent of arrays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub utilisation_by_die: Vec<f64>,
    /// How busy the controller was; absent unless `run.utilisation` asks for it, and of arrays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerLoad>,
    /// Queue depth of a closed loop; absent in an open one.
    pub host_queue_depth: Option<u32>,
    /// An open loop asked for more than was served, so that the queue grew through the run; absent where it did not.
    pub overload: Option<OverloadRates>,
}

/// Shares of the measured time for which parts of the controller were busy.
#[derive(Clone, Debug, Serialize)]
pub struct ControllerLoad {
    /// The link to the drive; absent where there is none.
    pub link_in: Option<f64>,
    /// The link from the drive.
    pub link_out: Option<f64>,
    /// The master core.
    pub master: f64,
    /// Each flash core.
    pub cores: Vec<f64>,
}

/// Little's law, from sums kept apart: the time integral of commands in flight, and the time that each command spent in the drive
/// while it was measured.
#[derive(Clone, Debug, Serialize)]
pub struct LittlesLaw {
    /// Mean commands in flight.
    pub l: f64,
    /// Throughput times mean time in the drive, of which only the part while it was measured counts.
    pub lambda_w: f64,
    /// |l − λW| / l. Zero except for rounding, whatever a warm-up or a stop cuts off.
    pub relative_error: f64,
}

/// Shares of the measured time in which the arrays of dies worked. The rest of what a die is busy is sensing, data on the channel, waiting
/// for that, and being suspended.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DieWork {
    pub program: f64,
    pub erase: f64,
}

/// A spread of values.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct UtilisationSpread {
    pub mean: f64,
    pub min: f64,
    pub max: f64,
}

pub(crate) fn queue(facts: &RunFacts<'_>) -> LoadFigures {
    let recorder = facts.recorder;
    let span = recorder.span();
    let l = per(recorder.in_flight.area_until(recorder.end) as f64, span.0 as f64);
    let lambda_w = per(recorder.time_in_drive() as f64, span.0 as f64);
    let dies = &facts.measured.die_utilisation;
    let works = &facts.measured.die_work;
    let mean = dies.iter().sum::<f64>() / dies.len() as f64;
    LoadFigures {
        mean_in_flight: l,
        max_in_flight: recorder.in_flight.most,
        littles_law: LittlesLaw { l, lambda_w, relative_error: per((l - lambda_w).abs(), l) },
        channel_utilisation: facts.measured.channel_utilisation.clone(),
        die_utilisation: UtilisationSpread {
            mean,
            min: dies.iter().copied().fold(f64::INFINITY, f64::min),
            max: dies.iter().copied().fold(0.0, f64::max),
        },
        die_work: DieWork {
            program: works.iter().map(|own| own.programs).sum::<f64>() / works.len() as f64,
            erase: works.iter().map(|own| own.erases).sum::<f64>() / works.len() as f64,
        },
        utilisation_by_die: if facts.ssd.array.is_none() { dies.clone() } else { Vec::new() },
        controller: facts.measured.controller.clone(),
        host_queue_depth: match facts.workload.pacing {
            Pacing::Closed { queue_depth } | Pacing::Lanes { queue_depth, held: false } => Some(queue_depth),
            Pacing::Open | Pacing::Lanes { held: true, .. } => None,
        },
        overload: overloaded(facts),
    }
}

/// Whether an open loop asked for more than was served.
pub(crate) fn overloaded(facts: &RunFacts<'_>) -> Option<OverloadRates> {
    if matches!(facts.workload.pacing, Pacing::Closed { .. }) {
        return None;
    }
    let stretch = |window: &TimeWindow| {
        let seconds = window.span().as_secs_f64();
        QueueWindow {
            seconds,
            completed: window.ended() as f64,
            in_flight: per(window.area as f64 * 1e-9, seconds),
        }
    };
    let (commands, time) = facts.recorder.arrivals();
    let arrivals = ArrivalTotals { commands: commands as f64, seconds: time.as_secs_f64() };
    overload(&facts.recorder.windows.closed().iter().map(stretch).collect::<Vec<_>>(), arrivals)
}

/// The same in words.
pub(crate) fn overload_note(facts: &RunFacts<'_>) -> Option<String> {
    overloaded(facts).map(|found| {
        format!(
            "Overload: {:.0} requests a second arrived and {:.0} were served. The queue grew through the run, so latencies grow with \
             its length and say nothing of the drive.",
            found.offered_iops, found.served_iops
        )
    })
}

/// What came through each submission queue.
pub(crate) fn queues(facts: &RunFacts<'_>) -> Vec<QueueFigures> {
    let config = facts.scenario.device.controller.queues.as_ref();
    let kept = facts.kept.queues.as_ref();
    config.zip(kept).map(|(config, kept)| kept.figures(config)).unwrap_or_default()
}
