//! Addresses and units as newtypes, so that a page can never be mistaken for a block nor a byte for a sector,
//! and the text forms in which people write sizes and times (`"16KiB"`, `"60us"`). Beside them what every room needs: random streams,
//! a place for things in flight, and counters.

mod address;
mod bytes;
mod nanos;
mod rate;
pub mod rng;
pub mod slab;
mod tally;
mod text;

pub use address::{BlockId, ChannelId, DieId, Lba, Lpn, Ppn, SECTOR_BYTES, SuperblockId};
pub use bytes::Bytes;
pub use nanos::Nanos;
pub use rate::ByteRate;
pub use text::ParseUnitError;
