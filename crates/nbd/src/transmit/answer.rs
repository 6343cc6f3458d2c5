//! Answers of the caller to requests.

use outlast_units::Bytes;

use super::check::RequestKind;
use super::{AdmittedRequest, Transmission};
use crate::context::StatusExtent;
use crate::error::{ErrorCode, ReplyFailure};
use crate::export::NbdServer;
use crate::output_queue::OutputQueue;
use crate::reply::MessageMode;
use crate::request::{ContextExtents, ReadPart, RequestId};

/// Longest compact extent: below 2^32, and a multiple of every possible block size.
const MAX_COMPACT_LENGTH: u64 = (1 << 32) - (1 << 16);

impl Transmission {
    /// Answers a request without data as done.
    pub(crate) fn done(&mut self, id: RequestId, output: &mut OutputQueue) {
        let entry = self.finish_request(id);
        let returns_nothing = !matches!(entry.kind, RequestKind::Read { .. } | RequestKind::Status { .. });
        assert!(returns_nothing, "a read is answered with data, a status with extents: {:?}", entry.kind);
        self.reply(output, entry.cookie, entry.offset).success();
    }

    /// Answers a request as failed.
    pub(crate) fn fail(&mut self, id: RequestId, failure: ReplyFailure<'_>, output: &mut OutputQueue) {
        let entry = self.finish_request(id);
        let may_be_unsupported = matches!(entry.kind, RequestKind::WriteZeroes { fast: true, .. });
        assert!(failure.code != ErrorCode::NotSup || may_be_unsupported, "ENOTSUP is for fast zeroes alone");
        if let Some(at) = failure.at {
            let is_within = at >= entry.offset && at - entry.offset < entry.length;
            assert!(is_within, "an error is within its request: {at} of {entry:?}");
        }
        self.reply(output, entry.cookie, entry.offset).failure(failure);
    }

    /// Answers a read with all of its data.
    pub(crate) fn read(&mut self, id: RequestId, data: Vec<u8>, output: &mut OutputQueue) {
        let entry = self.take_read(id, data.len() as u64);
        self.reply(output, entry.cookie, entry.offset).data_head(entry.offset, data.len() as u32, true);
        output.push_owned(data);
    }

    /// Answers a read in parts.
    pub(crate) fn read_parts(&mut self, id: RequestId, parts: &[ReadPart<'_>], output: &mut OutputQueue) {
        let entry = self.take_read(id, parts.iter().map(ReadPart::length).sum());
        let is_whole = matches!(entry.kind, RequestKind::Read { is_whole: true });
        if self.terms.mode == MessageMode::Simple {
            let failed = parts.iter().find_map(|part| match *part {
                ReadPart::Failed(length, code) if length > 0 => Some(code),
                _ => None,
            });
            match failed {
                Some(code) => self.reply(output, entry.cookie, entry.offset).failure(code.into()),
                None => self.put_as_one_chunk(&entry, parts, true, output),
            }
        } else if is_whole && parts.iter().all(|part| matches!(part, ReadPart::Zero(_))) {
            self.reply(output, entry.cookie, entry.offset).hole(entry.offset, entry.length as u32, true);
        } else if is_whole {
            let has_failed = |part: &ReadPart<'_>| matches!(part, ReadPart::Failed(1.., _));
            let readable = parts.iter().position(has_failed).unwrap_or(parts.len());
            let (readable, remaining) = parts.split_at(readable);
            let length: u64 = readable.iter().map(ReadPart::length).sum();
            if length > 0 {
                self.put_as_one_chunk(&entry, readable, remaining.is_empty(), output);
            }
            // With "do not fragment", data behind an error cannot be sent: there is one
            // chunk of data at most.
            self.put_chunks(
                &entry,
                entry.offset + length,
                remaining,
                |part| matches!(part, ReadPart::Failed(..)),
                output,
            );
        } else {
            self.put_chunks(&entry, entry.offset, parts, |_| true, output);
        }
    }

    fn take_read(&mut self, id: RequestId, length: u64) -> AdmittedRequest {
        let entry = self.finish_request(id);
        assert!(matches!(entry.kind, RequestKind::Read { .. }), "data answers a read: {:?}", entry.kind);
        assert_eq!(length, entry.length, "a read is answered for every byte");
        entry
    }

    /// Writes data and zeroes as one chunk.
    fn put_as_one_chunk(
        &self,
        entry: &AdmittedRequest,
        parts: &[ReadPart<'_>],
        is_last: bool,
        output: &mut OutputQueue,
    ) {
        let length: u64 = parts.iter().map(ReadPart::length).sum();
        self.reply(output, entry.cookie, entry.offset).data_head(entry.offset, length as u32, is_last);
        for part in parts {
            match *part {
                ReadPart::Data(data) => output.push(data),
                ReadPart::Zero(length) => output.push_zeroes(length as usize),
                ReadPart::Failed(length, _) => assert_eq!(length, 0, "what failed is in no chunk of data"),
            }
        }
    }

    /// Writes each part for which `is_sent` holds as a chunk. The first of `parts` begins at `offset`.
    fn put_chunks(
        &self,
        entry: &AdmittedRequest,
        mut offset: u64,
        parts: &[ReadPart<'_>],
        is_sent: impl Fn(&ReadPart<'_>) -> bool,
        output: &mut OutputQueue,
    ) {
        let is_chunk = |part: &ReadPart<'_>| part.length() > 0 && is_sent(part);
        // The last chunk that is sent ends the reply, so it must be known before.
        let last = parts.iter().rposition(is_chunk);
        for (index, part) in parts.iter().enumerate() {
            let is_last = Some(index) == last;
            let mut reply = self.reply(output, entry.cookie, entry.offset);
            match *part {
                _ if !is_chunk(part) => {}
                ReadPart::Data(data) => {
                    reply.data_head(offset, data.len() as u32, is_last);
                    output.push(data);
                }
                ReadPart::Zero(length) => reply.hole(offset, length, is_last),
                ReadPart::Failed(_, code) => {
                    reply.error(
                        ReplyFailure { code, at: Some(offset), text: "unreadable from here" },
                        is_last,
                    );
                }
            }
            offset += part.length();
        }
    }

    /// Answers a status request.
    pub(crate) fn extents(
        &mut self,
        server: &NbdServer,
        id: RequestId,
        answers: &[ContextExtents<'_>],
        output: &mut OutputQueue,
    ) {
        let entry = self.finish_request(id);
        let RequestKind::Status { contexts, one } = entry.kind else {
            panic!("extents answer a status: {:?}", entry.kind)
        };
        let size = server.exports()[self.terms.export].size.0;
        // With `NBD_CMD_FLAG_REQ_ONE` the client wants a single extent.
        let limit = if one { 1 } else { server.limits().extents as usize };
        for (index, context) in contexts.iter().enumerate() {
            let answer = answers.iter().find(|(answered, _)| *answered == context);
            let (_, extents) = answer.expect("every context that was asked for is answered");
            let extents = self.trim_extents(&entry, size, extents, limit);
            let is_last = index + 1 == contexts.count() as usize;
            self.reply(output, entry.cookie, entry.offset).extents(context, &extents, is_last);
        }
    }

    /// Extents as the protocol allows them: equal neighbours merged, none beginning after the request, at most `limit`. If `limit` is 1, the extent
    /// ends with the request; compact extents are shorter than 4 GiB.
    fn trim_extents(
        &self,
        entry: &AdmittedRequest,
        size: u64,
        extents: &[StatusExtent],
        limit: usize,
    ) -> Vec<StatusExtent> {
        let is_compact = self.terms.mode != MessageMode::Extended;
        let mut trimmed: Vec<StatusExtent> = Vec::new();
        // `reported` checks the caller, `covered` tells when the request is answered.
        let (mut covered, mut reported) = (0, 0);
        for extent in extents {
            assert!(extent.length.0 > 0, "an extent is not empty");
            reported += extent.length.0;
            assert!(
                reported <= size - entry.offset,
                "extents end with the export: {reported} from {entry:?}"
            );
            if covered >= entry.length {
                break;
            }
            let is_full = trimmed.len() == limit;
            match trimmed.last_mut() {
                Some(last) if last.flags == extent.flags => last.length.0 += extent.length.0,
                _ if is_full => break,
                _ => trimmed.push(*extent),
            }
            covered += extent.length.0;
            if let Some(last) = trimmed.last_mut()
                && is_compact
                && last.length.0 > MAX_COMPACT_LENGTH
            {
                last.length = Bytes(MAX_COMPACT_LENGTH);
                break;
            }
        }
        if let [only] = &mut trimmed[..]
            && limit == 1
        {
            only.length.0 = only.length.0.min(entry.length);
        }
        trimmed
    }
}
