//! Power and temperatures over time.

use super::{OverTime, UtilisationSample};
use crate::table::ResultTable;
use outlast_ssd::{PowerFigures, Ssd};
use outlast_units::Nanos;

/// Energy and heat of each of `drives`; empty where one counts none.
pub(super) fn powers(at: Nanos, drives: &[(u64, &Ssd)]) -> Vec<PowerFigures> {
    let all: Option<Vec<PowerFigures>> = drives.iter().map(|(_, ssd)| ssd.power_figures(at)).collect();
    all.unwrap_or_default()
}

impl OverTime {
    /// Table of the mean power since the sample before and of temperatures, of all drives together and of the hottest; `None` where nothing counts energy.
    pub(super) fn energy(&self) -> Option<ResultTable> {
        self.samples.iter().find(|sample| !sample.power.is_empty())?;
        let joules: Vec<f64> = self
            .samples
            .iter()
            .map(|sample| sample.power.iter().map(|own| own.energy.total()).sum())
            .collect();
        let before = std::iter::once((self.start, 0.0));
        let before = before.chain(self.samples.iter().zip(&joules).map(|(sample, &own)| (sample.at, own)));
        let watts =
            self.samples.iter().zip(&joules).zip(before).map(|((sample, own), (then, less))| {
                (own - less) / (sample.at - then).as_secs_f64().max(1e-9)
            });
        let mut table = ResultTable::default();
        table.measures("at_s", self.samples.iter().map(|sample| sample.at.as_secs_f64()));
        table.measures("watts", watts);
        let hottest = || {
            self.samples.iter().map(|sample| {
                let heats = sample.power.iter().filter_map(|own| own.heat.as_ref());
                heats.max_by(|one, other| one.now.controller.total_cmp(&other.now.controller))
            })
        };
        if hottest().any(|heat| heat.is_some()) {
            table.measures(
                "controller_celsius",
                hottest().map(|own| own.map_or(f64::NAN, |own| own.now.controller)),
            );
            table.measures("case_celsius", hottest().map(|own| own.map_or(f64::NAN, |own| own.now.case)));
            table.measures("throttled_share", self.throttled_shares().into_iter());
        }
        Some(table)
    }

    /// Share of each span for which the drive that was throttled longest let commands in slowly, or not at all.
    fn throttled_shares(&self) -> Vec<f64> {
        let (mut then, mut before) = (self.start, 0.0);
        let share = |sample: &UtilisationSample| {
            let heats = sample.power.iter().filter_map(|own| own.heat.as_ref());
            let longest = heats.map(|own| own.throttled.as_secs_f64()).fold(0.0, f64::max);
            let share = (longest - before) / (sample.at - then).as_secs_f64().max(1e-9);
            (then, before) = (sample.at, longest);
            share.clamp(0.0, 1.0)
        };
        self.samples.iter().map(share).collect()
    }
}
