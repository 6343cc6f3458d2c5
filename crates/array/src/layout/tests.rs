//! Are the maps one to one, and do pieces cover exactly what was asked? Counted out by brute force.

use super::*;
use crate::placement::ShiftPlan;
use outlast_settings::array::{ParityLayout, Shares};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn any_layout() -> impl Strategy<Value = GroupLayout> {
    let named = prop::sample::select(vec![
        ParityLayout::LeftSymmetric,
        ParityLayout::LeftAsymmetric,
        ParityLayout::RightSymmetric,
        ParityLayout::RightAsymmetric,
        ParityLayout::ParityFirst,
        ParityLayout::ParityLast,
    ]);
    let striped = (named, 1usize..6, 0usize..4, 1u64..9, 1u64..60).prop_map(|(layout, k, m, chunk, size)| {
        GroupLayout::striped(ParityPlacement::named(layout, k, m), chunk, size)
    });
    let weighted = (prop::sample::select(vec![1usize, 2]), 1u64..9, 1u64..99).prop_map(|(m, chunk, size)| {
        let shares = Shares::from_percent("p", &[50.0, 12.5, 12.5, 12.5, 12.5], m).unwrap();
        GroupLayout::striped(ParityPlacement::from_shares(&shares), chunk, size)
    });
    let kinds = prop::sample::select(vec![CopyLayout::Near, CopyLayout::Far, CopyLayout::Offset]);
    let copies = (kinds, 2u64..6, 2u64..4, 1u64..9, 1u64..60)
        .prop_map(|(kind, n, c, chunk, size)| GroupLayout::copies(kind, n.max(c), c, chunk, size));
    prop_oneof![striped, weighted, copies]
}

fn columns(layout: &GroupLayout) -> usize {
    match &layout.map {
        GroupMap::Striped(striped) => striped.now.columns(),
        GroupMap::Copies { columns, .. } => *columns as usize,
    }
}

proptest! {
    /// A command within one chunk is one piece, the same as where it is cut like any other.
    #[test]
    fn a_piece_in_a_chunk_is_the_only_one(layout in any_layout(), at: u64, sectors in 0_u64..64, joined: bool) {
        prop_assume!(layout.capacity() > 0);
        let first = at % layout.capacity();
        let sectors = sectors.min(layout.capacity() - first);
        if let Some(piece) = layout.piece_in_chunk(first, sectors) {
            let cut: Vec<_> = layout.pieces(first, sectors, joined).map(|own| format!("{own:?}")).collect();
            prop_assert_eq!(cut, [format!("{piece:?}")]);
        }
    }

    /// Every chunk of every group has a place of its own, roles of one group lie on different members, and the inverse agrees.
    #[test]
    fn places_are_one_to_one(layout in any_layout()) {
        let mut seen = BTreeSet::new();
        for group in GroupIndex::each(GroupIndex(0)..GroupIndex(layout.groups)) {
            let mut members = BTreeSet::new();
            for role in 0..layout.roles {
                let (column, sector) = layout.locate(group, role, false);
                prop_assert!(seen.insert((column, sector)), "two chunks at column {} sector {}", column, sector);
                prop_assert!(members.insert(column), "two chunks of group {} on column {}", group, column);
                prop_assert_eq!(layout.role_on(group, column, false), Some(role));
                prop_assert!(sector % layout.chunk == 0);
                prop_assert_eq!(layout.group_at(column, sector + layout.chunk - 1), Some(group));
                prop_assert!(sector + layout.chunk <= layout.member_sectors());
            }
        }
        prop_assert!(seen.iter().all(|&(column, _)| column.index() < columns(&layout)));
        let all = (0..columns(&layout)).map(|column| ColumnIndex(column as u8)).flat_map(|column| {
            let chunks = layout.member_sectors() / layout.chunk;
            (0..chunks).map(move |chunk| (column, chunk)).collect::<Vec<_>>()
        });
        let with_data = all.filter(|&(column, chunk)| layout.group_at(column, chunk * layout.chunk).is_some());
        prop_assert_eq!(with_data.count(), seen.len());
    }

    /// The pieces of a run cover each of its sectors once, and no other.
    #[test]
    fn pieces_cover_a_run_exactly(layout in any_layout(), a in any::<u32>(), b in any::<u32>(), banded: bool) {
        let capacity = layout.capacity();
        prop_assume!(capacity > 0);
        let first = u64::from(a) % capacity;
        let sectors = 1 + u64::from(b) % (capacity - first);
        let mut covered = vec![0u8; capacity as usize];
        let mut last_group = GroupIndex(0);
        for piece in layout.pieces(first, sectors, banded) {
            assert!(piece.group >= last_group && piece.rows.end <= layout.chunk as u32);
            assert!(banded || piece.end_role == piece.first_role + 1);
            last_group = piece.group;
            for role in piece.first_role..piece.end_role {
                for row in piece.rows.first..piece.rows.end {
                    covered[layout.logical(piece.group, usize::from(role), row) as usize] += 1;
                }
            }
        }
        for (sector, &times) in covered.iter().enumerate() {
            let wanted = (first..first + sectors).contains(&(sector as u64));
            prop_assert_eq!(times, u8::from(wanted), "sector {}", sector);
        }
    }
}

/// Three members, two copies: md's own example of near copies over an odd number of members.
#[test]
fn near_copies_wrap_over_an_odd_number_of_members() {
    let layout = GroupLayout::copies(CopyLayout::Near, 3, 2, 1, 4);
    let places = (0..3).map(|g| [0, 1].map(|copy| layout.locate(GroupIndex(g), copy, false)));
    let places = places.map(|copies| copies.map(|(column, sector)| (column.0, sector)));
    assert_eq!(places.collect::<Vec<_>>(), [[(0, 0), (1, 0)], [(2, 0), (0, 1)], [(1, 1), (2, 1)]]);
    assert_eq!(layout.capacity(), 6);
}

#[test]
fn a_shift_moves_stripe_by_stripe() {
    let shares = Shares::from_percent("p", &[70.0, 10.0, 10.0, 10.0], 1).unwrap();
    let from = ParityPlacement::from_shares(&shares);
    let plan = ShiftPlan::minimal(&from, &shares.ranked(&[1, 2, 3, 0]).counts);
    let mut layout = GroupLayout::striped(from.clone(), 8, 8 * 20);
    let shift = ParityShift::new(&from, plan, layout.groups, false);
    assert_eq!(shift.left, 12, "six of ten stripes");
    let stripe = (0..20).map(GroupIndex).find(|&stripe| !shift.is_moved(stripe)).unwrap();
    let GroupMap::Striped(striped) = &mut layout.map else { unreachable!("built as stripes") };
    striped.shift = Some(shift);
    let places =
        |layout: &GroupLayout, target| [0, 1, 2, 3].map(|role| layout.locate(stripe, role, target).0);
    let (before, after) = (places(&layout, false), places(&layout, true));
    assert_ne!(before, after);
    layout.shift_mut().unwrap().set_moved(stripe);
    assert_eq!(places(&layout, false), after);
    assert_eq!(layout.shift().unwrap().left, 11);
}
