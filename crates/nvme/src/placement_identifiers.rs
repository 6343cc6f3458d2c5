//! Placement identifiers: a placement handle of the namespace, and of several reclaim groups one in the upper bits.

use crate::facts::{NamespaceFacts, SubsystemFacts};
use crate::placement::{DIRECTIVE, UNKNOWN_IDENTIFIER};
use crate::status::NvmeStatus;

/// Bits of a placement identifier that name one of `groups` reclaim groups (RGIF).
pub(crate) fn group_bits(groups: u16) -> u32 {
    u32::from(groups).next_power_of_two().trailing_zeros()
}

/// The place in the namespace's list of placement identifier `value`: of placement handle and reclaim group.
fn place_of(facts: &NamespaceFacts, value: u16) -> Option<usize> {
    let (groups, bits) = (facts.reclaim_groups, group_bits(facts.reclaim_groups));
    let (group, handle) =
        if bits == 0 { (0, value) } else { (value >> (16 - bits), value & (u16::MAX >> bits)) };
    let place = usize::from(handle) * usize::from(groups) + usize::from(group);
    (group < groups && place < facts.identifiers.len()).then_some(place)
}

/// The placement identifier of place `place` of the namespace's list.
pub(crate) fn value_at(facts: &NamespaceFacts, place: usize) -> u16 {
    let (groups, bits) = (usize::from(facts.reclaim_groups.max(1)), group_bits(facts.reclaim_groups));
    let (group, handle) = (place % groups, place / groups);
    (if bits == 0 { handle } else { group << (16 - bits) | handle }) as u16
}

/// The device's placement identifier for `value` of the namespace's; `None` of one that it does not have.
pub(crate) fn known(facts: &NamespaceFacts, value: u16) -> Option<u16> {
    place_of(facts, value).and_then(|place| facts.identifiers.get(place).copied())
}

/// The device's placement identifier of the namespace's placement handle `handle`, in the first reclaim group.
pub(crate) fn of_handle(facts: &NamespaceFacts, handle: u16) -> Option<u16> {
    facts.identifiers.get(usize::from(handle) * usize::from(facts.reclaim_groups)).copied()
}

/// Number and placement identifier of the namespace that may write through handle `handle` in reclaim group `group`; `None` if none may, or several.
pub(crate) fn only_namespace(facts: &SubsystemFacts, handle: u16, group: u16) -> Option<(u32, u16)> {
    let handles = &facts.placement.as_ref()?.handles;
    let of_handle = |identifier: u16| handles.get(usize::from(identifier)) == Some(&handle);
    let mut found = (1..).zip(&facts.namespaces).filter_map(|(number, own)| {
        let groups = usize::from(own.reclaim_groups.max(1));
        let of_place = |(place, &own): (usize, &u16)| of_handle(own) && place % groups == usize::from(group);
        let place = own.identifiers.iter().enumerate().find(|&own| of_place(own));
        place.map(|(place, _)| (number, value_at(own, place)))
    });
    found.next().filter(|_| found.next().is_none())
}

/// The device's identifier for a write with this directive and value; with one that the namespace does not have, that of its first handle, marked.
pub(crate) fn identifier_of(facts: &NamespaceFacts, directive: u32, value: u16) -> Result<u16, NvmeStatus> {
    let own = &facts.identifiers;
    match (directive, own.first()) {
        (0, first) => Ok(first.copied().unwrap_or(0)),
        (DIRECTIVE, Some(first)) => Ok(known(facts, value).unwrap_or(first | UNKNOWN_IDENTIFIER)),
        _ => Err(NvmeStatus::INVALID_FIELD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device's identifier of the first.
    const FIRST: u16 = 1000;

    fn facts(handles: u16, reclaim_groups: u16) -> NamespaceFacts {
        NamespaceFacts {
            offset: 0,
            blocks: 1,
            block_bytes: 512,
            preferred_blocks: 1,
            is_writable: true,
            guid: [0; 16],
            identifiers: (0..handles * reclaim_groups).map(|own| FIRST + own).collect(),
            reclaim_groups,
            zones: None,
        }
    }

    #[test]
    fn an_identifier_is_a_group_in_its_upper_bits_and_a_handle_in_the_others() {
        for (groups, bits) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6)] {
            assert_eq!(group_bits(groups), bits);
            let own = facts(7, groups);
            for handle in 0..7_u16 {
                for group in 0..groups {
                    let value = if bits == 0 { handle } else { group << (16 - bits) | handle };
                    let place = handle * groups + group;
                    assert_eq!(known(&own, value), Some(FIRST + place));
                    assert_eq!(value_at(&own, place.into()), value);
                }
            }
            assert_eq!(known(&own, 7), None, "a handle that there is not");
            assert_eq!(identifier_of(&own, DIRECTIVE, 7), Ok(FIRST | UNKNOWN_IDENTIFIER));
        }
        assert_eq!(known(&facts(7, 3), 3 << 14), None, "a group that there is not");
        assert_eq!(of_handle(&facts(7, 3), 2), Some(FIRST + 6));
    }
}
