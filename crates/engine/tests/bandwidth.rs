//! Is sequential bandwidth what the slowest part allows?
//!
//! Three drives, each limited by another part. Tolerance 1 %: a run ends when its last request completes, while other dies
//! may have finished before. With 32 requests of 1 MiB in flight over at most 8 dies the work left when the last
//! request is issued is spread evenly except for one operation of a die, so the error is (one operation) / (operations of one die),
//! below 0.5 % for the 1 GiB that is moved. A write is acknowledged in the buffer, so a run of writes ends at most one buffer
//! (1 MiB of 1 GiB: 0.1 %) early.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::RunSummary;
use outlast_models::bandwidth::{BandwidthLimits, Bottleneck, FlashParameters};
use support::{DriveText, assert_close, run, scenario};

struct Drive {
    channels: u16,
    dies_per_channel: u16,
    planes: u16,
    read_us: u32,
    program_us: u32,
    bus_mb_s: u32,
    command_ns: u32,
    spare: u32,
    link_mb_s: Option<u32>,
}

/// One die to a channel whose bus is fast: no die ever waits for its channel.
const DIES: Drive = Drive {
    channels: 4,
    dies_per_channel: 1,
    planes: 2,
    read_us: 60,
    program_us: 700,
    bus_mb_s: 800,
    command_ns: 300,
    spare: 1024,
    link_mb_s: None,
};

/// Many quick dies behind a slow bus: sensing and programming hide behind the others' transfers.
const CHANNELS: Drive = Drive {
    channels: 2,
    dies_per_channel: 4,
    planes: 2,
    read_us: 50,
    program_us: 300,
    bus_mb_s: 100,
    command_ns: 300,
    spare: 1024,
    link_mb_s: None,
};

const LINK: Drive = Drive { link_mb_s: Some(150), program_us: 300, ..DIES };

impl Drive {
    fn flash(&self) -> FlashParameters {
        FlashParameters {
            channels: f64::from(self.channels),
            dies: f64::from(self.channels * self.dies_per_channel),
            planes: f64::from(self.planes),
            page_bytes: 16384.0,
            spare_bytes: f64::from(self.spare),
            read_s: f64::from(self.read_us) * 1e-6,
            program_s: f64::from(self.program_us) * 1e-6,
            command_s: f64::from(self.command_ns) * 1e-9,
            bus_bytes_per_s: f64::from(self.bus_mb_s) * 1e6,
        }
    }

    fn link(&self) -> Option<f64> {
        self.link_mb_s.map(|link| f64::from(link) * 1e6)
    }

    /// Moves 1 GiB from the beginning; writes go into an empty drive that is larger, so nothing is ever collected.
    fn measured(&self, read_percent: u32, fill: &str) -> RunSummary {
        let dies = self.channels * self.dies_per_channel;
        // 2 GiB raw in all.
        let blocks = 2048 / 4 / (dies * self.planes);
        let (read, program) = (self.read_us, self.program_us);
        let drive = DriveText::channels(self.channels)
            .chips(self.dies_per_channel)
            .planes(self.planes)
            .blocks(blocks.into(), 256, "16KiB")
            .spare_per_page(self.spare)
            .timing(&format!(
                "read = \"{read}us\"\nprogram = \"{program}us\"\nerase = \"3500us\"\nbus = \"{}MB/s\"\ncommand = \"{}ns\"",
                self.bus_mb_s, self.command_ns
            ))
            .ftl("capacity = \"1GiB\"")
            .buffer("1MiB")
            .controller(&self.link_mb_s.map_or(String::new(), |link| format!("link = \"{link}MB/s\"")));
        let text = format!(
            r#"
{drive}
[precondition]
fill = "{fill}"
overwrite = "none"
[workload.synthetic]
pattern = "sequential"
size = "1MiB"
read_percent = {read_percent}
queue_depth = 32
requests = 1024
"#,
        );
        run(scenario(&text)).result.summary
    }

    fn check_reads(&self, bottleneck: Bottleneck) {
        let limits = self.flash().sequential_read(self.link()).unwrap();
        let summary = self.measured(100, "sequential");
        assert_eq!(summary.host.unmapped_reads, 0);
        check(
            &limits,
            bottleneck,
            summary.throughput.read_mib_s.expect("time passed"),
            summary.closed_form.sequential_read_mib_s,
        );
    }

    fn check_writes(&self, bottleneck: Bottleneck) {
        let limits = self.flash().sequential_write(self.link()).unwrap();
        let summary = self.measured(0, "none");
        assert_eq!((summary.gc.victims, summary.flash.erases), (0, 0), "the drive must stay empty enough");
        check(
            &limits,
            bottleneck,
            summary.throughput.write_mib_s.expect("time passed"),
            summary.closed_form.sequential_write_mib_s,
        );
    }
}

fn check(limits: &BandwidthLimits, bottleneck: Bottleneck, measured: f64, shown: f64) {
    assert_eq!(limits.bottleneck(), bottleneck, "{limits:?}");
    let expected = limits.bytes_per_s() / f64::from(1 << 20);
    assert_close("bandwidth in MiB/s", measured, expected, 0.01);
    assert_close("closed form in the result", shown, expected, 1e-9);
}

#[test]
fn reads_of_slow_dies_run_at_the_speed_of_the_dies() {
    DIES.check_reads(Bottleneck::Dies);
}

#[test]
fn reads_over_slow_channels_run_at_the_speed_of_the_channels() {
    CHANNELS.check_reads(Bottleneck::Channels);
}

#[test]
fn reads_over_a_slow_link_run_at_the_speed_of_the_link() {
    LINK.check_reads(Bottleneck::Link);
}

#[test]
fn writes_to_slow_dies_run_at_the_speed_of_the_dies() {
    DIES.check_writes(Bottleneck::Dies);
}

#[test]
fn writes_over_slow_channels_run_at_the_speed_of_the_channels() {
    CHANNELS.check_writes(Bottleneck::Channels);
}

#[test]
fn writes_over_a_slow_link_run_at_the_speed_of_the_link() {
    LINK.check_writes(Bottleneck::Link);
}

/// The limiting part works all the time, the others less.
#[test]
fn the_limiting_part_is_the_busy_one() {
    let dies = DIES.measured(100, "sequential").queue;
    assert!(
        dies.die_utilisation.min > 0.99 && dies.channel_utilisation.iter().all(|&busy| busy < 0.9),
        "{dies:?}"
    );
    let channels = CHANNELS.measured(100, "sequential").queue;
    assert!(channels.channel_utilisation.iter().all(|&busy| busy > 0.99), "{channels:?}");
    let link = LINK.measured(100, "sequential").queue;
    assert!(
        link.die_utilisation.max < 0.9 && link.channel_utilisation.iter().all(|&busy| busy < 0.9),
        "{link:?}"
    );
}
