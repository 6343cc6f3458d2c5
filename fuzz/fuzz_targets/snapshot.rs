//! Snapshots: any file is refused or read, and so is any state whose checksums are right: made up, or that of a drive at work with some of it
//! changed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_device::{Command, Device, Op, Tag};
use outlast_engine::{parse_text, read_snapshot, settings_of, write_snapshot};
use outlast_persist::{Damage, Reader, Restore, Writer};
use outlast_ssd::Ssd;
use outlast_units::{Lba, Nanos};

/// A drive with a part of each kind, and as small as such a drive can be.
const DRIVE: &str = r#"
[device]
bytes = true
geometry = { channels = 2, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = 1, blocks_per_plane = 64, pages_per_block = 16, page_size = "4KiB" }
timing = { read = "60us", program = "700us", erase = "3.5ms", bus = "667MB/s" }
ftl = { capacity = "4MiB", spare_blocks = 4 }
controller = { write_buffer = "256KiB", write_cache = "volatile" }
protection = { data = 3, parity = 1 }
reliability = { chip = "tlc-72-layer" }
scrub = { patrol = "1h", patrol_errors = 30, reads = 1000 }
[workload.synthetic]
requests = 1
queue_depth = 1
"#;

/// State that is written as it lies.
struct Raw<'a>(&'a [u8]);

impl Restore for Raw<'_> {
    const SHAPE: u64 = <Ssd as Restore>::SHAPE;

    fn save(&self, to: &mut Writer<'_>) {
        to.bytes(self.0);
    }

    fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), Damage> {
        Ok(())
    }
}

/// A drive as it is built; the file of one at work; the state in it.
struct Known {
    settings: u64,
    fresh: Ssd,
    file: Vec<u8>,
    state: Vec<u8>,
}

impl Known {
    fn new() -> Self {
        let scenario = parse_text(DRIVE).expect("a scenario").0;
        let settings = settings_of(&scenario);
        let fresh = Ssd::new(scenario.device, 1).expect("a drive");
        let mut drive = fresh.clone();
        let (mut now, mut done) = (Nanos(0), Vec::new());
        for turn in 0..300u32 {
            let op = [Op::Write, Op::Write, Op::Write, Op::Read, Op::Trim, Op::Flush][turn as usize % 6];
            let sectors = if op == Op::Flush { 0 } else { 8 };
            let lba = Lba(u64::from(turn) * 7 % 90 * 8);
            let data = if op == Op::Write { vec![turn as u8; 4096] } else { Vec::new() };
            let command = Command::new(op, lba, sectors);
            drive.submit_data(now, command, Tag(turn), &data);
            now.0 += 40_000;
            drive.advance(now, &mut done);
        }
        let mut file = Vec::new();
        write_snapshot(&mut file, settings, &drive).expect("memory can be written");
        let mut content = Vec::new();
        let mut blocks = &file[12..];
        while let Some((head, rest)) = blocks.split_first_chunk::<8>() {
            let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
            content.extend_from_slice(&rest[..length]);
            blocks = &rest[length..];
        }
        // Behind the version, the scenario, which is empty here, and the numbers of types and settings.
        let version = u64::from_le_bytes(content[..8].try_into().expect("eight bytes")) as usize;
        let state = content.split_off(8 + version + 8 + 16);
        let known = Self { settings, fresh, file, state };
        known.read(&known.file).expect("what was written can be read");
        known.read_state(&known.state).expect("and so can its state by itself");
        known
    }

    /// Reads a file; a drive that comes of it works.
    fn read(&self, mut file: &[u8]) -> Result<(), String> {
        let mut drive = self.fresh.clone();
        read_snapshot(&mut file, self.settings, &(), &mut drive).map_err(|error| error.to_string())?;
        work(&mut drive);
        Ok(())
    }

    /// Reads this state, whose checksums are right.
    fn read_state(&self, state: &[u8]) -> Result<(), String> {
        let mut file = Vec::new();
        write_snapshot(&mut file, self.settings, &Raw(state)).expect("memory can be written");
        let done = self.read(&file);
        if let Err(message) = &done {
            assert_eq!(message.lines().count(), 1, "{message}");
        }
        done
    }
}

/// A thousand commands to a drive that may be at work on others.
fn work(drive: &mut Ssd) {
    let (mut now, mut done) = (drive.next_deadline().unwrap_or_default(), Vec::new());
    for turn in 0..1000u32 {
        let op = [Op::Write, Op::Read, Op::Write, Op::Trim, Op::Write, Op::Flush][turn as usize % 6];
        let sectors = if op == Op::Flush { 0 } else { 8 };
        let lba = Lba(u64::from(turn) * 11 % 1000 * 8);
        let data = if op == Op::Write { vec![turn as u8; 4096] } else { Vec::new() };
        drive.submit_data(now, Command::new(op, lba, sectors), Tag(1_000_000 + turn), &data);
        now.0 += 40_000;
        drive.advance(now, &mut done);
        done.drain(..).for_each(|completion| drop(drive.take_data(completion.tag)));
    }
}

fuzz_target!(|data: &[u8]| {
    KNOWN.with(|known| forge(known, data));
});

thread_local! {
    static KNOWN: Known = Known::new();
}

/// Changes a byte, or makes a whole number of four or eight bytes one that somebody would try.
fn change(state: &mut [u8], place: usize, how: u8, what: u8) {
    const TRIED: [u64; 8] = [0, 1, 7, 1 << 16, 1 << 31, u32::MAX as u64, 1 << 40, u64::MAX];
    let tried = TRIED[usize::from(what) % TRIED.len()].to_le_bytes();
    let bytes = match how % 4 {
        0 => &tried[..4],
        1 => &tried[..],
        _ => &[state[place] ^ what][..],
    };
    state[place..].iter_mut().zip(bytes).for_each(|(own, new)| *own = *new);
}

fn forge(known: &Known, data: &[u8]) {
    let _ = known.read(data);
    let _ = known.read_state(data);
    // Three bytes of place, one of how, one of change, as often as there are five.
    let (mut file, mut state) = (known.file.clone(), known.state.clone());
    for (index, edit) in data.chunks_exact(5).enumerate() {
        let place = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]) as usize;
        let length = state.len();
        change(&mut state, place % length, edit[3], edit[4]);
        if index == 0 {
            let length = file.len();
            file[place % length] ^= edit[4] | 1;
            assert!(known.read(&file).is_err(), "byte {} is changed and nobody has noticed", place % length);
        }
    }
    let _ = known.read_state(&state);
}
