//! What changes a machine in service.

use outlast_device::{Command, Tag};
use outlast_media::{FaultSpec, Tear};
use outlast_units::Lba;
use serde::Deserialize;

/// All that changes a machine in service, except for the time, which comes with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<'a> {
    /// A command of a host, with the bytes of a write. It comes through queue 0: clients share one.
    Command {
        /// The caller's name for it, free again when it has completed.
        tag: Tag,
        /// The command.
        command: Command,
        /// The bytes of a write, a sector for each of its sectors; else empty.
        data: &'a [u8],
    },
    /// A member of an array is read as it is, beside all that the array asks of it.
    ReadMember {
        /// As of a command; the two share their names.
        tag: Tag,
        /// The member, counted from 0; there are at most 64.
        member: u8,
        /// The first sector of the member.
        lba: Lba,
        /// Sectors.
        sectors: u32,
    },
    /// Something breaks, as an entry of `[[faults]]` has it; its own time does not count.
    Fault(&'a FaultSpec),
    /// The power goes or comes.
    Power(Power),
    /// The next loss of power leaves this of what is being programmed then.
    Tear(Tear),
    /// A member of an array is exchanged for a new drive.
    Replace {
        /// The member, counted from 0.
        member: u16,
        /// Even where data is lost with the old one.
        force: bool,
    },
    /// An array reads all of itself and makes redundancy fit.
    Repair,
    /// A remark: changes nothing, and is in the log.
    Mark(&'a str),
    /// Time has come so far.
    Advance,
}

/// The power of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// It fails and is back at once. With `force` an array starts although a missing member's data may come back wrong.
    Cut {
        /// See [`Power::On`].
        force: bool,
    },
    /// It fails.
    Off,
    /// It is back, or an array that did not start is to start now.
    On {
        /// An array starts although parity is in doubt and a member missing.
        force: bool,
    },
}

/// Reads an entry of `[[faults]]` that has no time: it strikes when it is applied.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn fault_of(entry: &serde_json::Value) -> Result<FaultSpec, String> {
    let Some(fields) = entry.as_object() else {
        return Err(format!("fault = {entry}: must be an object, such as {{\"kind\": \"die\", \"die\": 3}}"));
    };
    let mut fields = fields.clone();
    if let Some(at) = fields.insert("at".to_owned(), "0ns".into()) {
        return Err(format!("fault.at = {at}: must be absent, as the fault strikes now"));
    }
    FaultSpec::deserialize(serde_json::Value::Object(fields)).map_err(|error| format!("fault: {error}"))
}
