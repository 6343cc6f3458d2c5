//! NAND flash: geometry, timing, wear of blocks, order of programming, the bytes themselves. Knows no logical page.

mod blocks;
mod cells;
mod contents;
mod error;
mod faults;
mod geometry;
mod mode;
mod order;
mod program_unit;
pub mod reliability;
mod timing;
mod two_pass;

pub use blocks::{BlockAddress, DefectConfig, PhysicalBlocks};
pub use cells::{
    AgeRange, CalmSensing, CellsConfig, DataAge, FlashCells, InitialState, RberSaturation, ReadScope,
    RowLuck, RowSensing,
};
pub use contents::{BlankUnit, ByteStore, SlotBytes, StoreAddress, UnitBytes};
pub use error::ConfigError;
pub use faults::{
    AgeFactor, DieDamage, DieFaults, DriveFault, FaultKind, FaultSpec, HazardClock, HazardConfig, ShornShare,
    UnitTear,
};
pub use geometry::{DieAddress, Geometry};
pub use mode::CellMode;
pub use order::ProgramOrder;
pub use program_unit::ProgramUnit;
pub use timing::{
    ArrayWork, ChannelOrder, PageTimes, PlaneReads, SuspendConfig, Timing, TimingTable, at_most_a_second,
};
pub use two_pass::TwoPassConfig;
