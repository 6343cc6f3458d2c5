//! Where data is: mapping, streams, superblocks, relocation, wear levelling. Knows no clock.

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

pub use causes::{PagesRead, ProgramCause, Programs, ReadCause, Reads, UnitsWritten};
pub use credit::{Credit, ONE, Work};
pub use ftl::{
    Aftermath, Axis, Figures, Ftl, FtlOptions, Full, ListRead, Member, MountOptions, MountReads, ParityView,
    Relocated, Slot, SpaceView, StreamView, SuperblockView, Tables, Wear,
};
pub use layout::{Lane, Layout, PuPlace};
pub use policy::BuiltIn;
pub use streams::{Cause, Streams};
