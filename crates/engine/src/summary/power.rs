//! Section `power` of the result: mounts after losses of power.

use crate::drives::DriveSet;
use serde::Serialize;

/// Mounts of drives with `device.mount` after losses of power.
#[derive(Clone, Debug, Serialize)]
pub struct MountFigures {
    /// Mounts, over all drives.
    pub mounts: u64,
    /// Mean time from the return of power until a drive takes commands, in milliseconds.
    pub mount_ms: f64,
    /// Longest such time, in milliseconds.
    pub mount_ms_max: f64,
    /// Mean pages read by a mount.
    pub mount_pages: f64,
    /// Checkpoints of the mapping made over the drives' lives.
    pub checkpoints: u64,
    /// Pages programmed for these, which no other figure includes.
    pub checkpoint_pages: u64,
}

/// Mounts over all drives; `None` where no drive has mounted from flash.
pub(crate) fn power(drives: &DriveSet<'_>) -> Option<MountFigures> {
    let each = || drives.all().iter().map(|ssd| ssd.mounts());
    let mounts: u64 = each().map(|record| record.mounts).sum();
    if mounts == 0 {
        return None;
    }
    let ms = |time: outlast_units::Nanos| time.as_secs_f64() * 1e3;
    let checkpoints = drives.all().iter().map(|ssd| ssd.checkpoints());
    let (made, pages) = checkpoints.fold((0, 0), |sum, drive| (sum.0 + drive.0, sum.1 + drive.1));
    Some(MountFigures {
        mounts,
        mount_ms: each().map(|record| ms(record.time)).sum::<f64>() / mounts as f64,
        mount_ms_max: each().map(|record| ms(record.longest)).fold(0.0, f64::max),
        mount_pages: each().map(|record| record.pages).sum::<u64>() as f64 / mounts as f64,
        checkpoints: made,
        checkpoint_pages: pages,
    })
}
