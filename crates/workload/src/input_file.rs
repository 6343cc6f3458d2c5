//! Files that a workload is read from.

/// A file whose content a workload depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The setting that names the file, such as `workload.trace.file`.
    pub setting: &'static str,
    /// The path, as the setting gives it.
    pub path: String,
}
