//! The fuzz targets of `fuzz/` without libFuzzer: its macro, which here makes a test of a target.
//!
//! A test hands its target some hundred inputs: any bytes, and samples that were changed in a few places. `PROPTEST_RNG_SEED` says which,
//! `PROPTEST_CASES` how many, and a failure is made as small as it can be. What needs hours is found by libFuzzer itself, which follows the
//! branches that inputs take; see `fuzz/README.md`.

pub mod forged;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestError, TestRunner};

/// A target as a test: `survives`, which draws inputs from the samples that the enclosing module has for the target's name.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: &[u8]| $body:block) => {
        #[test]
        fn survives() {
            $crate::try_out(&super::samples(module_path!()), &|$input: &[u8]| $body);
        }
    };
    (|$input:ident: &str| $body:block) => {
        #[test]
        fn survives() {
            let target = |$input: &str| $body;
            $crate::try_out(&super::samples(module_path!()), &|bytes: &[u8]| {
                target(&String::from_utf8_lossy(bytes));
            });
        }
    };
}

/// The first seed of a test that draws its cases by itself: that of property tests, at most some four billion, or 1.
///
/// # Panics
/// Where `PROPTEST_RNG_SEED` is no number.
pub fn drawn() -> u64 {
    let given = std::env::var_os("PROPTEST_RNG_SEED").map(|seed| seed.to_string_lossy().parse::<u64>());
    given.map_or(1, |seed| seed.expect("PROPTEST_RNG_SEED is a number") % (1 << 32))
}

/// A change of a sample, at a place in it.
#[derive(Clone, Debug)]
enum Edit {
    Put(u8),
    Insert(Vec<u8>),
    Remove(u8),
    Repeat(u8),
    CutOff,
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>, place: Index) {
        let at = place.index(bytes.len() + 1);
        let end = |length: u8| (at + usize::from(length)).min(bytes.len());
        match self {
            Self::Put(byte) => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = *byte),
            Self::Insert(new) => drop(bytes.splice(at..at, new.iter().copied())),
            Self::Remove(length) => drop(bytes.drain(at..end(*length))),
            Self::Repeat(length) => bytes.extend_from_within(at..end(*length)),
            Self::CutOff => bytes.truncate(at),
        }
    }
}

/// What texts are made of where they are worth reading: ends of ranges, signs, separators.
fn tokens() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "0",
        "-1",
        "4294967296",
        "18446744073709551615",
        "1e308",
        "nan",
        "inf",
        ",",
        "\n",
        "=",
        "\"",
        "[",
        "{}",
        "%",
        "k",
    ];
    prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        vec(any::<u8>(), 1..6)
    ]
}

fn edits() -> impl Strategy<Value = Vec<(Index, Edit)>> {
    let edit = prop_oneof![
        4 => any::<u8>().prop_map(Edit::Put),
        4 => tokens().prop_map(Edit::Insert),
        2 => (1..40u8).prop_map(Edit::Remove),
        1 => any::<u8>().prop_map(Edit::Repeat),
        1 => Just(Edit::CutOff),
    ];
    vec((any::<Index>(), edit), 0..6)
}

fn inputs(samples: &[Vec<u8>]) -> BoxedStrategy<Vec<u8>> {
    let anything = vec(any::<u8>(), 0..600);
    if samples.is_empty() {
        return anything.boxed();
    }
    let changed = (proptest::sample::select(samples.to_vec()), edits()).prop_map(|(mut bytes, edits)| {
        for (place, edit) in edits {
            edit.apply(&mut bytes, place);
        }
        bytes
    });
    prop_oneof![1 => anything, 3 => changed].boxed()
}

/// Hands inputs to a target.
///
/// # Panics
///
/// Where the target does, with the smallest input found that makes it.
pub fn try_out(samples: &[Vec<u8>], target: &dyn Fn(&[u8])) {
    let drawn = |bytes: Vec<u8>| {
        target(&bytes);
        Ok(())
    };
    let config = Config { failure_persistence: None, ..Config::default() };
    match TestRunner::new(config).run(&inputs(samples), drawn) {
        Ok(()) => {}
        Err(TestError::Fail(why, bytes)) => panic!("{why}\nof b\"{}\"", bytes.escape_ascii()),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::try_out;

    fn dislikes_fours(bytes: &[u8]) {
        assert!(!bytes.contains(&b'4'), "a four");
    }

    #[test]
    #[should_panic(expected = "of b\"4\"")]
    fn a_target_that_fails_is_named_with_its_smallest_input() {
        try_out(&[], &dislikes_fours);
    }

    /// No input drawn otherwise has it. What is drawn from a sample is made smaller by fewer changes: not below the sample.
    #[test]
    #[should_panic(expected = "a sample\nof b\"")]
    fn samples_are_handed_to_the_target() {
        let samples = ["12345678".into(), "xyz".into()];
        try_out(&samples, &|bytes| assert!(!bytes.windows(8).any(|part| part == b"12345678"), "a sample"));
    }
}
