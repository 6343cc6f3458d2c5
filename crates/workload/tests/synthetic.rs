//! Do synthetic streams follow their settings, repeat, and name what is wrong?
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::print_stdout,
    reason = "tests fail by panicking, build small texts, and say what they skip"
)]

use outlast_device::Op;
use outlast_units::{Bytes, Nanos, SECTOR_BYTES};
use outlast_workload::{
    RequestPacing, TraceSpec, Workload, WorkloadError, WorkloadRequest, WorkloadSpec, WorkloadTarget,
};
use proptest::prelude::*;

const TARGET: WorkloadTarget = WorkloadTarget {
    capacity: Bytes::gib(1),
    seed: 42,
    unit: Bytes::kib(4),
    handles: 0,
    zones: None,
    namespaces: Vec::new(),
};

fn spec(text: &str) -> WorkloadSpec {
    toml::from_str(&format!("[synthetic]\n{text}")).unwrap()
}

fn open(text: &str) -> Result<Workload, WorkloadError> {
    spec(text).open(&TARGET)
}

fn all(text: &str) -> Vec<WorkloadRequest> {
    take(&mut open(text).unwrap(), usize::MAX)
}

fn take(workload: &mut Workload, most: usize) -> Vec<WorkloadRequest> {
    let mut out = Vec::new();
    loop {
        let portion = 1000.min(most - out.len());
        if workload.source.fill(&mut out, portion).unwrap() == 0 {
            return out;
        }
    }
}

/// True if `count` of `draws` is within six standard deviations of probability `p` (binomial).
fn near(count: usize, draws: usize, p: f64) -> bool {
    (count as f64 - draws as f64 * p).abs() <= 6.0 * (draws as f64 * p * (1.0 - p)).sqrt()
}

#[test]
fn a_sequential_stream_jumps_with_the_set_share_and_continues_from_there() {
    let text = |percent: u32| {
        format!(
            "requests = 50000\npattern = \"sequential\"\nrandom_percent = {percent}\nsize = \"8KiB\"\nread_percent = 50"
        )
    };
    let places = TARGET.capacity.0 / 8192;
    for percent in [0, 25, 75, 100] {
        let requests = all(&text(percent));
        let follows = |pair: &&[WorkloadRequest]| {
            let end = pair[0].command.lba.0 + u64::from(pair[0].command.sectors);
            pair[1].command.lba.0 == end % (TARGET.capacity.0 / SECTOR_BYTES)
        };
        let followed = requests.windows(2).filter(follows).count();
        // A jump may land where the stream would have gone on: too seldom to matter.
        let share = 1.0 - f64::from(percent) / 100.0;
        assert!(
            near(followed, 49_999, share) || followed.abs_diff((49_999.0 * share) as usize) < 5,
            "{percent}: {followed}"
        );
        let first: std::collections::BTreeSet<u64> = requests.iter().map(|r| r.command.lba.0 / 16).collect();
        assert!(first.iter().all(|&place| place < places));
    }
    let refused = open("requests = 1\nrandom_percent = 10").unwrap_err().to_string();
    assert!(
        refused.contains("workload.synthetic.random_percent") && refused.contains("sequential"),
        "{refused}"
    );
}

#[test]
fn operations_sizes_and_hints_have_their_shares() {
    let requests = all(
        "requests = 100000\nread_percent = 60\ntrim_percent = 10\nfua_percent = 25\nstream = 3\nsizes = [{size = \"4KiB\", weight = 70}, {size = \"64KiB\", weight = 30}]",
    );
    assert_eq!(requests.len(), 100_000);
    let count = |op: Op| requests.iter().filter(|r| r.command.op == op).count();
    assert!(near(count(Op::Read), 100_000, 0.6) && near(count(Op::Trim), 100_000, 0.1));
    assert!(near(requests.iter().filter(|r| r.command.sectors == 128).count(), 100_000, 0.3));
    let fua = requests.iter().filter(|r| r.command.fua).count();
    assert!(near(fua, count(Op::Write), 0.25));
    for r in &requests {
        assert_eq!(r.command.placement.0, if r.command.op == Op::Write { 3 } else { 0 });
        assert!(r.command.lba.0.is_multiple_of(8) && r.at == Nanos::ZERO);
    }
}

#[test]
fn jesd219_has_its_skew_and_sizes() {
    let requests =
        all("requests = 200000\npattern = \"jesd219\"\nsizes = \"jesd219\"\nhot_stream = 1\ncold_stream = 2");
    let capacity = TARGET.capacity.0 / SECTOR_BYTES;
    let part = |from: f64, to: f64| {
        let range = (capacity as f64 * from) as u64..(capacity as f64 * to) as u64;
        requests.iter().filter(|r| range.contains(&r.command.lba.0)).count()
    };
    // Zone borders are rounded to a place of the grid: 1 of 262 144 places, far below the tolerance.
    assert!(
        near(part(0.0, 0.05), 200_000, 0.5)
            && near(part(0.05, 0.2), 200_000, 0.3)
            && near(part(0.2, 1.0), 200_000, 0.2)
    );
    let sizes = [
        (1, 0.04),
        (2, 0.01),
        (3, 0.01),
        (4, 0.01),
        (5, 0.01),
        (6, 0.01),
        (7, 0.01),
        (8, 0.67),
        (16, 0.1),
        (32, 0.07),
        (64, 0.03),
        (128, 0.03),
    ];
    for (sectors, share) in sizes {
        assert!(
            near(requests.iter().filter(|r| r.command.sectors == sectors).count(), 200_000, share),
            "{sectors}"
        );
    }
    assert!(near(requests.iter().filter(|r| r.command.placement.0 == 1).count(), 200_000, 0.5));
}

#[test]
fn hotcold_scrambled_keeps_the_skew_but_not_the_place() {
    let text =
        "requests = 200000\npattern = \"hotcold\"\nhot_fraction = 0.1\nhot_access = 0.9\nhot_stream = 1";
    let places = 262_144;
    for scramble in [false, true] {
        let requests = all(&format!("{text}\nscramble = {scramble}"));
        let first = requests.iter().filter(|r| r.command.lba.0 / 8 < places / 10).count();
        // Scrambled, the hot tenth lies anywhere: the first tenth of the space gets a tenth of everything.
        // Clustering by repeated places widens the spread by at most the mean repeats per hot place (7): sqrt(7) < 3.
        let (p, width) = if scramble { (0.1, 3.0) } else { (0.9, 1.0) };
        let sigma = (200_000.0f64 * p * (1.0 - p)).sqrt();
        assert!((first as f64 - 200_000.0 * p).abs() <= 6.0 * width * sigma, "{scramble}: {first}");
        let mut hot: Vec<u64> =
            requests.iter().filter(|r| r.command.placement.0 == 1).map(|r| r.command.lba.0).collect();
        assert!(near(hot.len(), 200_000, 0.9));
        hot.sort_unstable();
        hot.dedup();
        assert!(hot.len() as u64 <= places / 10 + 1);
    }
}

#[test]
fn sequential_wraps_and_stays_aligned() {
    let requests =
        all("pattern = \"sequential\"\nsize = \"8KiB\"\noffset = \"1MiB\"\nspan = \"20KiB\"\nrequests = 5");
    let lbas: Vec<u64> = requests.iter().map(|r| r.command.lba.0).collect();
    assert_eq!(lbas, [2048, 2064, 2048, 2064, 2048]);
}

#[test]
fn limits_flushes_and_phases_are_kept() {
    let requests = all("requests = 9\nflush_every = 2");
    let flushes: Vec<usize> =
        requests.iter().enumerate().filter(|(_, r)| r.command.op == Op::Flush).map(|(i, _)| i).collect();
    assert_eq!((requests.len(), flushes), (9, vec![2, 5, 8]));
    assert_eq!(all("bytes = \"1MiB\"").len(), 256);
    let fixed = all("rate_iops = 1000\narrival = \"fixed\"\nduration = \"10ms\"");
    assert_eq!(
        fixed.iter().map(|r| r.at.0).collect::<Vec<_>>(),
        (0..10).map(|i| i * 1_000_000).collect::<Vec<_>>()
    );
    let text = "rate_iops = 1000\narrival = \"fixed\"\n[[synthetic.phases]]\nrequests = 3\nread_percent = 100\n[[synthetic.phases]]\nduration = \"4ms\"\nrate_iops = 500";
    let phased = all(text);
    let times: Vec<(u64, Op)> = phased.iter().map(|r| (r.at.0 / 1_000_000, r.command.op)).collect();
    assert_eq!(times, [(0, Op::Read), (1, Op::Read), (2, Op::Read), (2, Op::Write), (4, Op::Write)]);
    let whole = all(
        "bytes = \"12KiB\"\n[[synthetic.phases]]\nrequests = 2\n[[synthetic.phases]]\nread_percent = 100",
    );
    assert_eq!(whole.iter().map(|r| r.command.op).collect::<Vec<_>>(), [Op::Write, Op::Write, Op::Read]);
}

#[test]
fn an_opened_workload_knows_its_pacing_totals_and_footprint() {
    let workload = open("queue_depth = 32\nspan = \"50%\"").unwrap();
    assert_eq!((workload.pacing, workload.endless), (RequestPacing::Closed { queue_depth: 32 }, true));
    assert_eq!(workload.footprint.map(|f| f.end.0), Some(1 << 20));
    let workload = open("rate_iops = 5e4\nduration = \"1s\"").unwrap();
    assert_eq!(
        (workload.pacing, workload.endless, workload.duration),
        (RequestPacing::Open, false, Some(Nanos::secs(1)))
    );
    assert_eq!(open("requests = 7").unwrap().requests, Some(7));
}

#[test]
fn messages_name_field_value_and_limit() {
    for (text, parts) in [
        ("read_percent = 120", &["workload.synthetic.read_percent", "120", "0 to 100"][..]),
        ("read_percent = 60\ntrim_percent = 50", &["trim_percent", "50", "0 to 40"]),
        ("rate_iops = 10\nqueue_depth = 4", &["rate_iops", "queue_depth", "exclude"]),
        ("size = \"4KiB\"\nsizes = \"jesd219\"", &["size", "sizes"]),
        ("size = \"100B\"", &["workload.synthetic.size", "100B", "sectors"]),
        ("span = \"2GiB\"", &["workload.synthetic.span", "2GiB", "1GiB"]),
        ("offset = \"1GiB\"", &["workload.synthetic.offset", "1GiB", "below"]),
        ("arrival = \"fixed\"", &["workload.synthetic.rate_iops", "missing"]),
        ("hot_stream = 1", &["workload.synthetic.hot_stream", "hotcold"]),
        ("queue_depth = 0", &["queue_depth", "0", "at least 1"]),
        ("sizes = []", &["sizes", "at least one"]),
        (
            "[[synthetic.phases]]\nrequests = 1\nread_percent = -1\n[[synthetic.phases]]",
            &["phases[0].read_percent", "-1"],
        ),
        (
            "[[synthetic.phases]]\nduration = \"1s\"\n[[synthetic.phases]]",
            &["phases[0].duration", "closed loop"],
        ),
        ("[[synthetic.phases]]\n[[synthetic.phases]]", &["phases[0].requests", "missing"]),
    ] {
        let message = open(text).unwrap_err().to_string();
        assert!(
            parts.iter().all(|part| message.contains(part)) && !message.contains('\n'),
            "{text}: {message}"
        );
    }
    assert!(toml::from_str::<WorkloadSpec>("[synthetic]\nraed_percent = 1").is_err());
    let both = WorkloadSpec { trace: Some(TraceSpec::default()), ..spec("") };
    assert!(both.open(&TARGET).unwrap_err().to_string().contains("workload.trace"));
    assert!(WorkloadSpec::default().open(&TARGET).is_err());
}

proptest! {
    /// Whatever the settings, a workload that opens stays on the device, in order and aligned, and repeats exactly,
    /// also when drawn in other portions.
    #[test]
    fn every_open_workload_behaves(
        pattern in prop::sample::select(vec!["sequential", "uniform", "zipf", "hotcold", "jesd219"]),
        sizes in prop::collection::vec((1u64..300, 1u32..5), 1..5),
        align in prop::option::of(1u64..40),
        offset in 0u64..2_097_152,
        span in prop::option::of(1u64..100_000),
        scramble: bool,
        read in 0u32..100,
        rate in prop::option::of(1u32..1_000_000),
        flush in prop::option::of(1u64..20),
        seed: u64,
        theta in 0.01f64..3.0,
    ) {
        let list: Vec<String> = sizes.iter().map(|(s, w)| format!("{{size = {}, weight = {w}}}", s * 512)).collect();
        let mut text = format!("pattern = \"{pattern}\"\nsizes = [{}]\noffset = {}\nread_percent = {read}\nzipf_theta = {theta}\n", list.join(","), offset * 512);
        if let Some(align) = align { text += &format!("align = {}\n", align * 512); }
        if let Some(span) = span { text += &format!("span = {}\n", span * 512); }
        if scramble && pattern != "sequential" { text += "scramble = true\n"; }
        if let Some(rate) = rate { text += &format!("rate_iops = {rate}\n"); }
        if let Some(flush) = flush { text += &format!("flush_every = {flush}\n"); }
        let target = WorkloadTarget { seed, ..TARGET };
        let Ok(mut workload) = spec(&text).open(&target) else {
            // Only a region that is too small may be refused here.
            prop_assert!(offset + span.unwrap_or(sizes.iter().map(|s| s.0).max().unwrap_or(1)) > 2_097_152
                || span.is_some_and(|span| sizes.iter().any(|s| s.0 > span)), "{text}");
            return Ok(());
        };
        let requests = take(&mut workload, 2500);
        prop_assert_eq!(requests.len(), 2500);
        prop_assert!(requests.is_sorted_by_key(|r| r.at));
        let region = workload.footprint.clone().unwrap();
        let step = align.unwrap_or(sizes.iter().map(|s| s.0).min().unwrap_or(1));
        for r in requests.iter().filter(|r| r.command.op != Op::Flush) {
            let end = r.command.lba.0 + u64::from(r.command.sectors);
            prop_assert!(r.command.lba >= region.start && end <= region.end.0, "{:?}", r);
            prop_assert!((r.command.lba.0 - region.start.0).is_multiple_of(step));
        }
        workload.source.rewind().unwrap();
        let mut again = Vec::new();
        while again.len() < 2500 {
            let portion = 7.min(2500 - again.len());
            workload.source.fill(&mut again, portion).unwrap();
        }
        prop_assert_eq!(again, requests);
    }
}
