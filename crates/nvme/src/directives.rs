//! Directives: that of flexible data placement is enabled with it, and can be neither enabled nor disabled by itself.

use crate::entry::SubmissionEntry;
use crate::facts::{LONGEST_TRANSFER, SubsystemFacts};
use crate::placement::DIRECTIVE;
use crate::status::NvmeStatus;

pub(crate) const SEND: u8 = 0x19;
pub(crate) const RECEIVE: u8 = 0x1A;

/// Return Parameters of the Identify directive: operation 1 of type 0.
const RETURN_PARAMETERS: u32 = 0x0001;
/// Length of the parameters.
const PARAMETER_BYTES: usize = 4096;

/// Bytes that Directive Receive asks for.
pub(crate) fn room(entry: &SubmissionEntry) -> Result<u32, NvmeStatus> {
    let bytes = (u64::from(entry.dword(10)) + 1) * 4;
    if bytes > LONGEST_TRANSFER { Err(NvmeStatus::INVALID_FIELD) } else { Ok(bytes as u32) }
}

/// Directive Receive: which directives are supported, and which are enabled.
pub(crate) fn receive(entry: &SubmissionEntry, facts: &SubsystemFacts) -> Result<Vec<u8>, NvmeStatus> {
    facts.namespace(entry.namespace())?;
    if entry.dword(11) & 0xFFFF != RETURN_PARAMETERS {
        return Err(NvmeStatus::INVALID_FIELD);
    }
    let mut page = vec![0; PARAMETER_BYTES];
    let both = 1 | 1 << DIRECTIVE;
    // Supported, enabled, and enabled again after a reset.
    (page[0], page[32], page[64]) = (both, both, both);
    page.resize(room(entry)? as usize, 0);
    Ok(page)
}
