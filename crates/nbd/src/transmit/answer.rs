//! Answers of the caller to requests in flight.

use outlast_units::Bytes;

use super::check::Kind;
use super::{InFlight, Transmission};
use crate::context::Extent;
use crate::error::{ErrorCode, Failure};
use crate::export::Server;
use crate::outbox::Outbox;
use crate::reply::Mode;
use crate::request::{ContextExtents, Part, RequestId};

/// Lengths of compact extents are below 2^32 and stay multiples of every block size.
const COMPACT_MAX: u64 = (1 << 32) - (1 << 16);

impl Transmission {
    /// The request is done; it returns nothing.
    pub(crate) fn done(&mut self, id: RequestId, out: &mut Outbox) {
        let entry = self.take(id);
        let returns_nothing = !matches!(entry.kind, Kind::Read { .. } | Kind::Status { .. });
        assert!(returns_nothing, "a read is answered with data, a status with extents: {:?}", entry.kind);
        self.reply(out, entry.cookie, entry.offset).success();
    }

    /// The request has failed.
    pub(crate) fn fail(&mut self, id: RequestId, failure: Failure<'_>, out: &mut Outbox) {
        let entry = self.take(id);
        let may_be_unsupported = matches!(entry.kind, Kind::WriteZeroes { fast: true, .. });
        assert!(failure.code != ErrorCode::NotSup || may_be_unsupported, "ENOTSUP is for fast zeroes alone");
        if let Some(at) = failure.at {
            let is_within = at >= entry.offset && at - entry.offset < entry.length;
            assert!(is_within, "an error is within its request: {at} of {entry:?}");
        }
        self.reply(out, entry.cookie, entry.offset).failure(failure);
    }

    /// All of a read.
    pub(crate) fn read(&mut self, id: RequestId, data: Vec<u8>, out: &mut Outbox) {
        let entry = self.take_read(id, data.len() as u64);
        self.reply(out, entry.cookie, entry.offset).data_head(entry.offset, data.len() as u32, true);
        out.give(data);
    }

    /// A read in parts.
    pub(crate) fn read_parts(&mut self, id: RequestId, parts: &[Part<'_>], out: &mut Outbox) {
        let entry = self.take_read(id, parts.iter().map(Part::length).sum());
        let is_whole = matches!(entry.kind, Kind::Read { is_whole: true });
        if self.agreed.mode == Mode::Simple {
            let failed = parts.iter().find_map(|part| match *part {
                Part::Failed(length, code) if length > 0 => Some(code),
                _ => None,
            });
            match failed {
                Some(code) => self.reply(out, entry.cookie, entry.offset).failure(code.into()),
                None => self.one_chunk(&entry, parts, true, out),
            }
        } else if is_whole && parts.iter().all(|part| matches!(part, Part::Zero(_))) {
            self.reply(out, entry.cookie, entry.offset).hole(entry.offset, entry.length as u32, true);
        } else if is_whole {
            let has_failed = |part: &Part<'_>| matches!(part, Part::Failed(1.., _));
            let good = parts.iter().position(has_failed).unwrap_or(parts.len());
            let (good, rest) = parts.split_at(good);
            let length: u64 = good.iter().map(Part::length).sum();
            if length > 0 {
                self.one_chunk(&entry, good, rest.is_empty(), out);
            }
            // "Do not fragment" leaves no chunk for what can be read behind an error.
            self.chunks(&entry, entry.offset + length, rest, |part| matches!(part, Part::Failed(..)), out);
        } else {
            self.chunks(&entry, entry.offset, parts, |_| true, out);
        }
    }

    fn take_read(&mut self, id: RequestId, length: u64) -> InFlight {
        let entry = self.take(id);
        assert!(matches!(entry.kind, Kind::Read { .. }), "data answers a read: {:?}", entry.kind);
        assert_eq!(length, entry.length, "a read is answered for every byte");
        entry
    }

    /// Data and zeroes as one run of bytes.
    fn one_chunk(&self, entry: &InFlight, parts: &[Part<'_>], is_last: bool, out: &mut Outbox) {
        let length: u64 = parts.iter().map(Part::length).sum();
        self.reply(out, entry.cookie, entry.offset).data_head(entry.offset, length as u32, is_last);
        for part in parts {
            match *part {
                Part::Data(data) => out.put(data),
                Part::Zero(length) => out.put_zeroes(length as usize),
                Part::Failed(length, _) => assert_eq!(length, 0, "what failed is in no chunk of data"),
            }
        }
    }

    /// Every part that `is_sent` as a chunk, the first of `parts` beginning at `offset`.
    fn chunks(
        &self,
        entry: &InFlight,
        mut offset: u64,
        parts: &[Part<'_>],
        is_sent: impl Fn(&Part<'_>) -> bool,
        out: &mut Outbox,
    ) {
        let is_chunk = |part: &Part<'_>| part.length() > 0 && is_sent(part);
        let last = parts.iter().rposition(is_chunk);
        for (index, part) in parts.iter().enumerate() {
            let is_last = Some(index) == last;
            let mut reply = self.reply(out, entry.cookie, entry.offset);
            match *part {
                _ if !is_chunk(part) => {}
                Part::Data(data) => {
                    reply.data_head(offset, data.len() as u32, is_last);
                    out.put(data);
                }
                Part::Zero(length) => reply.hole(offset, length, is_last),
                Part::Failed(_, code) => {
                    reply.error(Failure { code, at: Some(offset), text: "unreadable from here" }, is_last);
                }
            }
            offset += part.length();
        }
    }

    /// What the contexts say.
    pub(crate) fn extents(
        &mut self,
        server: &Server,
        id: RequestId,
        answers: &[ContextExtents<'_>],
        out: &mut Outbox,
    ) {
        let entry = self.take(id);
        let Kind::Status { contexts, one } = entry.kind else {
            panic!("extents answer a status: {:?}", entry.kind)
        };
        let size = server.exports()[self.agreed.export].size.0;
        let limit = if one { 1 } else { server.limits().extents as usize };
        for (index, context) in contexts.iter().enumerate() {
            let answer = answers.iter().find(|(of, _)| *of == context);
            let (_, extents) = answer.expect("every context that was asked for is answered");
            let extents = self.cut(&entry, size, extents, limit);
            let is_last = index + 1 == contexts.count() as usize;
            self.reply(out, entry.cookie, entry.offset).extents(context, &extents, is_last);
        }
    }

    /// The extents as they may be sent: neighbours of one kind joined, none that begins behind the request, at most `limit`; a single
    /// one not beyond the request, compact ones below 4 GiB.
    fn cut(&self, entry: &InFlight, size: u64, extents: &[Extent], limit: usize) -> Vec<Extent> {
        let is_compact = self.agreed.mode != Mode::Extended;
        let mut cut: Vec<Extent> = Vec::new();
        let (mut said, mut told) = (0, 0);
        for extent in extents {
            assert!(extent.length.0 > 0, "an extent is not empty");
            told += extent.length.0;
            assert!(told <= size - entry.offset, "extents end with the export: {told} from {entry:?}");
            if said >= entry.length {
                break;
            }
            let is_full = cut.len() == limit;
            match cut.last_mut() {
                Some(last) if last.flags == extent.flags => last.length.0 += extent.length.0,
                _ if is_full => break,
                _ => cut.push(*extent),
            }
            said += extent.length.0;
            if let Some(last) = cut.last_mut()
                && is_compact
                && last.length.0 > COMPACT_MAX
            {
                last.length = Bytes(COMPACT_MAX);
                break;
            }
        }
        if let [only] = &mut cut[..]
            && limit == 1
        {
            only.length.0 = only.length.0.min(entry.length);
        }
        cut
    }
}
