//! Role and state of each program unit of a core: which superblock, lane and stripe it is of, what it holds, and if it is on flash. Look-ups alone; the
//! parts change through the [`FlashSpace`](super::FlashSpace).

mod check;
mod lines;
mod lists;
mod roles;

use crate::codes::CodeTable;
use crate::lanes::LaneHealth;
use crate::layout::SlotLayout;
use crate::partials::CoverTable;
use crate::physical::CoreBlocks;
use crate::streams::StreamTable;
use crate::superblocks::SuperblockTable;

pub(super) use lines::ParityLine;
pub use lines::{CodeAxis, LineMember};
pub use lists::ListRead;

/// Program units of one core, by the parts that their roles and states follow from.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct PuStates {
    #[persist(skip)]
    pub(crate) layout: SlotLayout,
    pub(crate) superblocks: SuperblockTable,
    pub(super) streams: StreamTable,
    pub(super) codes: CodeTable,
    pub(super) partials: CoverTable,
    pub(super) lanes: LaneHealth,
    pub(crate) physical: CoreBlocks,
}
