//! Are the bytes those of libisal, given our matrix?

use crate::common;

use common::{random_bytes, random_shards, views, views_mut};
use outlast_codes::{CodeKernel, ErasureCode, ShardSet};
use outlast_isal::Isal;
use outlast_units::rng::SplitMix;

/// libisal, or a word about its absence.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn isal() -> Option<Isal> {
    Isal::load()
        .inspect_err(|error| eprintln!("SKIPPED, nothing compared: no libisal ({error}); Debian: libisal2"))
        .ok()
}

fn matrix(code: &ErasureCode) -> Vec<u8> {
    let (k, m) = (code.data_shards(), code.parity_shards());
    (0..m)
        .flat_map(|row| (0..k).map(move |j| code.coefficient(row, j).expect("a cell of the matrix")))
        .collect()
}

#[test]
fn encoding_and_updates_give_the_bytes_of_libisal() {
    let Some(isal) = isal() else { return };
    let mut rng = SplitMix::new(5, "isal");
    for kernel in CodeKernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        for (k, m) in [
            (1, 1),
            (7, 1),
            (15, 1),
            (6, 2),
            (63, 2),
            (8, 3),
            (10, 4),
            (20, 7),
            (200, 55),
            (254, 1),
            (100, 155),
        ] {
            let code = ErasureCode::with_kernel(k, m, kernel).unwrap();
            let tables = isal.tables(k, m, &matrix(&code));
            // libisal has loops of its own for short shards, and for what is left over.
            for length in [1, 16, 33, 64, 100, 256, 1000, 4096] {
                let data = random_shards(&mut rng, k, length);
                let (mut ours, mut theirs) = (vec![vec![1; length]; m], vec![vec![2; length]; m]);
                code.encode(&views(&data), &mut views_mut(&mut ours)).unwrap();
                isal.encode(&tables, &views(&data), &mut views_mut(&mut theirs));
                assert!(ours == theirs, "encode ({k}, {m}), {length} bytes, {kernel:?}");
                let index = rng.below(k as u64) as usize;
                let new = random_bytes(&mut rng, length);
                let delta: Vec<u8> = new.iter().zip(&data[index]).map(|(new, old)| new ^ old).collect();
                code.update(index, &data[index], &new, &mut views_mut(&mut ours)).unwrap();
                isal.update(&tables, index, &delta, &mut views_mut(&mut theirs));
                assert!(ours == theirs, "update ({k}, {m}), {length} bytes, {kernel:?}");
            }
        }
    }
}

#[test]
fn p_and_q_are_those_of_pq_gen_and_xor_gen() {
    let Some(isal) = isal() else { return };
    let mut rng = SplitMix::new(6, "isal");
    for k in [2, 3, 6, 30, 200] {
        let code = ErasureCode::new(k, 2).unwrap();
        // Both functions want pointers aligned to 32 bytes: shards within one aligned run of bytes.
        let length = 1024;
        let mut run = random_bytes(&mut rng, (k + 2) * length + 64);
        let skip = run.as_ptr().align_offset(64);
        let (data, parity) = run[skip..skip + (k + 2) * length].split_at_mut(k * length);
        let data: Vec<&[u8]> = data.chunks(length).collect();
        let (p, q) = parity.split_at_mut(length);
        let mut ours = vec![vec![0; length]; 2];
        code.encode(&data, &mut views_mut(&mut ours)).unwrap();
        assert!(isal.p_and_q(&data, &mut [&mut *p, &mut *q]));
        assert!(*p == ours[0][..] && *q == ours[1][..], "P + Q of {k}");
        p.fill(0);
        assert!(isal.xor(&data, p));
        assert!(*p == ours[0][..], "XOR of {k}");
    }
}

/// Stripes that libisal encoded are decoded.
#[test]
fn stripes_of_libisal_are_decoded() {
    let Some(isal) = isal() else { return };
    let mut rng = SplitMix::new(7, "isal");
    let (k, m) = (10, 4);
    let code = ErasureCode::new(k, m).unwrap();
    let data = random_shards(&mut rng, k, 777);
    let mut parity = vec![vec![0; 777]; m];
    isal.encode(&isal.tables(k, m, &matrix(&code)), &views(&data), &mut views_mut(&mut parity));
    let stripe: Vec<Vec<u8>> = data.into_iter().chain(parity).collect();
    for first in 0..k + m - 3 {
        let lost: ShardSet = (first..first + 4).collect();
        let mut shards: Vec<Option<Vec<u8>>> =
            stripe.iter().enumerate().map(|(i, shard)| (!lost.contains(i)).then(|| shard.clone())).collect();
        code.decode(&mut shards).unwrap();
        assert!(shards.iter().zip(&stripe).all(|(ours, shard)| ours.as_ref() == Some(shard)), "from {first}");
    }
}
