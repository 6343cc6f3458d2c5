//! What the log of a served drive costs: processor time for each write of 4 KiB that is recorded and written before its turn's replies leave,
//! one write and thirty-two a turn, and the share of it that is the checksum.

use crate::models::cpu_s;
use outlast_device::{Command, Op, StreamId, Tag};
use outlast_engine::{Control, parse_text};
use outlast_serve::{Image, ImageOptions, Input, Recorder};
use outlast_units::{Lba, Nanos};

/// Bytes of a write.
const WRITE: usize = 4096;

/// The cost of a write in microseconds, with one write and with thirty-two in a turn.
///
/// # Errors
/// The folder for temporary files cannot be written.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let writes: u32 = if quick { 2_000 } else { 100_000 };
    let folder = std::env::temp_dir().join(format!("outlast-bench-log-{}", std::process::id()));
    let measured = [1, 32].map(|turn| of_turns(&folder, writes, turn));
    std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    let [alone, together] = measured;
    let (alone, together) = (alone?, together?);
    let data = vec![7; WRITE];
    let start = cpu_s();
    let sum = (0..writes).fold(0, |sum, _| crc32c::crc32c_append(sum, std::hint::black_box(&data)));
    std::hint::black_box(sum);
    let checksum = (cpu_s() - start) / f64::from(writes) * 1e6;
    Ok(format!(
        "log: {alone:.2} µs a write of 4 KiB, {together:.2} with 32 in a turn; of these {checksum:.2} for the checksum"
    ))
}

fn of_turns(folder: &std::path::Path, writes: u32, turn: u32) -> Result<f64, String> {
    let text = crate::case::scenario(
        2.0,
        "workload.synthetic = { queue_depth = 1, requests = 1 }\nprecondition.fill = \"none\"\n",
    );
    let scenario = parse_text(&text).map_err(|error| error.to_string())?.0;
    let folder = folder.join(turn.to_string());
    let opened = Image::open(&folder, Some(&scenario), ImageOptions::default(), &mut |_| Control::Continue);
    let (mut image, _machine) = opened.map_err(|error| error.to_string())?.ok_or("stopped")?;
    let data = vec![7; WRITE];
    let start = cpu_s();
    for number in 0..writes {
        let (lba, now) = (Lba(u64::from(number % 1000) * 8), Nanos(u64::from(number) * 1000));
        let command = Command { lba, sectors: 8, op: Op::Write, stream: StreamId(0), fua: false };
        image.record(now, &Input::Command { tag: Tag(number % 32), command, data: &data });
        if number % turn == 0 {
            image.commit().and_then(|()| image.acknowledge(now, false)).map_err(|error| error.to_string())?;
        }
    }
    Ok((cpu_s() - start) / f64::from(writes) * 1e6)
}
