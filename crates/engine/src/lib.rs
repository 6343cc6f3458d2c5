//! Time: the run loop, preconditioning, metrics, results.
//!
//! The run loop is compiled twice, for a drive and for an array (`machine.rs`), so that a single drive pays nothing for arrays. `volume.rs` is an array
//! together with the scheduled events of its members, and `drives.rs` sums figures over drives.
//!
//! `summary/` makes the result section by section from what `measured.rs` recorded when the host ended. Causes of programs and reads are one list,
//! `ftl/src/causes.rs`, from which keys, columns, charts and the reference follow (decision 0026). Rates, latencies and counts are of requests that were served
//! (decision 0102). Utilisation over time (`over_time.rs`) samples totals that parts keep anyway, at the ends of windows (decision 0077).

mod array_report;
mod batch;
mod batch_means;
mod by_namespace;
mod by_queue;
mod by_state;
mod clock;
mod columns;
mod counts;
mod data_loss;
mod drives;
mod effort;
mod error;
mod facts;
mod histogram;
mod jobs;
mod latency;
mod measured;
mod member;
mod member_config;
mod memory;
mod over_time;
mod overload;
mod precondition;
mod progress;
mod quantiles;
mod recorder;
mod reliability;
mod repair_report;
mod report;
mod requests;
mod run;
mod sequential;
mod service;
mod simulated_device;
mod simulation;
mod snapshot;
mod spare_space;
mod splits;
mod steady;
mod summary;
mod table;
mod team;
mod untimed;
mod victims;
mod volume;
mod window;

pub use batch_means::ConfidenceInterval;
pub use by_namespace::NamespaceFigures;
pub use by_queue::QueueFigures;
pub use by_state::{LatencyByState, LatencyInState};
pub use columns::{ColumnJoin, TimeColumn, time_columns};
pub use data_loss::{DataLoss, RebuildLimit};
pub use effort::{RunEffort, RunEstimate};
pub use error::{EngineError, ServiceError};
pub use jobs::{JobDirection, JobFigures, JobLatency, RateSamples};
pub use latency::LatencyFigures;
pub use memory::MemoryNeeds;
pub use outlast_device::LatencyCause;
pub use outlast_ftl::{ProgramCause, ReadCause};
pub use overload::OverloadRates;
pub use progress::{OnProgress, RunControl, RunPhase, RunProgress};
pub use repair_report::{RepairRisk, RepairSummary, ScaledRepair};
pub use requests::{OnRows, REQUEST_KINDS, REQUEST_OUTCOMES};
pub use run::{ExtraRequest, LegGoal};
pub use service::InService;
pub use simulated_device::DRAIN_TIME;
pub use simulation::{RunResult, RunStatus, Simulation};
pub use snapshot::{SnapshotError, read_snapshot, scenario_of, settings_of, write_snapshot};
pub use summary::{
    AfterHost, ArrayAmplification, ArraySummary, ArrayWrites, BandOfLatencies, CausesOfKind, ChangeMade,
    ClassFigures, ClosedForm, ControllerLoad, CorrectedBy, DataLossAfterFailures, DeviceFacts, DieWork,
    DriveWear, EnergySummary, ExactProbabilities, FailedCommands, FlashByCause, FlashOperations, GcFigures,
    HandleSummary, HeatSummary, HostFigures, LatencyByOp, LatencyCauses, LittlesLaw, LoadFigures,
    MeasuredState, MemoryFigures, MountFigures, PlacementFigures, PreconditionState, PredictionFigures,
    ProtectionFigures, RberFigures, RebuildSummary, RedundancyFigures, RedundancyLost, ReliabilityFigures,
    RunSummary, SCHEMA, ScrubFigures, SlcCacheSummary, StateTimes, SteadyState, StreamLatency,
    StripeRecovery, TailProbability, ThroughputFigures, TimeFigures, TwinComparison, UtilisationSpread,
    WearFigures, WriteAmplification, ZoneLatencies, ZonesFigures,
};
pub use table::{ResultColumn, ResultTable};

pub use outlast_scenario::{
    FaultTarget, FillPattern, MergedLayers, OverwritePattern, PlannedEvent, PoliciesSpec, PolicyDecision,
    PolicySpec, PreconditionSpec, Preset, Provenance, ReadFile, RunSpec, Scenario, ScenarioError,
    ScenarioLayer, SourcePosition, TimingMode, check_name, is_loadable, load, load_scenario, migrate,
    parse_text, presets, split_override,
};
