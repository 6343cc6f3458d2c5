//! Effects of pacing policies on collection, on the host and on write amplification.
//!
//! The drive has superblocks of D = 512 units. Its host writes units at random, 32 at a time, as fast as it may.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, Outcome, Tag};
use outlast_engine::parse_text;
use outlast_ftl::ProgramCause;
use outlast_models::write_amplification::greedy_finite_blocks;
use outlast_settings::drive::SsdConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos};
use support::DriveText;

const D: u64 = 512;
const SUPERBLOCKS: u32 = 400;
const DEPTH: u32 = 32;
const SPARE: f64 = 0.28;

/// One die of two planes: 400 superblocks of 512 units; `gc` are its settings of collection.
fn drive(gc: &str) -> SsdConfig {
    let text = format!(
        r#"
{drive}
[workload.synthetic]
pattern = "uniform"
requests = 1
"#,
        drive = DriveText::channels(1)
            .planes(2)
            .blocks(SUPERBLOCKS, 256, "4KiB")
            .spare(SPARE)
            .gc(gc)
            .buffer("1MiB")
    );
    parse_text(&text).unwrap().0.device
}

/// The drive after it was filled and written over four times at random.
fn worn_in(config: &SsdConfig) -> (Ssd, SplitMix) {
    let mut ssd = Ssd::new(config.clone(), 1).unwrap();
    let mut rng = SplitMix::new(7, "writes");
    let units = ssd.units();
    (0..units).for_each(|unit| ssd.write_unit_untimed(unit, 0).unwrap());
    (0..4 * units).for_each(|_| ssd.write_unit_untimed(rng.below(units), 0).unwrap());
    ssd.begin_timed();
    ssd.reset_counters(Nanos::ZERO);
    (ssd, rng)
}

/// A host that keeps 32 writes of a random unit under way.
struct Host {
    ssd: Ssd,
    rng: SplitMix,
    now: Nanos,
    free: Vec<Tag>,
}

impl Host {
    fn new(config: &SsdConfig) -> Self {
        let (ssd, rng) = worn_in(config);
        Self { ssd, rng, now: Nanos::ZERO, free: (0..DEPTH).map(Tag).collect() }
    }

    /// Goes on until at least one more write has ended.
    fn write(&mut self) {
        let units = self.ssd.units();
        for tag in self.free.drain(..) {
            let lba = Lba(8 * self.rng.below(units));
            self.ssd.submit(self.now, Command::new(Op::Write, lba, 8), tag);
        }
        let mut ended = Vec::new();
        self.now = self.ssd.advance_to_completion(Nanos::MAX, &mut ended);
        assert!(!ended.is_empty(), "writes are under way, and nothing happens any more");
        assert!(ended.iter().all(|end| end.outcome == Outcome::Ok));
        self.free.extend(ended.iter().map(|end| end.tag));
    }
}

fn amplification(ssd: &Ssd) -> f64 {
    let written = ssd.written();
    1.0 + written[ProgramCause::Gc] as f64 / written[ProgramCause::Host] as f64
}

/// By theory, with so many superblocks free on average, and two open ones half full.
fn greedy(free: f64) -> f64 {
    let used = f64::from(SUPERBLOCKS) - free - 1.0;
    greedy_finite_blocks((1.0 + SPARE) * used / f64::from(SUPERBLOCKS) - 1.0, D as f64).unwrap()
}

/// From the low mark to the high one collection gains X slots, of which the host takes s·X; from there the host writes alone until the low mark is
/// reached. So one burst and one pause are X host units, and X = pause / (1 − s): by count, whatever the times. The pause is M − 1 to M superblocks for
/// marks M apart: the open superblock is somewhere between full and empty when the burst ends.
///
/// Tolerances: of what a cycle counts the commands in flight, 32 of about 15 D, are on the wrong side of a mark twice, 0.9 %, and over the
/// cycles together what the open superblock of relocated data holds differs by D at most.
#[test]
fn a_burst_gains_what_the_marks_say_and_the_host_has_its_share() {
    let (start, stop, share) = (2u32, 10u32, 0.5);
    let mut drive = Host::new(&drive(&format!(
        "pacing = \"burst\", start_free = {start}, stop_free = {stop}, host_share = {share}"
    )));
    let mut bursts = true;
    // Host units and erased superblocks in pauses and in bursts; those of the first, which has no beginning, are left out.
    let (mut host, mut gained, mut cycles) = ([0u64; 2], [0u64; 2], 0);
    let (mut marked, mut first) = ([0u64; 2], true);
    while cycles < 12 {
        drive.write();
        let free = drive.ssd.free_superblocks();
        if (bursts && free >= stop) || (!bursts && free <= start) {
            let counted = [drive.ssd.written()[ProgramCause::Host], drive.ssd.victims().0];
            if !first {
                host[usize::from(bursts)] += counted[0] - marked[0];
                gained[usize::from(bursts)] += counted[1] - marked[1];
            }
            cycles += u64::from(bursts && !first);
            (first, marked, bursts) = (false, counted, !bursts);
        }
    }
    let [pause, burst] = host.map(|units| units as f64 / cycles as f64 / D as f64);
    let apart = f64::from(stop - start);
    assert!(
        (apart - 1.0 - 0.1..apart + 0.1).contains(&pause),
        "the host writes {pause} superblocks between bursts"
    );
    let gains = pause + burst;
    let expected = pause / (1.0 - share);
    let tolerance = 0.009 + 1.0 / (gains * cycles as f64);
    assert!(
        (gains / expected - 1.0).abs() < tolerance,
        "{gains} superblocks a cycle, not {expected}: {burst} of them in the burst"
    );
    assert!(gained[0] <= cycles, "{} superblocks erased in {cycles} pauses: only what had begun", gained[0]);
    // Between the two marks, whatever the average.
    let waf = amplification(&drive.ssd);
    let (least, most) = (greedy(f64::from(start)), greedy(f64::from(stop)));
    assert!((least * 0.99..most * 1.01).contains(&waf), "amplification {waf}, not {least} to {most}");
}

/// So many units are written, and the same share of them is moved, whatever the policy: it says when collection runs and when the host waits, and
/// collection takes the same superblocks at the same number of free ones. Only where nothing is paced the host runs on below the low mark, here one superblock,
/// and to the end of its open one, another: of each, amplification takes (WAF − 1)/WAF · α/(ρ·400) = 0.69 %.
///
/// Sampling: 3000 victims of 512 units with u = 0.6 valid give a standard error of sqrt(u/((1 − u)·512·3000)) = 0.1 % to each run; the tolerance is six
/// of a difference, 0.85 %.
#[test]
fn pacing_does_not_change_what_collection_costs() {
    let run = |gc: &str| {
        let mut host = Host::new(&drive(gc));
        while host.ssd.victims().0 < 3000 {
            host.write();
        }
        amplification(&host.ssd)
    };
    let smooth = run("start_free = 2");
    for (gc, tolerance) in [
        ("start_free = 2, pacing = \"token\"", 0.0085),
        (
            "start_free = 2, pacing = \"token\", token = { window = \"5ms\", depth = \"64KiB\", factor = 0.5 }",
            0.0085,
        ),
        ("start_free = 2, stop_free = 3, pacing = \"burst\"", 0.0085),
        ("start_free = 2, pacing = false", 0.0085 + 2.0 * 0.0069),
    ] {
        let waf = run(gc);
        assert!((waf / smooth - 1.0).abs() < tolerance, "{gc}: {waf}, smooth {smooth}");
    }
}
