use super::*;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes};

fn view() -> PassView {
    PassView { rebuild_from: None, can_rebuild: true, recovering: false, resync_from: None, can_shift: false }
}

fn passes() -> BackgroundPasses {
    BackgroundPasses::new(&BackgroundConfig::default())
}

/// Lost redundancy comes before redundancy in doubt, that before parity in the wrong place, that before a look at everything; and rows
/// that are written back hold all but a rebuild.
#[test]
fn the_pass_that_matters_most_comes_first() {
    let mut passes = passes();
    assert_eq!(passes.choose(&view()), None);
    passes.request_scrub(false, 0);
    assert_eq!(passes.choose(&view()), Some((PassKind::Scrub, GroupIndex(0))));
    let shift = PassView { can_shift: true, ..view() };
    assert_eq!(passes.choose(&shift), Some((PassKind::Shift, GroupIndex(0))));
    let resync = PassView { resync_from: Some(GroupIndex(3)), ..shift };
    assert_eq!(passes.choose(&resync), Some((PassKind::Resync, GroupIndex(3))));
    let rebuild = PassView { rebuild_from: Some(GroupIndex(7)), ..resync };
    assert_eq!(passes.choose(&rebuild), Some((PassKind::Rebuild, GroupIndex(7))));
    assert_eq!(
        passes.choose(&PassView { can_rebuild: false, ..rebuild }),
        Some((PassKind::Resync, GroupIndex(3)))
    );
    assert_eq!(
        passes.choose(&PassView { recovering: true, ..rebuild }),
        Some((PassKind::Rebuild, GroupIndex(7)))
    );
    assert_eq!(passes.choose(&PassView { recovering: true, ..resync }), None);
}

/// In whatever order groups end, the pass tells each group done once, stays within its window, and ends after the last.
#[test]
fn a_pass_does_every_group_once_whatever_the_order() {
    let mut rng = SplitMix::new(5, "passes");
    for groups in [1, 2, 63, 64, 65, 500] {
        let mut passes = passes();
        passes.begin(PassKind::Resync, GroupIndex(0));
        let (mut open, mut seen, mut base) = (Vec::new(), vec![0; groups as usize], GroupIndex(0));
        loop {
            match passes.next(groups, true) {
                PassStep::Work(kind, group) => {
                    assert_eq!(kind, PassKind::Resync);
                    assert!(group < base + AHEAD, "group {group} lies beyond the window at {base}");
                    seen[group.index()] += 1;
                    if rng.below(3) == 0 {
                        base = passes.skip(group, Bytes(1)).map_or(base, |(_, done)| done);
                    } else {
                        open.push((group, passes.begin_group(Nanos(2), Bytes(1))));
                    }
                }
                PassStep::Wait => {
                    assert!(!open.is_empty(), "a pass that waits for nothing never ends");
                    let (group, epoch) = open.swap_remove(rng.below(open.len() as u64) as usize);
                    base = passes.end_group(group, epoch).map_or(base, |(_, done)| done);
                }
                PassStep::End(_) => break,
                other => panic!("{other:?}"),
            }
            assert_eq!(passes.operations(), open.len());
        }
        assert_eq!((base, seen.iter().all(|&times| times == 1)), (GroupIndex(groups), true));
    }
}

/// Groups that a pass had under way when it was given up do not count for the next one.
#[test]
fn operations_of_a_pass_that_was_given_up_are_not_counted() {
    let mut passes = passes();
    passes.begin(PassKind::Rebuild, GroupIndex(0));
    let old = passes.begin_group(Nanos(1), Bytes(1));
    assert_eq!(passes.next(10, false), PassStep::GiveUp);
    passes.drop_pass();
    passes.begin(PassKind::Scrub, GroupIndex(0));
    let new = passes.begin_group(Nanos(2), Bytes(1));
    assert_eq!((passes.end_group(GroupIndex(0), old), passes.operations()), (None, 1));
    assert_eq!(
        (passes.end_group(GroupIndex(0), new), passes.operations()),
        (Some((PassKind::Scrub, GroupIndex(1))), 0)
    );
}

/// Between 1 and 10 MB/s, pieces of 128 KiB begin as often as the upper limit has it; where the host has moved more than 64 sectors of a member
/// since it last was busy, all that is under way is done first; not below the lower limit; and a rate of its own takes no heed of the host.
#[test]
fn the_pace_is_mds() {
    let settings = BackgroundConfig {
        min_rate: ByteRate::new(1_000_000),
        max_rate: ByteRate::new(10_000_000),
        ..BackgroundConfig::default()
    };
    let piece = Bytes::kib(128);
    let start = Nanos::secs(10);
    let mut pacer = WorkPacer::new();
    assert_eq!(pacer.next_start(&settings, start, 0, &[0, 0], None), NextStart::Now);
    pacer.note_begun(start, piece);
    let due = start + ByteRate::new(10_000_000).unwrap().time_for(piece);
    assert_eq!(pacer.next_start(&settings, start, 1, &[0, 64], None), NextStart::At(due), "the upper limit");
    assert_eq!(pacer.next_start(&settings, due, 1, &[0, 64], None), NextStart::Now, "64 sectors are no host");
    pacer.note_begun(due, piece);
    let then = due + Nanos::millis(20);
    assert_eq!(pacer.next_start(&settings, then, 2, &[0, 65], None), NextStart::WhenDone, "65 are one");
    assert_eq!(
        pacer.next_start(&settings, then, 1, &[0, 65], None),
        NextStart::WhenDone,
        "until all is done"
    );
    assert_eq!(pacer.next_start(&settings, then, 0, &[0, 65], None), NextStart::Now, "then it goes on");
    pacer.note_begun(then, piece);
    let late = start + Nanos::secs(1);
    assert_eq!(
        pacer.next_start(&settings, late, 1, &[0, 999], None),
        NextStart::Now,
        "below the lower limit"
    );
    pacer.note_begun(late, piece);
    let fixed = ByteRate::new(128 << 10);
    assert_eq!(pacer.next_start(&settings, late, 9, &[0, 9999], fixed), NextStart::At(late + Nanos::secs(1)));
}

/// Sectors under way for the array count against those of the host, as in md: beside a full window a little I/O passes unnoticed.
#[test]
fn what_is_under_way_hides_a_little_of_the_host() {
    let settings =
        BackgroundConfig { min_rate: ByteRate::new(1), max_rate: None, ..BackgroundConfig::default() };
    let mut pacer = WorkPacer::new();
    let now = Nanos::millis(1);
    let mut begin_piece = |traffic: i64| {
        let start = pacer.next_start(&settings, now, 1, &[traffic], None);
        pacer.note_begun(now, Bytes::kib(128));
        start
    };
    assert_eq!([0, -256, 300 - 512, 64].map(&mut begin_piece), [NextStart::Now; 4]);
    assert_eq!(begin_piece(321 - 256), NextStart::WhenDone);
}

/// The floor is one of the mean over the last half a minute: after ten minutes at twice the floor, at half of it, the work waits for the host for
/// another 20 s.
#[test]
fn the_mean_forgets() {
    let floor = ByteRate::new(1_000_000);
    let settings = BackgroundConfig { min_rate: floor, max_rate: None, ..BackgroundConfig::default() };
    let mut pacer = WorkPacer::new();
    let (mut now, mut moved) = (Nanos::ZERO, 0);
    let mut waits_at = |rate: u64, until: Nanos| {
        let piece = Bytes::kib(128);
        let mut last = None;
        while now < until {
            moved += 100;
            if pacer.next_start(&settings, now, 1, &[moved], None) == NextStart::WhenDone {
                assert_eq!(pacer.next_start(&settings, now, 0, &[moved], None), NextStart::Now);
                last = Some(now);
            }
            pacer.note_begun(now, piece);
            now += ByteRate::new(rate).unwrap().time_for(piece);
        }
        last.unwrap()
    };
    let fast = Nanos::secs(600);
    assert!(waits_at(2_000_000, fast) + Nanos::secs(1) > fast);
    let waited = waits_at(500_000, fast + Nanos::secs(60)) - fast;
    // Marks are 3 s apart.
    assert!((Nanos::secs(17)..Nanos::secs(23)).contains(&waited), "{waited}");
}
