//! Checks of state that was read: the copies to which a loss of power would bring pages back.

use crate::origins::{LOST, UnitOrigins, is_copy};
use crate::pages::PageTable;
use crate::space::FlashSpace;
use outlast_decisions::SuperblockState;
use outlast_units::{Lpn, Ppn, to_length};

/// Checks that slots which losses and origins name are there, and that pages go back to copies of their own that have not been erased.
///
/// # Errors
/// The first slot or page that does not.
pub(crate) fn check_pages(pages: &PageTable, space: &FlashSpace) -> Result<(), String> {
    let slots = space.layout().slots();
    if let Some(slot) = pages.losses.slots().find(|slot| slot.0 >= slots) {
        return Err(format!("slot {slot} of {slots} is lost"));
    }
    let Some(origins) = &pages.origins else { return Ok(()) };
    origins.check_tables(space.layout(), |superblock| {
        space.superblocks().state(superblock) == SuperblockState::Open
    })?;
    for (lpn, &former) in &origins.trimmed {
        if pages.lookup(*lpn).is_some() {
            return Err(format!("page {lpn} has data, and its trim would be undone"));
        }
        check_copy(pages, space, *lpn, former, true)?;
    }
    let leads = leading(pages, space, origins);
    for (slot, origin) in origins.needed(space.layout(), |slot| space.pus().is_programmed(slot)) {
        check_copy(pages, space, pages.owner(slot), origin, leads.get(slot.index()) == Some(&true))?;
    }
    origins.check_ends(space.layout(), |slot| space.pus().is_programmed(slot))
}

/// The slots in the buffer through which a loss of power would take a page back: those of current units and of undone trims, and what they supersede in
/// turn. A unit that was written before a trim of its page, which nothing undoes, is none of them.
fn leading(pages: &PageTable, space: &FlashSpace, origins: &UnitOrigins) -> Vec<bool> {
    let mut leads = vec![false; to_length(space.layout().slots().into())];
    let mut walk = |mut at: Ppn| {
        while at.0 < space.layout().slots() && !space.pus().is_programmed(at) && !leads[at.index()] {
            leads[at.index()] = true;
            at = origins.of(space.layout(), at).unwrap_or(Ppn::NONE);
        }
    };
    origins.trimmed.values().copied().for_each(&mut walk);
    for (slot, origin) in origins.needed(space.layout(), |slot| space.pus().is_programmed(slot)) {
        let lpn = pages.owner(slot);
        if lpn.is_some() && pages.lookup(lpn) == slot {
            walk(slot);
            walk(origin);
        }
    }
    leads
}

/// Checks that page `lpn` can go back to `copy`, and if one `leads` there, that it is what is on flash, or what it would go back to in turn.
fn check_copy(pages: &PageTable, space: &FlashSpace, lpn: Lpn, copy: Ppn, leads: bool) -> Result<(), String> {
    if !is_copy(copy) {
        return if copy == LOST || copy == Ppn::NONE {
            Ok(())
        } else {
            Err(format!("page {lpn} goes back to slot {copy}"))
        };
    }
    if copy.0 >= space.layout().slots() {
        return Err(format!("page {lpn} goes back to slot {copy} of {}", space.layout().slots()));
    }
    if pages.losses.is_lost_stale(copy) {
        return Ok(());
    }
    let state = space.superblocks().state(space.layout().superblock_of(copy));
    let is_erased = matches!(state, SuperblockState::Free | SuperblockState::Retired);
    let lacks_bytes = leads
        && space.pus().is_programmed(copy)
        && !pages.is_map_page(lpn)
        && space.contents().is_some_and(|contents| contents.raw(copy.0).is_none());
    if is_erased || lacks_bytes || pages.owner(copy) != lpn {
        return Err(format!("page {lpn} goes back to slot {copy}, which has no copy of it"));
    }
    Ok(())
}
