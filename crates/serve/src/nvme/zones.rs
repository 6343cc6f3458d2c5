//! Zones in the terms of the controller.

use outlast_device::{ZoneAction, ZoneError, ZoneState};
use outlast_nvme::{ZoneListRequest, ZoneRefusal, ZoneReport, ZoneReports};
use outlast_units::SECTOR_BYTES;

use crate::device::write_offset;
use crate::protocol::{ZoneList, ZoneListQuery};

fn state(state: ZoneState) -> outlast_nvme::WireZoneState {
    use outlast_nvme::WireZoneState as Wire;
    match state {
        ZoneState::Empty => Wire::Empty,
        ZoneState::ImplicitlyOpen => Wire::ImplicitlyOpen,
        ZoneState::ExplicitlyOpen => Wire::ExplicitlyOpen,
        ZoneState::Closed => Wire::Closed,
        ZoneState::Full => Wire::Full,
        ZoneState::ReadOnly => Wire::ReadOnly,
        ZoneState::Offline => Wire::Offline,
    }
}

/// An action of the controller as one of the drive.
pub(super) fn action(action: outlast_nvme::ZoneSendAction) -> ZoneAction {
    use outlast_nvme::ZoneSendAction as Wire;
    match action {
        Wire::Close => ZoneAction::Close,
        Wire::Finish => ZoneAction::Finish,
        Wire::Open => ZoneAction::Open,
        Wire::Reset => ZoneAction::Reset,
        Wire::Offline => ZoneAction::Offline,
        Wire::OpenRandom => ZoneAction::OpenRandom,
        Wire::Commit => ZoneAction::Commit,
    }
}

/// A question of the controller.
pub(super) fn query(request: ZoneListRequest) -> ZoneListQuery {
    ZoneListQuery { states: ZoneState::ALL.map(|own| request.states.has(state(own))), most: request.most }
}

/// The drive's list in the controller's terms.
pub(super) fn reports(list: &ZoneList) -> ZoneReports {
    let report = |zone: &outlast_device::ZoneDescriptor| ZoneReport {
        offset: zone.start.0 * SECTOR_BYTES,
        state: state(zone.state),
        write_pointer: write_offset(zone),
        has_area: zone.has_area,
    };
    ZoneReports { count: list.count, zones: list.zones.iter().map(report).collect() }
}

/// Why a zone does not allow a command.
pub(super) fn refusal(error: ZoneError) -> ZoneRefusal {
    match error {
        ZoneError::InvalidField => ZoneRefusal::InvalidField,
        ZoneError::BoundaryError => ZoneRefusal::Boundary,
        ZoneError::IsFull => ZoneRefusal::Full,
        ZoneError::IsReadOnly => ZoneRefusal::ReadOnly,
        ZoneError::IsOffline => ZoneRefusal::Offline,
        ZoneError::InvalidWrite => ZoneRefusal::InvalidWrite,
        ZoneError::TooManyActive => ZoneRefusal::TooManyActive,
        ZoneError::TooManyOpen => ZoneRefusal::TooManyOpen,
        ZoneError::InvalidTransition => ZoneRefusal::InvalidTransition,
        ZoneError::InvalidOperation => ZoneRefusal::InvalidOperation,
        ZoneError::NoRandomWriteArea => ZoneRefusal::NoRandomWriteArea,
    }
}
