//! Sections `queue` and `queues` of the result: commands in flight, utilisation, overload.

use crate::by_namespace::NamespaceFigures;
use crate::by_queue::QueueFigures;
use crate::facts::RunFacts;
use crate::overload::{ArrivalTotals, OverloadRates, QueueWindow, overload};
use crate::summary::host::per;
use crate::window::TimeWindow;
use outlast_workload::RequestPacing;
use serde::Serialize;

/// Commands in flight, utilisation of the drive, overload by the host.
#[derive(Clone, Debug, Serialize)]
pub struct LoadFigures {
    /// Mean commands in flight.
    pub mean_in_flight: f64,
    /// Most commands in flight.
    pub max_in_flight: u32,
    /// Check of the figures: L against λ·W.
    pub littles_law: LittlesLaw,
    /// Share of the measured time during which each channel was booked.
    pub channel_utilisation: Vec<f64>,
    /// Share of the measured time during which dies were busy.
    pub die_utilisation: UtilisationSpread,
    /// Shares of the measured time that dies spent programming and erasing; means over dies.
    pub die_work: DieWork,
    /// Utilisation of each die of a drive by itself, channel by channel; absent for arrays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub utilisation_by_die: Vec<f64>,
    /// Load of the controller; absent unless `run.utilisation` asks for it, and for arrays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerLoad>,
    /// Queue depth of a closed loop; absent in an open one.
    pub host_queue_depth: Option<u32>,
    /// Rates of an overloaded run, in which more arrived than was served and the queue grew; absent otherwise.
    pub overload: Option<OverloadRates>,
}

/// Shares of the measured time during which parts of the controller were busy.
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

/// Little's law, from two independent sums: the time integral of commands in flight, and the time that each command spent in the drive
/// while measured.
#[derive(Clone, Debug, Serialize)]
pub struct LittlesLaw {
    /// Mean commands in flight.
    pub l: f64,
    /// Throughput times mean time in the drive, of which only the part while it was measured counts.
    pub lambda_w: f64,
    /// |l − λW| / l. Zero except for rounding, even if a warm-up or a stop cuts commands in two.
    pub relative_error: f64,
}

/// Shares of the measured time during which the cell arrays of dies programmed and erased. Dies are otherwise busy with sensing, with data
/// on the channel or waiting for it, and while suspended.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DieWork {
    pub program: f64,
    pub erase: f64,
}

/// Mean and extremes over dies.
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
    let mean = dies.iter().sum::<f64>() / dies.len() as f64; // a drive has at least one die
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
            program: works.iter().map(|work| work.programs).sum::<f64>() / works.len() as f64,
            erase: works.iter().map(|work| work.erases).sum::<f64>() / works.len() as f64,
        },
        utilisation_by_die: if facts.ssd.array.is_none() { dies.clone() } else { Vec::new() },
        controller: facts.measured.controller.clone(),
        host_queue_depth: match facts.workload.pacing {
            RequestPacing::Closed { queue_depth } | RequestPacing::Jobs { queue_depth, held: false } => {
                Some(queue_depth)
            }
            RequestPacing::Open | RequestPacing::Jobs { held: true, .. } => None,
        },
        overload: overloaded(facts),
    }
}

/// Rates of an overloaded run; `None` for a closed loop, which cannot overload.
pub(crate) fn overloaded(facts: &RunFacts<'_>) -> Option<OverloadRates> {
    if matches!(facts.workload.pacing, RequestPacing::Closed { .. }) {
        return None;
    }
    let queue_window = |window: &TimeWindow| {
        let seconds = window.span().as_secs_f64();
        QueueWindow {
            seconds,
            completed: window.ended() as f64,
            in_flight: per(window.area as f64 * 1e-9, seconds),
        }
    };
    let (commands, time) = facts.recorder.arrivals();
    let arrivals = ArrivalTotals { commands: commands as f64, seconds: time.as_secs_f64() };
    overload(&facts.recorder.windows.closed().iter().map(queue_window).collect::<Vec<_>>(), arrivals)
}

/// Note of an overloaded run.
pub(crate) fn overload_note(facts: &RunFacts<'_>) -> Option<String> {
    overloaded(facts).map(|rates| {
        format!(
            "Overload: {:.0} requests a second arrived and {:.0} were served. The queue grew through the run, so latencies grow with \
             its length and say nothing of the drive.",
            rates.offered_iops, rates.served_iops
        )
    })
}

/// Figures by namespace; empty without namespaces.
pub(crate) fn namespaces(facts: &RunFacts<'_>) -> Vec<NamespaceFigures> {
    let kept = facts.kept.namespaces.as_ref();
    kept.map_or_else(Vec::new, |kept| kept.figures(&facts.scenario.namespace))
}

/// Figures by submission queue; empty if the drive does not distinguish queues.
pub(crate) fn queues(facts: &RunFacts<'_>) -> Vec<QueueFigures> {
    let config = facts.scenario.device.controller.queues.as_ref();
    let kept = facts.kept.queues.as_ref();
    config.zip(kept).map(|(config, kept)| kept.figures(config)).unwrap_or_default()
}
