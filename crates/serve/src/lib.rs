//! Machines in service: a drive or an array that is given real commands at real times. All that changes one is an [`Input`], and inputs with
//! their times are all that is needed to have it again.

mod image;
mod input;
pub mod log;
mod machine;
mod recorder;

pub use image::{Found, Image, ImageError, ImageOptions};
pub use input::{Input, Power, fault_of};
pub use machine::{
    ArrayState, DriveState, Event, Kind, Machine, MemberState, PassState, Refused, RepairState, State, TAGS,
};
pub use outlast_engine::EngineError;
pub use recorder::{Forgetful, Recorder};
