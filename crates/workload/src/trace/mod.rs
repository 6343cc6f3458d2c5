//! Recorded block traces: `[workload.trace]`.
//!
//! A file becomes requests in four steps: [`input`] decompresses and cuts it into lines or records, [`formats`] decodes one
//! of them, [`records`] streams them with their positions, and [`replay`] selects, orders, places and paces them. Memory is
//! bounded whatever the length of the trace.

mod convert;
mod detect;
mod events;
mod fields;
mod figures;
mod formats;
mod info;
mod input;
mod open;
mod pieces;
mod place;
#[cfg(test)]
mod plain;
mod records;
mod replay;
mod shape;
mod spec;
mod tally;
mod write;

pub use convert::convert;
pub use events::{BlkLine, BlkLines};
pub use figures::{OpStats, TraceInfo};
pub use info::{trace_info, trace_info_while};
pub use open::parse_bytes;
pub use spec::{
    AddressUnit, Addresses, BlkEvent, DeviceName, Devices, Format, TimeUnit, TraceSpec, Unordered,
};
pub use write::TraceWriter;
