//! Estimated throughput of a closed loop.

use super::FlashEstimate;
use super::sample::WorkloadSample;

/// Requests a second with `depth` in flight: the least of what dies, channels, the link and the master core let through.
///
/// Dies are taken as a closed network of equal stations over which requests fall evenly, whose throughput by mean value analysis is
/// `q / (D · (1 + (q − 1) / dies))` for a demand of D die-seconds a request; writes in the write buffer count as in flight.
pub(super) fn closed_loop(flash: &FlashEstimate<'_>, sample: &WorkloadSample, depth: f64) -> f64 {
    let config = flash.drive.config();
    let (timing, geometry, controller) = (&config.timing, &config.geometry, &config.controller);
    let planes = if config.ftl.multi_plane { f64::from(geometry.planes_per_die) } else { 1.0 };
    let bus = timing.bus.bytes_per_s() as f64;
    let command = timing.command.as_secs_f64();
    let page = (geometry.page_size.0 + geometry.spare_per_page.0) as f64 / bus;
    let sense = timing.read.mean_ns() * 1e-9;
    let program = timing.program.mean_ns() * 1e-9 / (f64::from(config.ftl.one_shot) * planes);
    // A million requests, so that a fresh drive's free space, which is counted once, weighs little.
    let work = flash.operations(sample, 1e6);
    let (reads, programs) = (work.reads() / 1e6, work.programs / 1e6);
    // Only the bytes asked for cross the channel, at least a sector.
    let read_transfer = page.min(sample.bytes.max(512.0) / bus);
    // Seconds of channel and of die for a request. A die is held while it transfers; planes share the command of a program.
    let on_channel = reads * (command + read_transfer) + programs * (command / planes + page);
    let on_die = on_channel + reads * sense + programs * program;
    let dies = f64::from(geometry.dies()) * flash.fan.members;
    let channels = f64::from(geometry.channels) * flash.fan.members;
    // Writes complete in the buffer, which keeps as many more requests busy at the dies.
    let buffered = flash.fan.members * controller.write_buffer.0 as f64 / sample.write_bytes.max(512.0);
    let in_flight = depth + if sample.writes > 0.0 { buffered * sample.writes } else { 0.0 };
    let link = controller.link.map_or(f64::INFINITY, |link| link.bytes_per_s() as f64 * flash.fan.members);
    let master = controller.master_cost.as_secs_f64();
    let by_dies = in_flight / (on_die * (1.0 + (in_flight - 1.0) / dies)).max(1e-12);
    by_dies
        .min(channels / on_channel.max(1e-12))
        .min(link / sample.bytes.max(1.0))
        .min(flash.fan.members / master.max(1e-12))
}
