//! Does every kernel encode, update and decode as a table of products does?

use crate::common;

use common::{Reference, random_bytes, random_shards, shuffled, views, views_mut};
use outlast_codes::{CodeError, CodeKernel, ErasureCode, ShardSet};
use outlast_units::rng::SplitMix;
use proptest::prelude::{ProptestConfig, prop, proptest};

/// The kernels of this processor.
fn kernels() -> impl Iterator<Item = CodeKernel> {
    CodeKernel::ALL.into_iter().filter(|kernel| kernel.is_available())
}

/// A stripe of `length` bytes a shard: encoded, put together shard by shard, updated, and decoded after losing every set of
/// `losses`; all against the reference.
fn check(reference: &Reference, rng: &mut SplitMix, code: &ErasureCode, length: usize, losses: &[ShardSet]) {
    let (k, m) = (code.data_shards(), code.parity_shards());
    let name = format!("({k}, {m}), {length} bytes, {:?}", code.kernel());
    let mut data = random_shards(rng, k, length);
    let expected = reference.encode(code, &data);

    let mut parity = random_shards(rng, m, length);
    code.encode(&views(&data), &mut views_mut(&mut parity)).expect("the stripe fits the code");
    assert_eq!(parity, expected, "encode {name}");

    let mut gathered = vec![vec![0; length]; m];
    for shard in shuffled(rng, k) {
        code.accumulate(shard, &data[shard], &mut views_mut(&mut gathered))
            .expect("the stripe fits the code");
    }
    assert_eq!(gathered, expected, "accumulate {name}");

    let changed = rng.below(k as u64) as usize;
    let old = std::mem::replace(&mut data[changed], random_bytes(rng, length));
    code.update(changed, &old, &data[changed], &mut views_mut(&mut parity))
        .expect("the stripe fits the code");
    let expected = reference.encode(code, &data);
    assert_eq!(parity, expected, "update {name}");

    let stripe: Vec<Vec<u8>> = data.into_iter().chain(expected).collect();
    for lost in losses {
        let mut shards: Vec<Option<Vec<u8>>> = stripe
            .iter()
            .enumerate()
            .map(|(shard, bytes)| (!lost.contains(shard)).then(|| bytes.clone()))
            .collect();
        code.decode(&mut shards).expect("the stripe fits the code");
        let shards: Vec<Vec<u8>> = shards.into_iter().map(Option::unwrap).collect();
        assert!(shards == stripe, "decode {name} without {:?}", lost.iter().collect::<Vec<_>>());
    }
}

/// A random set of at most m shards, most often m.
fn random_loss(rng: &mut SplitMix, code: &ErasureCode) -> ShardSet {
    let m = code.parity_shards();
    let count = if rng.below(4) == 0 { rng.below(m as u64 + 1) as usize } else { m };
    shuffled(rng, code.shards())[..count].iter().copied().collect()
}

#[test]
fn all_codes_of_up_to_20_shards_rebuild_their_losses() {
    let reference = Reference::new();
    for kernel in kernels() {
        let mut rng = SplitMix::new(20, "stripes");
        for k in 1..=20 {
            for m in 0..=20 - k {
                let code = ErasureCode::with_kernel(k, m, kernel).unwrap();
                let losses: Vec<ShardSet> = if k + m <= 9 {
                    let all = (0..1u32 << (k + m)).filter(|mask| mask.count_ones() as usize <= m);
                    all.map(|mask| (0..k + m).filter(|shard| mask >> shard & 1 == 1).collect()).collect()
                } else {
                    (0..8).map(|_| random_loss(&mut rng, &code)).collect()
                };
                // Up to a few strides of the widest kernel, and what is left of one.
                let length = rng.below(700) as usize;
                check(&reference, &mut rng, &code, length, &losses);
            }
        }
    }
}

#[test]
fn every_length_around_the_vectors_strides_and_blocks() {
    let reference = Reference::new();
    let mut rng = SplitMix::new(1, "lengths");
    for kernel in kernels() {
        for (k, m) in [(7, 1), (6, 2), (8, 3), (5, 5)] {
            let code = ErasureCode::with_kernel(k, m, kernel).unwrap();
            for length in (0..=330).chain(510..=514).chain([1023, 1024, 1025]) {
                let losses = [random_loss(&mut rng, &code)];
                check(&reference, &mut rng, &code, length, &losses);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_codes_of_up_to_255_shards_rebuild_random_losses(
        shards in 2usize..=255,
        parity in 0.0f64..1.0,
        length in 0usize..200,
        seed in prop::num::u64::ANY,
    ) {
        // Below 24 parities most of the time, as in practice.
        let m = ((shards - 1) as f64 * parity.powi(3)) as usize;
        let reference = Reference::new();
        for kernel in kernels() {
            let code = ErasureCode::with_kernel(shards - m, m, kernel).unwrap();
            let mut rng = SplitMix::new(seed, "stripes");
            let losses = [random_loss(&mut rng, &code), random_loss(&mut rng, &code)];
            check(&reference, &mut rng, &code, length, &losses);
        }
    }
}

/// Shards that begin anywhere in memory, between bytes that belong to others.
#[test]
fn nothing_beside_the_shards_is_written() {
    let (k, m) = (5, 3);
    for kernel in kernels() {
        let code = ErasureCode::with_kernel(k, m, kernel).unwrap();
        for length in (0..140).chain([255, 256, 257, 511, 513]) {
            for start in [0, 1, 31, 63] {
                let mut buffers = vec![vec![0xaa_u8; start + length + 70]; m];
                let data = vec![vec![1; length]; k];
                let range = start..start + length;
                let mut targets: Vec<&mut [u8]> =
                    buffers.iter_mut().map(|buffer| &mut buffer[range.clone()]).collect();
                code.encode(&views(&data), &mut targets).unwrap();
                code.update(1, &data[1], &data[0], &mut targets).unwrap();
                for (row, buffer) in buffers.iter().enumerate() {
                    let sum = (0..k).fold(0, |sum, j| sum ^ code.coefficient(row, j).unwrap());
                    let expected = |at: usize| if range.contains(&at) { sum } else { 0xaa };
                    assert!(
                        buffer.iter().enumerate().all(|(at, &byte)| byte == expected(at)),
                        "{length} at {start}"
                    );
                }
            }
        }
    }
}

#[test]
fn p_and_q_are_those_of_raid_6() {
    // Anvin, "The mathematics of RAID-6": P = Σ d[i], Q = Σ 2^i·d[i]; d = 1 in shard i makes Q 2^i.
    let code = ErasureCode::new(12, 2).unwrap();
    let powers: Vec<u8> = (0..12).map(|i| code.coefficient(1, i).unwrap()).collect();
    assert_eq!(powers, [1, 2, 4, 8, 16, 32, 64, 128, 0x1d, 0x3a, 0x74, 0xe8]);
    assert!((0..12).all(|i| code.coefficient(0, i) == Ok(1)));
    assert!(
        (0..255)
            .map(|k| ErasureCode::new(k, 1))
            .skip(1)
            .flatten()
            .all(|code| code.coefficient(0, 0) == Ok(1))
    );
}

/// A degraded read asks for one shard: nothing else is computed, and only k shards are read.
#[test]
fn a_plan_reads_k_shards_and_rebuilds_what_is_wanted() {
    let code = ErasureCode::new(8, 3).unwrap();
    let mut rng = SplitMix::new(3, "plan");
    let data = random_shards(&mut rng, 8, 100);
    let mut parity = vec![vec![0; 100]; 3];
    code.encode(&views(&data), &mut views_mut(&mut parity)).unwrap();
    let stripe: Vec<Vec<u8>> = data.into_iter().chain(parity).collect();

    let present = ShardSet::first(11).without(2).without(5);
    assert!(code.can_recover(&present));
    for wanted in [[2, 5].as_slice(), &[5], &[2], &[]] {
        let decoder = code.decoder(&present, &wanted.iter().copied().collect()).unwrap();
        assert_eq!(decoder.targets(), wanted);
        assert_eq!(decoder.sources(), [0, 1, 3, 4, 6, 7, 8, 9]);
        let sources: Vec<&[u8]> = decoder.sources().iter().map(|&shard| stripe[shard].as_slice()).collect();
        let mut rebuilt = vec![vec![0xff; 100]; wanted.len()];
        decoder.rebuild(&sources, &mut views_mut(&mut rebuilt)).unwrap();
        assert!(wanted.iter().zip(&rebuilt).all(|(&shard, bytes)| *bytes == stripe[shard]));
    }
    // A lost parity is found from whatever is left, though data are missing too.
    let present = ShardSet::first(11).without(0).without(9);
    let decoder = code.decoder(&present, &ShardSet::default().with(9)).unwrap();
    let sources: Vec<&[u8]> = decoder.sources().iter().map(|&shard| stripe[shard].as_slice()).collect();
    let mut q = vec![0; 100];
    decoder.rebuild(&sources, &mut [&mut q]).unwrap();
    assert_eq!(q, stripe[9]);
}

#[test]
fn recoverable_means_that_k_shards_are_left() {
    let code = ErasureCode::new(6, 2).unwrap();
    for mask in 0u32..1 << 8 {
        let present: ShardSet = (0..8).filter(|shard| mask >> shard & 1 == 1).collect();
        assert_eq!(code.can_recover(&present), mask.count_ones() >= 6);
        let missing: ShardSet = (0..8).filter(|&shard| !present.contains(shard)).collect();
        assert_eq!(code.decoder(&present, &missing).is_ok(), mask.count_ones() >= 6);
    }
    assert!(!code.can_recover(&(100..200).collect()), "shards that the code does not have do not count");
}

#[test]
fn what_does_not_fit_is_refused_by_name_value_and_limit() {
    let message = |error: CodeError| error.to_string();
    for (k, m) in [(0, 0), (0, 3), (255, 1), (1, 255), (usize::MAX, 1)] {
        assert_eq!(ErasureCode::new(k, m).unwrap_err(), CodeError::Shape { data: k, parity: m });
    }
    assert!(ErasureCode::new(255, 0).is_ok() && ErasureCode::new(1, 254).is_ok());
    assert_eq!(
        message(ErasureCode::new(250, 6).unwrap_err()),
        "code = (250, 6): k must be at least 1 and k + m at most 255"
    );

    let code = ErasureCode::new(2, 1).unwrap();
    let mut parity = [7u8; 4];
    let error = code.encode(&[&[1; 4]], &mut [&mut parity]).unwrap_err();
    assert_eq!(message(error), "data = 1 shards: must be 2");
    let error = code.encode(&[&[1; 4], &[1; 3]], &mut [&mut parity]).unwrap_err();
    assert_eq!(
        message(error),
        "data[1] = 3 bytes: all shards of a call must have the same length, here 4 bytes"
    );
    let error = code.encode(&[&[1; 3], &[1; 3]], &mut [&mut parity]).unwrap_err();
    assert_eq!(error, CodeError::Length { list: "parity", index: 0, found: 4, expected: 3 });
    let error = code.accumulate(2, &[1; 4], &mut [&mut parity]).unwrap_err();
    assert_eq!(message(error), "shard = 2: must be below 2");
    let error = code.update(0, &[], &[1; 4], &mut [&mut parity]).unwrap_err();
    assert_eq!(error, CodeError::Length { list: "old", index: 0, found: 0, expected: 4 });
    assert_eq!(code.coefficient(1, 0), Err(CodeError::Index { index: 1, limit: 1 }));
    assert_eq!(parity, [7; 4], "a refused call changes nothing");

    let decoder = |present: &[usize], wanted: &[usize]| {
        code.decoder(&present.iter().copied().collect(), &wanted.iter().copied().collect()).map(|_| ())
    };
    assert_eq!(decoder(&[0], &[1]), Err(CodeError::TooFew { present: 1, needed: 2 }));
    assert_eq!(decoder(&[0, 1], &[1]), Err(CodeError::AlreadyPresent { index: 1 }));
    assert_eq!(decoder(&[0, 1, 3], &[2]), Err(CodeError::Index { index: 3, limit: 3 }));
    assert_eq!(
        code.decode(&mut [None, None]),
        Err(CodeError::Count { list: "shards", found: 2, expected: 3 })
    );
    let uneven = &mut [Some(vec![1]), None, Some(vec![])];
    assert_eq!(
        code.decode(uneven),
        Err(CodeError::Length { list: "shards", index: 2, found: 0, expected: 1 })
    );
}

#[test]
fn a_code_without_parity_has_nothing_to_do() {
    let code = ErasureCode::new(3, 0).unwrap();
    code.encode(&[&[1], &[2], &[3]], &mut []).unwrap();
    code.accumulate(1, &[9], &mut []).unwrap();
    assert!(code.can_recover(&ShardSet::first(3)) && !code.can_recover(&ShardSet::first(2)));
    let mut whole = [Some(vec![1]), Some(vec![2]), Some(vec![3])];
    code.decode(&mut whole).unwrap();
    assert_eq!(whole[2], Some(vec![3]));
}
