//! Counts of the measured time. They are taken when the host ends, so that later work of drives, such as the remainder of a rebuild, raises
//! neither write amplification nor utilisation.

use crate::counts::DriveCounts;
use crate::drives::{DriveSet, ExactSum};
use crate::summary::{ControllerLoad, ScrubFigures};
use outlast_ftl::{SlcCacheCounts, SlcCacheFigures};
use outlast_ssd::{GroupFigures, HandleFigures, PerArrayWork, PowerFigures};
use outlast_units::Nanos;

/// Counts from the end of the warm-up to the end of the host.
pub(crate) struct MeasuredCounts {
    pub(crate) counts: DriveCounts,
    pub(crate) exact: Option<ExactSum>,
    /// Codewords by wrong bits.
    pub(crate) error_histogram: Vec<u64>,
    pub(crate) scrubbed: ScrubFigures,
    /// Reclaim unit handles, in order; empty without.
    pub(crate) handles: Vec<HandleFigures>,
    /// Reclaim groups, in order; empty with one.
    pub(crate) groups: Vec<GroupFigures>,
    /// The SLC caches of all drives; absent without.
    pub(crate) slc_cache: Option<(SlcCacheCounts, SlcCacheFigures)>,
    /// Energy and heat of each drive; empty where one counts none.
    pub(crate) power: Vec<PowerFigures>,
    /// Pages times seconds without parity, by class.
    pub(crate) unprotected: Vec<f64>,
    /// Write amplification of each flash core of a drive by itself; empty where there is one core.
    pub(crate) by_core: Vec<f64>,
    pub(crate) channel_utilisation: Vec<f64>,
    pub(crate) die_utilisation: Vec<f64>,
    pub(crate) die_work: Vec<PerArrayWork<f64>>,
    /// Load of the controller; only of a drive by itself, and with `run.utilisation`.
    pub(crate) controller: Option<ControllerLoad>,
}

impl MeasuredCounts {
    /// Counts of `drives` over `span`, which ends at `now`.
    pub(crate) fn of(drives: &DriveSet<'_>, now: Nanos, span: Nanos) -> Self {
        let first = drives.first();
        let alone = drives.array.is_none() && drives.config().controller.flash_cores > 1;
        let unprotected =
            |class| drives.all().iter().map(|ssd| ssd.unprotected_page_seconds(now, class)).sum();
        Self {
            counts: drives.counts(),
            exact: drives.exact(),
            error_histogram: drives.error_histogram(),
            scrubbed: ScrubFigures::of(drives),
            handles: drives.handle_figures(),
            groups: drives.group_figures(),
            slc_cache: drives.slc_cache(),
            power: drives.power_figures(now),
            unprotected: (0..first.classes()).map(unprotected).collect(),
            by_core: if alone { first.write_amplification_by_core() } else { Vec::new() },
            channel_utilisation: drives.channel_utilisation(now, span),
            die_utilisation: drives.die_utilisation(now, span),
            die_work: drives.die_work(now, span),
            controller: None,
        }
    }

    /// Adds the load of the controller over `span`; no change for an array.
    pub(crate) fn with_controller(self, drives: &DriveSet<'_>, now: Nanos, span: Nanos) -> Self {
        if drives.array.is_some() {
            return self;
        }
        let busy = drives.first().busy(now);
        let share = |time: Nanos| time.0 as f64 / span.0.max(1) as f64;
        let controller = ControllerLoad {
            link_in: busy.link.map(|[inwards, _]| share(inwards)),
            link_out: busy.link.map(|[_, outwards]| share(outwards)),
            master: share(busy.master),
            cores: busy.cores.into_iter().map(share).collect(),
        };
        Self { controller: Some(controller), ..self }
    }

    /// Limits utilisation to 1. A run that is stopped between two commands, or whose last job thinks after its last command, has advanced drives a little
    /// beyond its last completion, which ends the measured time.
    pub(crate) fn cut_off(&mut self) {
        for share in self.channel_utilisation.iter_mut().chain(&mut self.die_utilisation) {
            *share = share.min(1.0);
        }
    }
}
