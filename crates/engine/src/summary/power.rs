//! Losses of power, and the mounts after them.

use crate::drives::DriveSet;
use serde::Serialize;

/// What drives with `device.mount` did when power was back.
#[derive(Clone, Debug, Serialize)]
pub struct MountFigures {
    /// Mounts, over all drives.
    pub mounts: u64,
    /// From the return of power until a drive takes commands, in milliseconds: the mean.
    pub mount_ms: f64,
    /// The longest.
    pub mount_ms_max: f64,
    /// Pages that a mount reads: the mean.
    pub mount_pages: f64,
    /// Checkpoints of the mapping made over the drives' lives.
    pub checkpoints: u64,
    /// Pages that they take, which no other figure includes.
    pub checkpoint_pages: u64,
}

/// `None` where no drive has mounted from flash.
pub(crate) fn power(drives: &DriveSet<'_>) -> Option<MountFigures> {
    let each = || drives.all().iter().map(|ssd| ssd.mounts());
    let mounts: u64 = each().map(|own| own.mounts).sum();
    if mounts == 0 {
        return None;
    }
    let ms = |time: outlast_units::Nanos| time.as_secs_f64() * 1e3;
    let checkpoints = drives.all().iter().map(|ssd| ssd.checkpoints());
    let (made, pages) = checkpoints.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    Some(MountFigures {
        mounts,
        mount_ms: each().map(|own| ms(own.time)).sum::<f64>() / mounts as f64,
        mount_ms_max: each().map(|own| ms(own.longest)).fold(0.0, f64::max),
        mount_pages: each().map(|own| own.pages).sum::<u64>() as f64 / mounts as f64,
        checkpoints: made,
        checkpoint_pages: pages,
    })
}
