//! Machines in service: a drive or an array that is given real commands at real times. All that changes one is an [`Input`], and inputs with
//! their times are all that is needed to have it again.

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
