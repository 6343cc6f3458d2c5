//! Is a scenario checked without building its drives as thoroughly as by building them?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_engine::{ScenarioLayer, Simulation, load_scenario, parse_text, presets};
use outlast_units::rng::SplitMix;

fn text(
    numbers: (u16, u16, u32, u32, u32),
    ftl: (u32, u32, u32),
    drive: (f64, bool, bool, u32),
    array: u16,
) -> String {
    let (channels, planes, blocks, pages, unit) = numbers;
    let (capacity, spares, cores) = ftl;
    let (bad, parity, volatile, repaired) = drive;
    let parity = if parity { "protection = { data = 3, parity = 1 }\n" } else { "" };
    let cache = if volatile { ", write_cache = \"volatile\"" } else { "" };
    let repair = match repaired {
        0 => String::new(),
        dies => format!("repair = {{ repaired_dies = {:?} }}\n", (0..dies).collect::<Vec<_>>()),
    };
    let array =
        if array == 0 { String::new() } else { format!("[array]\nlevel = \"raid5\"\nmembers = {array}\n") };
    format!(
        "workload.synthetic = {{ requests = 1 }}\n{array}[device]\n{parity}{repair}\
         geometry = {{ channels = {channels}, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = {planes}, \
         blocks_per_plane = {blocks}, pages_per_block = {pages}, page_size = \"4KiB\" }}\n\
         timing = {{ read = \"60us\", program = \"700us\", erase = \"3.5ms\", bus = \"667MB/s\" }}\n\
         ftl = {{ over_provisioning = 0.{capacity:02}, mapping_unit = \"{unit}KiB\", spare_blocks = {spares} }}\n\
         controller = {{ flash_cores = {cores}{cache} }}\n\
         defects = {{ factory_bad = {bad} }}\n"
    )
}

/// A check without building a drive refuses what building it refuses, in the same words.
#[test]
fn a_check_fails_with_the_error_of_building() {
    let mut rng = SplitMix::new(1, "check");
    let (mut fine, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut of = |choices: &[u32]| choices[rng.below(choices.len() as u64) as usize];
        let numbers = (
            of(&[1, 2, 4]) as u16,
            of(&[1, 2]) as u16,
            of(&[8, 12, 20, 33, 60]),
            of(&[1, 2, 4, 16]),
            of(&[4, 4, 8, 16]),
        );
        let ftl = (of(&[7, 15, 28, 50, 100]), of(&[0, 0, 1, 3]), of(&[1, 1, 2, 4]));
        let bad = f64::from(of(&[0, 0, 2, 10])) / 100.0;
        let drive = (bad, of(&[0, 0, 1]) == 1, of(&[0, 1]) == 1, of(&[0, 0, 0, 1, 2]));
        let Ok((scenario, _)) = parse_text(&text(numbers, ftl, drive, of(&[0, 0, 3, 4]) as u16)) else {
            continue;
        };
        let checked = Simulation::check(&scenario).map(drop).map_err(|error| error.to_string());
        let built = Simulation::new(scenario.clone()).map(drop).map_err(|error| error.to_string());
        assert_eq!(checked, built, "{scenario:?}");
        if built.is_ok() { fine += 1 } else { refused += 1 }
    }
    assert!(fine > 100 && refused > 100, "{fine} were built, {refused} refused");
}

#[test]
fn presets_pass_without_being_built() {
    for preset in presets().iter().filter(|preset| preset.name != "x25m-80g") {
        let layers = [ScenarioLayer::Preset(preset.name.to_owned())];
        let stream = if preset.text.contains("[device.zones]") { "zoned" } else { "synthetic" };
        let set = [("workload".to_owned(), format!("{{ {stream} = {{ requests = 1 }} }}"))];
        let (scenario, _) = load_scenario(&layers, &set).unwrap();
        let memory = Simulation::check(&scenario).unwrap();
        assert!(memory.drives > 0, "{}", preset.name);
    }
}

/// A drive of 32 TB, whose tables take seventeen billion bytes.
#[test]
fn a_drive_too_large_for_this_machine_is_checked() {
    let text = text((16, 4, 3200, 1024, 4), (15, 0, 16), (0.0, false, false, 0), 0)
        .replace("dies_per_chip = 2", "dies_per_chip = 8")
        .replace("page_size = \"4KiB\"", "page_size = \"16KiB\"");
    let (scenario, _) = parse_text(&text).unwrap();
    let memory = Simulation::check(&scenario).unwrap();
    let units = 16 * 8 * 4 * 3200u64 * 1024 * 4;
    assert!(memory.drives > units * 4 && memory.drives < units * 9, "{}", memory.drives);
}
