//! Units as shards of an erasure code: their bytes, and their tags beside.

use outlast_codes::{ErasureCode, ShardDecoder};
use outlast_media::{BlankUnit, UnitBytes};
use std::borrow::Cow;

const FITS: &str = "units are of one length, and a line has no more of them than its code";

/// The parities of `data`, units with their numbers in the code; numbers that are left out are zero. The bytes go into `blanks`, one for each parity,
/// or none if no unit of `data` has bytes.
pub(crate) fn encode<'a>(
    code: &ErasureCode,
    data: impl Iterator<Item = (usize, &'a UnitBytes)>,
    mut blanks: Vec<BlankUnit>,
) -> Vec<UnitBytes> {
    let mut tags_of_data = vec![[0; 4]; code.data_shards()];
    let mut with_bytes: Vec<(usize, &[u8])> = Vec::with_capacity(code.data_shards());
    // Units whose bytes are in a store: empty, and so not allocated, if all bytes are in memory.
    let mut elsewhere: Vec<(usize, &UnitBytes)> = Vec::new();
    for (index, unit) in data {
        tags_of_data[index] = unit.tag().to_le_bytes();
        match unit.in_memory() {
            Some(bytes) => with_bytes.push((index, bytes)),
            None if unit.length().is_some() => elsewhere.push((index, unit)),
            None => {}
        }
    }
    let mut tags = vec![[0; 4]; code.parity_shards()];
    let mut parity_of_tags: Vec<&mut [u8]> = tags.iter_mut().map(<[u8; 4]>::as_mut_slice).collect();
    let tags_of_data: Vec<&[u8]> = tags_of_data.iter().map(<[u8; 4]>::as_slice).collect();
    code.encode(&tags_of_data, &mut parity_of_tags).expect(FITS);
    let tags = tags.into_iter().map(u32::from_le_bytes);
    if blanks.is_empty() {
        assert!(with_bytes.is_empty() && elsewhere.is_empty(), "the parity of bytes takes memory");
        return tags.map(UnitBytes::zero).collect();
    }
    let mut parity: Vec<&mut [u8]> = blanks.iter_mut().map(BlankUnit::bytes_mut).collect();
    if with_bytes.len() == code.data_shards() && with_bytes.iter().map(|&(index, _)| index).is_sorted() {
        let bytes: Vec<&[u8]> = with_bytes.into_iter().map(|(_, bytes)| bytes).collect();
        code.encode(&bytes, &mut parity).expect(FITS);
    } else {
        for parity in &mut parity {
            parity.fill(0);
        }
        for (index, bytes) in with_bytes {
            code.accumulate(index, bytes, &mut parity).expect(FITS);
        }
        let mut copy = vec![0; if elsewhere.is_empty() { 0 } else { parity[0].len() }];
        for (index, unit) in elsewhere {
            unit.copy_to(0, &mut copy);
            code.accumulate(index, &copy, &mut parity).expect(FITS);
        }
    }
    blanks.into_iter().zip(tags).map(|(blank, tag)| blank.into_unit(tag)).collect()
}

/// The one unit that `decoder` gives, from units by their number in the code; those that are absent are zero. `length`: bytes of a unit.
pub(crate) fn rebuild(decoder: &ShardDecoder, units: &[Option<&UnitBytes>], length: usize) -> UnitBytes {
    let sources = || decoder.sources().iter().map(|&index| units[index]);
    let tags: Vec<[u8; 4]> = sources().map(|unit| unit.map_or(0, UnitBytes::tag).to_le_bytes()).collect();
    let tags: Vec<&[u8]> = tags.iter().map(<[u8; 4]>::as_slice).collect();
    let mut tag = [0; 4];
    decoder.rebuild(&tags, &mut [&mut tag]).expect(FITS);
    let tag = u32::from_le_bytes(tag);
    if sources().flatten().all(|unit| unit.length().is_none()) {
        return UnitBytes::zero(tag);
    }
    let zero = vec![0; length];
    let bytes: Vec<Option<Cow<'_, [u8]>>> = sources().map(|unit| unit.and_then(UnitBytes::bytes)).collect();
    let bytes: Vec<&[u8]> = bytes.iter().map(|bytes| bytes.as_deref().unwrap_or(&zero)).collect();
    let mut rebuilt = BlankUnit::new(length);
    decoder.rebuild(&bytes, &mut [rebuilt.bytes_mut()]).expect(FITS);
    rebuilt.into_unit(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_codes::ShardSet;
    use proptest::prelude::*;

    proptest! {
        /// Parity is the code's sum of bytes and of tags, whether units have bytes, are zeroes or are absent; and any one unit comes back.
        #[test]
        fn parity_is_the_codes_and_gives_back_any_unit(
            shape in (1usize..6, 1usize..4), units in proptest::collection::vec(proptest::option::of((any::<u32>(), any::<bool>())), 6), seed: u8,
        ) {
            let code = ErasureCode::new(shape.0, shape.1).unwrap();
            let bytes = |index: usize, (tag, has_bytes): (u32, bool)| {
                let bytes: Vec<u8> = (0..80).map(|at| seed ^ (at * 7 + index * 31) as u8).collect();
                if has_bytes { UnitBytes::new(tag, &bytes) } else { UnitBytes::zero(tag) }
            };
            let data: Vec<Option<UnitBytes>> =
                (0..shape.0).map(|index| units[index].map(|unit| bytes(index, unit))).collect();
            let flat = |unit: &Option<UnitBytes>| {
                let mut flat = vec![0; 84];
                if let Some(unit) = unit {
                    unit.copy_to(0, &mut flat[..80]);
                    flat[80..].copy_from_slice(&unit.tag().to_le_bytes());
                }
                flat
            };
            let flats: Vec<Vec<u8>> = data.iter().map(flat).collect();
            let mut sums = vec![vec![0; 84]; shape.1];
            let flats: Vec<&[u8]> = flats.iter().map(Vec::as_slice).collect();
            code.encode(&flats, &mut sums.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>()).unwrap();
            let there = || data.iter().enumerate().filter_map(|(index, unit)| Some((index, unit.as_ref()?)));
            let none = there().all(|(_, unit)| unit.length().is_none());
            let blanks = (0..if none { 0 } else { shape.1 }).map(|_| BlankUnit::new(80)).collect();
            let parity = encode(&code, there(), blanks);
            let found: Vec<Vec<u8>> = parity.iter().map(|unit| flat(&Some(unit.clone()))).collect();
            prop_assert_eq!(&found, &sums);
            let all: Vec<Option<&UnitBytes>> = data.iter().map(Option::as_ref).chain(parity.iter().map(Some)).collect();
            for (lost, expected) in data.iter().enumerate() {
                let present = (0..code.shards()).filter(|&index| index != lost).collect::<ShardSet>();
                let decoder = code.decoder(&present, &ShardSet::default().with(lost)).unwrap();
                prop_assert_eq!(rebuild(&decoder, &all, 80), expected.clone().unwrap_or(UnitBytes::zero(0)));
            }
        }
    }
}
