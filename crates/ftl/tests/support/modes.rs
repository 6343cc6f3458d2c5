//! Modes of superblocks for the host's data.

use outlast_ftl::{StreamCause, StreamModes};
use outlast_media::{CellMode, PageTimes};
use outlast_units::Nanos;

/// Superblocks of the host use `rows` page rows of a block, as in a cache of one bit a cell; absent: all.
pub(crate) fn host_mode(rows: Option<u32>) -> StreamModes {
    rows.map_or_else(StreamModes::default, |rows| StreamModes::one(StreamCause::Host, cell_mode(rows)))
}

/// A mode of `rows` page rows. Its times and error rates mean nothing to the translation layer.
fn cell_mode(rows: u32) -> CellMode {
    CellMode {
        rows,
        one_shot: 1,
        read: PageTimes::Same(Nanos::micros(30)),
        program: PageTimes::Same(Nanos::micros(200)),
        rber: None,
        page_types: None,
        endurance: None,
    }
}
