//! What a run is judged by: everything counted while the host was there. It is taken down when the host has ended, so that what drives
//! do afterwards, such as the rest of a rebuild, neither raises write amplification nor utilisation.

use crate::counts::Counts;
use crate::drives::{Drives, ExactSum};
use crate::summary::{Controller, Scrubbed};
use outlast_ssd::Worked;
use outlast_units::Nanos;

/// Counted from the end of the warm-up to the end of the host.
pub(crate) struct Measured {
    pub(crate) counts: Counts,
    pub(crate) exact: Option<ExactSum>,
    /// Codewords by wrong bits.
    pub(crate) error_histogram: Vec<u64>,
    pub(crate) scrubbed: Scrubbed,
    /// Pages times seconds without parity, by class.
    pub(crate) unprotected: Vec<f64>,
    /// Write amplification of each flash core of a drive by itself; empty where there is one core.
    pub(crate) by_core: Vec<f64>,
    pub(crate) channel_utilisation: Vec<f64>,
    pub(crate) die_utilisation: Vec<f64>,
    pub(crate) die_work: Vec<Worked<f64>>,
    /// Of a drive by itself, where somebody asks for that.
    pub(crate) controller: Option<Controller>,
}

impl Measured {
    /// What `drives` have counted over `span`, which ends at `now`.
    pub(crate) fn of(drives: &Drives<'_>, now: Nanos, span: Nanos) -> Self {
        let first = drives.first();
        let alone = drives.array.is_none() && drives.config().controller.flash_cores > 1;
        let unprotected =
            |class| drives.all().iter().map(|ssd| ssd.unprotected_page_seconds(now, class)).sum();
        Self {
            counts: drives.counts(),
            exact: drives.exact(),
            error_histogram: drives.error_histogram(),
            scrubbed: Scrubbed::of(drives),
            unprotected: (0..first.classes()).map(unprotected).collect(),
            by_core: if alone { first.write_amplification_by_core() } else { Vec::new() },
            channel_utilisation: drives.channel_utilisation(now, span),
            die_utilisation: drives.die_utilisation(now, span),
            die_work: drives.die_work(now, span),
            controller: None,
        }
    }

    /// As [`Measured::of`], and how busy the controller of a drive by itself was.
    pub(crate) fn with_controller(self, drives: &Drives<'_>, now: Nanos, span: Nanos) -> Self {
        if drives.array.is_some() {
            return self;
        }
        let busy = drives.first().busy(now);
        let share = |time: Nanos| time.0 as f64 / span.0.max(1) as f64;
        let controller = Controller {
            link_in: busy.link.map(|[inwards, _]| share(inwards)),
            link_out: busy.link.map(|[_, outwards]| share(outwards)),
            master: share(busy.master),
            cores: busy.cores.into_iter().map(share).collect(),
        };
        Self { controller: Some(controller), ..self }
    }

    /// The run was stopped between two commands: drives have gone on a little beyond the last that completed.
    pub(crate) fn cut_off(&mut self) {
        for share in self.channel_utilisation.iter_mut().chain(&mut self.die_utilisation) {
            *share = share.min(1.0);
        }
    }
}
