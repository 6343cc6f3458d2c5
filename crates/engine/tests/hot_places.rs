//! Are the places that a workload writes often the same in every pass over it, so that its length decides nothing?
//!
//! **The drive.** 256 superblocks of 64 units of 4 KiB, an eighth of them spare, collected greedily, without time.
//!
//! **The law.** A workload of `SHORT` requests, a thousand passes of which prepare the drive, is the same workload as one of `LONG`
//! requests, five passes of which do: the write amplification that preparing comes to is a property of the drive, of the law of
//! addresses and of their places. So is what a run measures after it.
//!
//! **Steady state.** The places that are written least are written at a fifth of the mean rate, so a drive forgets its fill with a time
//! constant of five drive writes: preparing takes 20, of which the last third counts.
//!
//! **Sampling.** Every figure is the mean of `SEEDS` runs, whose own spread gives its standard error; means are compared within `ERRORS`
//! standard errors of their difference. Of workloads that are alike, with 10 degrees of freedom, fewer than one comparison in 1000 is
//! farther apart.

use crate::support::{DriveText, Run, run, scenario};

const SEEDS: u64 = 6;
/// A fiftieth of the drive, and four times of it.
const SHORT: u64 = 290;
const LONG: u64 = 58_000;
const ERRORS: f64 = 5.0;

/// Mean and error of a figure over several runs.
#[derive(Clone, Copy, Debug)]
struct Figure {
    mean: f64,
    /// Square of its standard error.
    error: f64,
}

impl Figure {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, error: squares / (count - 1.0) / count }
    }

    #[track_caller]
    fn agrees(self, other: Self, what: &str) {
        let most = ERRORS * (self.error + other.error).sqrt();
        let apart = (self.mean - other.mean).abs();
        assert!(
            apart <= most,
            "{what}: {} against {}, {apart:.4} apart, at most {most:.4}",
            self.mean,
            other.mean
        );
    }
}

fn prepared(workload: &str, seed: u64) -> Run {
    run(scenario(&format!(
        r#"
seed = {seed}
{drive}
[precondition]
overwrite = "workload"
min_drive_writes = 20.0
max_drive_writes = 20.0
[run]
timing = "none"
warm_up = "0s"
{workload}
"#,
        drive = DriveText::channels(1)
            .blocks(256, 64, "4KiB")
            .spare(0.125)
            .gc("policy = \"greedy\"")
            .ftl("streams = 2")
    )))
}

/// Write amplification of the preparation, and of the measurement after it.
fn figures(workload: &str) -> (Figure, Figure) {
    let runs: Vec<Run> = (1..=SEEDS).map(|seed| prepared(workload, seed)).collect();
    let reached = |run: &Run| run.summary().steady_state.precondition.write_amplification.unwrap();
    (
        Figure::of(&runs.iter().map(reached).collect::<Vec<_>>()),
        Figure::of(&runs.iter().map(Run::write_amplification).collect::<Vec<_>>()),
    )
}

/// `workload` holds `REQUESTS` where its length stands.
#[track_caller]
fn length_decides_nothing(workload: &str) -> Figure {
    let of = |requests: u64| figures(&workload.replace("REQUESTS", &requests.to_string()));
    let ((long, measured), (short, _)) = (of(LONG), of(SHORT));
    short.agrees(long, "reached with a short workload, and with a long one");
    // Of a short run hardly a superblock is collected, so only the long one measures.
    measured.agrees(long, "measured, and reached");
    long
}

fn synthetic(more: &str) -> String {
    format!("[workload.synthetic]\nrequests = REQUESTS\n{more}")
}

/// `law` with its places side by side and scattered: as units of a page each, where they lie means nothing to this drive.
#[track_caller]
fn neither_length_nor_scattering_decides(law: &str) {
    let plain = length_decides_nothing(&synthetic(law));
    let scattered = length_decides_nothing(&synthetic(&format!("scramble = true\n{law}")));
    scattered.agrees(plain, "scattered, and side by side");
}

#[test]
fn a_hot_share_costs_the_same_whatever_the_length_of_its_workload() {
    neither_length_nor_scattering_decides("pattern = \"hotcold\"\nhot_fraction = 0.1\nhot_access = 0.8\n");
}

#[test]
fn zipfs_law_costs_the_same_whatever_the_length_of_its_workload() {
    neither_length_nor_scattering_decides("pattern = \"zipf\"\nzipf_theta = 0.8\n");
}

#[test]
fn jesd219_costs_the_same_whatever_the_length_of_its_workload() {
    neither_length_nor_scattering_decides("pattern = \"jesd219\"\n");
}

#[test]
fn hot_places_in_a_stream_of_their_own_cost_the_same_whatever_the_length_of_their_workload() {
    let law = "pattern = \"hotcold\"\nhot_fraction = 0.1\nhot_access = 0.8\nhot_stream = 1\n";
    let of = |more: &str| length_decides_nothing(&synthetic(&format!("{more}{law}")));
    of("scramble = true\n").agrees(of(""), "scattered, and side by side");
}

/// Two phases that write the same hot places, at other shares.
#[test]
fn phases_cost_the_same_whatever_the_length_of_their_workload() {
    let of = |scramble: bool| {
        let figures = |requests: u64| {
            let half = requests / 2;
            figures(&format!(
                "[workload.synthetic]\nscramble = {scramble}\npattern = \"hotcold\"\nhot_fraction = 0.1\n\
                 [[workload.synthetic.phases]]\nrequests = {half}\nhot_access = 0.9\n\
                 [[workload.synthetic.phases]]\nrequests = {half}\nhot_access = 0.8\n"
            ))
        };
        // Of a workload that is long beside the memory of the drive the phases are seen one by one: both are shorter than that.
        let (short, longer) = (figures(SHORT).0, figures(SHORT * 8).0);
        short.agrees(longer, "reached with short phases, and with longer ones");
        short
    };
    of(true).agrees(of(false), "scattered, and side by side");
}

fn fio(law: &str) -> String {
    format!(
        "[workload.fio]\njob = \"\"\"\n[a]\nrw=randwrite\nbs=4k\nnorandommap\nnumber_ios=REQUESTS\nrandom_distribution={law}\n\"\"\"\n"
    )
}

#[test]
fn zipfs_law_of_fio_costs_the_same_whatever_the_length_of_its_job() {
    length_decides_nothing(&fio("zipf:0.8"));
}

#[test]
fn the_pareto_law_of_fio_costs_the_same_whatever_the_length_of_its_job() {
    length_decides_nothing(&fio("pareto:0.2"));
}

#[test]
fn the_normal_law_of_fio_costs_the_same_whatever_the_length_of_its_job() {
    length_decides_nothing(&fio("normal:10"));
}

#[test]
fn zones_of_fio_cost_the_same_whatever_the_length_of_their_job() {
    length_decides_nothing(&fio("zoned:80/10:20/90"));
}
