//! Units of a connection, received and sent.

use outlast_nvme::{CommandEnd, IN_CAPSULE_BYTES, SUBMISSION_BYTES, SubmissionEntry};

use super::{LinkPhase, TcpConnection, WaitingCommand};
use crate::input::{MAX_DATA, UnitInput};
use crate::pdu::{self, COMMON_BYTES, CommonHeader, DIGEST_BYTES, Digests, FatalError, u16_at, u32_at};

/// A unit that ends the connection.
pub(super) struct WrongUnit {
    pub(super) error: FatalError,
    /// Bytes of its header that were looked at: the termination request has these, whatever else has come by then.
    pub(super) header: usize,
}

impl TcpConnection {
    /// Handles the next unit of the input. False if it is not there as a whole.
    pub(super) fn take_unit(&mut self) -> Result<bool, WrongUnit> {
        let Some(head) = self.input.common_header() else { return Ok(false) };
        let is_open = self.phase == LinkPhase::Open;
        let data = if head.kind == pdu::H2C_DATA { MAX_DATA } else { IN_CAPSULE_BYTES as usize };
        head.check(self.digests, is_open, data).map_err(|error| WrongUnit { error, header: COMMON_BYTES })?;
        if self.input.unit(head.length).is_none() {
            return Ok(false);
        }
        self.handle_unit(head).map_err(|error| WrongUnit { error, header: head.header })?;
        self.input.consume(head.length);
        Ok(true)
    }

    /// Handles a unit that is there as a whole.
    fn handle_unit(&mut self, head: CommonHeader) -> Result<(), FatalError> {
        let unit = self.input.bytes();
        let has_digests = matches!(head.kind, pdu::CAPSULE_CMD | pdu::H2C_DATA);
        if has_digests && self.digests.header {
            let digest = u32_at(unit, head.header);
            if crc32c::crc32c(&unit[..head.header]) != digest {
                return Err(FatalError::HeaderDigest(digest));
            }
        }
        match head.kind {
            pdu::IC_REQ => self.greet()?,
            pdu::CAPSULE_CMD => self.take_capsule(head)?,
            pdu::H2C_DATA => self.take_data(head)?,
            // The host has found an error, and closes the connection.
            _ => self.end(),
        }
        Ok(())
    }

    /// Answers `ICReq`.
    fn greet(&mut self) -> Result<(), FatalError> {
        let unit = self.input.bytes();
        let (version, alignment, digests) = (u16_at(unit, 8), unit[10], unit[11]);
        if version != 0 {
            return Err(FatalError::Unsupported(8));
        }
        // Alignment of data in units for the host, in units of 4 bytes less one.
        if alignment > 31 {
            return Err(FatalError::Field(10));
        }
        self.alignment = (usize::from(alignment) + 1) * 4;
        let mut fields = vec![0, 0, 0, digests & 3];
        fields.extend((MAX_DATA as u32).to_le_bytes());
        self.output.push(&pdu::header(pdu::IC_RESP, 0, pdu::IC_BYTES, &fields));
        self.digests = Digests { header: digests & 1 != 0, data: digests & 2 != 0 };
        self.phase = LinkPhase::Open;
        Ok(())
    }

    fn take_capsule(&mut self, head: CommonHeader) -> Result<(), FatalError> {
        let under_way = self.waiting.len() + self.transfers.iter().flatten().count() + self.queue.in_flight();
        if under_way >= usize::from(self.queue.entries()) {
            return Err(FatalError::Sequence);
        }
        let mut entry = [0; SUBMISSION_BYTES];
        entry.copy_from_slice(&self.input.bytes()[8..8 + SUBMISSION_BYTES]);
        let (data, is_whole) = data_of(&self.input, self.digests, head);
        let data = data.to_vec();
        self.held += data.len() as u64;
        let entry = SubmissionEntry::new(entry);
        self.waiting.push_back(WaitingCommand { entry, data, is_damaged: !is_whole });
        Ok(())
    }

    fn take_data(&mut self, head: CommonHeader) -> Result<(), FatalError> {
        let unit = self.input.bytes();
        let (id, tag) = (u16_at(unit, 8), usize::from(u16_at(unit, 10)));
        let (offset, length) = (u32_at(unit, 12) as usize, u32_at(unit, 16) as usize);
        let is_last = head.flags & pdu::LAST != 0;
        let (data, is_whole) = data_of(&self.input, self.digests, head);
        let transfer = self.transfers.get_mut(tag).and_then(Option::as_mut).ok_or(FatalError::Field(10))?;
        if transfer.entry.command_id() != id {
            return Err(FatalError::Field(8));
        }
        // Data comes in order, without gaps, and its last unit is marked.
        let end = transfer.data.len() + data.len();
        if data.is_empty() || length != data.len() || offset != transfer.data.len() || end > transfer.length {
            return Err(FatalError::DataRange);
        }
        if is_last != (end == transfer.length) {
            return Err(FatalError::Field(1));
        }
        transfer.data.extend_from_slice(data);
        transfer.is_damaged |= !is_whole;
        if is_last && let Some(transfer) = self.transfers[tag].take() {
            self.held -= transfer.length as u64;
            if transfer.is_damaged {
                self.queue.refuse(&transfer.entry, outlast_nvme::NvmeStatus::TRANSIENT_TRANSPORT);
            } else {
                self.queue.begin(&transfer.entry, transfer.data);
            }
        }
        Ok(())
    }

    /// Sends completions, each after its data.
    pub(super) fn queue_ends(&mut self) {
        while let Some(CommandEnd { completion, data }) = self.queue.take_end() {
            if self.phase == LinkPhase::Ended {
                continue;
            }
            if !data.is_empty() {
                let mut fields = [0; pdu::FIELD_BYTES];
                fields[..2].copy_from_slice(&completion[12..14]);
                fields[8..12].copy_from_slice(&(data.len() as u32).to_le_bytes());
                self.send_unit(pdu::C2H_DATA, pdu::LAST, fields, Some(data));
            }
            self.send_unit(pdu::CAPSULE_RESP, 0, completion, None);
        }
    }

    /// Sends a unit of 24 bytes, with digests, and with data behind it.
    pub(super) fn send_unit(
        &mut self,
        kind: u8,
        flags: u8,
        fields: [u8; pdu::FIELD_BYTES],
        data: Option<Vec<u8>>,
    ) {
        let mut unit = [0; pdu::HEAD_BYTES];
        (unit[0], unit[1], unit[2]) = (kind, flags, pdu::SHORT_BYTES as u8);
        unit[pdu::COMMON_BYTES..pdu::SHORT_BYTES].copy_from_slice(&fields);
        let head = pdu::SHORT_BYTES + if self.digests.header { DIGEST_BYTES } else { 0 };
        let (mut offset, mut length) = (0, head);
        if let Some(data) = &data {
            offset = head.next_multiple_of(self.alignment);
            length = offset + data.len();
            if self.digests.data {
                unit[1] |= pdu::DATA_DIGEST;
                length += DIGEST_BYTES;
            }
        }
        if self.digests.header {
            unit[1] |= pdu::HEADER_DIGEST;
        }
        pdu::set_lengths(&mut unit, offset, length);
        if self.digests.header {
            let digest = crc32c::crc32c(&unit[..pdu::SHORT_BYTES]);
            unit[pdu::SHORT_BYTES..head].copy_from_slice(&digest.to_le_bytes());
        }
        let Some(data) = data else { return self.output.push(&unit[..head]) };
        let digest = self.digests.data.then(|| crc32c::crc32c(&data));
        self.output.push(&unit[..offset]);
        self.output.push_data(data);
        if let Some(digest) = digest {
            self.output.push(&digest.to_le_bytes());
        }
    }
}

/// Data of the unit at the front of the input, and whether its digest is right.
fn data_of(input: &UnitInput, digests: Digests, head: CommonHeader) -> (&[u8], bool) {
    let unit = &input.bytes()[..head.length];
    if head.length == head.end_of_header(digests.header) {
        return (&[], true);
    }
    if !digests.data {
        return (&unit[head.data..], true);
    }
    let end = head.length - DIGEST_BYTES;
    let data = &unit[head.data..end];
    (data, crc32c::crc32c(data) == u32_at(unit, end))
}
