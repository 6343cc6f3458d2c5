//! A protocol of lines of text: small enough to be read at once, and with all that a protocol has to have.
//!
//! A client sends `OPEN name`, or `TLS` before it, and then requests with a number of its own choice: `R 1 lba sectors`, `W` (or `W!` with forced
//! unit access) followed by the bytes, `F 2`, `T`, `Z` and `S` with a range. `BYE` ends the session. It gets `OPEN bytes`, `TLS`, `DATA 1 bytes`
//! followed by them, `DONE 2`, `MAP 3 sectors:state …`, `FAIL 4 kind place`, or `REFUSED 5`.

use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;
use std::net::SocketAddr;
use std::sync::Arc;

use outlast_device::Extent;
use outlast_units::{Bytes, SECTOR_BYTES};

use crate::net::ListenAddress;
use crate::protocol::{
    BlockOp, BlockReply, BlockRequest, ExportOffer, OfferError, RequestTag, SessionEnd, SessionEvent,
    WireProtocol, WireSession,
};

/// The longest line.
const LINE: usize = 256;

#[derive(Debug, Default)]
pub(super) struct LineProtocol {
    offer: Arc<ExportOffer>,
}

impl WireProtocol for LineProtocol {
    fn offer(&mut self, offer: &ExportOffer) -> Result<(), OfferError> {
        if let Some(export) = offer.exports().iter().find(|export| export.name.contains(' ')) {
            return Err(OfferError::Protocol(format!("export {:?} is no word", export.name)));
        }
        self.offer = Arc::new(offer.clone());
        Ok(())
    }

    fn begin(&mut self, _at: Option<SocketAddr>) -> Box<dyn WireSession> {
        Box::new(LineSession {
            offer: self.offer.clone(),
            allowed: u64::MAX,
            wanted: LINE,
            ..LineSession::default()
        })
    }

    fn uri(&self, address: &ListenAddress, export: &str) -> String {
        let ListenAddress::Unix(path) = address else { panic!("tests listen at Unix sockets") };
        format!("lines:{}/{export}", path.display())
    }
}

#[derive(Debug, Default)]
struct LineSession {
    offer: Arc<ExportOffer>,
    opened: Option<usize>,
    space: Vec<u8>,
    /// Bytes that have come, the first `lent` of which the last request was lent.
    input: Vec<u8>,
    lent: usize,
    /// Bytes of `input` that are needed for the next step.
    wanted: usize,
    output: VecDeque<Vec<u8>>,
    /// Bytes held for each request in flight.
    costs: BTreeMap<u32, u64>,
    allowed: u64,
    is_short: bool,
    is_securing: bool,
    is_shutting_down: bool,
    end: Option<SessionEnd>,
}

/// A request without its bytes.
struct LineHead {
    tag: u32,
    verb: String,
    offset: u64,
    length: u64,
}

impl LineHead {
    fn request<'a>(&self, data: &'a [u8]) -> BlockRequest<'a> {
        let op = match self.verb.as_str() {
            "R" => BlockOp::Read { limited_retry: false },
            "F" => BlockOp::Flush,
            "T" => BlockOp::Trim { fua: false },
            "Z" => BlockOp::WriteZeroes { fua: false, may_punch: true, fast: false },
            "S" => BlockOp::Status,
            _ => BlockOp::Write { data, fua: self.verb == "W!", placement: outlast_device::PlacementId(0) },
        };
        BlockRequest { tag: RequestTag(self.tag), offset: self.offset, length: Bytes(self.length), op }
    }
}

impl LineSession {
    fn say(&mut self, line: String) {
        self.output.push_back((line + "\n").into_bytes());
    }

    /// The words of the next line, and its length with its end.
    fn line(&mut self) -> Option<(Vec<String>, usize)> {
        let Some(end) = self.input.iter().take(LINE).position(|&byte| byte == b'\n') else {
            if self.input.len() >= LINE {
                self.end = Some(SessionEnd::Broken);
            }
            return None;
        };
        let line = String::from_utf8_lossy(&self.input[..end]);
        Some((line.split(' ').map(str::to_owned).collect(), end + 1))
    }

    fn head(words: &[String]) -> Option<LineHead> {
        let number = |at: usize| words.get(at).map_or(Some(0), |word| word.parse::<u64>().ok());
        let (tag, lba, sectors) = (u32::try_from(number(1)?).ok()?, number(2)?, number(3)?);
        let is_known = ["R", "W", "W!", "F", "T", "Z", "S"].contains(&words[0].as_str());
        let bytes = |sectors: u64| sectors.checked_mul(SECTOR_BYTES);
        is_known.then_some(LineHead {
            tag,
            verb: words[0].clone(),
            offset: bytes(lba)?,
            length: bytes(sectors)?,
        })
    }

    /// Handles a line that is no request.
    fn converse(&mut self, words: &[String]) -> Option<SessionEvent<'static>> {
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["TLS"] => {
                self.is_securing = true;
                self.say("TLS".to_owned());
                return Some(SessionEvent::Secure);
            }
            ["OPEN", name] if self.opened.is_none() => {
                let named = self.offer.exports().iter().position(|export| export.name == name);
                if let Some(number) = named {
                    self.opened = Some(number);
                    self.say(format!("OPEN {}", self.offer.exports()[number].size.0));
                    return Some(SessionEvent::Opened);
                }
                self.end = Some(SessionEnd::Broken);
            }
            ["BYE"] => self.end = Some(SessionEnd::Parted),
            _ => self.end = Some(SessionEnd::Broken),
        }
        None
    }
}

impl WireSession for LineSession {
    fn space(&mut self) -> &mut [u8] {
        let count = if self.wants_input() { self.wanted - self.input.len() } else { 0 };
        self.space.resize(count, 0);
        &mut self.space
    }

    fn filled(&mut self, count: usize) {
        self.input.extend(&self.space[..count]);
    }

    fn wants_input(&self) -> bool {
        self.end.is_none() && !self.is_securing && self.input.len() < self.wanted
    }

    fn poll(&mut self) -> Option<SessionEvent<'_>> {
        loop {
            self.input.drain(..std::mem::take(&mut self.lent));
            (self.wanted, self.is_short) = (LINE, false);
            if self.end.is_some() || self.is_securing {
                return None;
            }
            let (words, line) = self.line()?;
            let head = Self::head(&words).filter(|head| !self.costs.contains_key(&head.tag));
            let (Some(head), Some(number)) = (head, self.opened) else {
                self.lent = line;
                match self.converse(&words) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            };
            let is_write = head.verb.starts_with('W');
            let payload = if is_write { head.length } else { 0 };
            let export = &self.offer.exports()[number];
            if payload > export.sizes.longest.0 {
                self.end = Some(SessionEnd::Broken);
                return None;
            }
            let cost = LINE as u64 + if head.verb == "R" { head.length } else { payload };
            // What a request is short of is left unread.
            self.is_short = self.held() > 0 && self.held() + cost > self.allowed;
            if self.is_short {
                return None;
            }
            self.wanted = line + payload as usize;
            if self.input.len() < self.wanted {
                return None;
            }
            self.lent = self.wanted;
            let is_taken = export.takes(&head.request(&self.input[line..self.lent]));
            if self.is_shutting_down || !is_taken {
                self.say(format!("REFUSED {}", head.tag));
                continue;
            }
            self.costs.insert(head.tag, cost);
            return Some(SessionEvent::Request(head.request(&self.input[line..self.lent])));
        }
    }

    fn export(&self) -> Option<usize> {
        self.opened
    }

    fn reply(&mut self, RequestTag(tag): RequestTag, reply: BlockReply) {
        self.costs.remove(&tag).expect("a request is answered once");
        match reply {
            BlockReply::Done => self.say(format!("DONE {tag}")),
            BlockReply::Data(data) => {
                self.say(format!("DATA {tag} {}", data.len()));
                self.output.push_back(data);
            }
            BlockReply::Extents(extents) => {
                let state = |run: &Extent| match (run.state.lost, run.state.allocated) {
                    (true, _) => "lost",
                    (false, true) => "data",
                    (false, false) => "hole",
                };
                let runs: Vec<_> =
                    extents.iter().map(|run| format!("{}:{}", run.sectors, state(run))).collect();
                self.say(format!("MAP {tag} {}", runs.join(" ")));
            }
            BlockReply::LostRuns(_)
            | BlockReply::Health(_)
            | BlockReply::Placement(_)
            | BlockReply::Appended(_)
            | BlockReply::Zones(_) => {
                unreachable!("lines ask for none of them")
            }
            BlockReply::Failed(failure) => {
                let place = failure.at.map_or("-".to_owned(), |at| (at / SECTOR_BYTES).to_string());
                self.say(format!("FAIL {tag} {:?} {place}", failure.kind));
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.costs.len()
    }

    fn output<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        for (slice, bytes) in slices.iter_mut().zip(&self.output) {
            *slice = IoSlice::new(bytes);
        }
        slices.len().min(self.output.len())
    }

    fn output_len(&self) -> usize {
        self.output.iter().map(Vec::len).sum()
    }

    fn sent(&mut self, mut count: usize) {
        while count > 0 {
            let first = self.output.front_mut().expect("no more is sent than there was");
            let part = count.min(first.len());
            first.drain(..part);
            count -= part;
            if first.is_empty() {
                self.output.pop_front();
            }
        }
    }

    fn held(&self) -> u64 {
        let message = self.input.len().saturating_sub(LINE) as u64;
        self.costs.values().sum::<u64>() + self.output_len() as u64 + message
    }

    fn allow(&mut self, bytes: u64) {
        self.allowed = bytes;
    }

    fn is_short(&self) -> bool {
        self.is_short
    }

    fn tls_started(&mut self) {
        self.is_securing = false;
    }

    fn shut_down(&mut self) {
        self.is_shutting_down = true;
    }

    fn end(&self) -> Option<SessionEnd> {
        self.end
    }
}
