use super::*;
use outlast_units::rng::SplitMix;
use std::collections::VecDeque;

const PAGES: usize = 20_000;

/// Ranks drawn from a Zipf law with exponent `theta`, by inversion of its exact distribution.
fn draws(theta: f64, seed: u64) -> impl FnMut() -> u32 {
    let mut sum = 0.0;
    let up_to: Vec<f64> = (1..=PAGES)
        .map(|rank| {
            sum += (rank as f64).powf(-theta);
            sum
        })
        .collect();
    let mut rng = SplitMix::new(seed, "zipf");
    move || {
        let at = rng.below(1 << 53) as f64 / (1u64 << 53) as f64 * sum;
        up_to.partition_point(|&up_to| up_to <= at).min(PAGES - 1) as u32
    }
}

/// Beside a plain list of pages, the latest first: each use is a hit in both or in neither, and the same page leaves.
#[test]
fn it_keeps_what_a_plain_list_keeps() {
    for (pages, room) in [(3, 1), (4, 2), (12, 7), (90, 64), (40, 40)] {
        let (mut own, mut model) = (MapCache::new(pages, room), VecDeque::<u32>::new());
        let mut rng = SplitMix::new(u64::from(room), "pages");
        for step in 0..20_000 {
            let page = rng.below(u64::from(pages)) as u32;
            let found = model.iter().position(|&kept| kept == page);
            assert_eq!(own.touch(page), found.is_some(), "page {page} in step {step}");
            if let Some(place) = found {
                model.remove(place);
            } else {
                let leaves = if model.len() == room as usize { model.pop_back() } else { None };
                assert_eq!(own.fill(page), leaves);
            }
            model.push_front(page);
            if step % 1000 == 0 {
                assert_eq!(own.check(), Ok(()));
            }
        }
        own.clear();
        assert_eq!((own.check(), own.touch(0)), (Ok(()), false));
    }
}

/// Che's approximation ("Hierarchical Web caching systems", IEEE JSAC 2002) for 20,000 pages, solved by bisection beside these runs: shares of hits in
/// caches of 1, 10 and 50 %.
#[test]
fn under_zipf_it_finds_what_theory_says() {
    let published = [(0.8, [0.174, 0.448, 0.796]), (1.0, [0.431, 0.697, 0.905])];
    for (theta, shares) in published {
        for (room, expected) in [PAGES / 100, PAGES / 10, PAGES / 2].into_iter().zip(shares) {
            let (mut own, mut draw, mut hits) =
                (MapCache::new(PAGES as u32, room as u32), draws(theta, 9), 0);
            let (warm, counted) = (200_000, 400_000);
            for step in 0..warm + counted {
                let page = draw();
                if own.touch(page) {
                    hits += u32::from(step >= warm);
                } else {
                    own.fill(page);
                }
            }
            let share = f64::from(hits) / f64::from(counted);
            assert!((share - expected).abs() < 0.01, "zipf {theta}, {room} pages: {share}, not {expected}");
        }
    }
}

#[test]
fn units_go_on_in_the_order_in_which_they_came() {
    let mut own = MapCache::new(4, 2);
    own.begins_reading(3);
    let work = |lpn| UnitWork::new(crate::HostRequestId(lpn), outlast_units::Lpn(lpn), 0, 8);
    for lpn in [7, 5, 6] {
        own.wait(Nanos(u64::from(lpn)), 3, work(lpn));
    }
    assert_eq!(own.check(), Ok(()));
    own.fill(3);
    assert!(own.check().is_err(), "units wait for a page that is here");
    let order: Vec<u32> = std::iter::from_fn(|| own.take_waiting(3)).map(|(_, work)| work.lpn.0).collect();
    assert_eq!((order, own.check()), (vec![7, 5, 6], Ok(())));
}
