//! Runs that reach the latest time that a drive can handle.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{RunControl, Simulation};
use support::{DriveText, scenario};

/// 60 000 dies: time and source of an event share 64 bits, so that time ends after 2^64 ns / 2^16 = 3.26 days. Each read takes a second
/// and the next follows when it has ended: the run stops a day before that, with an error and no panic.
#[test]
fn a_closed_loop_that_reaches_the_horizon_ends_with_an_error() {
    let drive = DriveText::channels(60)
        .chips(100)
        .dies(10)
        .blocks(8, 1, "4KiB")
        .timing("read = \"4s\"\nprogram = \"700us\"\nerase = \"3500us\"\nbus = \"800MB/s\"")
        .spare(3.0)
        .buffer("16MiB");
    let text = format!(
        r#"
{drive}
[precondition]
overwrite = "none"
[workload.synthetic]
read_percent = 100
queue_depth = 1
requests = 1000000
"#
    );
    let mut simulation = Simulation::new(scenario(&text)).unwrap();
    let error =
        simulation.run(&mut |_| RunControl::Continue).expect_err("the horizon is reached").to_string();
    assert!(
        !error.contains('\n') && error.contains("a drive with this many dies can be simulated only until"),
        "{error}"
    );
}
