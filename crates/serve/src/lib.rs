//! Machines in service: a drive or an array that is given real commands at real times. All that changes one is an [`Input`], and inputs with
//! their times are all that is needed to have it again.
//!
//! A [`Machine`] takes [`Input`]s with times and nothing else. `turns.rs` is the loop, on one thread: it waits for sockets, the next deadline or a message of
//! another thread (`net/poll.rs`), advances time to now (`clock.rs`), passes the requests of clients to the machine (`served.rs`), keeps the log, and answers.
//! The loop drives a `Work` (`work.rs`): a `Service`, or, to measure the loop alone, one without a device (`without_device.rs`). `service.rs` has the machine,
//! its forks and their common time (decision 0042).
//!
//! `session/` has the clients, their places, time limits and memory, whatever they speak; clients share a bounded amount of memory (decision 0103), and
//! `net/link.rs` encrypts beneath them (decision 0049). A door (`session/doors.rs`) is a listener with a `WireProtocol`. `nbd/` is the one that is shipped;
//! another protocol is another folder, over a crate like `crates/nbd` (decision 0106).
//!
//! `control.rs` has the requests from outside, JSON in and out, through a [`ServerHandle`]. Members of an array are exports that only read, by an input of
//! their own (decision 0048).

mod at_once;
mod buckets;
mod clock;
mod content;
mod control;
mod handle;
mod heap;
mod image;
mod input;
mod lateness;
pub mod log;
mod machine;
mod members;
mod nbd;
mod net;
mod operations;
mod pending;
mod protocol;
mod recorder;
mod served;
mod server;
mod service;
mod session;
mod store;
mod tls;
mod turns;
mod without_device;
mod work;
mod zeroing;

pub use clock::ClockMode;
pub use content::{Content, Journal, serve_content};
pub use handle::{Facts, ServerHandle, Status};
pub use image::{Found, Image, ImageError, ImageOptions, Payload, Records, Traced};
pub use input::{Input, Power, fault_of};
pub use machine::{
    ArrayState, DriveState, Event, Kind, Machine, MemberState, PassState, Refused, RepairState, State, TAGS,
};
pub use net::{Listen, ListenError};
pub use outlast_engine::EngineError;
pub use outlast_media::Tear;
pub use protocol::OfferError;
pub use recorder::{Forgetful, Recorder};
pub use server::{ImageConfig, ServeConfig, ServeError, Server};
pub use store::{ContentsIn, FileStore, NoPlace};
pub use tls::{TlsConfig, TlsError, TlsPolicy};
pub use without_device::serve_without_device;
