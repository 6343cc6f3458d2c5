//! Recorded block traces: `[workload.trace]`.
//!
//! A file becomes requests in four steps: [`input`] decompresses and cuts it into lines or records, [`formats`] decodes one
//! of them, [`records`] streams them with their positions, and [`replay`] selects, orders, places and paces them. Memory is
//! bounded whatever the length of the trace.

mod address_placement;
mod blk_lines;
mod columns;
mod compression;
mod convert;
mod detect;
mod device_streams;
mod fields;
mod figures;
mod fixed_columns;
mod formats;
mod guess;
mod info;
mod input;
mod open;
mod pieces;
#[cfg(test)]
mod reading_oracle;
mod records;
mod replay;
mod spec;
mod tally;
mod trace_format;
mod unread;
mod utf16;
mod write;
mod zip_member;

pub use blk_lines::{BlkLine, BlkLineReader};
pub use columns::{ColumnSeparator, ColumnsSpec};
pub use convert::convert;
pub use figures::{OpStats, TraceInfo};
pub use info::{trace_info, trace_info_while};
pub use open::parse_bytes;
pub use spec::{
    AddressOverflow, AddressUnit, BlkEvent, DeviceLayout, DeviceName, TimeUnit, TraceSpec, UnorderedRecords,
};
pub use trace_format::TraceFormat;
pub use write::TraceWriter;
