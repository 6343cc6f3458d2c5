//! Does a run count each request for the namespace in whose range it begins, and do jobs with zones stay in theirs?

use crate::support::{DriveText, run, scenario};

#[test]
fn figures_of_namespaces_are_those_of_the_jobs_in_their_ranges() {
    let drive = DriveText::channels(2).blocks(64, 16, "4KiB").spare(0.25);
    let jobs = r#"
[[namespace]]
capacity = "1MiB"
[[namespace]]
capacity = "2MiB"
[precondition]
fill = "sequential"
overwrite = "none"
[workload.fio]
job = """
[global]
bs=4k
[quiet]
rw=randread
size=1m
number_ios=200
norandommap
[noisy]
rw=randwrite
offset=1m
size=2m
number_ios=500
norandommap
iodepth=8
[beyond]
rw=write
offset=3m
size=64k
"""
"#;
    let text = format!("seed = 3\n{drive}\n{jobs}");
    let (with, without) = (run(scenario(&text)), {
        let plain =
            text.replace("[[namespace]]\ncapacity = \"1MiB\"\n[[namespace]]\ncapacity = \"2MiB\"\n", "");
        assert!(!plain.contains("namespace"));
        run(scenario(&plain))
    });
    let namespaces = &with.summary().namespaces;
    let counts: Vec<_> =
        namespaces.iter().map(|own| (own.namespace, own.reads, own.writes, own.bytes_written)).collect();
    assert_eq!(counts, [(1, 200, 0, 0), (2, 0, 500, 500 * 4096)]);
    assert!(namespaces[0].read.is_some() && namespaces[0].write.is_none() && namespaces[1].write.is_some());
    // Namespaces are counted and nothing else: all other figures are those of the drive without them.
    assert!(without.summary().namespaces.is_empty());
    assert_eq!(with.summary().throughput.iops, without.summary().throughput.iops);
    assert_eq!(with.summary().host.writes, without.summary().host.writes);
}

/// `filename` was ignored on a drive with zones: the job wrote the zones of the first namespace.
#[test]
fn a_job_that_names_a_namespace_of_zones_writes_the_zones_of_that_namespace() {
    let drive = DriveText::channels(2).blocks(64, 16, "4KiB");
    let text = |job: &str| {
        format!(
            r#"
{drive}
[device.zones]
count = 20
size = "128KiB"
max_active = 6
max_open = 4
[[namespace]]
capacity = "1MiB"
block_size = "4KiB"
[[namespace]]
capacity = "1536KiB"
block_size = "4KiB"
[precondition]
fill = "sequential"
fill_fraction = 0.5
overwrite = "none"
[workload.fio]
job = """
[global]
zonemode=zbd
bs=16k
filename=/dev/nvme0n2
{job}
"""
"#
        )
    };
    // Two passes over three zones, the first of which are full at the beginning: they are reset.
    let summary = run(scenario(&text("[log]\nrw=write\nsize=3z\nloops=2\n"))).summary().clone();
    let [first, second] = &summary.namespaces[..] else { panic!("two namespaces") };
    assert_eq!((first.writes, second.writes, summary.host.errors), (0, 2 * 3 * 8, 0));
    let zones = summary.zones.expect("zones");
    assert_eq!(
        (zones.reset, zones.filled),
        (5, 6),
        "two are full at the beginning, three after the first pass"
    );
}
