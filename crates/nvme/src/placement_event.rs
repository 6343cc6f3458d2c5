//! An event of flexible data placement, and its entry in the log.

use crate::bytes::put;

/// Types from here on are events of the controller, the others of the host.
const CONTROLLER_EVENTS: u8 = 0x80;
/// Length of the head of the log and of each event, in bytes.
pub(crate) const ENTRY_BYTES: usize = 64;

/// Flags of an event: which of its fields are valid.
const IDENTIFIER_VALID: u8 = 1 << 0;
const NAMESPACE_VALID: u8 = 1 << 1;
const LOCATION_VALID: u8 = 1 << 2;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacementEvent {
    pub(crate) kind: u8,
    /// Time at which it was noticed, in milliseconds since the device was put in service.
    pub(crate) noticed_ms: u64,
    /// Number of a namespace, and an identifier of it; absent where several namespaces may write through the handle.
    pub(crate) identifier: Option<(u32, u16)>,
    /// Reclaim group and handle of the reclaim unit; an identifier that the namespace does not have is of none.
    pub(crate) location: Option<(u16, u16)>,
}

impl PlacementEvent {
    /// True of an event of the host, false of one of the controller.
    pub(crate) fn is_host(&self) -> bool {
        self.kind < CONTROLLER_EVENTS
    }

    /// Its entry in the log.
    pub(crate) fn entry(&self) -> [u8; ENTRY_BYTES] {
        let mut entry = [0; ENTRY_BYTES];
        entry[0] = self.kind;
        put(&mut entry, 4, &self.noticed_ms.to_le_bytes()[..6]);
        if let Some((namespace, identifier)) = self.identifier {
            entry[1] |= IDENTIFIER_VALID | NAMESPACE_VALID;
            put(&mut entry, 2, &identifier.to_le_bytes());
            put(&mut entry, 12, &namespace.to_le_bytes());
        }
        if let Some((group, handle)) = self.location {
            entry[1] |= LOCATION_VALID;
            put(&mut entry, 32, &group.to_le_bytes());
            put(&mut entry, 34, &handle.to_le_bytes());
        }
        entry
    }
}
