//! What NAND is and does: geometry, timing, wear of blocks, order of programming, the bytes themselves. Knows no logical page.

mod blocks;
mod cells;
mod contents;
mod error;
mod faults;
mod geometry;
mod order;
mod program_unit;
pub mod reliability;
mod timing;

pub use blocks::{BlockAddress, Blocks, DefectConfig};
pub use cells::{
    Age, AgeRange, CalmSensing, Cells, CellsConfig, InitialState, ReadScope, RowLuck, Saturation, Sensing,
};
pub use contents::{Blank, Contents, Place, Store, Unit};
pub use error::ConfigError;
pub use faults::{Damage, Fault, FaultKind, FaultSpec, Faults, HazardClock, HazardConfig, Share, Tear};
pub use geometry::{DieAddress, Geometry};
pub use order::ProgramOrder;
pub use program_unit::ProgramUnit;
pub use timing::{
    ArrayWork, ChannelOrder, PageTimes, PlaneReads, Suspend, Timing, TimingTable, at_most_a_second,
};
