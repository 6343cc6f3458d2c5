//! Inputs of a device in service.

use outlast_device::{Command, PlacementId, Tag};
use outlast_media::{FaultKind, FaultSpec, UnitTear};
use outlast_units::Lba;
use serde::Deserialize;

use crate::fields::{FieldKind, RequestField, check_fields, check_word};

/// Everything that changes a device in service. Its time comes separately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceInput<'a> {
    /// A command of a host. All clients share submission queue 0.
    Command {
        /// Name of the command, chosen by the caller, free again once it has completed.
        tag: Tag,
        /// The command.
        command: Command,
        /// Data of a write, 512 bytes for each of its sectors; else empty.
        data: &'a [u8],
    },
    /// A read of one member of an array, beside the array's own commands.
    ReadMember {
        /// Name of the read; shares its range with the tags of commands.
        tag: Tag,
        /// Column of the member, 0 to 63.
        member: u8,
        /// First sector, counted on the member.
        lba: Lba,
        /// Number of sectors.
        sectors: u32,
    },
    /// A failure, as in an entry of `[[faults]]`; the time of the entry is ignored.
    Fault(&'a FaultSpec),
    /// A loss or return of power.
    Power(PowerChange),
    /// Damage that the next loss of power does to data being programmed.
    Tear(UnitTear),
    /// Replacement of a member of an array by a new drive.
    Replace {
        /// Column of the member, counted from 0.
        member: u16,
        /// Replaces the member even if data is lost with it.
        force: bool,
    },
    /// The reclaim unit handle of this placement identifier refers to an empty reclaim unit from now on.
    UpdateHandle(PlacementId),
    /// Scrub of an array: all of it is read, and redundancy corrected.
    Repair,
    /// A remark in the log. Changes nothing.
    Mark(&'a str),
    /// Passage of time, without another input.
    Advance,
}

/// A change of a device's power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerChange {
    /// Power fails and returns at once. With `force` an array starts although data of a missing member may be wrong.
    Cut {
        /// See [`PowerChange::On`].
        force: bool,
    },
    /// Power fails.
    Off,
    /// Power returns, or an array that did not start is to start now.
    On {
        /// Starts an array although parity is in doubt and a member is missing.
        force: bool,
    },
}

/// Fields of a fault, with what their types can hold; the device has limits of its own.
const FAULT_FIELDS: [RequestField; 12] = [
    RequestField::new("kind", FieldKind::Text),
    RequestField::nullable("channel", FieldKind::Whole(65_535)),
    RequestField::nullable("chip", FieldKind::Whole(65_535)),
    RequestField::nullable("die", FieldKind::Whole(65_535)),
    RequestField::nullable("plane", FieldKind::Whole(65_535)),
    RequestField::nullable("block", FieldKind::Whole(4_294_967_295)),
    RequestField::nullable("page", FieldKind::Whole(4_294_967_295)),
    RequestField::nullable("reads", FieldKind::Whole(4_294_967_295)),
    RequestField::nullable("device", FieldKind::Whole(65_535)),
    RequestField::nullable("force", FieldKind::Flag),
    RequestField::nullable("shorn", FieldKind::Share),
    RequestField::nullable("torn", FieldKind::Size),
];

/// Reads a fault from JSON: an entry of `[[faults]]` without its time, since it strikes when it is applied.
///
/// # Errors
/// Reason for which the entry is refused, in one line.
pub fn parse_fault(entry: &serde_json::Value) -> Result<FaultSpec, String> {
    let Some(fields) = entry.as_object() else {
        return Err(format!("fault = {entry}: must be an object, such as {{\"kind\": \"die\", \"die\": 3}}"));
    };
    let mut fields = fields.clone();
    if let Some(at) = fields.insert("at".to_owned(), "0ns".into()) {
        return Err(format!("fault.at = {at}: must be absent, as the fault strikes now"));
    }
    check_fields(&fields, &FAULT_FIELDS, "fault.")?;
    check_word::<FaultKind>(&fields, "kind", "fault.")?;
    FaultSpec::deserialize(serde_json::Value::Object(fields)).map_err(|error| format!("fault: {error}"))
}
