//! QEMU writes logs of dm-log-writes, and goes on writing ours: is it the same format?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "the tests run QEMU on files")]

use outlast_torture::source::log_writes::LogWritesWriter;
use outlast_torture::source::{history_of_log_writes, log_writes};
use outlast_torture::{CommandHistory, CrashState, WriteData, WritePieces};
use outlast_units::rng::SplitMix;
use std::fs::File;
use std::path::Path;
use std::process::Command;

const SIZE: u64 = 4 << 20;

fn has_qemu() -> bool {
    let found = Command::new("qemu-io").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no qemu-io here (Debian: qemu-utils)");
    }
    found
}

/// Has QEMU do `commands` on the disk, and log them.
fn qemu_io(folder: &Path, options: &str, commands: &[String]) {
    let image = format!(
        "driver=blklogwrites,file.driver=file,file.filename={0}/disk,file.discard=unmap,log.driver=file,log.filename={0}/log,{options}",
        folder.display()
    );
    let commands = commands.iter().flat_map(|own| ["-c", own]);
    let done = Command::new("qemu-io").args(["--image-opts", &image, "-d", "unmap"]).args(commands).output();
    let done = done.unwrap();
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(done.status.success() && !said.contains("failed"), "{said}");
}

/// Random commands in units of 4 KiB, with a flush at the end, as QEMU counts its entries when it flushes.
fn commands(seed: u64) -> Vec<String> {
    let mut rng = SplitMix::new(seed, "qemu");
    let unit = 4096;
    let mut commands: Vec<String> = (0..40)
        .map(|_| {
            let first = rng.below(SIZE / unit);
            let count = (1 + rng.below(40)).min(SIZE / unit - first);
            let range = format!("{} {}", first * unit, count * unit);
            match rng.below(8) {
                0 => "flush".to_owned(),
                1 => format!("discard {range}"),
                2 => format!("write -z {range}"),
                _ => format!("write -P {} {range}", 1 + rng.below(255)),
            }
        })
        .collect();
    commands.push("flush".to_owned());
    commands
}

fn content(history: &CommandHistory) -> Vec<u8> {
    let state = CrashState::of(history, history.events.len(), WritePieces::new(Vec::new()));
    let mut bytes = vec![0; SIZE as usize];
    state.read(history, 0, &mut bytes).unwrap();
    bytes
}

#[test]
fn a_log_that_qemu_has_written_is_what_its_disk_holds() {
    if !has_qemu() {
        return;
    }
    for (seed, sector) in (0..6).zip([512, 4096, 512, 4096, 512, 2048]) {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        File::create(&disk).unwrap().set_len(SIZE).unwrap();
        File::create(folder.path().join("log")).unwrap().set_len(64 << 20).unwrap();
        let asked = commands(seed);
        qemu_io(folder.path(), &format!("log-sector-size={sector}"), &asked);
        let history = history_of_log_writes(&folder.path().join("log")).unwrap();
        assert!(content(&history) == std::fs::read(&disk).unwrap(), "seed {seed}");
        // The discards before the first write change nothing and are left out.
        let is_first = |own: &&String| own.starts_with("write");
        let begin = asked.iter().position(|own| is_first(&own)).unwrap();
        let writes = asked[begin..].iter().filter(|own| *own != "flush").count();
        assert_eq!(history.writes.len(), writes, "seed {seed}");
        assert!(history.flushes.len() >= asked.iter().filter(|own| *own == "flush").count());
        let end = history.events.len();
        assert!(history.writes.iter().all(|write| write.is_covered(end)), "a flush was the last");
    }
}

#[test]
fn qemu_goes_on_in_a_log_of_ours() {
    if !has_qemu() {
        return;
    }
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let (disk, log) = (folder.path().join("disk"), folder.path().join("log"));
        let mut rng = SplitMix::new(seed, "ours");
        let mut expected = vec![0_u8; SIZE as usize];
        let mut writer = LogWritesWriter::new(File::create(&log).unwrap()).unwrap();
        writer.mark(&format!("outlast:capacity {SIZE}")).unwrap();
        for number in 0..30 {
            let first = rng.below(SIZE / 512);
            let count = (1 + rng.below(100)).min(SIZE / 512 - first);
            let range = (first * 512) as usize..((first + count) * 512) as usize;
            match rng.below(6) {
                0 => writer.flush().unwrap(),
                1 => writer.mark(&format!("number {number}")).unwrap(),
                2 => {
                    writer.discard(first, count, false).unwrap();
                    expected[range].fill(0);
                }
                fua => {
                    let byte = rng.below(256) as u8;
                    let data = vec![byte; range.len()];
                    writer.write(first, count, fua == 3, &mut &data[..]).unwrap();
                    expected[range].fill(byte);
                }
            }
        }
        writer.end().unwrap();
        std::fs::write(&disk, &expected).unwrap();
        let before = history_of_log_writes(&log).unwrap();
        assert!(content(&before) == expected, "seed {seed}");
        qemu_io(folder.path(), "log-append=on", &commands(seed));
        let after = history_of_log_writes(&log).unwrap();
        assert!(content(&after) == std::fs::read(&disk).unwrap(), "seed {seed}");
        assert_eq!(after.events[..before.events.len()], before.events[..], "seed {seed}");
        assert_eq!((after.capacity, &after.marks), (SIZE / 512, &before.marks));
        // And again: what QEMU has written, in a log of ours.
        let copy = folder.path().join("copy");
        log_writes::export(&after, File::create(&copy).unwrap()).unwrap();
        let copied = history_of_log_writes(&copy).unwrap();
        assert_eq!(
            (&copied.events, &copied.marks, copied.capacity),
            (&after.events, &after.marks, after.capacity)
        );
        let data = |history: &CommandHistory| {
            let written =
                history.writes.iter().map(|own| (own.range(), own.data == WriteData::Zeroes, own.covered));
            written.collect::<Vec<_>>()
        };
        assert_eq!(data(&copied), data(&after));
        assert!(content(&copied) == content(&after), "seed {seed}");
    }
}
