//! Translation layer: mapping, streams, superblocks, relocation, wear levelling, parity. Knows no clock.

mod bits;
mod block_table;
mod causes;
mod codes;
mod counts;
mod credit;
mod divider;
mod frontiers;
mod ftl;
mod held;
mod lanes;
mod layout;
mod losses;
mod map_pages;
mod mount;
mod origins;
mod partials;
mod physical;
mod policy;
mod room;
mod streams;
mod stripes;
mod superblocks;
mod table;
mod turns;
mod uses;

pub use causes::{ByProgramCause, ByReadCause, PagesRead, ProgramCause, ReadCause, UnitsWritten};
pub use credit::{CREDIT_PER_UNIT, HostCredit, VictimWork};
pub use ftl::{
    BlockWear, CodeAxis, Ftl, FtlFigures, FtlFull, FtlOptions, FtlTables, LineMember, ListRead, MountOptions,
    MountReads, ParityView, PowerAftermath, RelocatedUnits, SpaceView, StreamView, SuperblockView,
    WrittenSlot,
};
pub use layout::{DieLane, PuPlace, SlotLayout};
pub use policy::BuiltIn;
pub use streams::{StreamCause, StreamTable};
