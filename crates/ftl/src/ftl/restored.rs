//! Checks of state that was read: what a core takes for granted beside its invariants, which [`Ftl::self_check`] looks at. They take time in proportion to
//! the state.

use crate::ftl::Ftl;
use outlast_media::UnitBytes;
use outlast_units::Ppn;

/// Checks that each slot has bytes of its page, if bytes are kept: a valid one some, a stale one, which a loss of power may make valid again, no others.
pub(super) fn check_contents(ftl: &Ftl) -> Result<(), String> {
    let Some(contents) = &ftl.space.contents() else { return Ok(()) };
    for slot in (0..ftl.space.layout().slots()).map(Ppn) {
        let page = ftl.pages.map().owner(slot);
        let has = contents.raw(slot.0).map(UnitBytes::tag);
        let fits = match has {
            Some(tag) => !page.is_some() || tag == page.0,
            None => !ftl.pages.map().is_valid(slot) || ftl.pages.is_map_page(page),
        };
        if !fits {
            return Err(format!("slot {slot} has bytes of page {has:?}, not of page {page}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
