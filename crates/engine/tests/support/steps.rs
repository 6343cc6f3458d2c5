//! Runs that go on step by step: the drives, arrays and hosts of such tests, and the steps.

use super::{DriveText, scenario};
use outlast_engine::{LegGoal, RunControl, RunProgress, RunResult, RunStatus, Scenario, Simulation};
use outlast_units::Nanos;

/// Eight dies with room for a die that fails.
pub(crate) fn drive() -> DriveText {
    DriveText::channels(4).dies(2).blocks(64, 32, "16KiB").spare(0.6).ftl("spare_blocks = 4").buffer("2MiB")
}

pub(crate) const ARRAY: &str = r#"
[array]
level = "raid5"
members = 4
chunk = "64KiB"
[[faults]]
at = "8ms"
kind = "device"
device = 1
"#;

pub(crate) const CLOSED: &str = r#"
[workload.synthetic]
pattern = "uniform"
read_percent = 60
queue_depth = 16
requests = 9000
[run]
warm_up = "2ms"
causes = true
"#;

pub(crate) const OPEN: &str = r#"
[workload.synthetic]
pattern = "zipf"
read_percent = 60
rate_iops = 20000
requests = 9000
"#;

pub(crate) const LANES: &str = r#"
[workload.fio]
job = """
[global]
bs=4k
[reads]
rw=randread
iodepth=4
thinktime=300
number_ios=1500
[writes]
rw=randwrite
iodepth=8
number_ios=3000
startdelay=1
"""
"#;

/// The scenario of these tests' drive, written over once, with further tables.
pub(crate) fn made(parts: &[&str]) -> Scenario {
    made_on(&drive(), parts)
}

pub(crate) fn made_on(drive: &DriveText, parts: &[&str]) -> Scenario {
    let parts = parts.concat();
    scenario(&format!(
        "name = \"steps\"\nseed = 3\n{drive}[precondition]\noverwrite = \"random\"\nmax_drive_writes = 1\n{parts}"
    ))
}

pub(crate) fn go(_: &RunProgress) -> RunControl {
    RunControl::Continue
}

pub(crate) fn once(scenario: Scenario) -> RunResult {
    Simulation::new(scenario).unwrap().run(&mut go).unwrap()
}

pub(crate) fn stand(simulation: &Simulation) -> RunStatus {
    simulation.status().unwrap()
}

/// Goes on to a goal, which is so many requests or so much time away.
pub(crate) fn step(simulation: &mut Simulation, requests: Option<u64>, time: Option<Nanos>) -> RunStatus {
    simulation.open_run(&mut go).unwrap();
    let at = stand(simulation);
    let goal = LegGoal {
        requests: requests.map_or(u64::MAX, |more| at.requests + more),
        time: time.map_or(Nanos::MAX, |more| at.now + more),
    };
    simulation.advance(&goal, &mut go, None).unwrap();
    stand(simulation)
}

pub(crate) trait FinishAtEnd {
    fn finish_at_end(&mut self) -> RunResult;
}

impl FinishAtEnd for Simulation {
    fn finish_at_end(&mut self) -> RunResult {
        self.advance(&LegGoal::END, &mut go, None).unwrap();
        self.finish(&mut go, None).unwrap()
    }
}
