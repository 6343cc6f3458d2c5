//! `result.json`: the result of a run, section by section. The schema's name changes whenever a key changes its meaning or goes away.

mod after_host;
mod array;
mod closed_form;
mod device;
mod energy;
mod flash;
mod host;
mod latency;
mod latency_causes;
mod placement;
mod power;
mod queue;
mod reliability;
mod slc_cache;
mod steady;
mod wear;
mod zones;

pub use after_host::AfterHost;
pub use array::{
    ArrayAmplification, ArraySummary, ArrayWrites, DataLossAfterFailures, DriveWear, RebuildSummary,
    StateTimes,
};
pub use closed_form::ClosedForm;
pub use device::{DeviceFacts, MemoryFigures};
pub use energy::{EnergySummary, HeatSummary};
pub use flash::{FlashByCause, FlashOperations, GcFigures, WriteAmplification};
pub use host::{FailedCommands, HostFigures, ThroughputFigures, TimeFigures};
pub use latency::{LatencyByOp, StreamLatency};
pub use latency_causes::{BandOfLatencies, CausesOfKind, LatencyCauses};
pub use placement::{HandleSummary, PlacementFigures};
pub use power::MountFigures;
pub use queue::{ControllerLoad, DieWork, LittlesLaw, LoadFigures, UtilisationSpread};
pub use reliability::{
    ChangeMade, ClassFigures, CorrectedBy, ExactProbabilities, PredictionFigures, ProtectionFigures,
    RberFigures, RedundancyFigures, RedundancyLost, ReliabilityFigures, ScrubFigures, StripeRecovery,
    TailProbability, TwinComparison,
};
pub use slc_cache::SlcCacheSummary;
pub use steady::{MeasuredState, PreconditionState, SteadyState};
pub use wear::WearFigures;
pub use zones::{ZoneLatencies, ZonesFigures};

pub(crate) use after_host::after_host;
pub(crate) use closed_form::{closed_form, writes_uniformly};
pub(crate) use device::device_facts;
pub(crate) use energy::energy;
pub(crate) use flash::{amplification, flash, gc, is_without_collection};
pub(crate) use host::{host, throughput, time};
pub(crate) use latency::{latency, latency_table};
pub(crate) use latency_causes::latency_causes;
pub(crate) use placement::placement;
pub(crate) use power::power;
pub(crate) use queue::{namespaces, overload_note, queue, queues};
pub(crate) use slc_cache::slc_cache;
pub(crate) use steady::{measured_state, precondition_state, precondition_table};
pub(crate) use wear::{wear, wear_table};
pub(crate) use zones::zones;

use crate::by_namespace::NamespaceFigures;
use crate::by_queue::QueueFigures;
use crate::repair_report::RepairSummary;
use outlast_device::Smart;
use outlast_scenario::Scenario;
use serde::Serialize;

/// Name and version of the schema.
pub const SCHEMA: &str = "outlast-result/1";

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// Name and version of the schema: [`SCHEMA`].
    pub schema: &'static str,
    /// Version of Outlast.
    pub version: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// True if the run was stopped before its end.
    pub partial: bool,
    /// Sentences about guesses, limits and surprises.
    pub notes: Vec<String>,
    /// Settings beyond the range that the source of the chip's figures covers; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beyond_range: Vec<String>,
    /// Commands of the host.
    pub host: HostFigures,
    /// Simulated time, and time that the simulation took.
    pub time: TimeFigures,
    /// Commands and bytes per simulated second.
    pub throughput: ThroughputFigures,
    /// Latencies from submission (closed loop) or arrival (open loop) to completion, in microseconds.
    pub latency_us: LatencyByOp,
    /// Time of requests by cause; absent unless `run.causes` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_causes: Option<LatencyCauses>,
    /// Bytes programmed over bytes that the host wrote, by cause; absent where it wrote nothing.
    pub write_amplification: Option<WriteAmplification>,
    /// Pages read and programmed, blocks erased.
    pub flash: FlashOperations,
    /// Work of drives after the host had ended, which no other figure of flash includes; absent where there was none.
    pub after_host: Option<AfterHost>,
    /// Garbage collection.
    pub gc: GcFigures,
    /// Errors and their correction.
    pub reliability: ReliabilityFigures,
    /// Parity in the drive; absent where there is none.
    pub protection: Option<ProtectionFigures>,
    /// Flexible data placement; absent for drives without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementFigures>,
    /// SLC cache; absent for drives without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCacheSummary>,
    /// Energy and heat; absent where nothing counts energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergySummary>,
    /// Zones; absent for drives without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZonesFigures>,
    /// Losses of power of drives that mount from flash; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<MountFigures>,
    /// The array; absent for a drive by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArraySummary>,
    /// Repairs of failed dies; absent where there was none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repair: Vec<RepairSummary>,
    /// Wear over the drive's life, preconditioning included.
    pub wear: WearFigures,
    /// Health as the drive itself reports it, over its life.
    pub smart: Smart,
    /// Queues and utilisation.
    pub queue: LoadFigures,
    /// Figures by submission queue of the host; absent unless the drive distinguishes queues and more than one was used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueFigures>,
    /// Requests by namespace, those of whoever addresses its range; absent without namespaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<NamespaceFigures>,
    /// Steady state of the drive and of the measurement.
    pub steady_state: SteadyState,
    /// Closed forms, where they apply.
    pub closed_form: ClosedForm,
    /// Size and spare space of the device.
    pub device: DeviceFacts,
    /// Memory of the simulation.
    pub memory: MemoryFigures,
    /// The scenario with all defaults and presets resolved.
    pub scenario: Scenario,
}
