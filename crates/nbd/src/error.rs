//! Errors of replies, ends of sessions, and errors of a server's settings.

use thiserror::Error;

/// Error code of a reply: section "Error values". Errors of devices and operating systems must be mapped to these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    /// Operation not permitted: a write to a read-only export.
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

/// Reason for which a request has failed, for [`crate::NbdConnection::fail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyFailure<'a> {
    /// Error code.
    pub code: ErrorCode,
    /// Offset of the first failure in the export, in bytes, if it is known and the request has a range. Sent with structured replies only.
    pub at: Option<u64>,
    /// A sentence for people; may be empty. Cut at 200 bytes.
    pub text: &'a str,
}

impl From<ErrorCode> for ReplyFailure<'_> {
    fn from(code: ErrorCode) -> Self {
        Self { code, at: None, text: "" }
    }
}

/// End of a session: no more input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The client gave up negotiating (`NBD_OPT_ABORT`). Next: send [`crate::NbdConnection::output`], then close.
    Aborted,
    /// The client disconnected (`NBD_CMD_DISC`). Next: answer the requests in flight, send the replies, then close.
    Disconnected,
    /// The client has violated the protocol, and its bytes cannot be trusted. Next: close without sending anything.
    Violation(ProtocolViolation),
}

/// Violations for which the specification ends a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolViolation {
    /// Flags that the section "Client flags" does not have.
    #[error("unknown client flags {0:#x}")]
    ClientFlags(u32),
    /// Clients without fixed newstyle may only use `NBD_OPT_EXPORT_NAME`.
    #[error("option {0} from a client without fixed newstyle")]
    NotFixed(u32),
    /// The bytes of the client are out of step with its options.
    #[error("an option begins with {0:#018x}, not with IHAVEOPT")]
    OptionMagic(u64),
    /// An option with far more data than any option needs.
    #[error("option {option} has {length} bytes of data, at most {} are read", crate::wire::PAYLOAD_HARMLESS)]
    OptionLength {
        /// Number of the option.
        option: u32,
        /// Length of its data in bytes.
        length: u32,
    },
    /// The client has sent too many options.
    #[error("more than {0} options")]
    Options(u32),
    /// `NBD_OPT_EXPORT_NAME` can be refused only by closing the connection: the export does not exist, needs TLS or block sizes, or extended headers
    /// were negotiated, after which the option is forbidden.
    #[error("the export cannot be opened by NBD_OPT_EXPORT_NAME")]
    ExportName,
    /// Bytes in plain text followed `NBD_OPT_STARTTLS`; an attacker may have inserted them.
    #[error("bytes in plain text behind NBD_OPT_STARTTLS")]
    PlainText,
    /// The bytes of the client are out of step with its requests.
    #[error("a request begins with {0:#010x}, not with its magic")]
    RequestMagic(u32),
    /// A payload of more than 32 MiB, and more than the export takes.
    #[error("a request has a payload of {0} bytes")]
    Payload(u64),
}

/// Errors in the settings of a [`crate::NbdServer`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServerError {
    /// A name or description is longer than 4,096 bytes or contains a NUL.
    #[error("export {name:?}: its {field} has {length} bytes or a NUL; at most 4096 bytes, none of them NUL")]
    Text {
        /// Name of the export.
        name: String,
        /// `name` or `description`.
        field: &'static str,
        /// Length in bytes.
        length: usize,
    },
    /// Two exports have this name.
    #[error("export {0:?} is there twice")]
    Twice(String),
    /// The size does not suit the protocol.
    #[error("export {name:?}: size {size} is not a multiple of its minimum block size {minimum} below 2^63")]
    Size {
        /// Name of the export.
        name: String,
        /// Size in bytes.
        size: u64,
        /// Minimum block size in bytes.
        minimum: u64,
    },
    /// The block sizes contradict the section "Size constraints".
    #[error(
        "export {name:?}: block sizes {minimum}/{preferred}/{maximum}: the minimum is a power of two up to 65536, the preferred one a \
         power of two from 512 and the minimum, the maximum a multiple of the minimum from the preferred one up to 67108864"
    )]
    BlockSizes {
        /// Name of the export.
        name: String,
        /// Minimum block size in bytes.
        minimum: u64,
        /// Preferred block size in bytes.
        preferred: u64,
        /// Maximum block size in bytes.
        maximum: u64,
    },
    /// The export has `FAST_ZERO` without `WRITE_ZEROES`.
    #[error("export {0:?}: fast zeroes without zeroes")]
    FastZero(String),
    /// The export needs TLS, and the server has none.
    #[error("export {0:?} needs TLS, and the server has none")]
    NoTls(String),
    /// A limit is 0, so no request could be in flight.
    #[error("limit {0} is 0; at least 1")]
    Limit(&'static str),
}
