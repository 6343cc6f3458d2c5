//! Section `energy` of the result: what the drives drew, and how warm they were.

use crate::facts::RunFacts;
use outlast_device::Op;
use outlast_ssd::{HeatFigures, PowerFigures};
use outlast_units::Nanos;
use serde::Serialize;

/// Energy over the measured time; in an array, that of its drives together.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EnergySummary {
    /// Energy, J.
    pub joules: f64,
    /// Mean power, W.
    pub mean_watts: f64,
    /// Energy over the gigabytes (10^9 bytes) that the host read and wrote, J; absent where it did neither.
    pub joules_per_host_gb: Option<f64>,
    /// Energy of the controllers, J.
    pub controller_joules: f64,
    /// Energy of the dies, J.
    pub die_joules: f64,
    /// Energy of the channels, J.
    pub channel_joules: f64,
    /// Energy of the host links, J.
    pub link_joules: f64,
    /// Commands that found a drive in a state of rest.
    pub wakes: u64,
    /// Heat, of the hottest drive; absent without `device.heat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatSummary>,
}

/// Heat of the drive whose controller was hottest.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeatSummary {
    /// Temperature of the controller at the end, °C.
    pub controller_celsius: f64,
    /// Temperature of the case at the end, °C.
    pub case_celsius: f64,
    /// Highest temperature of the controller, °C.
    pub hottest_celsius: f64,
    /// Share of the time in which the host's commands were slowed down or kept out.
    pub throttled_share: f64,
    /// How often throttling began.
    pub throttles: u64,
    /// How often the drive shut down.
    pub shutdowns: u64,
}

/// Energy and heat of the drives; `None` where one counts none.
pub(crate) fn energy(facts: &RunFacts<'_>) -> Option<EnergySummary> {
    let drives = &facts.measured.power;
    let sum = |part: fn(&PowerFigures) -> f64| drives.iter().map(part).sum::<f64>();
    let longest = drives.iter().map(|own| own.span).max()?;
    let joules = sum(|own| own.energy.total());
    let bytes = &facts.recorder.completed.bytes;
    let host = bytes[Op::Read as usize] + bytes[Op::Write as usize];
    let hottest = drives.iter().filter_map(|own| own.heat.as_ref());
    let hottest = hottest.max_by(|one, other| one.hottest.total_cmp(&other.hottest));
    Some(EnergySummary {
        joules,
        mean_watts: joules / longest.as_secs_f64().max(1e-9),
        joules_per_host_gb: (host != 0).then(|| joules / (host as f64 / 1e9)),
        controller_joules: sum(|own| own.energy.controller),
        die_joules: sum(|own| own.energy.dies),
        channel_joules: sum(|own| own.energy.channels),
        link_joules: sum(|own| own.energy.link),
        wakes: drives.iter().map(|own| own.wakes).sum(),
        heat: hottest.map(|own| heat(own, longest)),
    })
}

fn heat(own: &HeatFigures, span: Nanos) -> HeatSummary {
    HeatSummary {
        controller_celsius: own.now.controller,
        case_celsius: own.now.case,
        hottest_celsius: own.hottest,
        throttled_share: own.throttled.as_secs_f64() / span.as_secs_f64().max(1e-9),
        throttles: own.throttles,
        shutdowns: own.shutdowns,
    }
}
