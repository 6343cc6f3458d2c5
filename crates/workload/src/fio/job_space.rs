//! Namespaces as files of jobs: what `filename=/dev/nvme0n2` or `/dev/ng0n2` means on a drive that has namespaces.

use crate::{NamespaceTarget, WorkloadTarget};
use outlast_device::{Command, Op, PlacementId};
use outlast_units::{Bytes, Lba, SECTOR_BYTES};

/// A job's namespace: where it lies on the device, and its placement identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobSpace {
    /// First sector on the device.
    start: u64,
    /// Bytes of a logical block.
    block: Bytes,
    identifiers: Vec<u16>,
}

impl JobSpace {
    pub(super) fn new(target: &NamespaceTarget) -> Self {
        let identifiers = target.identifiers.clone();
        Self { start: target.start / SECTOR_BYTES, block: target.block, identifiers }
    }

    /// Makes a command to the namespace one to the device.
    pub(super) fn place(&self, command: &mut Command) {
        command.lba.0 += self.start;
        if command.op == Op::Write {
            command.placement = self.placement(command.placement);
        }
    }

    /// The sector of the namespace that is sector `lba` of the device.
    pub(super) fn unplace(&self, lba: Lba) -> Lba {
        debug_assert!(lba.0 >= self.start, "a job's command is in its namespace");
        Lba(lba.0 - self.start)
    }

    /// The first of `bytes` that is not of whole blocks, and the bytes of a block.
    pub(super) fn partial(&self, bytes: impl IntoIterator<Item = u64>) -> Option<(u64, Bytes)> {
        let partial = bytes.into_iter().find(|bytes| !bytes.is_multiple_of(self.block.0))?;
        Some((partial, self.block))
    }

    /// The device's identifier for a write of the namespace with identifier `own`, as a controller finds it: the first where there is none, or none such.
    fn placement(&self, own: PlacementId) -> PlacementId {
        let found = self.identifiers.get(usize::from(own.0)).or(self.identifiers.first());
        found.map_or(own, |&identifier| PlacementId(identifier))
    }
}

/// The namespace of `target` that `filename` names; `None` where it is another file, or the device has no namespaces.
///
/// # Errors
/// The number of one that the device does not have.
pub(super) fn named<'a>(
    filename: &str,
    target: &'a WorkloadTarget,
) -> Result<Option<&'a NamespaceTarget>, u32> {
    let Some(number) = number_of(filename).filter(|_| !target.namespaces.is_empty()) else { return Ok(None) };
    let place = (number as usize).checked_sub(1);
    place.and_then(|place| target.namespaces.get(place)).map(Some).ok_or(number)
}

/// Number of the namespace that a device file of Linux is: 2 of `/dev/nvme0n2` and of `/dev/ng0n2`.
fn number_of(filename: &str) -> Option<u32> {
    let name = filename.strip_prefix("/dev/")?;
    let (controller, number) = name.strip_prefix("nvme").or(name.strip_prefix("ng"))?.split_once('n')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(controller) && is_number(number)).then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_files_of_linux_are_namespaces_by_their_number() {
        let number = |name| number_of(name);
        assert_eq!([number("/dev/nvme0n2"), number("/dev/ng12n34")], [Some(2), Some(34)]);
        for other in [
            "/dev/nvme0",
            "/dev/nvme0n1p2",
            "/dev/nvme0c0n1",
            "nvme0n1",
            "/dev/sda",
            "/dev/ngn1",
            "/dev/nvme0n99999999999",
        ] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn identifiers_of_a_namespace_are_those_behind_its_own() {
        let target = NamespaceTarget {
            start: 8,
            capacity: Bytes(8),
            block: Bytes(512),
            read_only: false,
            identifiers: vec![2, 0],
        };
        let space = JobSpace::new(&NamespaceTarget { start: 4096, ..target.clone() });
        let mut write = Command::new(Op::Write, Lba(3), 1);
        space.place(&mut write);
        assert_eq!((write.lba, write.placement), (Lba(11), PlacementId(2)));
        assert_eq!((space.partial([512, 1024]), space.partial([512, 100])), (None, Some((100, Bytes(512)))));
        assert_eq!([0, 1, 2, u16::MAX].map(|own| space.placement(PlacementId(own)).0), [2, 0, 2, 2]);
        let plain = JobSpace::new(&NamespaceTarget { identifiers: Vec::new(), ..target });
        assert_eq!(plain.placement(PlacementId(3)), PlacementId(3), "without placement nothing is changed");
    }
}
