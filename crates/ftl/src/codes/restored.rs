//! Check of codes that were read: stripes and data slots follow from them and the layout, and each superblock has one that there is.

use super::{CodeTable, NO_CODE};
use crate::lane_set::LaneSet;
use crate::layout::SlotLayout;
use crate::streams::StreamTable;
use crate::stripes::StripeLayout;
use outlast_units::{ModeId, SuperblockId};

impl CodeTable {
    /// Checks what was read against `layout` and `streams`, given the lanes in `dead` and the mode of each superblock.
    ///
    /// # Errors
    /// The first code, class, stream or superblock that is another.
    pub(crate) fn check_restored(
        &self,
        layout: &SlotLayout,
        streams: &StreamTable,
        dead: Option<&LaneSet>,
        mode_of: impl Fn(SuperblockId) -> ModeId,
    ) -> Result<(), String> {
        for (code, mode, stripes) in &self.codes {
            if StripeLayout::new(*code, layout, *mode).ok().flatten().as_ref() != Some(stripes) {
                return Err(format!("the stripes of {code:?} do not follow from it"));
            }
        }
        if self.of_class.len() != usize::from(streams.classes()) {
            return Err(format!("{} classes have a code, of {}", self.of_class.len(), streams.classes()));
        }
        for code in &self.of_class {
            StripeLayout::new(*code, layout, ModeId::FIRST).map_err(|error| error.to_string())?;
        }
        for (superblock, &number) in self.of.iter_indexed().filter(|&(_, &number)| number != NO_CODE) {
            let mode = self.codes.get(usize::from(number)).map(|&(_, mode, _)| mode);
            if mode != Some(mode_of(superblock)) {
                return Err(format!("superblock {superblock} has code {number}, which is none of its mode"));
            }
        }
        for (stream, &number) in self.of_stream.iter_indexed().filter(|&(_, &number)| number != NO_CODE) {
            let mode = self.codes.get(usize::from(number)).map(|&(_, mode, _)| mode);
            if mode != Some(streams.mode(stream)) {
                return Err(format!("stream {} has code {number}, which is none of its mode", stream.0));
            }
        }
        let mut counted = self.clone();
        counted.count_data_units(layout, streams, dead);
        if counted.data_units != self.data_units {
            return Err("the data slots of streams do not follow from their codes".to_owned());
        }
        Ok(())
    }
}
