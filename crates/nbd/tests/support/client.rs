//! Messages of a client, and what a server's bytes say.

/// Which form of requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Simple,
    Structured,
    Extended,
}

pub(crate) const FORMS: [Form; 3] = [Form::Simple, Form::Structured, Form::Extended];

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const DISC: u16 = 2;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const TRIM: u16 = 4;
pub(crate) const CACHE: u16 = 5;
pub(crate) const ZEROES: u16 = 6;
pub(crate) const STATUS: u16 = 7;

pub(crate) const FUA: u16 = 1;
pub(crate) const NO_HOLE: u16 = 2;
pub(crate) const DF: u16 = 4;
pub(crate) const ONE: u16 = 8;
pub(crate) const FAST: u16 = 16;
pub(crate) const PAYLOAD: u16 = 32;

pub(crate) const ACK: u32 = 1;
pub(crate) const UNSUP: u32 = 0x8000_0001;
pub(crate) const POLICY: u32 = 0x8000_0002;
pub(crate) const INVALID: u32 = 0x8000_0003;
pub(crate) const TLS_REQD: u32 = 0x8000_0005;
pub(crate) const UNKNOWN: u32 = 0x8000_0006;
pub(crate) const SHUTDOWN: u32 = 0x8000_0007;
pub(crate) const BLOCK_SIZE_REQD: u32 = 0x8000_0008;
pub(crate) const TOO_BIG: u32 = 0x8000_0009;
pub(crate) const EXT_HEADER_REQD: u32 = 0x8000_000a;

fn join(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

/// The answer to the greeting: fixed newstyle, no zeroes.
pub(crate) fn flags(flags: u32) -> Vec<u8> {
    flags.to_be_bytes().to_vec()
}

pub(crate) fn option(number: u32, data: &[u8]) -> Vec<u8> {
    join(&[b"IHAVEOPT", &number.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data])
}

/// Data of `NBD_OPT_INFO` and `NBD_OPT_GO`.
pub(crate) fn info(name: &str, requests: &[u16]) -> Vec<u8> {
    let requests: Vec<u8> = requests.iter().flat_map(|request| request.to_be_bytes()).collect();
    let count = (requests.len() / 2) as u16;
    join(&[&(name.len() as u32).to_be_bytes(), name.as_bytes(), &count.to_be_bytes(), &requests])
}

/// Data of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`.
pub(crate) fn queries(name: &str, queries: &[&str]) -> Vec<u8> {
    let mut data =
        join(&[&(name.len() as u32).to_be_bytes(), name.as_bytes(), &(queries.len() as u32).to_be_bytes()]);
    for query in queries {
        data.extend((query.len() as u32).to_be_bytes());
        data.extend(query.as_bytes());
    }
    data
}

/// All of a negotiation that opens `name`: form, then both contexts, then `NBD_OPT_GO`.
pub(crate) fn open(form: Form, name: &str) -> Vec<u8> {
    let mut bytes = flags(3);
    match form {
        Form::Simple => {}
        Form::Structured => bytes.extend(option(8, &[])),
        Form::Extended => bytes.extend(option(11, &[])),
    }
    if form != Form::Simple {
        bytes.extend(option(10, &queries(name, &["base:allocation", "x-outlast:health"])));
    }
    bytes.extend(option(7, &info(name, &[3])));
    bytes
}

/// A request, with whatever length its head is to say.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) command: u16,
    pub(crate) flags: u16,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) payload: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(command: u16, cookie: u64, offset: u64, length: u64) -> Self {
        Self { command, flags: 0, cookie, offset, length, payload: Vec::new() }
    }

    pub(crate) fn flags(self, flags: u16) -> Self {
        Self { flags: self.flags | flags, ..self }
    }

    /// A write of `payload`, with the flag that `form` needs.
    pub(crate) fn write(form: Form, cookie: u64, offset: u64, payload: Vec<u8>) -> Self {
        let flags = if form == Form::Extended { PAYLOAD } else { 0 };
        Self { command: WRITE, flags, cookie, offset, length: payload.len() as u64, payload }
    }

    pub(crate) fn bytes(&self, form: Form) -> Vec<u8> {
        let magic: u32 = if form == Form::Extended { 0x21e4_1c71 } else { 0x2560_9513 };
        let mut bytes = magic.to_be_bytes().to_vec();
        bytes.extend(self.flags.to_be_bytes());
        bytes.extend(self.command.to_be_bytes());
        bytes.extend(self.cookie.to_be_bytes());
        bytes.extend(self.offset.to_be_bytes());
        match form {
            Form::Extended => bytes.extend(self.length.to_be_bytes()),
            Form::Simple | Form::Structured => bytes.extend((self.length as u32).to_be_bytes()),
        }
        bytes.extend(&self.payload);
        bytes
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (head, rest) = bytes.split_at(count);
    *bytes = rest;
    head
}

/// A reply to an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OptionReply {
    pub(crate) option: u32,
    pub(crate) kind: u32,
    pub(crate) data: Vec<u8>,
}

/// Takes a server's greeting from the front.
pub(crate) fn greeting(bytes: &mut &[u8]) {
    assert_eq!(take(bytes, 18), b"NBDMAGICIHAVEOPT\0\x03");
}

/// Takes a reply to an option from the front, if there is one.
pub(crate) fn option_reply(bytes: &mut &[u8]) -> Option<OptionReply> {
    if bytes.len() < 20 || number(&bytes[..8]) != 0x0003_e889_0455_65a9 {
        return None;
    }
    let head = take(bytes, 20);
    let data = take(bytes, number(&head[16..]) as usize).to_vec();
    Some(OptionReply { option: number(&head[8..12]) as u32, kind: number(&head[12..16]) as u32, data })
}

/// All replies to options at the front.
pub(crate) fn option_replies(bytes: &mut &[u8]) -> Vec<OptionReply> {
    std::iter::from_fn(|| option_reply(bytes)).collect()
}

/// One message of the transmission phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerMessage {
    pub(crate) cookie: u64,
    /// Nothing more follows for this cookie.
    pub(crate) is_last: bool,
    pub(crate) what: MessageContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageContent {
    /// A simple reply.
    Simple {
        error: u32,
        data: Vec<u8>,
    },
    Nothing,
    Data {
        offset: u64,
        data: Vec<u8>,
    },
    Hole {
        offset: u64,
        length: u64,
    },
    Status {
        context: u32,
        extents: Vec<(u64, u64)>,
    },
    Error {
        error: u32,
        at: Option<u64>,
        text: String,
    },
}

/// Reads a server's bytes to the end. `read_length` says how many bytes a simple reply to a cookie carries, `asked_at` at which offset a
/// cookie asked.
pub(crate) fn messages(
    form: Form,
    mut bytes: &[u8],
    read_length: impl Fn(u64) -> usize,
    asked_at: impl Fn(u64) -> u64,
) -> Vec<ServerMessage> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let magic = number(&bytes[..4]);
        if magic == 0x6744_6698 {
            assert_ne!(form, Form::Extended, "extended headers know no simple reply");
            let head = take(&mut bytes, 16);
            let (error, cookie) = (number(&head[4..8]) as u32, number(&head[8..]));
            let length = if error == 0 { read_length(cookie) } else { 0 };
            assert!(form == Form::Simple || length == 0, "a read is answered by chunks");
            let data = take(&mut bytes, length).to_vec();
            messages.push(ServerMessage {
                cookie,
                is_last: true,
                what: MessageContent::Simple { error, data },
            });
            continue;
        }
        let (head, length) = if form == Form::Extended {
            assert_eq!(magic, 0x6e8a_278c, "an extended reply");
            let head = take(&mut bytes, 32);
            assert_eq!(number(&head[16..24]), asked_at(number(&head[8..16])), "the offset is the request's");
            (head, number(&head[24..]) as usize)
        } else {
            assert_eq!((form, magic), (Form::Structured, 0x668e_33ef), "a structured reply");
            let head = take(&mut bytes, 20);
            (head, number(&head[16..]) as usize)
        };
        let flags = number(&head[4..6]);
        assert!(flags < 2, "no flag but the one for the last chunk");
        let payload = take(&mut bytes, length);
        let what = chunk(form, number(&head[6..8]), payload);
        messages.push(ServerMessage { cookie: number(&head[8..16]), is_last: flags == 1, what });
    }
    messages
}

fn chunk(form: Form, kind: u64, payload: &[u8]) -> MessageContent {
    match (kind, form) {
        (0, _) => {
            assert!(payload.is_empty());
            MessageContent::Nothing
        }
        (1, _) => {
            assert!(payload.len() >= 9, "at least one byte");
            MessageContent::Data { offset: number(&payload[..8]), data: payload[8..].to_vec() }
        }
        (2, _) => {
            assert_eq!(payload.len(), 12);
            MessageContent::Hole { offset: number(&payload[..8]), length: number(&payload[8..]) }
        }
        (5, Form::Structured) => {
            let extents = payload[4..].chunks(8).map(|one| (number(&one[..4]), number(&one[4..])));
            MessageContent::Status { context: number(&payload[..4]) as u32, extents: extents.collect() }
        }
        (6, Form::Extended) => {
            let extents = payload[8..].chunks(16).map(|one| (number(&one[..8]), number(&one[8..])));
            let extents: Vec<_> = extents.collect();
            assert_eq!(number(&payload[4..8]) as usize, extents.len(), "the count is the number of extents");
            MessageContent::Status { context: number(&payload[..4]) as u32, extents }
        }
        (0x8001 | 0x8002, _) => {
            let length = number(&payload[4..6]) as usize;
            let (text, rest) = payload[6..].split_at(length);
            let at = if kind == 0x8002 { Some(number(rest)) } else { None };
            assert_eq!(rest.len(), if at.is_some() { 8 } else { 0 });
            let text = String::from_utf8(text.to_vec()).unwrap();
            MessageContent::Error { error: number(&payload[..4]) as u32, at, text }
        }
        other => panic!("a chunk of type {other:?}"),
    }
}
