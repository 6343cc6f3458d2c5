//! One run on one thread and on all: an eight-drive RAID-5 that is prepared and then written to and read from, and a drive of four flash cores.

use crate::case::hash;
use outlast_engine::{RunControl, Simulation, parse_text};

/// Eight drives, each of `blocks` blocks to a plane, prepared until they are steady.
fn array(blocks: u32, requests: u64, threads: u32) -> String {
    let capacity = u64::from(blocks) * 16 * 128 * 4 / 1024 * 8 / 10;
    format!(
        "workload.synthetic = {{ pattern = \"uniform\", read_percent = 70, size = \"4KiB\", queue_depth = 64, requests = {requests} }}\n\
         run.threads = {threads}\n\
         array = {{ level = \"raid5\", members = 8, chunk = \"64KiB\" }}\n\
         [device]\n\
         geometry = {{ channels = 4, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = 2, blocks_per_plane = {blocks}, \
         pages_per_block = 128, page_size = \"4KiB\" }}\n\
         timing = {{ read = \"60us\", program = \"700us\", erase = \"3.5ms\", bus = \"667MB/s\" }}\n\
         ftl = {{ capacity = \"{capacity}MiB\" }}\n"
    )
}

/// A drive of four flash cores, prepared until it is steady.
fn drive(blocks: u32, requests: u64, threads: u32) -> String {
    let capacity = u64::from(blocks) * 64 * 128 * 4 / 1024 * 8 / 10;
    format!(
        "workload.synthetic = {{ pattern = \"uniform\", read_percent = 70, size = \"4KiB\", queue_depth = 64, requests = {requests} }}\n\
         run.threads = {threads}\n\
         [device]\n\
         geometry = {{ channels = 8, chips_per_channel = 2, dies_per_chip = 2, planes_per_die = 2, blocks_per_plane = {blocks}, \
         pages_per_block = 128, page_size = \"4KiB\" }}\n\
         timing = {{ read = \"60us\", program = \"700us\", erase = \"3.5ms\", bus = \"667MB/s\" }}\n\
         controller.flash_cores = 4\n\
         ftl = {{ capacity = \"{capacity}MiB\" }}\n"
    )
}

/// A scenario with so many blocks to a plane, requests and threads.
type ScenarioMaker = fn(u32, u64, u32) -> String;

/// Seconds that preparing and that running took, and a hash of the result.
fn once(text: &str) -> Result<(f64, f64, u64), String> {
    let (scenario, _) = parse_text(text).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    let result = simulation.run(&mut |_| RunControl::Continue).map_err(|error| error.to_string())?;
    let time = &result.summary.time;
    Ok((time.precondition_wall_s, time.wall_s - time.precondition_wall_s, hash(&result)))
}

/// One line for each case: the best of three of each number of threads, in turns.
///
/// # Errors
/// A case that cannot run, or whose result depends on the number of threads.
pub(crate) fn measure(quick: bool) -> Result<String, String> {
    let (blocks, requests) = if quick { (64, 20_000) } else { (1024, 500_000) };
    let all = std::thread::available_parallelism().map_or(1, |count| count.get() as u32).max(2);
    let cases: [(&str, ScenarioMaker); 2] = [("eight-drive RAID-5", array), ("four cores", drive)];
    let mut lines = Vec::new();
    for (name, text) in cases {
        let mut best = [[f64::INFINITY; 2]; 2];
        let mut hashes = Vec::new();
        for _ in 0..3 {
            for (best, threads) in best.iter_mut().zip([1, all]) {
                let (prepared, ran, hash) = once(&text(blocks, requests, threads))?;
                *best = [best[0].min(prepared), best[1].min(ran)];
                hashes.push(hash);
            }
        }
        if hashes.iter().any(|&hash| hash != hashes[0]) {
            return Err(format!("{name}: the result depends on the number of threads"));
        }
        let [one, many] = best;
        lines.push(format!(
            "threads: {name}: prepared in {:.2} s on one, {:.2} s on {all} ({:.2}x); run in {:.2} s and {:.2} s; together {:.2}x; hash {:016x}",
            one[0],
            many[0],
            one[0] / many[0],
            one[1],
            many[1],
            (one[0] + one[1]) / (many[0] + many[1]),
            hashes[0],
        ));
    }
    Ok(lines.join("\n"))
}
