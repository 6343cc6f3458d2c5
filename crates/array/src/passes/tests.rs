use super::*;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes};

fn view() -> View {
    View { rebuild_from: None, can_rebuild: true, recovering: false, resync_from: None, can_shift: false }
}

fn passes() -> Passes {
    Passes::new(&BackgroundConfig::default())
}

/// Lost redundancy comes before redundancy in doubt, that before parity in the wrong place, that before a look at everything; and rows
/// that are written back hold all but a rebuild.
#[test]
fn the_pass_that_matters_most_comes_first() {
    let mut passes = passes();
    assert_eq!(passes.choose(&view()), None);
    passes.want_scrub(false, 0);
    assert_eq!(passes.choose(&view()), Some((PassKind::Scrub, 0)));
    let shift = View { can_shift: true, ..view() };
    assert_eq!(passes.choose(&shift), Some((PassKind::Shift, 0)));
    let resync = View { resync_from: Some(3), ..shift };
    assert_eq!(passes.choose(&resync), Some((PassKind::Resync, 3)));
    let rebuild = View { rebuild_from: Some(7), ..resync };
    assert_eq!(passes.choose(&rebuild), Some((PassKind::Rebuild, 7)));
    assert_eq!(passes.choose(&View { can_rebuild: false, ..rebuild }), Some((PassKind::Resync, 3)));
    assert_eq!(passes.choose(&View { recovering: true, ..rebuild }), Some((PassKind::Rebuild, 7)));
    assert_eq!(passes.choose(&View { recovering: true, ..resync }), None);
}

/// In whatever order groups end, the pass tells each group done once, stays within its window, and ends after the last.
#[test]
fn a_pass_does_every_group_once_whatever_the_order() {
    let mut rng = SplitMix::new(5, "passes");
    for groups in [1, 2, 63, 64, 65, 500] {
        let mut passes = passes();
        passes.begin(Nanos(1), PassKind::Resync, 0);
        let (mut open, mut seen, mut base) = (Vec::new(), vec![0; groups as usize], 0);
        loop {
            match passes.next(groups, true) {
                Turn::Look(kind, group) => {
                    assert_eq!(kind, PassKind::Resync);
                    assert!(group < base + AHEAD, "group {group} lies beyond the window at {base}");
                    seen[group as usize] += 1;
                    if rng.below(3) == 0 {
                        base = passes.skip(group).map_or(base, |(_, done)| done);
                    } else {
                        open.push((group, passes.work_begins(Nanos(2))));
                    }
                }
                Turn::Wait => {
                    assert!(!open.is_empty(), "a pass that waits for nothing never ends");
                    let (group, epoch) = open.swap_remove(rng.below(open.len() as u64) as usize);
                    base = passes.work_ends(group, epoch).map_or(base, |(_, done)| done);
                }
                Turn::End(_) => break,
                other => panic!("{other:?}"),
            }
            assert_eq!(passes.operations(), open.len());
        }
        assert_eq!((base, seen.iter().all(|&times| times == 1)), (groups, true));
    }
}

/// What a pass that was given up still had under way does not count for the next one.
#[test]
fn operations_of_a_pass_that_was_given_up_are_not_counted() {
    let mut passes = passes();
    passes.begin(Nanos(1), PassKind::Rebuild, 0);
    let old = passes.work_begins(Nanos(1));
    assert_eq!(passes.next(10, false), Turn::GiveUp);
    passes.drop_pass();
    passes.begin(Nanos(2), PassKind::Scrub, 0);
    let new = passes.work_begins(Nanos(2));
    assert_eq!((passes.work_ends(0, old), passes.operations()), (None, 1));
    assert_eq!((passes.work_ends(0, new), passes.operations()), (Some((PassKind::Scrub, 1)), 0));
}

/// The pace while the host is active, has just been, and has long been idle; and a rate of its own.
#[test]
fn the_pace_follows_the_host() {
    let settings = BackgroundConfig {
        min_rate: ByteRate::new(1000),
        max_rate: ByteRate::new(1_000_000),
        idle_after: Nanos::millis(500),
        ..BackgroundConfig::default()
    };
    let piece = (Nanos::secs(10), Bytes(1000));
    let next = |is_active, last_served, now, fixed| {
        pace(&settings, HostActivity { is_active, last_served }, now, piece, fixed)
    };
    let begun = Nanos::secs(10);
    assert_eq!(next(true, Some(begun), begun, None), Some(Nanos::secs(11)), "the slow rate beside the host");
    assert_eq!(next(false, None, begun, None), Some(Nanos::millis(10_001)), "the fast rate without it");
    assert_eq!(next(false, Some(begun), begun, None), Some(Nanos::millis(10_500)), "once it counts as idle");
    assert_eq!(next(false, None, Nanos::millis(10_001), None), None, "now");
    assert_eq!(next(false, None, begun, ByteRate::new(500)), Some(Nanos::secs(12)), "a rate of its own");
}
