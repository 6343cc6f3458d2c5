//! The device at an earlier time, and the point from which a log is replayed.

use super::files::{ImageFiles, io_error};
use super::{DeviceImage, ImageError, checkpoints, replay};
use crate::device::ServedDevice;
use crate::log::RecordPlace;
use crate::store::{ContentsIn, FileStore};
use outlast_engine::{OnProgress, Scenario};
use outlast_units::Nanos;
use std::path::Path;
use std::sync::Arc;

impl DeviceImage {
    /// The device as it was at time `at`, with the commands that were under way then. The image is not changed, and may be in use.
    ///
    /// # Errors
    /// Errors of [`DeviceImage::open`], except for damage after `at`; or a time outside the log: before the oldest checkpoint if older log is gone, or
    /// after the end.
    pub fn device_at(
        folder: &Path,
        at: Nanos,
        contents: ContentsIn,
        progress: OnProgress<'_>,
    ) -> Result<Option<ServedDevice>, ImageError> {
        let files = ImageFiles::open(folder)?;
        let (image, kept_scenario) = files.read()?;
        let acknowledged = files.clock(image)?;
        let store = contents.store(folder).map_err(|source| io_error(folder.to_owned(), source))?;
        let start = find_start(&files, &kept_scenario, image, at, store.as_ref(), progress)?;
        let Some((mut device, first)) = start else { return Ok(None) };
        replay::replay(&mut device, &files, first, acknowledged, false, Some(at))?;
        Ok(Some(device))
    }
}

/// Finds the device from which the log is replayed, and the place where that begins: the latest checkpoint not after `latest`, or the device that
/// `scenario` prepares if the log is complete. Unreadable checkpoints are skipped if there is another way to the same device.
pub(super) fn find_start(
    files: &ImageFiles,
    scenario: &Scenario,
    image: u64,
    latest: Nanos,
    store: Option<&Arc<FileStore>>,
    progress: OnProgress<'_>,
) -> Result<Option<(ServedDevice, RecordPlace)>, ImageError> {
    let place = |segment| RecordPlace { image, segment, offset: 0 };
    let mut refused = None;
    if let Some(folder) = files.open_checkpoints()? {
        for segment in checkpoints::list(&folder)?.0.into_iter().rev() {
            let error = match checkpoints::read(&folder, segment, scenario, store) {
                Ok(device) if device.now() <= latest => return Ok(Some((device, place(segment)))),
                Ok(device) => too_early(files, device.now(), latest),
                Err(error) => error,
            };
            // If there is no other way, the problem of the newest checkpoint is the one to report.
            refused.get_or_insert(error);
        }
    }
    match refused {
        Some(error) if files.segments()?.first() != Some(&1) => Err(error),
        _ => {
            Ok(ServedDevice::prepare(scenario, progress)?.map(|device| with_log_start(device, image, store)))
        }
    }
}

/// Pairs a newly prepared device with the start of its log. The device's bytes go to `store`, if there is one.
pub(super) fn with_log_start(
    mut device: ServedDevice,
    image: u64,
    store: Option<&Arc<FileStore>>,
) -> (ServedDevice, RecordPlace) {
    if let Some(store) = store {
        device.keep_contents_in(store.clone());
    }
    (device, RecordPlace { image, segment: 1, offset: 0 })
}

fn too_early(files: &ImageFiles, oldest: Nanos, at: Nanos) -> ImageError {
    let why = format!(
        "goes back to {oldest}, not to {at}: the log before its checkpoint is gone, which serving with keep-log prevents"
    );
    ImageError::Foreign { path: files.log(), why }
}
