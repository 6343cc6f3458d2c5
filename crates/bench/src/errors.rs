//! Cost of modelling errors: the same work on the same drive, without errors, with errors that the ECC always corrects (the
//! model's own cost), with re-reads (the simulated operations that they add), and with stripes.

use crate::case::{ScenarioCase, scenario_of};

/// Mixed random accesses with garbage collection, and random reads.
pub(crate) fn all(quick: bool) -> Vec<ScenarioCase> {
    let (gib, requests) = if quick { (2.0, 20_000) } else { (32.0, 3_000_000) };
    let worn = "[device.reliability]\nchip = \"tlc-72-layer\"\ninitial = { pe_cycles = 3000 }\n";
    let kinds = [
        ("off", String::new()),
        ("corrected", worn.to_owned()),
        ("75-bit", format!("{worn}ecc = {{ strength = 75 }}\n")),
        (
            "stripes",
            format!(
                "{worn}ecc = {{ strength = 75 }}\nrereads = {{ max_retries = 3 }}\n[device.protection]\ndata = 15\n"
            ),
        ),
    ];
    let mut cases = Vec::new();
    for (work, reads) in [("mixed", 70), ("read", 100)] {
        for (kind, settings) in &kinds {
            let workload = format!(
                "workload.synthetic = {{ pattern = \"uniform\", read_percent = {reads}, size = \"4KiB\", queue_depth = 32, \
                 requests = {requests} }}\nprecondition = {{ max_drive_writes = 1.0 }}\n"
            );
            // Of a small drive with parity, superblocks of 256 pages are too few to hold any back.
            let pages = if quick && *kind == "stripes" { 64 } else { 256 };
            cases.push(ScenarioCase {
                name: format!("{work}-errors-{kind}"),
                group: "errors",
                goal: 0.0,
                scenario: format!("{}{settings}", scenario_of(gib, pages, 0.85, "", &workload)),
            });
        }
    }
    cases
}
