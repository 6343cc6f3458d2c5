use super::*;

#[test]
fn what_is_due_comes_in_its_order_and_what_follows_comes_after_what_it_led_to() {
    let (mut unsettled, mut dirty) = (Unsettled::default(), Dirty::default());
    unsettled.add_then(CoreId(3), &mut dirty, Due::GcVictim);
    unsettled.add(CoreId(3), &mut dirty, Due::Admit);
    unsettled.add(CoreId(3), &mut dirty, Due::Collect);
    assert_eq!(unsettled.cores.as_slice(), [CoreId(3)], "a core is listed once");
    let mut seen = Vec::new();
    while let Some(due) = unsettled.take(&mut dirty) {
        seen.push(due);
        if seen.len() == 2 {
            // Admission made space short.
            unsettled.add(CoreId(3), &mut dirty, Due::Collect);
            assert!(dirty.is_before_admission());
        }
    }
    assert_eq!(seen, [Due::Collect, Due::Admit, Due::Collect, Due::GcVictim]);
    assert!(dirty.is_clean() && unsettled.is_empty());
}

#[test]
fn the_list_of_all_is_in_the_order_of_the_bits() {
    for (place, due) in Due::ALL.iter().enumerate() {
        assert_eq!(*due as usize, place);
    }
}
