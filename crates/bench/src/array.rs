//! Cost of an array compared with its members: an eight-drive RAID-5, and the same member commands on drives by themselves.

use outlast_array::Array;
use outlast_array::coarse::{CoarseArray, CoarseConfig, WriteMap};
use outlast_device::{Command, Completion, Device, Extent, Identity, Op, Smart, Tag};
use outlast_media::{DefectConfig, Geometry, PageTimes, Timing};
use outlast_settings::array::{ArrayConfig, BackgroundConfig, Level, ShiftWay};
use outlast_settings::drive::{ControllerConfig, SsdConfig};
use outlast_settings::ftl::FtlConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Lba, Nanos};
use std::time::Instant;

/// A drive that records its commands.
struct RecordingDrive {
    ssd: Ssd,
    log: Vec<(Nanos, Command, Tag)>,
    is_recording: bool,
}

impl Device for RecordingDrive {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        if self.is_recording {
            self.log.push((now, command, tag));
        }
        self.ssd.submit(now, command, tag);
    }
    fn hint(&self, upcoming: &[Command]) {
        self.ssd.hint(upcoming);
    }
    fn next_deadline(&self) -> Option<Nanos> {
        self.ssd.next_deadline()
    }
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        self.ssd.advance(now, completions);
    }
    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        self.ssd.advance_to_completion(limit, completions)
    }
    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.ssd.extents(lba, sectors)
    }
    fn identify(&self) -> Identity {
        self.ssd.identify()
    }
    fn smart(&self) -> Smart {
        self.ssd.smart()
    }
    fn self_check(&self) -> Result<(), String> {
        self.ssd.self_check()
    }
}

/// A drive of 12.5 GiB, whose tables (30 MB) no cache holds; or of 400 MiB, whose tables one does.
fn drive(seed: u64, large: bool) -> Result<Ssd, String> {
    let config = SsdConfig {
        geometry: Geometry {
            channels: 4,
            chips_per_channel: 1,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: if large { 2048 } else { 64 },
            pages_per_block: 128,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        },
        timing: Timing {
            read: PageTimes::Same(Nanos::micros(60)),
            program: PageTimes::Same(Nanos::micros(700)),
            erase: Nanos::micros(3500),
            bus: ByteRate::new(667_000_000).ok_or("a bus has bandwidth")?,
            command: Nanos(200),
            suspend: None,
            plane_reads: outlast_media::PlaneReads::default(),
            cache_read: None,
            channel: outlast_media::ChannelOrder::default(),
        },
        defects: DefectConfig::default(),
        ftl: FtlConfig {
            capacity: Some(Bytes::mib(if large { 12_800 } else { 400 })),
            ..FtlConfig::default()
        },
        controller: ControllerConfig::default(),
        reliability: None,
        protection: None,
        placement: None,
        zones: None,
        absent_dies: Vec::new(),
        mount: None,
        repair: None,
        scrub: None,
        hazards: outlast_media::HazardConfig::default(),
        model: "bench".to_owned(),
        data_sheet: None,
        slc_cache: None,
        energy: None,
        heat: None,
        bytes: false,
    };
    Ssd::new(config, seed).map_err(|error| error.to_string())
}

const DRIVES: u16 = 8;

/// Random 4 KiB commands, 70 % reads, queue depth 64, on eight drives as RAID-5 with chunks of 64 KiB.
fn array(is_recording: bool, large: bool) -> Result<Array<RecordingDrive>, String> {
    let background = BackgroundConfig { min_rate: None, max_rate: None, ..BackgroundConfig::default() };
    let config = ArrayConfig { background, ..ArrayConfig::new(Level::Raid5, DRIVES) };
    let drives = (0..u64::from(DRIVES))
        .map(|seed| Ok(RecordingDrive { ssd: drive(seed, large)?, log: Vec::new(), is_recording }))
        .collect::<Result<_, String>>()?;
    Array::new(config, drives, false).map_err(|error| error.to_string())
}

/// Runs the load; returns the seconds that it took the processor.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn load(array: &mut Array<RecordingDrive>, requests: u32, read_percent: u64) -> f64 {
    let blocks = array.identify().capacity.0 / 4096;
    let mut rng = SplitMix::new(1, "bench.array");
    let mut next = || {
        let op = if rng.below(100) < read_percent { Op::Read } else { Op::Write };
        Command::new(op, Lba(rng.below(blocks) * 8), 8)
    };
    let start = Instant::now();
    let (mut now, mut completions, mut done) = (Nanos::ZERO, Vec::new(), 0);
    // As the engine does, the host tells what comes next.
    let mut batch = [next(); 32];
    let mut at = batch.len();
    let mut submit = |array: &mut Array<RecordingDrive>, now, tag| {
        if at == batch.len() {
            batch.fill_with(&mut next);
            array.hint(&batch);
            at = 0;
        }
        array.submit(now, batch[at], tag);
        at += 1;
    };
    for tag in 0..64 {
        submit(array, now, Tag(tag));
    }
    while done < requests {
        now = array.advance_to_completion(Nanos::MAX, &mut completions);
        for completion in &completions {
            submit(array, now, completion.tag);
        }
        done += completions.len() as u32;
        completions.clear();
    }
    start.elapsed().as_secs_f64()
}

/// The same commands to one drive after the other, each by itself.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn replay(logs: &[Vec<(Nanos, Command, Tag)>], large: bool) -> Result<f64, String> {
    let mut seconds = 0.0;
    for (seed, log) in (0u64..).zip(logs) {
        let mut ssd = drive(seed, large)?;
        let start = Instant::now();
        play(&mut ssd, log);
        seconds += start.elapsed().as_secs_f64();
    }
    Ok(seconds)
}

/// The same commands in order of time, each drive by itself but all in turns, so that they share the caches as in an array.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn take_turns(logs: &[Vec<(Nanos, Command, Tag)>], large: bool) -> Result<f64, String> {
    let mut drives = (0..logs.len() as u64).map(|seed| drive(seed, large)).collect::<Result<Vec<_>, _>>()?;
    let mut all: Vec<(usize, (Nanos, Command, Tag))> =
        logs.iter().enumerate().flat_map(|(i, log)| log.iter().map(move |&entry| (i, entry))).collect();
    all.sort_by_key(|&(_, (at, _, _))| at);
    let mut completions = Vec::new();
    let start = Instant::now();
    for (index, (at, command, tag)) in all {
        let ssd = &mut drives[index];
        while ssd.next_deadline().is_some_and(|due| due <= at) {
            ssd.advance_to_completion(at, &mut completions);
            completions.clear();
        }
        ssd.submit(at, command, tag);
    }
    Ok(start.elapsed().as_secs_f64())
}

/// For counting instructions: a load on the array by itself, and the commands that its members got, on each member by itself. Returns the
/// requests and the commands.
pub(crate) fn instructions(read_percent: u64) -> Result<(u64, u64), String> {
    let requests = 20_000;
    let mut noted = array(true, false)?;
    load(&mut noted, requests, read_percent);
    let logs: Vec<_> = (0..usize::from(DRIVES))
        .filter_map(|column| noted.member_mut(column).map(|member| std::mem::take(&mut member.log)))
        .collect();
    let commands: usize = logs.iter().map(Vec::len).sum();
    as_array(&mut array(false, false)?, requests, read_percent);
    let mut drives = (0..u64::from(DRIVES)).map(|seed| drive(seed, false)).collect::<Result<Vec<_>, _>>()?;
    as_members(&mut drives, &logs);
    Ok((u64::from(requests), commands as u64))
}

#[inline(never)]
fn as_array(array: &mut Array<RecordingDrive>, requests: u32, read_percent: u64) {
    load(array, requests, read_percent);
}

#[inline(never)]
fn as_members(drives: &mut [Ssd], logs: &[Vec<(Nanos, Command, Tag)>]) {
    for (ssd, log) in drives.iter_mut().zip(logs) {
        play(ssd, log);
    }
}

/// The commands of one member, at their times.
fn play(ssd: &mut Ssd, log: &[(Nanos, Command, Tag)]) {
    let mut completions = Vec::new();
    for &(at, command, tag) in log {
        while ssd.next_deadline().is_some_and(|due| due <= at) {
            ssd.advance_to_completion(at, &mut completions);
            completions.clear();
        }
        ssd.submit(at, command, tag);
    }
}

/// Cost of the array over the sum of its members', the best of three, and replacements per second of the coarse engine.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let requests = if quick { 20_000 } else { 2_000_000 };
    let mut parts = Vec::new();
    for (name, read_percent, large) in
        [("mixed", 70, true), ("write", 0, true), ("mixed small", 70, false), ("write small", 0, false)]
    {
        let large = large && !quick;
        let mut noted = array(true, large)?;
        load(&mut noted, requests, read_percent);
        let logs: Vec<_> = (0..usize::from(DRIVES))
            .filter_map(|column| noted.member_mut(column).map(|member| std::mem::take(&mut member.log)))
            .collect();
        let commands: usize = logs.iter().map(Vec::len).sum();
        let (mut whole, mut single, mut turns) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for _ in 0..3 {
            whole = whole.min(load(&mut array(false, large)?, requests, read_percent));
            single = single.min(replay(&logs, large)?);
            turns = turns.min(take_turns(&logs, large)?);
        }
        parts.push(format!(
            "{name} {:.2}x its {commands} member commands by themselves ({:.0} ns each), {:.2}x them in turns ({:.0} ns)",
            whole / single,
            single * 1e9 / commands as f64,
            whole / turns,
            turns * 1e9 / commands as f64,
        ));
    }
    let mut coarse = CoarseArray::new(CoarseConfig {
        percent: vec![80.0, 5.0, 5.0, 5.0, 5.0],
        parities: 1,
        capacity: Bytes(80_000_000_000),
        limit: 10_000.0,
        amplification: 1.0,
        writes: WriteMap::uniform(0.0),
        shift: ShiftWay::Minimal,
        count_moves: false,
    })
    .map_err(|error| error.to_string())?;
    let (replacements, mut sum) = (if quick { 100 } else { 10_000 }, 0.0);
    let start = Instant::now();
    // A straight line of logarithms through two points of Table 1 of the Diff-RAID paper (D-MLC32-1).
    let ln_uber = |cycles: f64| -42.27 + 14.0 * (cycles - 5_000.0) / 5_000.0;
    coarse.run(replacements, 50, &ln_uber, |sample| sum += sample.loss_any);
    let rate = f64::from(replacements) / start.elapsed().as_secs_f64();
    parts.push(format!("coarse {rate:.0} replacements/s with 50 samples each, loss sum {sum:.6e}"));
    Ok(format!("array: {}", parts.join("; ")))
}
