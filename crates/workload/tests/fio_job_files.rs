//! Is a job file read as fio reads it, is every key that cannot be simulated refused by name and place, and does no text panic?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "tests fail by panicking, build small texts and write job files"
)]

use crate::fio_jobs::{TARGET, all, open};
use outlast_device::Op;
use outlast_workload::{FioSpec, WorkloadSpec, job_variables, parse_job};
use proptest::prelude::*;

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
    let spec = FioSpec { job: Some(text.to_owned()), file: None, vars, ..FioSpec::default() };
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
fn a_shift_register_is_refused_at_the_one_seed_that_it_never_leaves() {
    // Seven blocks take a register of three bits, which begins at all ones for one seed in eight.
    let mut refused = 0;
    for seed in 0..64 {
        let job =
            format!("[a]\nrw=randread\nrandom_generator=lfsr\nsize=28k\nrandrepeat=0\nrandseed={seed}\n");
        match parse_job(&job, &TARGET) {
            Ok(mut workload) => {
                let mut blocks: Vec<u64> =
                    all(&mut workload).iter().map(|request| request.command.lba.0 / 8).collect();
                blocks.sort_unstable();
                assert_eq!(blocks, [0, 1, 2, 3, 4, 5, 6], "seed {seed}");
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("line 3") && message.contains("another randseed"), "{message}");
                refused += 1;
            }
        }
    }
    assert!((1..=24).contains(&refused), "{refused} of 64");
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
        ("[a]\nrw=trimwrite\nfsync=8\n", &["line 3", "fsync", "fio 3.33 itself leaves these flushes out"]),
        (
            "[a]\nrw=randread\nrandom_generator=lfsr\nrandom_distribution=zoned:50/10:50/90\n",
            &["line 3", "one region"],
        ),
        ("[a]\nrw=trimwrite:4k\n", &["line 2", "make a trim job and a write job"]),
        ("[a]\nrw=randtrimwrite\nbsrange=4k-16k\n", &["line 2", "one size for each direction"]),
        ("[a]\nrandom_generator=mersenne\n", &["line 2", "tausworthe, tausworthe64, lfsr"]),
        ("[a]\nfilesize=1m-2m\n", &["line 2", "a range of sizes"]),
        ("[a]\nfilesize=1m\noffset=1m\n", &["line 2", "filesize=1MiB", "above the offset"]),
        ("[a]\nfilesize=1m\nsize=50%\n", &["line 3", "in bytes beside filesize"]),
        ("[a]\niodepth=0\n", &["line 2", "iodepth=0", "1 to 65536"]),
        ("[a]\nrandom_distribution=zipf:1\n", &["line 2", "not 1"]),
        ("[a]\nverify=crc32c\n", &["line 2", "verify=crc32c", "not supported", "not verified"]),
        ("[a]\nlatency_target=10ms\n", &["line 2", "not supported"]),
        ("[a]\nnrfiles=4\n", &["line 2", "nrfiles=4", "one device"]),
        ("[a]\nzonemode=zbd\n", &["zonesize=0", "must be given"]),
        ("[a]\nzonemode=strided\n", &["line 2", "strided zones"]),
        ("[a]\nzonesize=1m\n", &["line 2", "zonesize=1048576", "needs zonemode=zbd"]),
        ("[a]\nsize=4z\n", &["line 2", "size=4z", "needs zonemode=zbd"]),
        (
            "[a]\nzonemode=zbd\nzonesize=1m\nzonecapacity=2m\n",
            &["line 4", "zonecapacity=2097152", "at most zonesize, 1MiB"],
        ),
        (
            "[a]\nzonemode=zbd\nzonesize=1m\nrw=write\nsize=1m\noffset=4k\n",
            &["line 5", "at least one whole zone"],
        ),
        ("[a]\nzonemode=zbd\nzonesize=1m\nrw=write\nbs=2m\n", &["line 5", "capacity of a zone, 1MiB"]),
        ("[a]\nzonemode=zbd\nzonesize=1m\njob_max_open_zones=2\n", &["line 4", "needs max_open_zones"]),
        ("[a]\nzonemode=zbd\nzonesize=1m\nmax_open_zones=4097\n", &["line 4", "0 to 4096"]),
        ("[a]\nzonemode=zbd\nzonesize=1m\nzone_reset_threshold=1.5\n", &["line 4", "0 to 1"]),
        ("[a]\nzonemode=zbd\nzonesize=1m\nzoneskip=1m\n", &["line 4", "not supported"]),
        ("[a]\nzonemode=zbd\nzonesize=1m\nrw=trim\nbs=1m\n", &["line 2", "a drive with zones"]),
        (
            "[a]\nzonemode=zbd\nzonesize=1m\n[b]\nzonemode=zbd\nzonesize=2m\n",
            &["line 6", "the same in all jobs"],
        ),
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
