//! Does a complaint about several layers name the layer that is at fault, and are all mistakes listed?

use super::*;
use crate::{ScenarioLayer, load};

/// A layer called `name`, in no folder.
fn layer(name: &str, text: &str) -> ScenarioLayer {
    ScenarioLayer::Toml { name: name.to_owned(), text: text.to_owned(), folder: PathBuf::new() }
}

fn complaint_of(layers: &[ScenarioLayer]) -> String {
    let none = |_: &Path| Err(std::io::Error::other("none"));
    match load(layers, &[], &none) {
        Err(error) => error.to_string(),
        Ok((scenario, provenance)) => {
            ScenarioError::invalid(&provenance, &scenario.validate().unwrap_err()).to_string()
        }
    }
}

#[test]
fn an_error_in_a_table_of_two_layers_names_the_later_one() {
    let both =
        "extends = \"demo\"\n[workload.synthetic]\nsize = \"4KiB\"\n[workload.trace]\nfile = \"t.csv\"\n";
    let message = complaint_of(&[layer("mine.toml", both)]);
    assert!(message.starts_with("mine.toml:2: workload = synthetic and trace"), "{message}");
    // A trace alone takes the place of the preset's synthetic workload.
    let trace = "extends = \"demo\"\n[workload.trace]\nfile = \"t.csv\"\n";
    let none = |_: &Path| Err(std::io::Error::other("none"));
    let (scenario, _) = load(&[layer("mine.toml", trace)], &[], &none).unwrap();
    assert!(scenario.workload.synthetic.is_none() && scenario.workload.trace.is_some());
}

#[test]
fn a_list_of_tables_is_not_a_table() {
    let message =
        complaint_of(&[layer("s.toml", "extends = \"demo\"\n[[device.ftl]]\nover_provisioning = 0.1\n")]);
    assert_eq!(
        message,
        "s.toml:2: device.ftl = [ … ]: must be one table of settings, as under [name], and not a list of them, as \
         under [[name]]"
    );
}

#[test]
fn mistakes_are_listed_together_each_with_its_line() {
    let text = "extends = \"demo\"\nsed = 3\n[run]\nwarmup = \"1s\"\ncapacity_scale = \"many\"\n[precondition]\nround = \"x\"\n";
    let message = complaint_of(&[layer("s.toml", text)]);
    let lines: Vec<&str> = message.split('\n').map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(lines, ["s.toml:2:", "s.toml:4:", "s.toml:5:", "s.toml:7:"], "{message}");
    // Ten at most.
    let many = (0..30).map(|i| format!("nonsense_{i} = 1")).collect::<Vec<_>>().join("\n");
    let message = complaint_of(&[layer("s.toml", &format!("extends = \"demo\"\n{many}"))]);
    assert_eq!(message.split('\n').count(), 10, "{message}");
}

#[test]
fn the_description_of_a_preset_is_dropped_with_its_workload() {
    let described = |text: &str| {
        let none = |_: &Path| Err(std::io::Error::other("none"));
        load(&[layer("s.toml", &format!("extends = \"demo\"\n{text}"))], &[], &none).unwrap().0.description
    };
    assert_ne!(described("seed = 7\n"), "");
    assert_eq!(described("[workload.synthetic]\nread_percent = 0\n"), "");
    assert_eq!(described("[device.ftl]\nover_provisioning = 0.2\n"), "");
    assert_eq!(described("description = \"mine\"\n[workload.synthetic]\nread_percent = 0\n"), "mine");
}
