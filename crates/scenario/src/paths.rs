//! Paths in scenario files.

use super::policies::PolicyDecision;
use super::tree::{SettingNode, SettingValue};
use outlast_settings::drive::is_chip_file;
use std::path::{Component, Path, PathBuf};

/// True if a name in an `extends` is a path, and not that of a preset.
pub(super) fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Makes the relative paths of trace and job files, snapshots, chip files and policies count from `folder`.
pub(super) fn resolve_paths(tree: &mut SettingNode, folder: &Path) {
    if folder.as_os_str().is_empty() {
        return;
    }
    let files: [&[&str]; 4] = [
        &["workload", "trace", "file"],
        &["workload", "fio", "file"],
        &["precondition", "from"],
        &["device", "reliability", "chip"],
    ];
    let policies = PolicyDecision::ALL.iter().map(|decision| vec!["policies", decision.name()]);
    let settings: Vec<Vec<&str>> = files.iter().map(|setting| setting.to_vec()).chain(policies).collect();
    for setting in &settings {
        let file = setting.iter().try_fold(&mut *tree, |node, key| match &mut node.value {
            SettingValue::Table(table) => table.get_mut(*key),
            _ => None,
        });
        if let Some(SettingNode { value: SettingValue::Text(text), .. }) = file
// A chip may also be named as one of the catalogue, and a policy as a built-in one: those are no paths.
            && (setting[0] != "device" || is_chip_file(text))
            && (setting[0] != "policies" || text.contains(':'))
        {
            *text = folder.join(&*text).display().to_string();
        }
    }
}

/// The path without `.` and, behind a name, without `..`: to recognise a file, not to open it, since a
/// `..` after a symbolic link leads elsewhere.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(tidy.components().next_back(), Some(Component::Normal(_))) => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    tidy
}
