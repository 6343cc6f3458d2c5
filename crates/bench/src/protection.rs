//! Cost of parity in the simulator: the same work on the same drive, half full so that collection is light, without parity, with
//! stripes, with a product code, with classes and partial parity; and with real bytes, a smaller drive.

use crate::case::{ScenarioCase, scenario_of};

/// Three classes by the size of the drive's thirds, or so.
fn classes(gib: f64) -> String {
    let third = (gib * 1024.0 * 0.5 / 3.0) as u64;
    format!(
        "classes = [{{ parity = 0 }}, {{ data = 15, parity = 1, ranges = [{{ from = \"{third}MiB\", to = \"{}MiB\" }}] }}, \
         {{ data = 14, parity = 2, ranges = [{{ from = \"{}MiB\", to = \"{}MiB\" }}] }}]\n",
        2 * third,
        2 * third,
        3 * third
    )
}

/// The protection of each case, and its settings for a drive of so many GiB.
fn kinds(gib: f64) -> [(&'static str, String); 5] {
    let parity = |text: &str| format!("[device.protection]\n{text}");
    [
        ("off", String::new()),
        ("15-1", parity("data = 15\nparity = 1\n")),
        ("6-2", parity("data = 6\nparity = 2\n")),
        ("7-1-block-63", parity("data = 7\nparity = 1\nblock = 63\n")),
        (
            "classes",
            parity(&format!("{}partial = {{ place = \"blocks\", timeout = \"1ms\" }}\n", classes(gib))),
        ),
    ]
}

/// Mixed accesses with time; writes with bytes.
pub(crate) fn all(quick: bool) -> Vec<ScenarioCase> {
    let (gib, requests) = if quick { (2.0, 20_000) } else { (32.0, 3_000_000) };
    let mut cases = Vec::new();
    for (kind, settings) in kinds(gib) {
        let workload = format!(
            "workload.synthetic = {{ pattern = \"uniform\", read_percent = 70, size = \"4KiB\", queue_depth = 32, \
             requests = {requests} }}\nprecondition = {{ max_drive_writes = 1.0 }}\n"
        );
        cases.push(ScenarioCase {
            name: format!("mixed-parity-{kind}"),
            group: "protection",
            goal: 0.0,
            scenario: format!("{}{settings}", scenario_of(gib, 256, 0.5, "", &workload)),
        });
    }
    cases.extend(bytes(0.25, if quick { 5_000 } else { 400_000 }));
    cases
}

/// Writes with bytes to drives of so many GiB.
pub(crate) fn bytes(gib: f64, requests: u64) -> impl Iterator<Item = ScenarioCase> {
    kinds(gib).into_iter().map(move |(kind, settings)| {
        let workload = format!(
            "workload.synthetic = {{ pattern = \"uniform\", read_percent = 0, size = \"4KiB\", queue_depth = 32, requests = \
             {requests} }}\n"
        );
        ScenarioCase {
            name: format!("bytes-{kind}"),
            group: "protection",
            goal: 150e3,
            scenario: format!(
                "{}{}",
                scenario_of(gib, 16, 0.5, "bytes = true\n", &workload),
                settings.replace("block = 63", "block = 15")
            ),
        }
    })
}
