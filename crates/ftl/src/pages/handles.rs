//! Handles of the units in superblocks: what lies beside what, and that nothing lies where it must not.

use crate::handles::HandleContents;
use crate::pages::PageTable;
use crate::space::FlashSpace;
use crate::streams::StreamCause;
use outlast_units::{Ppn, Stream, SuperblockId};

impl PageTable {
    /// Valid units of each handle, and those of them that lie beside units of others. In time proportional to the flash.
    pub(crate) fn handle_contents(&self, space: &FlashSpace) -> Vec<HandleContents> {
        let handles = space.streams().hosts().len();
        let mut sums = vec![HandleContents::default(); handles];
        for superblock in space.superblocks().ids() {
            let mut valid = vec![0; handles];
            for handle in self.handles_in(space, superblock).flatten() {
                valid[usize::from(handle.0)] += 1;
            }
            let is_mixed = valid.iter().filter(|&&units| units != 0).count() > 1;
            for (sum, units) in sums.iter_mut().zip(valid) {
                sum.valid += units;
                sum.mixed += if is_mixed { units } else { 0 };
            }
        }
        sums
    }

    /// The handle of each valid unit of `superblock`; `None` of a page of the mapping table.
    fn handles_in<'a>(
        &'a self,
        space: &FlashSpace,
        superblock: SuperblockId,
    ) -> impl Iterator<Item = Option<Stream>> + 'a {
        let first = space.layout().first_slot(superblock);
        let slots = Ppn::each(first..first + space.layout().units_per_superblock());
        let valid = slots.filter(|&slot| self.map.is_valid(slot));
        self.handles.iter().flat_map(move |handles| valid.clone().map(|slot| handles.handle_of(slot)))
    }

    /// Checks that a superblock of a handle holds units of it alone, and one of moved data only units of handles that are isolated together.
    ///
    /// # Errors
    /// The first superblock with a unit that must not be there.
    pub(super) fn check_handles(&self, space: &FlashSpace) -> Result<(), String> {
        let streams = space.streams();
        for superblock in space.superblocks().ids() {
            let stream = space.superblocks().opened_by(superblock);
            let is_host = streams.cause(stream) == StreamCause::Host;
            let belongs = |handle: &Option<Stream>| match *handle {
                Some(handle) if is_host => handle == stream,
                Some(handle) => streams.class(handle) == streams.class(stream),
                None => {
                    !is_host && streams.map().is_some_and(|map| streams.class(map) == streams.class(stream))
                }
            };
            if let Some(stray) = self.handles_in(space, superblock).find(|handle| !belongs(handle)) {
                return Err(format!(
                    "superblock {superblock} of {stream:?} holds a unit of handle {stray:?}"
                ));
            }
        }
        Ok(())
    }
}
