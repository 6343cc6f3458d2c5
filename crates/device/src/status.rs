//! What a device tells about data that it has lost and can take back: the interface of repair in place.

use outlast_units::{Lba, Nanos};

/// A run of sectors that a device asks its host to write again: the answer to `Op::LbaStatus` is a list of these. The commands of
/// the standards are `NVMe`'s Get LBA Status ("potentially unrecoverable LBAs", `NVMe` Base Specification 2.0, section 5.16.1.15)
/// and SCSI's GET LBA STATUS with the extensions of Rebuild Assist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct LbaRun {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: u32,
    /// Whether the data can still be read: it is only in the wrong place (a "fake failure" of Reparo, section 5.2.3).
    pub readable: bool,
}

/// Something that a device tells its host unasked: SCSI's check condition, `NVMe`'s asynchronous event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct Notice {
    /// When the device told it.
    pub at: Nanos,
    /// What.
    pub kind: NoticeKind,
}

/// See [`Notice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum NoticeKind {
    /// A die has failed. The device goes on without it; `Op::LbaStatus` tells which data is to be written again.
    DieFailed {
        /// The die, numbered channel by channel.
        die: u16,
    },
    /// A die is expected to fail, and the device moves its data away by itself.
    DieFailing {
        /// The die.
        die: u16,
    },
    /// The failed die can be made good, but after it no further one: there is no spare space left for it.
    LastRepair {
        /// The die.
        die: u16,
    },
    /// A die has failed and no spare space can take its data: the device is to be replaced. What it still has can be read.
    BeyondRepair {
        /// The die.
        die: u16,
    },
}
