//! The controller's side of the `NVMe/TCP` transport without sockets: bytes in, requests to the device out; answers in, bytes out.
//!
//! Each connection of a host is a [`TcpConnection`] before a [`outlast_nvme::HostQueue`]. It reads and writes the protocol data units of the `NVMe/TCP`
//! Transport Specification 1.0: with digests (CRC32C) of headers and data as the host wishes, data in capsules or asked for by R2T, and alignment as the
//! host wishes. There is one R2T for all data of a command. Not there: TLS, and success without a completion.
//!
//! # Bounds
//!
//! A connection holds a buffer of one unit, the commands that the queue has entries for, and their data within [`TcpConnection::allow`]. A unit that
//! is longer than promised, or out of order, ends the connection with a termination request.
//!
//! Architecture invariant: this crate knows no device, socket, clock, file or thread.

mod connection;
mod input;
mod output;
mod pdu;

pub use connection::TcpConnection;
