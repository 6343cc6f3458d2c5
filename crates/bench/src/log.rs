//! Cost of the log of a served drive: processor time for each write of 4 KiB, with the log and without, one write and thirty-two a turn; the share of
//! the checksum; and the cost of checkpoints, on the serving thread and on others.

use crate::models::cpu_s;
use outlast_device::{Command, Op, Tag};
use outlast_engine::{RunControl, Scenario, parse_text};
use outlast_serve::{DeviceImage, DeviceInput, ImageOptions, InputRecorder, NoRecorder, ServedDevice};
use outlast_units::{Bytes, Lba, Nanos};
use rustix::time::{ClockId, clock_gettime};
use std::fs::remove_dir_all;
use std::path::Path;

/// Bytes of a write.
const WRITE: usize = 4096;
/// Addresses that are written to.
const ADDRESSES: u64 = 1000;

/// The cost of a write in microseconds: of the thread that serves, and of the whole process.
#[derive(Clone, Copy)]
struct WriteCost {
    thread: f64,
    process: f64,
}

/// The cost of a logged write in microseconds, beside that of the same without the log.
///
/// # Errors
/// The folder for temporary files cannot be written.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let (writes, every) = if quick { (2_000, Bytes::mib(1)) } else { (100_000, Bytes::mib(64)) };
    let text = crate::case::scenario(
        2.0,
        "workload.synthetic = { queue_depth = 1, requests = 1 }\nprecondition.fill = \"none\"\n",
    );
    let scenario = parse_text(&text).map_err(|error| error.to_string())?.0;
    let folder = std::env::temp_dir().join(format!("outlast-bench-log-{}", std::process::id()));
    let rare = ImageOptions { checkpoint_every: Some(Bytes(u64::MAX)), ..ImageOptions::default() };
    let often = ImageOptions { checkpoint_every: Some(every), ..rare };
    let mut sentences = Vec::new();
    for turn in [1, 32] {
        let without = submit_writes(&mut NoRecorder, &mut device_without_image(&scenario)?, writes, turn)?;
        let [logged, kept] =
            [rare, often].map(|options| cost_with_image(&scenario, &folder, options, writes, turn));
        remove_dir_all(&folder).map_err(|error| error.to_string())?;
        let (logged, kept) = (logged?, kept?);
        sentences.push(format!(
            "{:.2} µs a write of 4 KiB with the log and {:.2} without, so {:.2} for the log, {turn} in a turn (checkpoints each {every}: \
             {:.2} more, and {:.2} beside)",
            logged.thread,
            without.thread,
            logged.thread - without.thread,
            kept.thread - logged.thread,
            kept.process - kept.thread,
        ));
    }
    let data = vec![7; WRITE];
    let start = cpu_s();
    let sum = (0..writes).fold(0, |sum, _| crc32c::crc32c_append(sum, std::hint::black_box(&data)));
    std::hint::black_box(sum);
    let checksum = (cpu_s() - start) / f64::from(writes) * 1e6;
    Ok(format!("log: {}; of these {checksum:.2} for the checksum", sentences.join("; ")))
}

fn device_without_image(scenario: &Scenario) -> Result<ServedDevice, String> {
    ServedDevice::new(scenario).map_err(|error| error.to_string())
}

fn cost_with_image(
    scenario: &Scenario,
    folder: &Path,
    options: ImageOptions,
    writes: u32,
    turn: u32,
) -> Result<WriteCost, String> {
    remove_dir_all(folder).ok();
    let opened = DeviceImage::open(folder, Some(scenario), options, &mut |_| RunControl::Continue);
    let (mut image, mut machine) = opened.map_err(|error| error.to_string())?.ok_or("stopped")?;
    submit_writes(&mut image, &mut machine, writes, turn)
}

/// Gives `machine` `writes` writes, `turn` at a time, each turn as a server does whose clients wait for all of it.
fn submit_writes(
    recorder: &mut impl InputRecorder,
    machine: &mut ServedDevice,
    writes: u32,
    turn: u32,
) -> Result<WriteCost, String> {
    let (data, mut done, mut now) = (vec![7; WRITE], Vec::new(), Nanos::ZERO);
    let (thread, process) = (cpu_s(), process_s());
    for first in (0..writes).step_by(turn as usize) {
        for tag in 0..turn {
            let lba = Lba(u64::from(first + tag) % ADDRESSES * 8);
            let command = Command::new(Op::Write, lba, 8);
            let input = DeviceInput::Command { tag: Tag(tag), command, data: &data };
            recorder.record(now, &input);
            machine.apply(now, &input).map_err(|error| error.to_string())?;
        }
        recorder.commit().map_err(|error| error.to_string())?;
        while machine.in_flight() > 0 {
            now = machine.next_deadline().ok_or("a write does not complete")?;
            machine.advance(now, &mut done);
        }
        done.clear();
        recorder
            .acknowledge(now, false)
            .and_then(|()| recorder.checkpoint_if_due(machine))
            .map_err(|error| error.to_string())?;
    }
    let each = |seconds: f64| seconds / f64::from(writes) * 1e6;
    Ok(WriteCost { thread: each(cpu_s() - thread), process: each(process_s() - process) })
}

/// Processor time of all threads, in seconds.
fn process_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
