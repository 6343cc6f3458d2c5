//! Do fio jobs give the requests that fio's source says, and is every other key refused by name, with its place? What fio itself does
//! with the same files is compared in `tests/test_fio_oracle.py`; jobs side by side are in `fio_timing.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "tests fail by panicking, build small texts and write job files"
)]

use outlast_device::{Command, Op};
use outlast_units::{Bytes, Nanos};
use outlast_workload::{
    FioSpec, RequestPacing, Workload, WorkloadRequest, WorkloadSpec, WorkloadTarget, job_variables, parse_job,
};
use proptest::prelude::*;

const TARGET: WorkloadTarget = WorkloadTarget { capacity: Bytes::mib(64), seed: 7, unit: Bytes::kib(4) };

fn open(text: &str) -> Workload {
    parse_job(text, &TARGET).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The requests in the order of a run without time.
fn all(workload: &mut Workload) -> Vec<WorkloadRequest> {
    let mut out = Vec::new();
    while out.len() < 1_000_000 && workload.source.fill(&mut out, 777).unwrap() > 0 {}
    out
}

#[test]
fn the_random_map_visits_each_block_once_in_each_pass() {
    let mut workload = open(
        "[global]\nioengine=libaio\ndirect=1\n[job]\nrw=randwrite\nbs=4k\niodepth=16\nsize=8m\nloops=2\n",
    );
    assert_eq!(workload.pacing, RequestPacing::Jobs { queue_depth: 16, held: false });
    let lbas: Vec<u64> = all(&mut workload).iter().map(|r| r.command.lba.0).collect();
    for pass in lbas.chunks(2048) {
        assert!(!pass.is_sorted());
        let mut sorted = pass.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..2048).map(|block| block * 8).collect::<Vec<_>>());
    }
    assert_eq!(lbas.len(), 2 * 2048);
    assert!(workload.notes.iter().any(|note| note.contains("ignored direct")), "{:?}", workload.notes);
}

#[test]
fn mixed_sequential_counts_reads_and_writes_apart() {
    let mut workload = open("[job]\nrw=rw\nrwmixread=70\nbs=4k,16k\nnumber_ios=3000\n");
    let requests = all(&mut workload);
    assert_eq!((requests.len(), workload.requests), (3000, Some(3000)));
    let reads: Vec<u64> =
        requests.iter().filter(|r| r.command.op == Op::Read).map(|r| r.command.lba.0).collect();
    assert!(reads.windows(2).all(|pair| pair[1] == pair[0] + 8));
    // Binomial(3000, 0.7): sigma = 25.1; six of them.
    assert!(reads.len().abs_diff(2100) <= 150, "{}", reads.len());
    assert!(requests.iter().all(|r| r.command.sectors == if r.command.op == Op::Read { 8 } else { 32 }));
}

#[test]
fn a_workload_knows_its_longest_duration_and_if_only_time_ends_it() {
    let workload = open(
        "[a]\nrw=randread\nruntime=1\ntime_based\niodepth=8\n[b]\nrw=write\nrate_iops=500\nruntime=2\nstartdelay=500ms\n[c]\nstonewall\nrw=trim\nbs=64k\nruntime=3\n",
    );
    // The longer of the first group, and the second.
    assert_eq!((workload.duration, workload.endless), (Some(Nanos::millis(5_500)), true));
    // Job a asks as fast as it is served, whatever the others are held to.
    assert_eq!(workload.pacing, RequestPacing::Jobs { queue_depth: 9, held: false });
    let all = "[a]\nrw=randread\nrate_iops=100\niodepth=8\n[b]\nrw=write\nrate_iops=500\n";
    assert_eq!(open(all).pacing, RequestPacing::Jobs { queue_depth: 9, held: true });
    assert_eq!(open("[a]\nrw=read\n").duration, None);
    assert_eq!(open("[a]\nramp_time=2\n[b]\nramp_time=3\n").ramp, Nanos::secs(3));
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_others() {
    let text = "[a]\nrw=randrw\nnumber_ios=500\nnorandommap\n";
    let commands = |text: &str, seed: u64| -> Vec<Command> {
        let mut workload = parse_job(text, &WorkloadTarget { seed, ..TARGET }).unwrap();
        all(&mut workload).iter().map(|r| r.command).collect()
    };
    let mut workload = open(text);
    let first = all(&mut workload);
    workload.source.rewind().unwrap();
    assert_eq!(all(&mut workload), first);
    assert_eq!(commands(text, 7), first.iter().map(|r| r.command).collect::<Vec<_>>());
    assert_ne!(commands(text, 8), commands(text, 7));
    // With a `randseed` the scenario's seed changes nothing, but each pass of a preconditioning differs.
    let fixed = text.to_owned() + "randseed=5\n";
    assert_eq!(commands(&fixed, 8), commands(&fixed, 7));
    let spec = FioSpec { job: Some(fixed.clone()), ..FioSpec::default() };
    let spec = WorkloadSpec { fio: Some(spec), ..WorkloadSpec::default() };
    let mut pass = spec.open_pass(&TARGET, 1).unwrap();
    assert_ne!(all(&mut pass).iter().map(|r| r.command).collect::<Vec<_>>(), commands(&fixed, 7));
}

#[test]
fn without_time_jobs_take_turns_by_their_depths() {
    let mut workload = open(
        "[a]\nrw=randread\nnumjobs=3\niodepth=2\nnumber_ios=600\n[b]\nrw=randwrite\niodepth=18\nnumber_ios=5400\n",
    );
    let requests = all(&mut workload);
    assert_eq!(requests.len(), 7200);
    let early = requests[..2400].iter().filter(|r| r.command.op == Op::Read).count();
    assert!(early.abs_diff(600) <= 24, "{early}");
}

#[test]
fn synchronous_engines_have_a_depth_of_one_which_is_noted() {
    let workload = open("[a]\nioengine=psync\niodepth=32\n");
    assert_eq!(workload.pacing, RequestPacing::Jobs { queue_depth: 1, held: false });
    assert!(workload.notes[0].contains("psync") && workload.notes[0].contains("32"), "{:?}", workload.notes);
    let workload = open("[a]\niodepth=32\n");
    assert_eq!(workload.pacing, RequestPacing::Jobs { queue_depth: 32, held: false });
    assert!(workload.notes[0].contains("without an ioengine"), "{:?}", workload.notes);
}

#[test]
fn comments_may_stand_anywhere() {
    let text = "; one\n[a] # two\nrw=randread ; three\nbs=8k#four\n  number_ios=3\n";
    let requests = all(&mut open(text));
    assert_eq!((requests.len(), requests[0].command.sectors), (3, 16));
}

#[test]
fn variables_have_the_values_of_the_scenario() {
    let text = "[a]\nbs=${SIZE}k ; not ${THIS}\nnumber_ios=${N}\n";
    assert_eq!(job_variables(text), ["SIZE", "N"]);
    let vars = [("SIZE", "16"), ("N", "2")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
    let spec = FioSpec { job: Some(text.to_owned()), file: None, vars };
    let mut workload = WorkloadSpec { fio: Some(spec), ..WorkloadSpec::default() }.open(&TARGET).unwrap();
    assert_eq!(all(&mut workload).iter().map(|r| r.command.sectors).collect::<Vec<_>>(), [32, 32]);
}

#[test]
fn included_files_lie_beside_the_job_and_are_named() {
    let folder = std::env::temp_dir().join(format!("outlast-fio-include-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (job, part) = (folder.join("job.fio"), folder.join("part.inc"));
    std::fs::write(&job, "[a]\ninclude part.inc\nnumber_ios=2\n").unwrap();
    std::fs::write(&part, "bs=16k\nbsx=1\n").unwrap();
    let spec = FioSpec { file: Some(job.to_string_lossy().into_owned()), ..FioSpec::default() };
    assert_eq!(spec.files().unwrap(), [job.to_string_lossy(), part.to_string_lossy()]);
    let spec = WorkloadSpec { fio: Some(spec), ..WorkloadSpec::default() };
    let message = spec.open(&TARGET).unwrap_err().to_string();
    assert!(message.contains("part.inc, line 2") && message.contains("bsx"), "{message}");
    // As an option of the job, which fio 3.33 takes, too; with spaces around it the name begins with the sign, as fio has it.
    std::fs::write(&job, "[a]\ninclude=part.inc\nnumber_ios=2\n").unwrap();
    std::fs::write(&part, "bs=16k\nsize=64k\n").unwrap();
    let sectors: Vec<u32> = all(&mut spec.open(&TARGET).unwrap()).iter().map(|r| r.command.sectors).collect();
    assert_eq!(sectors, [32, 32]);
    std::fs::write(&job, "[a]\ninclude = part.inc\nnumber_ios=2\n").unwrap();
    let message = spec.open(&TARGET).unwrap_err().to_string();
    assert!(message.contains("job.fio, line 2") && message.contains("= part.inc"), "{message}");
    std::fs::write(&job, "[a]\ninclude part.inc\nnumber_ios=2\n").unwrap();
    std::fs::write(&part, "include part.inc\n").unwrap();
    let message = spec.open(&TARGET).unwrap_err().to_string();
    assert!(message.contains("too deeply"), "{message}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn messages_name_line_key_and_value() {
    for (text, parts) in [
        ("[a]\nrw=randread\niodpeth=4\n", &["line 3", "iodpeth", "did you mean \"iodepth\""][..]),
        ("[a]\nrw=randomread\n", &["line 2", "rw=randomread", "expected read"]),
        ("[a]\nbs=4KiB\n", &["line 2", "bs=4KiB", "1000"]),
        ("rw=read\n", &["line 1", "rw=read"]),
        ("[a\n", &["line 1"]),
        ("[global]\nrw=read\n", &["no job section"]),
        ("[a]\nsize=1g\n", &["line 2", "size=1GiB", "64"]),
        ("[a]\nbs=100\n", &["line 2", "bs=100", "sectors"]),
        ("[a]\nrw=trimwrite\n", &["not supported"]),
        ("[a]\niodepth=0\n", &["line 2", "iodepth=0", "1 to 65536"]),
        ("[a]\nrandom_distribution=zipf:1\n", &["line 2", "not 1"]),
        ("[a]\nverify=crc32c\n", &["line 2", "verify=crc32c", "not supported", "not verified"]),
        ("[a]\nlatency_target=10ms\n", &["line 2", "not supported"]),
        ("[a]\nnrfiles=4\n", &["line 2", "nrfiles=4", "one device"]),
        ("[a]\nzonemode=zbd\n", &["line 2", "zones"]),
        ("[a]\nioengine=cpuio\n", &["line 2", "ioengine=cpuio"]),
        ("[a]\nfilename=/dev/sda:/dev/sdb\n", &["line 2", "several files"]),
        ("[a]\nread_iolog=x\n", &["line 2", "[workload.trace]"]),
        ("[a]\nbs=${X}\n", &["line 2", "${X}", "workload.fio.vars"]),
        ("[a]\nbs=$pagesize\n", &["line 2", "$pagesize", "machine"]),
        ("[a]\ninclude other.fio\n", &["line 2", "needs a job file"]),
        ("[a]\ntime_based\n", &["line 2", "needs a runtime"]),
        ("[a]\nrate=1m\nrate_iops=5\n", &["exclude each other"]),
        ("[a]\nwait_for=b\n[b]\n", &["line 2", "wait_for=b", "above"]),
        ("[a]\nbssplit=4k/60:6k/40\n", &["line 2", "bssplit", "multiples"]),
        ("[a]\nbssplit=4k/60:8k/10\n", &["line 2", "add up to 100"]),
        ("[a]\nsize=(4*1024)k\n", &["line 2", "arithmetic"]),
        ("[a]\nnumjobs=3000\n[b]\nnumjobs=3000\n", &["4096"]),
    ] {
        let message = parse_job(text, &TARGET).unwrap_err().to_string();
        assert!(
            parts.iter().all(|part| message.contains(part)) && !message.contains('\n'),
            "{text}: {message}"
        );
    }
}

#[test]
fn a_refused_key_with_the_value_that_changes_nothing_is_accepted() {
    for line in [
        "verify=0",
        "nrfiles=1",
        "zonemode=none",
        "kb_base=1024",
        "latency_target=0",
        "io_submit_mode=inline",
    ] {
        open(&format!("[a]\n{line}\n"));
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse_job(&text, &TARGET);
    }

    /// Lines that make sense by themselves, in any company: whatever opens stays on the device, and whatever runs makes progress.
    #[test]
    fn no_job_leaves_the_device(lines in prop::collection::vec(prop::sample::select(LINES.to_vec()), 0..12)) {
        let text = format!("[a]\n{}\n", lines.join("\n"));
        if let Ok(mut workload) = parse_job(&text, &TARGET) {
            let mut out = Vec::new();
            workload.source.fill(&mut out, 500).unwrap();
            for r in &out {
                prop_assert!(r.command.lba.0 + u64::from(r.command.sectors) <= 131_072, "{}: {:?}", text, r);
                prop_assert!(r.command.op == Op::Flush || r.command.sectors > 0, "{}: {:?}", text, r);
            }
            prop_assert!(workload.source.progress().is_none_or(|p| (0.0..=1.0).contains(&p)));
        }
    }
}

const LINES: &[&str] = &[
    "[b]",
    "[c]\nstonewall",
    "[d]\nwait_for=a",
    "new_group",
    "exitall",
    "exit_what=all",
    "numjobs=3",
    "loops=3",
    "rw=read",
    "rw=write",
    "rw=rw",
    "rw=trim",
    "rw=randread",
    "rw=randwrite",
    "rw=randrw",
    "rw=randtrim",
    "rw=randrw:5",
    "rw=write:4k",
    "rw=read:-4k",
    "rw_sequencer=identical",
    "percentage_random=30",
    "bs_is_seq_rand=1",
    "rwmixread=0",
    "rwmixread=90",
    "bs=512",
    "bs=4k",
    "bs=3k,64k",
    "bs=1m,4k",
    "bsrange=1k-32k",
    "bsrange=1536-9k,4k-1m",
    "bssplit=4k/50:512/",
    "bssplit=64k/10:1m/90,4k/",
    "blockalign=512",
    "ba=4k,1m",
    "size=1m",
    "size=5k",
    "size=63m",
    "size=37%",
    "size=100%",
    "io_size=256k",
    "io_size=100m",
    "io_size=10%",
    "offset=1m",
    "offset=60m",
    "offset=33%",
    "offset_increment=1m",
    "offset_increment=7%",
    "offset_align=512",
    "number_ios=7",
    "number_ios=1",
    "norandommap",
    "randrepeat=0",
    "allrandrepeat=1",
    "randseed=9",
    "random_generator=tausworthe64",
    "random_distribution=zipf:0.9",
    "random_distribution=pareto:0.2:0.5",
    "random_distribution=normal:5",
    "random_distribution=zoned:60/10:40/90",
    "random_distribution=zoned:50/100:50/0",
    "random_distribution=zoned_abs:60/512:40/2m",
    "runtime=1ms",
    "runtime=2s",
    "time_based",
    "ramp_time=1ms",
    "ramp_time=3s",
    "startdelay=5ms",
    "rate=1",
    "rate=10m",
    "rate_iops=1",
    "rate_iops=,100000",
    "rate_process=poisson",
    "thinktime=1",
    "thinktime=10ms",
    "thinktime_blocks=5",
    "thinktime_blocks_type=issue",
    "thinktime_iotime=1ms",
    "rate_ignore_thinktime=1",
    "iodepth=32",
    "iodepth_low=3",
    "iodepth_batch_complete_min=8",
    "ioengine=psync",
    "ioengine=libaio",
    "fsync=1",
    "fdatasync=3",
    "end_fsync=1",
    "sync=1",
    "group_reporting",
];

/// Against fio 3.33's own log of these jobs on a device of 64 MiB.
#[test]
fn a_job_that_goes_backwards_begins_at_the_end_of_its_region() {
    let offsets = |text: &str| -> Vec<u64> {
        all(&mut open(&format!("[a]\nbs=4k\noffset=8m\nsize=1m\n{text}")))
            .iter()
            .map(|request| request.command.lba.0 * 512)
            .collect()
    };
    let found = offsets("rw=read:-4k\nnumber_ios=300\n");
    assert_eq!((found.len(), found[0], found[255]), (256, 9_433_088, 9_433_088));
    let found = offsets("rw=write:-8k\n");
    assert_eq!(found[..3], [9_428_992, 9_424_896, 9_420_800]);
    assert_eq!(found[253..], [8_392_704, 8_388_608, 9_428_992]);
}

#[test]
fn a_low_mark_of_zero_means_the_depth_as_in_fio() {
    open("[a]\niodepth=8\niodepth_low=0\n");
    let text = "[a]\niodepth_low=65537\n";
    assert!(parse_job(text, &TARGET).unwrap_err().to_string().contains("must be 0 to 65536"));
}

#[test]
fn a_job_that_issues_nothing_is_refused_or_named() {
    // Its holes are longer than its region: fio 3.33 issues nothing, either.
    let idle = "rw=read:-8k\nbs=4k\nsize=4k\noffset=8m\n";
    let message = parse_job(&format!("[a]\n{idle}"), &TARGET).unwrap_err().to_string();
    assert!(message.contains("line 2") && message.contains("issues no request"), "{message}");
    let workload = open(&format!("[b]\nrw=read\nsize=1m\n[a]\n{idle}"));
    assert!(
        workload.notes.iter().any(|note| note.starts_with("job a: it issues no request")),
        "{:?}",
        workload.notes
    );
    assert!(!workload.notes.iter().any(|note| note.starts_with("job b")), "{:?}", workload.notes);
}

#[test]
fn a_pass_draws_anew_from_the_same_law() {
    let top = |law: &str, pass: u64| -> u64 {
        let text = format!("[a]\nrw=randwrite\nnorandommap\nnumber_ios=2000\nrandom_distribution={law}\n");
        let spec = FioSpec { job: Some(text), ..FioSpec::default() };
        let spec = WorkloadSpec { fio: Some(spec), ..WorkloadSpec::default() };
        let requests = all(&mut spec.open_pass(&TARGET, pass).unwrap());
        let mut places: Vec<u64> = requests.iter().map(|request| request.command.lba.0).collect();
        places.sort_unstable();
        let runs = places.chunk_by(|one, next| one == next).max_by_key(|run| run.len());
        runs.unwrap()[0]
    };
    for law in ["zipf:1.2", "pareto:0.1", "zipf:0.9"] {
        assert!((1..5).all(|pass| top(law, pass) == top(law, 0)), "{law}");
    }
}
