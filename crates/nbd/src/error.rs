//! What is told to a client, why a session ends, and what a server cannot offer.

use thiserror::Error;

/// The error of a reply: section "Error values". What a device or an operating system calls its errors is mapped to these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    /// Operation not permitted: a write to what is read-only.
    Perm = 1,
    /// Input/output error.
    Io = 5,
    /// No memory. The specification asks servers not to use it if at all possible.
    NoMem = 12,
    /// Invalid argument.
    Inval = 22,
    /// No space left: a write beyond the end, or nothing free to write to.
    NoSpc = 28,
    /// Value too large: a read that is longer than the server wants to send.
    Overflow = 75,
    /// Not supported: zeroes that cannot be written faster than data, and nothing else.
    NotSup = 95,
    /// The server is being shut down.
    Shutdown = 108,
}

/// Why a request has failed, for [`crate::Connection::fail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    /// The error.
    pub code: ErrorCode,
    /// Where in the export, in bytes, the first failure is, if that is known and the request has a range. Without structured
    /// replies it does not reach the client.
    pub at: Option<u64>,
    /// A sentence for a person; may be empty. What is longer than 200 bytes is cut.
    pub text: &'a str,
}

impl From<ErrorCode> for Failure<'_> {
    fn from(code: ErrorCode) -> Self {
        Self { code, at: None, text: "" }
    }
}

/// How a session has ended: no byte is read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client gave up negotiating (`NBD_OPT_ABORT`). To be done: send what [`crate::Connection::output`] has, close.
    Aborted,
    /// The client disconnected (`NBD_CMD_DISC`). To be done: answer what is in flight, send it, close.
    Disconnected,
    /// The client broke a rule after which the byte stream cannot be trusted. To be done: close; nothing is sent any more.
    Violation(Violation),
}

/// What a client did that the specification ends a session for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// See the section "Client flags".
    #[error("unknown client flags {0:#x}")]
    ClientFlags(u32),
    /// A client that speaks no fixed newstyle has one option, `NBD_OPT_EXPORT_NAME`.
    #[error("option {0} from a client without fixed newstyle")]
    NotFixed(u32),
    /// The client lost count of its bytes.
    #[error("an option begins with {0:#018x}, not with IHAVEOPT")]
    OptionMagic(u64),
    /// More data of an option than anybody needs.
    #[error("option {option} has {length} bytes of data, at most {} are read", crate::wire::PAYLOAD_HARMLESS)]
    OptionLength {
        /// The option.
        option: u32,
        /// Its length.
        length: u32,
    },
    /// A client that haggles without end.
    #[error("more than {0} options")]
    Options(u32),
    /// `NBD_OPT_EXPORT_NAME` cannot be refused but by hanging up: no such export, TLS or block sizes are needed, or extended headers were
    /// negotiated, after which it is forbidden.
    #[error("the export cannot be opened by NBD_OPT_EXPORT_NAME")]
    ExportName,
    /// Bytes that came in plain text behind `NBD_OPT_STARTTLS` might be anybody's.
    #[error("bytes in plain text behind NBD_OPT_STARTTLS")]
    PlainText,
    /// The client lost count of its bytes.
    #[error("a request begins with {0:#010x}, not with its magic")]
    RequestMagic(u32),
    /// More than 32 MiB, and more than the export takes.
    #[error("a request has a payload of {0} bytes")]
    Payload(u64),
}

/// What a [`crate::Server`] cannot offer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServerError {
    /// Names and descriptions have at most 4,096 bytes and no NUL.
    #[error("export {name:?}: its {what} has {length} bytes or a NUL; at most 4096 bytes, none of them NUL")]
    Text {
        /// The export.
        name: String,
        /// `name` or `description`.
        what: &'static str,
        /// Bytes.
        length: usize,
    },
    /// Two exports of one name.
    #[error("export {0:?} is there twice")]
    Twice(String),
    /// A size that the protocol has no place for.
    #[error("export {name:?}: size {size} is not a multiple of its minimum block size {minimum} below 2^63")]
    Size {
        /// The export.
        name: String,
        /// Bytes.
        size: u64,
        /// Bytes.
        minimum: u64,
    },
    /// Block sizes against the section "Size constraints".
    #[error(
        "export {name:?}: block sizes {minimum}/{preferred}/{maximum}: the minimum is a power of two up to 65536, the preferred one a \
         power of two from 512 and the minimum, the maximum a multiple of the minimum from the preferred one up to 67108864"
    )]
    BlockSizes {
        /// The export.
        name: String,
        /// Bytes.
        minimum: u64,
        /// Bytes.
        preferred: u64,
        /// Bytes.
        maximum: u64,
    },
    /// `FAST_ZERO` without `WRITE_ZEROES`.
    #[error("export {0:?}: fast zeroes without zeroes")]
    FastZero(String),
    /// An export that nobody can open.
    #[error("export {0:?} needs TLS, and the server has none")]
    NoTls(String),
    /// Nothing could ever be in flight.
    #[error("limit {0} is 0; at least 1")]
    Limit(&'static str),
}
