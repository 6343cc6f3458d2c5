//! The presets and the scenarios of papers, each made small.

use super::NamedCase;
use outlast_engine::{PoliciesSpec, Scenario, ScenarioLayer, load_scenario};
use outlast_media::Geometry;
use outlast_units::{Bytes, Nanos};
use outlast_workload::SyntheticSpec;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the scenarios.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
const FOLDERS: [&str; 10] =
    ["presets", "hrm", "lfs", "msapl", "reparo", "flexible", "diffraid", "demo", "examples", "zn540"];

/// Size of a shrunken drive: mapping units of all members together, blocks of a plane, the user's part of raw flash.
const UNITS: u64 = 60_000;
const BLOCKS: u32 = 64;
const USER: f64 = 0.62;
/// And of a run.
const REQUESTS: u64 = 20_000;

pub(super) fn all() -> Vec<NamedCase> {
    let mut cases = Vec::new();
    for folder in FOLDERS {
        match files(&Path::new(ROOT).join(folder)) {
            Ok(files) => cases.extend(files.iter().map(|file| case(folder, file))),
            Err(why) => cases.push(NamedCase::new(folder.to_owned(), Err(why))),
        }
    }
    cases
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn case(folder: &str, file: &Path) -> NamedCase {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let scenario =
        load_scenario(&[ScenarioLayer::File(file.to_owned())], &[]).map(|(scenario, _)| small(scenario));
    NamedCase::new(format!("{folder}/{stem}"), scenario.map_err(|error| error.to_string()))
}

/// The same with less flash and fewer requests: what happens at a time happens as much earlier as the run is shorter.
///
/// Replaces policies in code of users by those of the settings: nothing here loads such code.
fn small(mut scenario: Scenario) -> Scenario {
    scenario.policies = PoliciesSpec::default();
    let flash = less_flash(&mut scenario);
    scenario.run.capacity_scale /= flash;
    let time = less_work(&mut scenario);
    let shorter = |at: Nanos| Nanos((at.0 as f64 * time) as u64);
    scenario.faults.iter_mut().for_each(|fault| fault.at = shorter(fault.at));
    scenario.changes.iter_mut().for_each(|change| change.at = change.at.map(shorter));
    scenario.run.ageing.iter_mut().for_each(|leap| leap.at = shorter(leap.at));
    scenario.run.warm_up = shorter(scenario.run.warm_up);
    scenario.run.window = None;
    let precondition = &mut scenario.precondition;
    precondition.max_drive_writes = precondition.max_drive_writes.min(1.0);
    precondition.min_drive_writes = precondition.min_drive_writes.min(precondition.max_drive_writes);
    scenario
}

/// Takes blocks and pages away; returns the part of a die that is left.
fn less_flash(scenario: &mut Scenario) -> f64 {
    let members =
        scenario.array.as_ref().map_or(1, |array| array.devices().saturating_sub(light(scenario)).max(1));
    let device = &mut scenario.device;
    let before = device.geometry.clone();
    let geometry = &mut device.geometry;
    geometry.dies_per_chip = geometry.dies_per_chip.min(4);
    geometry.blocks_per_plane = geometry.blocks_per_plane.min(BLOCKS);
    let planes = geometry.planes() as u64;
    let pages = UNITS * device.ftl.mapping_unit.0
        / (planes * u64::from(geometry.blocks_per_plane) * geometry.page_size.0 * u64::from(members));
    geometry.pages_per_block = geometry.pages_per_block.min((pages as u32).max(4).next_multiple_of(4));
    geometry.pages_per_block = geometry.pages_per_block.next_multiple_of(device.ftl.one_shot.max(1).into());
    let die = |of: &Geometry| f64::from(of.blocks_per_plane) * f64::from(of.pages_per_block);
    let part = die(geometry) / die(&before);
    let raw = geometry.raw_capacity().0 as f64;
    // The mapping table takes some of so few superblocks, and its stream one.
    let mut most_user = if device.ftl.map_flush.is_some() { USER - 0.06 } else { USER };
    // Classes have open superblocks of their own in each core.
    let classes = device.protection.as_ref().map_or(0, |protection| protection.classes.len());
    if classes * usize::from(device.controller.flash_cores) > 4 {
        most_user -= 0.3;
    }
    let user = device.ftl.user_capacity(&before).0 as f64;
    let share = (user / before.raw_capacity().0 as f64).min(most_user);
    let unit = device.ftl.mapping_unit.0;
    let rounded = |bytes: f64| Bytes(bytes as u64 / unit * unit);
    let capacity = rounded(raw * share);
    let within = |bytes: Bytes| rounded(bytes.0 as f64 / user * capacity.0 as f64);
    scenario.namespace.iter_mut().for_each(|own| own.capacity = within(own.capacity));
    let classes = device.protection.iter_mut().flat_map(|protection| &mut protection.classes);
    for range in classes.flat_map(|class| &mut class.ranges) {
        (range.from, range.to) = (within(range.from), within(range.to));
    }
    device.ftl.over_provisioning = None;
    // So few superblocks have less to hold back.
    device.ftl.gc.start_free = device.ftl.gc.start_free.map(|free| free.min(2));
    device.ftl.capacity = Some(capacity);
    if let Some(zones) = &mut device.zones {
        // They say the capacity: as many as leave each active one a superblock, and some to move data to.
        device.ftl.capacity = None;
        let most = geometry.blocks_per_plane.saturating_sub(zones.max_active + 8) / zones.superblocks;
        zones.count = zones.count.min(most.max(1));
    }
    part
}

/// Members without flash of their own.
fn light(scenario: &Scenario) -> u16 {
    scenario
        .array
        .as_ref()
        .and_then(|array| array.light.as_ref())
        .map_or(0, |light| light.devices.len() as u16)
}

/// Takes requests away; returns the part of the time that is left.
fn less_work(scenario: &mut Scenario) -> f64 {
    let workload = &mut scenario.workload;
    if let Some(fio) = &mut workload.fio {
        fio.job = fio.job.take().map(|job| job.replace("runtime=3600s", "runtime=1s"));
        return 1.0 / 3600.0;
    }
    if let Some(trace) = &mut workload.trace {
        trace.repeat = trace.repeat.min(100);
        return 1.0;
    }
    if let Some(zoned) = &mut workload.zoned {
        zoned.requests = zoned.requests.map(|requests| requests.min(REQUESTS));
    }
    let Some(own) = &mut workload.synthetic else { return 1.0 };
    let rate = own.rate_iops.unwrap_or(f64::INFINITY);
    let mut part = 1.0f64;
    let parts = 1 + own.phases.len() as u64;
    for phase in std::iter::once(&*own).chain(&own.phases) {
        let asked = phase.duration.map(|time| phase.rate_iops.unwrap_or(rate) * time.as_secs_f64());
        let requests = [asked, phase.requests.map(|count| count as f64)].into_iter().flatten();
        let requests = requests.filter(|count| count.is_finite()).fold(f64::INFINITY, f64::min);
        part = part.min((REQUESTS / parts) as f64 / requests);
    }
    let shorter = |phase: &mut SyntheticSpec| {
        phase.duration = phase.duration.map(|time| Nanos((time.0 as f64 * part) as u64));
        phase.requests = phase.requests.map(|count| (count as f64 * part).ceil() as u64);
    };
    own.phases.iter_mut().for_each(shorter);
    shorter(own);
    part
}
