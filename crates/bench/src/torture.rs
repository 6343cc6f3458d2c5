//! Time to find the crash state of a drive at every instant of a recording.

use crate::models::cpu_s;
use outlast_device::{Command, Op, Tag};
use outlast_engine::{RunControl, Scenario, ScenarioLayer, load_scenario};
use outlast_serve::{DeviceImage, DeviceInput, ImageOptions, InputRecorder, ServedDevice};
use outlast_torture::OpenRecording;
use outlast_torture::drive::{CrashModel, CrashSearch, find_classes};
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos};
use std::fs::remove_dir_all;
use std::path::{Path, PathBuf};

/// The drive that is served unless another is named.
const DRIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/presets/serve-drive.toml");
/// Bytes of a write.
const WRITE: usize = 4096;
/// Sectors of it.
const SECTORS: u32 = 8;

/// Processor time for each instant of a recording of writes and flushes to the drive that is served by default, 2,000 blocks of 4 KiB touched before.
///
/// # Errors
/// The folder for temporary files cannot be written.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let (blocks, commits) = if quick { (200, 20) } else { (2000, 300) };
    let (scenario, _) = load_scenario(&[ScenarioLayer::File(PathBuf::from(DRIVE))], &[])
        .map_err(|error| error.to_string())?;
    let folder = std::env::temp_dir().join(format!("outlast-bench-torture-{}", std::process::id()));
    let line = record(&scenario, &folder, blocks, commits).and_then(|()| search(&folder, blocks));
    // The folder is removed after a failure, too.
    remove_dir_all(&folder).map_err(|error| error.to_string())?;
    line
}

/// `blocks` blocks are written and flushed, then `commits` times two of them with a flush after each.
fn record(scenario: &Scenario, folder: &Path, blocks: u64, commits: u64) -> Result<(), String> {
    let options = ImageOptions { keep_log: true, ..ImageOptions::default() };
    let opened = DeviceImage::open(folder, Some(scenario), options, &mut |_| RunControl::Continue);
    let (mut image, mut machine) = opened.map_err(|error| error.to_string())?.ok_or("stopped")?;
    let (mut now, mut draw) = (machine.now(), SplitMix::new(1, "bench torture"));
    let mut submit = |machine: &mut ServedDevice, input: &DeviceInput<'_>| -> Result<(), String> {
        image.record(now, input);
        machine.apply(now, input).map_err(|error| error.to_string())?;
        while machine.in_flight() > 0 {
            now = machine.next_deadline().ok_or("a command does not complete")?;
            machine.advance(now, &mut Vec::new());
        }
        image.acknowledge(now, false).map_err(|error| error.to_string())
    };
    let command = |op, block: u64, sectors| Command::new(op, Lba(block * u64::from(SECTORS)), sectors);
    let flush = DeviceInput::Command { tag: Tag(0), command: command(Op::Flush, 0, 0), data: &[] };
    let bytes = |draw: &mut SplitMix| -> Vec<u8> {
        (0..WRITE / 8).flat_map(|_| draw.next_u64().to_le_bytes()).collect()
    };
    for block in 0..blocks {
        let (command, data) = (command(Op::Write, block, SECTORS), bytes(&mut draw));
        submit(&mut machine, &DeviceInput::Command { tag: Tag(0), command, data: &data })?;
    }
    submit(&mut machine, &flush)?;
    submit(&mut machine, &DeviceInput::Mark("outlast:begin"))?;
    for _ in 0..2 * commits {
        let (command, data) = (command(Op::Write, draw.below(blocks), SECTORS), bytes(&mut draw));
        submit(&mut machine, &DeviceInput::Command { tag: Tag(0), command, data: &data })?;
        submit(&mut machine, &flush)?;
    }
    submit(&mut machine, &DeviceInput::Mark("outlast:unmounted"))
}

fn search(folder: &Path, blocks: u64) -> Result<String, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let go_on = &mut |_: &outlast_engine::RunProgress| RunControl::Continue;
    let recording = OpenRecording::open(folder, go_on).map_err(|error| text(&error))?.ok_or("stopped")?;
    let history = recording.history();
    // An empty window: what it takes to come there.
    let all = CrashSearch::new(history, CrashModel::Drive);
    let none = CrashSearch { window: all.window.end..Nanos(all.window.end.0 + 1), ..all.clone() };
    let mut took = [0.0; 2];
    let mut found = None;
    for (request, took) in [none, all].iter().zip(&mut took) {
        let start = cpu_s();
        found = find_classes(folder, history, request, go_on).map_err(|error| text(&error))?;
        *took = cpu_s() - start;
    }
    let found = found.ok_or("stopped")?;
    let each = (took[1] - took[0]) / found.instants as f64;
    Ok(format!(
        "torture: {blocks} blocks of 4 KiB touched, {} instants, {} classes: {:.0} µs an instant, {:.0} instants/s; {:.2} s to play it without looking",
        found.instants,
        found.classes.len(),
        each * 1e6,
        1.0 / each,
        took[0]
    ))
}
