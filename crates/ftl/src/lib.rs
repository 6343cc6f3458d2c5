//! Where data is: mapping, streams, superblocks, relocation, wear levelling. Knows no clock.

mod bits;
mod block_table;
mod causes;
mod config;
mod divider;
mod ftl;
mod layout;
mod policy;
mod stripes;
mod table;

pub use causes::{PagesRead, ProgramCause, Programs, ReadCause, Reads, UnitsWritten};
pub use config::{
    Allocation, AllocationLevel, ClassConfig, CodeConfig, FtlConfig, GcConfig, PartialConfig, PartialPlace,
    ProtectedStreams, ProtectionConfig, RangeConfig, VictimPolicy, WearLeveling,
};
pub use ftl::{
    Aftermath, Axis, Cause, Ftl, FtlOptions, Full, ListRead, Member, Relocated, Slot, State, Stream, Tables,
};
pub use layout::{Lane, Layout, PuPlace};
pub use stripes::{Role, Stripes};
