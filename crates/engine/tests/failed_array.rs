//! Does a run end on an array that has failed, and that answers at once, and does its result say how far a rebuild has come?

use crate::arrays::{MIXED, array};
use crate::support::run;
use crate::support::steps::{made, once};
use outlast_array::ArrayHealth;

/// Two members of four fail, so that writes fail without delay from then on, and time no longer passes: such a run went on for ever.
#[test]
fn a_workload_that_only_time_ends_does_where_time_no_longer_passes() {
    let faults = "[array]\nlevel = \"raid5\"\nmembers = 4\nchunk = \"64KiB\"\n\
                  [[faults]]\nat = \"1ms\"\nkind = \"device\"\ndevice = 2\n[[faults]]\nat = \"2ms\"\nkind = \"device\"\ndevice = 1\n";
    let synthetic =
        "[workload.synthetic]\npattern = \"uniform\"\nread_percent = 0\nqueue_depth = 4\nduration = \"1s\"\n";
    let jobs = "[workload.fio]\njob = \"\"\"\n[a]\nrw=randwrite\nbs=4k\ntime_based\nruntime=1\n\"\"\"\n";
    for workload in [synthetic, jobs] {
        let summary = once(made(&[faults, workload])).summary;
        assert!(!summary.partial, "{workload}");
        let note = summary.notes.iter().find(|note| note.contains("time no longer passed")).expect("a note");
        assert!(note.contains("the array has failed"), "{note}");
    }
    // A job that ends by itself goes on although time stands, and then time passes for the other.
    let mixed = "[workload.fio]\njob = \"\"\"\n[slow]\nrw=randwrite\nbs=4k\ntime_based\nruntime=1\nthinktime=100ms\n\
                 [many]\nrw=randwrite\nbs=4k\nnorandommap\nnumber_ios=1300000\nio_size=1t\n\"\"\"\n";
    let summary = once(made(&[faults, mixed])).summary;
    assert!(
        summary.host.errors > 1_200_000 && summary.host.jobs[0].runtime_s > 0.9,
        "{}",
        summary.host.errors
    );
    assert!(!summary.notes.iter().any(|note| note.contains("time no longer passed")), "{:?}", summary.notes);
    // One that ends by itself does: a million and more of its requests fail.
    let counted = synthetic.replace("duration = \"1s\"", "requests = 1300000");
    let summary = once(made(&[faults, &counted])).summary;
    assert!(!summary.partial && summary.host.errors > 1_200_000, "{}", summary.host.errors);
}

/// A second member fails while the first is rebuilt, or the spare itself does: the rebuild is over, and was said to be done.
#[test]
fn a_rebuild_that_is_broken_off_has_the_share_that_its_drive_has() {
    let result = |second: u16| {
        let array_text =
            "level = \"raid5\"\nmembers = 4\nspares = 1\nmember = [{ device = 1, fail_at = \"1s\" }]";
        let fault = format!("[[faults]]\nat = \"1100ms\"\nkind = \"device\"\ndevice = {second}");
        run(array(&format!("{array_text}\n{fault}"), MIXED)).summary().array.clone().expect("an array")
    };
    let failed = result(2);
    let rebuild = failed.rebuild.expect("one has begun");
    assert_eq!((failed.state, rebuild.finished_s, rebuild.left_s), (ArrayHealth::Failed, None, None));
    // At most 100 ms at 200 MB/s, of members of 60 MiB with a fifth to spare.
    assert!(rebuild.done > 0.02 && rebuild.done < 0.45, "{}", rebuild.done);
    let gone = result(1);
    let rebuild = gone.rebuild.expect("one has begun");
    assert_eq!((gone.state, rebuild.finished_s, rebuild.done), (ArrayHealth::Degraded, None, 0.0));
}
