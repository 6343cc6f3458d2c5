//! Checks of state that was read: codes against the layout, and the progress of open superblocks.

use crate::space::{FlashSpace, PuStates};
use crate::streams::StreamCause;
use crate::stripes::PuRole;
use outlast_decisions::SuperblockState;
use outlast_units::{LaneIndex, Stream, SuperblockId, to_count};

/// Checks what follows from the layout, and how far open superblocks have come.
///
/// # Errors
/// The first that is another.
pub(crate) fn check_space(space: &FlashSpace) -> Result<(), String> {
    let PuStates { layout, streams, codes, lanes, superblocks, .. } = &space.pus;
    codes.check_restored(layout, streams, lanes.dead(), |superblock| superblocks.mode(superblock))?;
    superblocks.check_coming()?;
    space.frontiers.streams().try_for_each(|stream| check_due(space, stream))?;
    superblocks
        .in_state(SuperblockState::Open)
        .try_for_each(|superblock| check_progress(&space.pus, superblock))
}

/// Checks that parity is due up to the stripe that `stream` fills, and has all been handed out unless its superblock was closed.
fn check_due(space: &FlashSpace, stream: Stream) -> Result<(), String> {
    let frontier = &space.frontiers[stream];
    let (superblock, due) = (frontier.superblock(), frontier.due());
    let Some(code) = space.pus.codes.of(superblock).filter(|_| frontier.has_opened()) else {
        return Ok(());
    };
    // One that another stream has opened since may have fewer stripes.
    let is_own = space.pus.superblocks.opened_by(superblock) == stream;
    let is_open = is_own && space.pus.superblocks.state(superblock) == SuperblockState::Open;
    let reached = if is_open && !frontier.is_full() {
        due.end == code.stripe_of(space.pus.layout.within_of(superblock, frontier.next()))
    } else {
        !is_own || due.end <= code.count()
    };
    let is_handed_out = due.stripe == due.end && due.handed_out == 0;
    if reached && (is_handed_out || space.pus.lanes.is_closed(superblock) && due.stripe <= due.end) {
        return Ok(());
    }
    Err(format!(
        "stream {} owes parity of stripes {} to {} of superblock {superblock}",
        stream.0, due.stripe, due.end
    ))
}

/// Checks the open superblock `superblock`: where nothing has failed, each of its program units is on flash up to the row that its lane has reached,
/// still to come, a gap, or the rest of a superblock of partial parity that was given up.
fn check_progress(pus: &PuStates, superblock: SuperblockId) -> Result<(), String> {
    if pus.lanes.is_irregular(superblock) {
        return Ok(());
    }
    let on_lane = |lane: LaneIndex| {
        let programmed = pus.pus_on(superblock, lane).filter(|&pu| pus.superblocks.is_programmed(pu));
        to_count(programmed.count())
    };
    for lane in pus.layout.lanes().indices() {
        let rows = pus.physical.programmed(&pus.layout, superblock, lane);
        if on_lane(lane) != rows {
            return Err(format!(
                "lane {lane} of superblock {superblock} is programmed to row {rows}, with {} program units on flash",
                on_lane(lane)
            ));
        }
    }
    let mode = pus.superblocks.mode(superblock);
    let is_left_out = |&pu: &_| match pus.role(superblock, pu) {
        PuRole::Gap => true,
        PuRole::Partial => !pus.superblocks.is_programmed(pus.layout.pu_at(superblock, pu)),
        _ => false,
    };
    let left_out = to_count(pus.layout.pus_within(mode).filter(is_left_out).count());
    let programmed: u32 = pus.layout.lanes().indices().map(on_lane).sum();
    let (to_come, used) = (pus.superblocks.to_come(superblock), pus.layout.used_pus(mode));
    // A program unit that holds partial parity may be still to come.
    let least = used.checked_sub(programmed + left_out);
    // Nothing comes to the rest of a superblock of partial parity that the log has given up: only what was on its way then.
    let is_given_up = pus.streams.cause(pus.superblocks.opened_by(superblock)) == StreamCause::Partial
        && !pus.partials.is_of_log(superblock);
    if least.is_none_or(|least| to_come < least && !is_given_up) || programmed + to_come > used {
        return Err(format!(
            "superblock {superblock}: {programmed} program units are on flash and {to_come} to come, of {used}"
        ));
    }
    Ok(())
}
