//! Cost per request against the size of the drive: flat except for cache misses.

use crate::case::{ScenarioCase, scenario};

/// Random writes with garbage collection, and random reads, from 8 GiB to 1 TiB.
pub(crate) fn all(quick: bool) -> Vec<ScenarioCase> {
    let sizes: &[f64] = if quick { &[2.0, 4.0] } else { &[8.0, 32.0, 64.0, 256.0, 1024.0] };
    let requests = if quick { 20_000 } else { 2_000_000 };
    let case = |gib: f64, name: &str, reads: u32, span: &str| ScenarioCase {
        name: format!("{name}-{gib}g"),
        group: "scale",
        goal: 0.0,
        scenario: scenario(
            gib,
            &format!(
                "workload.synthetic = {{ pattern = \"uniform\", read_percent = {reads}, size = \"4KiB\", queue_depth = 32, \
                 requests = {requests}{span} }}\n\
                 precondition = {{ max_drive_writes = 2.0 }}\n"
            ),
        ),
    };
    let everywhere = sizes.iter().flat_map(|&gib| [case(gib, "write", 0, ""), case(gib, "read", 100, "")]);
    // The same drives, but reads that stay within 1 GiB: what is left of the difference is not cache misses of the table.
    let near = sizes.iter().map(|&gib| case(gib, "read-1g-of", 100, ", span = \"512MiB\""));
    everywhere.chain(near).collect()
}
