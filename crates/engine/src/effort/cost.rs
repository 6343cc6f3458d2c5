//! Processor time of what a run does, by counts of it.
//!
//! Each constant was fitted to the processor time of presets and of variants of `demo` and `array-raid5-5` that have more of one thing
//! (reads, large requests, levels, contents, errors), on a build by `make setup PROFILE=ci`; all are multiplied by what a small run
//! takes on this computer, beside what it took there ([`super::pace`]).

use super::FlashEstimate;
use super::rebuild::RebuildWork;
use super::sample::WorkloadSample;
use outlast_scenario::TimingMode;

/// Nanoseconds of a host request with time.
const REQUEST_NS: f64 = 95.0;
/// Nanoseconds of a page that a host request senses; and of its decoding by an error model.
const READ_NS: f64 = 92.0;
const ERRORS_NS: f64 = 62.0;
/// Nanoseconds of a program operation, of whatever number of pages; and of each mapping unit in it.
const PROGRAM_NS: f64 = 145.0;
const PROGRAMMED_UNIT_NS: f64 = 10.0;
/// Nanoseconds of a unit that collection moves, its share of the sensing included.
const RELOCATED_UNIT_NS: f64 = 50.0;
/// Nanoseconds that zones add to a host request.
const ZONED_NS: f64 = 3000.0;
/// Nanoseconds of a command of an array to a member.
const MEMBER_NS: f64 = 400.0;
/// Nanoseconds of a command to a member for a pass over whole chunks: chunks of 64 KiB, without the pages that they sense.
const PASS_COMMAND_NS: f64 = 160.0;
/// Nanoseconds of a request that is read from a trace: its line is parsed, and mostly decompressed, each time that it is read.
const RECORD_NS: f64 = 170.0;
/// Nanoseconds for splitting the time of a request by cause.
const CAUSES_NS: f64 = 340.0;
/// Nanoseconds for each byte that the host reads or writes where contents are kept, with time and, into memory that is touched for the
/// first time, without.
const CONTENT_NS: f64 = 0.1;
const UNTIMED_CONTENT_NS: f64 = 0.2;

/// Nanoseconds of a unit programmed without time, on a drive whose tables are of `SMALL_TABLES` bytes.
const UNTIMED_UNIT_NS: f64 = 8.5;
/// Nanoseconds that parity within the drive adds to it.
const UNTIMED_PARITY_NS: f64 = 10.0;
/// Bytes of the tables of `demo`.
const SMALL_TABLES: f64 = 12e6;
/// Power of the size of the tables with which the time of a unit grows, as more of its accesses miss the caches: 1.5 times as much for 8
/// times the tables, 1.8 for 32 times.
const CACHE_MISSES: f64 = 0.2;
/// Nanoseconds of a command without time, and of each unit that it writes.
const UNTIMED_COMMAND_NS: f64 = 40.0;
const UNTIMED_COMMAND_UNIT_NS: f64 = 20.0;
/// Nanoseconds of a host write of one unit to an array without time, and of each member that it writes.
const UNTIMED_ARRAY_NS: f64 = 250.0;
const UNTIMED_MEMBER_NS: f64 = 150.0;
/// Nanoseconds of a byte of tables, touched for the first time: 0.2 on memory that the system has, 3 on memory that a virtual machine must
/// first get.
const TABLE_NS: f64 = 1.6;

/// Counts of what the flash and the members do, all members together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlashWork {
    /// Pages that requests read, those of an array's small writes included.
    pub(super) host_reads: f64,
    /// Pages that collection reads.
    pub(super) collected_reads: f64,
    /// Pages programmed.
    pub(super) programs: f64,
    /// Units that collection moves.
    pub(super) relocated: f64,
}

impl FlashWork {
    pub(super) fn reads(&self) -> f64 {
        self.host_reads + self.collected_reads
    }
}

/// What preparing programs and writes, in mapping units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PreparedWork {
    /// Units programmed, all members together.
    pub(super) programmed: f64,
    /// Units that overwriting writes for the host.
    pub(super) overwritten: f64,
    /// Units that the fill writes for the host.
    pub(super) filled: f64,
}

/// Nanoseconds of each kind of work for one scenario.
pub(super) struct Costs<'a> {
    pub(super) flash: &'a FlashEstimate<'a>,
    pub(super) sample: &'a WorkloadSample,
    /// Bytes of the tables of all drives, contents excluded.
    pub(super) table_bytes: f64,
}

impl Costs<'_> {
    /// For making the tables.
    pub(super) fn tables(&self) -> f64 {
        self.table_bytes * TABLE_NS
    }

    /// For preparing; `by_commands`: overwritten by the commands of the workload.
    pub(super) fn preparation(&self, work: &PreparedWork, by_commands: bool) -> f64 {
        let commands = if by_commands {
            let written = self.sample.written_units.max(1e-9);
            work.overwritten * ((UNTIMED_COMMAND_NS + self.record()) / written + UNTIMED_COMMAND_UNIT_NS)
        } else {
            0.0
        };
        let contents = if self.flash.scenario.device.bytes { UNTIMED_CONTENT_NS } else { 0.0 };
        let unit_bytes = self.flash.drive.config().ftl.mapping_unit.0 as f64;
        work.programmed * self.untimed_unit()
            + work.overwritten * self.untimed_array()
            + (work.filled + work.overwritten) * unit_bytes * contents
            + commands
    }

    /// For `requests` of the run, and the work in flash that they cause.
    pub(super) fn run(&self, requests: f64, work: &FlashWork) -> f64 {
        let (scenario, sample) = (self.flash.scenario, self.sample);
        let units = work.programs * self.flash.units_per_page();
        if scenario.run.timing == TimingMode::None {
            let written = requests * sample.written_units;
            return requests * (UNTIMED_COMMAND_NS + self.record())
                + written * (UNTIMED_COMMAND_UNIT_NS + self.untimed_array())
                + units * self.untimed_unit();
        }
        let contents = if scenario.device.bytes { sample.bytes * CONTENT_NS } else { 0.0 };
        let causes = if scenario.run.causes { CAUSES_NS } else { 0.0 };
        let zoned = if scenario.device.zones.is_some() { ZONED_NS } else { 0.0 };
        requests
            * (REQUEST_NS
                + self.record()
                + causes
                + zoned
                + contents
                + self.flash.fan.commands(sample) * MEMBER_NS)
            + work.host_reads * READ_NS
            + work.reads() * self.errors()
            + work.programs * PROGRAM_NS / self.pages_together()
            + units * PROGRAMMED_UNIT_NS
            + work.relocated * RELOCATED_UNIT_NS
    }

    /// For what an array rebuilds and repairs.
    pub(super) fn rebuilds(&self, work: &RebuildWork) -> f64 {
        let commands = work.pass_commands + work.repair_commands;
        if self.flash.scenario.run.timing == TimingMode::None {
            return commands * UNTIMED_MEMBER_NS + work.units * self.untimed_unit();
        }
        let operations = work.units / self.flash.units_per_page() / self.pages_together();
        work.pass_commands * PASS_COMMAND_NS
            + work.repair_commands * MEMBER_NS
            + work.reads * (READ_NS + self.errors())
            + operations * PROGRAM_NS
            + work.units * PROGRAMMED_UNIT_NS
    }

    /// Pages of a program operation.
    fn pages_together(&self) -> f64 {
        let config = self.flash.drive.config();
        let planes = if config.ftl.multi_plane { f64::from(config.geometry.planes_per_die) } else { 1.0 };
        planes * f64::from(config.ftl.one_shot)
    }

    /// For reading a request of the workload.
    fn record(&self) -> f64 {
        if self.flash.scenario.workload.trace.is_some() { RECORD_NS } else { 0.0 }
    }

    /// For the errors of a page that is sensed.
    fn errors(&self) -> f64 {
        if self.flash.scenario.device.reliability.is_some() { ERRORS_NS } else { 0.0 }
    }

    /// For a unit programmed without time.
    fn untimed_unit(&self) -> f64 {
        let parity = if self.flash.scenario.device.protection.is_some() { UNTIMED_PARITY_NS } else { 0.0 };
        (UNTIMED_UNIT_NS + parity) * (self.table_bytes / SMALL_TABLES).max(1.0).powf(CACHE_MISSES)
    }

    /// For a unit that the host overwrites in an array without time; 0 without an array.
    fn untimed_array(&self) -> f64 {
        let fan = &self.flash.fan;
        if fan.is_array() { UNTIMED_ARRAY_NS + UNTIMED_MEMBER_NS * fan.small_writes } else { 0.0 }
    }
}
