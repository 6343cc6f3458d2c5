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
    FioSpec, NamespaceTarget, RequestPacing, Workload, WorkloadRequest, WorkloadSpec, WorkloadTarget,
    parse_job,
};

pub(crate) const TARGET: WorkloadTarget = WorkloadTarget {
    capacity: Bytes::mib(64),
    seed: 7,
    unit: Bytes::kib(4),
    handles: 0,
    zones: None,
    namespaces: Vec::new(),
};

pub(crate) fn open(text: &str) -> Workload {
    parse_job(text, &TARGET).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The requests in the order of a run without time.
pub(crate) fn all(workload: &mut Workload) -> Vec<WorkloadRequest> {
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
fn a_job_whose_file_is_a_namespace_has_its_range_and_its_handles() {
    let space = |start, mib, read_only, identifiers: &[u16]| NamespaceTarget {
        start,
        capacity: Bytes::mib(mib),
        block: Bytes::kib(4),
        read_only,
        identifiers: identifiers.to_vec(),
    };
    let namespaces = vec![space(0, 4, true, &[0]), space(4 << 20, 2, false, &[2, 1])];
    let target = WorkloadTarget { handles: 3, namespaces, ..TARGET };
    let commands = |text: &str| -> Vec<Command> {
        let mut workload = parse_job(text, &target).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(workload.notes.is_empty(), "{:?}", workload.notes);
        all(&mut workload).iter().map(|r| r.command).collect()
    };
    let written = commands("[a]\nfilename=/dev/ng0n2\nrw=write\nbs=4k\nfdp=1\nplids=1,0\n");
    let sectors: Vec<u64> = written.iter().map(|command| command.lba.0).collect();
    assert_eq!(sectors, (0..512).map(|unit| 8192 + unit * 8).collect::<Vec<_>>());
    let placed: Vec<u16> = written.iter().map(|command| command.placement.0).take(3).collect();
    assert_eq!(placed, [1, 2, 1]);
    // Half of it from the middle on; without identifiers through the first handle. Reads name none.
    let half = "[a]\nfilename=/dev/nvme0n2\noffset=50%\nrw=write\nbs=64k\n[b]\nfilename=/dev/nvme0n1\nnumber_ios=1\n";
    let both = commands(half);
    let (writes, reads): (Vec<Command>, Vec<Command>) =
        both.into_iter().partition(|command| command.op == Op::Write);
    assert_eq!((writes.len(), writes[0].lba.0, writes[0].placement.0), (16, 8192 + 2048, 2));
    assert_eq!((reads.len(), reads[0].lba.0), (1, 0));
    // Of a drive without namespaces every file is the whole drive, and so are files of other names.
    assert_eq!(all(&mut open("[a]\nfilename=/dev/nvme0n2\nbs=1m\n")).len(), 64);
    assert_eq!(commands("[a]\nfilename=/dev/sda\nbs=1m\n").len(), 64);
    for (text, told) in [
        ("[a]\nfilename=/dev/nvme0n3\n", "the drive has 2 namespaces"),
        ("[a]\nfilename=/dev/nvme0n1\nrw=write\n", "write-protected"),
        ("[a]\nfilename=/dev/nvme0n2\nbs=512\n", "whole blocks of the namespace, 4KiB"),
        ("[a]\nfilename=/dev/nvme0n2\nbs=4k\noffset=512\n", "whole blocks of the namespace, 4KiB"),
        ("[a]\nfilename=/dev/nvme0n2\nrw=write\nfdp=1\nplids=2\n", "placement handles"),
        ("[a]\nfilename=/dev/nvme0n2\nsize=4m\n", "2MiB left"),
    ] {
        let refused = parse_job(text, &target).unwrap_err().to_string();
        assert!(refused.contains(told), "{text}: {refused}");
    }
}

/// Each file has zones of its own in fio; jobs in two namespaces once shared write pointers, and a reaped request was one of another zone.
#[test]
fn zones_of_a_namespace_are_not_those_of_another() {
    let space = |start| NamespaceTarget {
        start,
        capacity: Bytes::mib(16),
        block: Bytes(512),
        read_only: false,
        identifiers: Vec::new(),
    };
    let target = WorkloadTarget { namespaces: vec![space(0), space(16 << 20)], ..TARGET };
    let zoned = "[global]\nzonemode=zbd\nzonesize=1m\nbs=64k\nmax_open_zones=2\niodepth=4\nrw=randwrite\nsize=8z\nio_size=32m\n";
    let sectors = |target: &WorkloadTarget, file: &str| -> Vec<u64> {
        let mut workload = parse_job(&format!("{zoned}[a]\nfilename={file}\n"), target).unwrap();
        all(&mut workload).iter().map(|r| r.command.lba.0).collect()
    };
    let (own, second) = (sectors(&TARGET, "/dev/sda"), sectors(&target, "/dev/nvme0n2"));
    assert!(
        own.len() == 512 && own.iter().map(|lba| lba + (16 << 11)).eq(second),
        "as in a drive of its own"
    );
    let both = format!("{zoned}[a]\nfilename=/dev/nvme0n1\n[b]\nfilename=/dev/nvme0n2\n");
    let refused = parse_job(&both, &target).unwrap_err().to_string();
    assert!(refused.contains("must be the same namespace in all jobs with zonemode=zbd"), "{refused}");
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
