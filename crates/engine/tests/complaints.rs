//! Is what a run refuses told as the setting that the user wrote?

use outlast_engine::{EngineError, ScenarioError, ScenarioLayer, Simulation, load_scenario};
use std::path::PathBuf;

#[test]
fn an_error_of_a_derived_capacity_names_the_setting_that_the_user_wrote() {
    let text = "extends = \"demo\"\n\n[device.ftl]\nover_provisioning = 0.001\n".to_owned();
    let layer = ScenarioLayer::Toml { name: "base.toml".to_owned(), text, folder: PathBuf::new() };
    let (scenario, provenance) = load_scenario(&[layer], &[]).unwrap();
    let Err(EngineError::Config(error)) = Simulation::new(scenario) else { panic!("not refused") };
    let message = ScenarioError::invalid(&provenance, &error).to_string();
    let start = "base.toml:4: device.ftl.over_provisioning = 0.001: makes device.ftl.capacity = ";
    assert!(message.starts_with(start), "{message}");
}
