//! The server's side of the Network Block Device protocol without input or output: bytes in, events out; answers in, bytes out.
//!
//! An [`NbdServer`] has the exports; each client has an [`NbdConnection`], which the caller feeds from a socket and polls for [`ConnectionEvent`]s.
//! Each [`NbdRequest`] is checked before: it lies within its export and is allowed there, so a device sees nothing else. Requests are answered in
//! any order, by their [`RequestId`].
//!
//! The specification is `doc/proto.md` of [NetworkBlockDevice/nbd] with its branch `extension-ext-header`; sections are named as there.
//! All of it is implemented but oldstyle negotiation, `NBD_CMD_RESIZE`, and TLS itself, which the caller sets up ([`ConnectionEvent::StartTls`]).
//!
//! Architecture invariant: this crate knows no device, socket, clock, file or thread, and no other crate knows the protocol.
//!
//! # Bounds
//!
//! A connection allocates at most [`NbdServer::memory_max`]. Requests are accepted while there is room for their answers ([`ConnectionLimits`]);
//! otherwise [`NbdConnection::wants_input`] is false, the socket is not read, and the client waits. Buffers grow with the bytes received, not with
//! announced lengths. Time limits are the caller's: it closes connections that negotiate for too long.
//!
//! # Copies
//!
//! The socket is read directly into the connection's buffer, from which the payload of a write is lent. Small replies share one buffer; a large one
//! is sent without copying, as a slice of its own ([`NbdConnection::output`]).
//!
//! # Example
//!
//! A client that opens the only export, reads a sector and leaves:
//!
//! ```
//! use outlast_nbd::{BlockSizes, NbdConnection, MetaContexts, ConnectionEvent, NbdExport, ExportFeatures, ConnectionLimits, NbdCommand, NbdServer, TlsMode};
//! use outlast_units::Bytes;
//! use std::sync::Arc;
//!
//! let export = NbdExport {
//!     name: "demo".to_owned(),
//!     description: String::new(),
//!     size: Bytes::kib(64),
//!     blocks: BlockSizes::default(),
//!     features: ExportFeatures::FLUSH | ExportFeatures::FUA,
//!     contexts: MetaContexts::NONE,
//!     tls_only: false,
//! };
//! let server = Arc::new(NbdServer::new(vec![export], TlsMode::Off, ConnectionLimits::default())?);
//! let mut connection = NbdConnection::new(server);
//!
//! // Input from a socket: flags; NBD_OPT_EXPORT_NAME; NBD_CMD_READ of 512 bytes at 1024; NBD_CMD_DISC.
//! let mut bytes = b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\x04demo".to_vec();
//! bytes.extend(b"\x25\x60\x95\x13\0\0\0\0_COOKIE_\0\0\0\0\0\0\x04\0\0\0\x02\0");
//! bytes.extend(b"\x25\x60\x95\x13\0\0\0\x02--------\0\0\0\0\0\0\0\0\0\0\0\0");
//! connection.space()[..bytes.len()].copy_from_slice(&bytes);
//! connection.filled(bytes.len());
//!
//! let mut reads = Vec::new();
//! while let Some(event) = connection.poll() {
//!     if let ConnectionEvent::Request(request) = event {
//!         assert_eq!((request.offset, request.command), (1024, NbdCommand::Read));
//!         reads.push((request.id, request.length));
//!     }
//! }
//! // Answers come when the device has them.
//! for (id, length) in reads {
//!     connection.read(id, vec![7; length.0 as usize]);
//! }
//! // Output to a socket: the greeting, size and flags of the export, and the reply.
//! let sent: Vec<u8> = connection.output().flatten().copied().collect();
//! assert_eq!(sent.len(), 18 + 10 + 16 + 512);
//! assert!(sent.ends_with(&[7; 512]));
//! connection.sent(sent.len());
//! assert!(connection.is_finished());
//! # Ok::<(), outlast_nbd::ServerError>(())
//! ```
//!
//! [NetworkBlockDevice/nbd]: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md

mod connection;
mod context;
mod error;
mod export;
mod input_buffer;
mod memory;
mod negotiate;
mod output_queue;
mod reply;
mod request;
mod transmit;
mod wire;

pub use connection::{ConnectionEvent, NbdConnection};
pub use context::{MetaContext, MetaContexts, StatusExtent, allocation, health};
pub use error::{ConnectionEnd, ErrorCode, ProtocolViolation, ReplyFailure, ServerError};
pub use export::{BlockSizes, ConnectionLimits, ExportFeatures, NbdExport, NbdServer, TlsMode};
pub use request::{ContextExtents, NbdCommand, NbdRequest, ReadPart, RequestId};
