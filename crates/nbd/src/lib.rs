//! The server's side of the Network Block Device protocol without input or output: bytes in, events out; answers in, bytes out.
//!
//! A [`Server`] says what is offered; each client has a [`Connection`], which the caller feeds from a socket and asks for [`Event`]s. A
//! [`Request`] that comes out is checked: it lies within its export and is one that the export allows, so that a device sees nothing
//! else. It is answered, in any order, by its [`RequestId`].
//!
//! The specification is `doc/proto.md` of [NetworkBlockDevice/nbd] with its branch `extension-ext-header`; sections are named as there.
//! All of it is here but what it leaves to others (oldstyle negotiation, `NBD_CMD_RESIZE`) and TLS itself, for which the caller is
//! asked ([`Event::StartTls`]).
//!
//! Architecture invariant: this crate knows no device, socket, clock, file or thread, and no other crate knows the protocol.
//!
//! # Bounds
//!
//! A client can make a connection hold no more than [`Server::memory_max`]. Requests are let in while there is room for their answers
//! ([`Limits`]); when there is none, [`Connection::wants_input`] turns false, the socket is left alone, and the client waits. Buffers grow
//! with what has come, never with what was announced. Time is the caller's: a client that negotiates for ever is the caller's to close.
//!
//! # Copies
//!
//! The socket is read straight into the connection's buffer, and the payload of a write is lent from there. Small replies of one instant
//! are gathered in one buffer; a large one leaves from where the device has put it, as a slice of its own ([`Connection::output`]).
//!
//! # Example
//!
//! A client that opens the only export, reads a sector and leaves:
//!
//! ```
//! use outlast_nbd::{BlockSizes, Connection, Contexts, Event, Export, Features, Limits, Op, Server, Tls};
//! use outlast_units::Bytes;
//! use std::sync::Arc;
//!
//! let export = Export {
//!     name: "demo".to_owned(),
//!     description: String::new(),
//!     size: Bytes::kib(64),
//!     blocks: BlockSizes::default(),
//!     features: Features::FLUSH | Features::FUA,
//!     contexts: Contexts::NONE,
//!     tls_only: false,
//! };
//! let server = Arc::new(Server::new(vec![export], Tls::Off, Limits::default())?);
//! let mut connection = Connection::new(server);
//!
//! // What a socket would bring: flags; NBD_OPT_EXPORT_NAME; NBD_CMD_READ of 512 bytes at 1024; NBD_CMD_DISC.
//! let mut bytes = b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\x04demo".to_vec();
//! bytes.extend(b"\x25\x60\x95\x13\0\0\0\0_COOKIE_\0\0\0\0\0\0\x04\0\0\0\x02\0");
//! bytes.extend(b"\x25\x60\x95\x13\0\0\0\x02--------\0\0\0\0\0\0\0\0\0\0\0\0");
//! connection.space()[..bytes.len()].copy_from_slice(&bytes);
//! connection.filled(bytes.len());
//!
//! let mut reads = Vec::new();
//! while let Some(event) = connection.poll() {
//!     if let Event::Request(request) = event {
//!         assert_eq!((request.offset, request.op), (1024, Op::Read));
//!         reads.push((request.id, request.length));
//!     }
//! }
//! // Answers come when the device has them.
//! for (id, length) in reads {
//!     connection.read(id, vec![7; length.0 as usize]);
//! }
//! // What a socket would take: the greeting, size and flags of the export, and the reply.
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
mod inbox;
mod memory;
mod negotiate;
mod outbox;
mod reply;
mod request;
mod transmit;
mod wire;

pub use connection::{Connection, Event};
pub use context::{Context, Contexts, Extent, allocation, health};
pub use error::{End, ErrorCode, Failure, ServerError, Violation};
pub use export::{BlockSizes, Export, Features, Limits, Server, Tls};
pub use request::{ContextExtents, Op, Part, Request, RequestId};
