//! Does what belongs to a synthetic workload stay from pass to pass, and does a pass ever ask for nothing?
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use outlast_device::Command;
use outlast_units::Bytes;
use outlast_workload::{Workload, WorkloadRequest, WorkloadSpec, WorkloadTarget};
use std::collections::BTreeSet;

const TARGET: WorkloadTarget = WorkloadTarget {
    capacity: Bytes::gib(1),
    seed: 42,
    unit: Bytes::kib(4),
    handles: 0,
    zones: None,
    namespaces: Vec::new(),
};

fn spec(text: &str) -> WorkloadSpec {
    toml::from_str(&format!("[synthetic]\n{text}")).unwrap()
}

fn all(workload: &mut Workload) -> Vec<WorkloadRequest> {
    let mut out = Vec::new();
    while workload.source.fill(&mut out, 1000).unwrap() != 0 {}
    out
}

/// The commands of a pass, without their times.
fn pass_of(text: &str, seed: u64, pass: u64) -> Vec<Command> {
    let mut workload = spec(text).open_pass(&WorkloadTarget { seed, ..TARGET }, pass).unwrap();
    all(&mut workload).iter().map(|request| request.command).collect()
}

#[test]
fn hot_places_are_the_same_in_every_pass_and_phase() {
    let law = "scramble = true\npattern = \"hotcold\"\nhot_fraction = 0.01\nhot_access = 1.0\n";
    let phases = format!(
        "{law}[[synthetic.phases]]\nrequests = 9000\n[[synthetic.phases]]\nrequests = 9000\nread_percent = 50\n"
    );
    for text in [format!("requests = 20000\n{law}"), phases] {
        let places = |seed, pass| -> BTreeSet<u64> {
            pass_of(&text, seed, pass).iter().map(|command| command.lba.0).collect()
        };
        let hot = places(42, 0);
        // All that is written is the hot hundredth of 262,144 places, in whichever pass.
        let mut all = hot.clone();
        (1..4).for_each(|pass| all.extend(places(42, pass)));
        assert!(all.len() <= 2622, "{} places", all.len());
        assert_ne!(pass_of(&text, 42, 1), pass_of(&text, 42, 0), "but in another order");
        assert!(places(43, 0).intersection(&hot).count() < 200, "another seed lays it out anew");
    }
}

#[test]
fn a_stream_that_ends_before_its_first_request_is_refused_or_named() {
    let late = "rate_iops = 2\n";
    let message = spec(&format!("{late}duration = \"1ms\"")).open(&TARGET).unwrap_err().to_string();
    assert!(
        message.contains("workload.synthetic.duration = 1ms") && message.contains("rate_iops"),
        "{message}"
    );
    let workload = spec(&format!(
        "{late}[[synthetic.phases]]\nduration = \"1000s\"\n[[synthetic.phases]]\nduration = \"1ms\"\n"
    ))
    .open(&TARGET)
    .unwrap();
    assert!(
        workload.notes.iter().any(|note| note.starts_with("workload.synthetic.phases[1] issues no request"))
    );
    assert!(!workload.notes.iter().any(|note| note.contains("phases[0]")));
}
