//! Do sums, differences and names follow from the list of causes and of counters?

outlast_units::causes! {
    /// Why.
    pub enum Why;
    /// Numbers by [`Why`].
    pub struct Numbers;
    One = "one", "the first";
    Two = "two", "the second", label: "number two";
    Three = "three", "the third", group: "two";
}

outlast_units::counters! {
    /// Both kinds.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Both {
        /// With a cause.
        pub by_cause: Numbers<u64>,
        /// Without.
        pub alone: u64,
    }
}

#[test]
fn sums_and_differences_follow_from_the_list() {
    let one = Both { by_cause: Numbers::of(|why| why as u64 + 1), alone: 10 };
    let sum: Both = [one, one, one].into_iter().sum();
    assert_eq!(sum.by_cause.iter().map(|(_, count)| count).collect::<Vec<_>>(), [3, 6, 9]);
    assert_eq!((sum.by_cause.total(), sum.alone), (18, 30));
    assert_eq!(sum - one, one + one);
    assert_eq!(sum.by_cause.of_group("two"), 15);
}

#[test]
fn names_labels_and_groups() {
    assert_eq!(Why::ALL.map(Why::name), ["one", "two", "three"]);
    assert_eq!(Why::ALL.map(Why::label), ["one", "number two", "three"]);
    assert_eq!(Why::ALL.map(Why::group), ["one", "two", "two"]);
    assert_eq!(Why::Three.meaning(), "the third");
    let mut numbers = Numbers::<u64>::default();
    numbers[Why::Two] += 5;
    assert_eq!(numbers.map(|count| count * 2)[Why::Two], 10);
}
