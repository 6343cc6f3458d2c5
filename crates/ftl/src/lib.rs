//! Translation layer: mapping, streams, superblocks, relocation, wear levelling, parity. Knows no clock.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

mod bits;
mod block_table;
mod causes;
mod chooser;
mod codes;
mod counts;
mod credit;
mod divider;
mod frontiers;
mod ftl;
mod handles;
mod held;
mod lane_set;
mod lanes;
mod layout;
mod losses;
mod map_pages;
mod modes;
mod mount;
mod origins;
mod pages;
mod partials;
mod physical;
mod policy;
mod room;
mod slc_cache;
mod space;
mod streams;
mod stripes;
mod superblocks;
mod table;
mod turns;
mod uses;

pub use causes::{ByProgramCause, ByReadCause, PagesRead, ProgramCause, ReadCause, UnitsWritten};
pub use credit::{CREDIT_PER_UNIT, HostCredit, VictimWork};
pub use ftl::{
    ConsideredUnits, Ftl, FtlFigures, FtlFull, FtlOptions, FtlTables, HandlesView, MovingUnits,
    RedundancyView, RelocatedUnits, StreamView, SuperblockView, WrittenSlot,
};
pub use handles::{HandleContents, HandleCounts};
pub use layout::{DieLane, PuPlace, SlotLayout};
pub use modes::StreamModes;
pub use mount::RetiredBlock;
pub use pages::{MountOptions, MountReads};
pub use policy::BuiltIn;
pub use slc_cache::{SlcCacheCounts, SlcCacheRules};
pub use space::{
    BlockWear, CodeAxis, FlashSpace, LineMember, ListRead, ParityView, PowerAftermath, PuStates,
    SlcCacheFigures, Translation,
};
pub use streams::{StreamCause, StreamTable};
