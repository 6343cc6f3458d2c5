//! `result.json`: what a run found, section by section. The schema's name changes whenever a key changes its meaning or goes away.

mod after_host;
mod array;
mod closed_form;
mod device;
mod flash;
mod host;
mod latency;
mod latency_causes;
mod power;
mod queue;
mod reliability;
mod steady;
mod wear;

pub use after_host::AfterHost;
pub use array::{
    ArrayAmplification, ArraySummary, ArrayWrites, DataLossAfterFailures, DriveWear, RebuildSummary,
    StateTimes,
};
pub use closed_form::ClosedForm;
pub use device::{DeviceFacts, MemoryFigures};
pub use flash::{FlashByCause, FlashOperations, GcFigures, WriteAmplification};
pub use host::{FailedCommands, HostFigures, ThroughputFigures, TimeFigures};
pub use latency::{LatencyByOp, StreamLatency};
pub use latency_causes::{BandOfLatencies, CausesOfKind, LatencyCauses};
pub use power::MountFigures;
pub use queue::{ControllerLoad, DieWork, LittlesLaw, LoadFigures, UtilisationSpread};
pub use reliability::{
    ChangeMade, ClassFigures, CorrectedBy, ExactProbabilities, ProtectionFigures, RberFigures,
    RedundancyFigures, RedundancyLost, ReliabilityFigures, ScrubFigures, StripeRecovery, TailProbability,
    TwinComparison,
};
pub use steady::{MeasuredState, PreconditionState, SteadyState};
pub use wear::WearFigures;

pub(crate) use after_host::after_host;
pub(crate) use closed_form::{closed_form, writes_uniformly};
pub(crate) use device::device_facts;
pub(crate) use flash::{amplification, flash, gc, is_without_collection};
pub(crate) use host::{host, throughput, time};
pub(crate) use latency::{latency, latency_table};
pub(crate) use latency_causes::latency_causes;
pub(crate) use power::power;
pub(crate) use queue::{overload_note, queue, queues};
pub(crate) use steady::{measured_state, precondition_state, precondition_table};
pub(crate) use wear::{wear, wear_table};

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
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// The one seed.
    pub seed: u64,
    /// Whether the run was stopped before its end.
    pub partial: bool,
    /// What the reader should know: guesses, things that were not reached.
    pub notes: Vec<String>,
    /// Settings that ask of the chip what its source does not cover; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beyond_range: Vec<String>,
    /// What the host asked and got.
    pub host: HostFigures,
    /// Simulated time and what the run cost.
    pub time: TimeFigures,
    /// Commands and bytes per simulated second.
    pub throughput: ThroughputFigures,
    /// Latencies from submission (closed loop) or arrival (open loop) to completion, in microseconds.
    pub latency_us: LatencyByOp,
    /// Where the time of requests went, by cause; absent unless `run.causes` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_causes: Option<LatencyCauses>,
    /// Bytes programmed over bytes that the host wrote, by cause; absent where it wrote nothing.
    pub write_amplification: Option<WriteAmplification>,
    /// Pages read and programmed, blocks erased.
    pub flash: FlashOperations,
    /// What drives did after the host had ended, which no other figure of flash includes; absent where nothing went on.
    pub after_host: Option<AfterHost>,
    /// Garbage collection.
    pub gc: GcFigures,
    /// What errors did and what was done about them.
    pub reliability: ReliabilityFigures,
    /// Parity in the drive; absent where there is none.
    pub protection: Option<ProtectionFigures>,
    /// Losses of power of drives that mount from flash; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<MountFigures>,
    /// The array; absent for a drive by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArraySummary>,
    /// Dies that failed and were repaired, where drives do that; absent where none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repair: Vec<RepairSummary>,
    /// Wear over the drive's life, preconditioning included.
    pub wear: WearFigures,
    /// What the drive itself tells about its health, over its life.
    pub smart: Smart,
    /// Queues and utilisation.
    pub queue: LoadFigures,
    /// What came through each submission queue of the host; absent unless the drive tells them apart and more than one was used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueFigures>,
    /// Whether the drive, and the measurement, were steady.
    pub steady_state: SteadyState,
    /// What theory says, where it applies.
    pub closed_form: ClosedForm,
    /// The drive in figures.
    pub device: DeviceFacts,
    /// Memory.
    pub memory: MemoryFigures,
    /// The scenario, resolved.
    pub scenario: Scenario,
}
