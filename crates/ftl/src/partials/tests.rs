//! Tests of partials by themselves.

use super::*;

const STRIPE: StripeId = (SuperblockId(2), 5);

fn sent() -> CoverTable {
    let mut partials = CoverTable::new(Some(PartialPlace::Blocks), 64, 2, 1);
    partials.set_exposed(Stream(0), 3);
    assert_eq!(partials.open_log(SuperblockId(1), 8, 0), None);
    let pus = partials.take_from_log(&[LaneIndex(0), LaneIndex(1)], Pu(8), 2, 1).unwrap();
    partials.send_cover(Stream(0), STRIPE, StripeCover { until: PuWithin(7), pus });
    partials
}

#[test]
fn a_cover_counts_when_all_of_it_is_on_flash() {
    let mut partials = sent();
    partials.set_exposed(Stream(0), 4);
    assert_eq!(
        [partials.take_queued(), partials.take_queued(), partials.take_queued()],
        [Some(Pu(8)), Some(Pu(9)), None]
    );
    assert!(partials.settle_programmed(Pu(8)) && partials.is_coming(Stream(0)));
    assert!(partials.cover(STRIPE.0, STRIPE.1).is_none());
    partials.settle_programmed(Pu(9));
    assert_eq!(partials.cover(STRIPE.0, STRIPE.1).map(|cover| cover.until), Some(PuWithin(7)));
    assert_eq!((partials.exposed(Stream(0)), partials.settle_programmed(Pu(9))), (1, false));
    assert_eq!(partials.check(|superblock| superblock == STRIPE.0), Ok(()));
    assert!(partials.check(|_| false).unwrap_err().contains("is erased"));
}

#[test]
fn a_full_superblock_of_the_log_is_closed_when_nothing_there_is_needed() {
    let mut partials = sent();
    assert_eq!(partials.take_from_log(&[LaneIndex(0)], Pu(8), 2, 1), None);
    assert_eq!(partials.open_log(SuperblockId(3), 8, 0), Some(SuperblockId(1)));
    assert_eq!(partials.take_closed(8), None);
    partials.drop_covers_before(STRIPE.0, STRIPE.1);
    assert_eq!(partials.take_closed(8), None);
    partials.drop_covers_before(STRIPE.0, STRIPE.1 + 1);
    assert_eq!((partials.take_closed(8), partials.take_closed(8)), (Some((SuperblockId(1), 6)), None));
}

#[test]
fn a_cover_that_fails_never_comes() {
    let mut partials = sent();
    partials.drop_failed(Pu(9));
    assert!(!partials.is_coming(Stream(0)) && !partials.drop_stripe(STRIPE));
    assert_eq!(partials.exposed(Stream(0)), 3);
    partials = sent();
    assert!(partials.drop_stripe(STRIPE));
    partials = sent();
    partials.drop_coming(8);
    assert_eq!((partials.log(), partials.take_closed(8)), (None, Some((SuperblockId(1), 6))));
}
