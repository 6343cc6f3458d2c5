//! Runs that reach the latest time that a drive can handle.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{RunControl, Simulation};
use support::scenario;

/// 60 000 dies: time and source of an event share 64 bits, so that time ends after 2^64 ns / 2^16 = 3.26 days. Each read takes a second
/// and the next follows when it has ended: the run stops a day before that, with an error and no panic.
#[test]
fn a_closed_loop_that_reaches_the_horizon_ends_with_an_error() {
    let text = r#"
[device.timing]
read = "4s"
program = "700us"
erase = "3500us"
bus = "800MB/s"
[device.geometry]
channels = 60
chips_per_channel = 100
dies_per_chip = 10
planes_per_die = 1
blocks_per_plane = 8
pages_per_block = 1
page_size = "4KiB"
[device.ftl]
over_provisioning = 3.0
[device.controller]
write_buffer = "16MiB"
[precondition]
overwrite = "none"
[workload.synthetic]
read_percent = 100
queue_depth = 1
requests = 1000000
"#;
    let mut simulation = Simulation::new(scenario(text)).unwrap();
    let error =
        simulation.run(&mut |_| RunControl::Continue).expect_err("the horizon is reached").to_string();
    assert!(
        !error.contains('\n') && error.contains("a drive with this many dies can be simulated only until"),
        "{error}"
    );
}
