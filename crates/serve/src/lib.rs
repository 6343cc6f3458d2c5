//! Devices in service: drives and arrays that are given real commands in real time, over sockets. A device changes only by a [`DeviceInput`], so the
//! inputs with their times suffice to build the same device again.

mod buckets;
mod clock;
mod content;
mod control;
mod device;
mod exported;
mod exports;
mod fields;
mod handle;
mod heap;
mod image;
mod input;
mod instant;
mod lateness;
pub mod log;
mod loop_service;
mod nbd;
mod net;
mod nvme;
mod pending;
mod protocol;
mod recorder;
mod server;
mod service;
mod service_loop;
mod session;
mod statistics;
mod store;
mod tls;
mod without_device;
mod zeroing;
mod zone_reads;

pub use clock::ClockMode;
pub use content::{BaseContent, ContentJournal, serve_content};
pub use device::{
    ArrayState, DeviceEvent, DeviceKind, DeviceState, DriveState, MemberState, PassState, RefusedInput,
    RepairState, ServedDevice, TAG_LIMIT, ZonesState,
};
pub use handle::{ServerFacts, ServerHandle, ServerStatus};
pub use image::{
    DeviceImage, ImageError, ImageOptions, LogRecords, LogTraceSummary, OpeningReport, PayloadPlace,
};
pub use input::{DeviceInput, PowerChange, parse_fault};
pub use net::{ListenAddress, ListenError};
pub use outlast_engine::EngineError;
pub use outlast_media::UnitTear;
pub use protocol::OfferError;
pub use recorder::{InputRecorder, NoRecorder};
pub use server::{DeviceServer, ImageConfig, ServeConfig, ServeError};
pub use store::{ContentsIn, FileStore, UnknownContentsPlace};
pub use tls::{TlsConfig, TlsError, TlsPolicy};
pub use without_device::serve_without_device;
