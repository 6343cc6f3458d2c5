//! Addresses and units as newtypes, so that a page can never be mistaken for a block nor a byte for a sector,
//! and the text forms in which people write sizes and times (`"16KiB"`, `"60us"`). Beside them what every room needs: random streams,
//! a place for things in flight, and counters.

mod address;
mod bytes;
mod count;
mod drained_queue;
pub mod event_tree;
mod few;
mod index_type;
mod index_vec;
mod list_map;
mod mode;
mod nanos;
mod rate;
pub mod rng;
mod schema;
pub mod slab;
pub mod spare_buffers;
mod stream;
mod tally;
mod text;

pub use address::{
    BlockId, BlockIndex, ChannelId, CoreId, DieId, Epoch, Group, LaneIndex, Lba, LocalDie, Lpn, Ppn, Pu,
    PuWithin, Row, SECTOR_BYTES, SuperblockId,
};
pub use bytes::Bytes;
pub use count::{to_count, to_length};
pub use drained_queue::DrainedQueue;
pub use few::count_few;
pub use index_vec::{Idx, IndexVec};
pub use list_map::ListMap;
pub use mode::ModeId;
pub use nanos::Nanos;
pub use rate::ByteRate;
pub use schema::JsonSchema;
pub use stream::Stream;
pub use text::ParseUnitError;
