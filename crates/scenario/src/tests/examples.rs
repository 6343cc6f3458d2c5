//! Do the teaching examples load from their files?

use super::*;
use crate::load_scenario;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/examples")
}

#[test]
fn every_example_loads_and_has_a_description() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let (scenario, _) = load_scenario(&[ScenarioLayer::File(path.clone())], &[])
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.description.is_empty(), "{}", path.display());
        assert_eq!(scenario.name, path.file_stem().unwrap().to_str().unwrap());
        opens(&scenario);
        if let Some(trace) = &scenario.workload.trace {
            assert!(Path::new(&trace.file).is_file(), "{}", trace.file);
        }
        count += 1;
    }
    assert!(count >= 3, "{count} examples");
}
