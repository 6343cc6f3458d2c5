//! Erasure codes: GB/s (10^9 bytes) of every kernel beside libisal, in one run, on the same shards.
//!
//! `encode`: k data shards a stripe. `decode`: as many, m data shards being lost; the plan is made before, as libisal's users
//! do. `delta`: one data shard, from its old and new content. libisal uses the fastest of its functions, and the bytes of all are
//! compared before anything is measured. All shards of a stripe stay in the second-level cache.

use outlast_codes::{CodeError, CodeKernel, ErasureCode, ShardDecoder, ShardSet};
use outlast_isal::{Isal, Tables};
use outlast_units::rng::{SplitMix, mix};
use std::fmt::Write as _;
use std::time::Instant;

/// Bytes of a shard: a flash page.
const SHARD_BYTES: usize = 16 << 10;
/// The data shard that a delta changes.
const CHANGED: usize = 3;

/// The shapes that are measured.
const SHAPES: [(usize, usize); 4] = [(7, 1), (15, 1), (6, 2), (8, 3)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeTask {
    Encode,
    Delta,
    Decode,
}

/// Shapes and tasks to measure, in the order of the table.
pub(crate) fn cases() -> impl Iterator<Item = ((usize, usize), CodeTask)> {
    SHAPES
        .into_iter()
        .flat_map(|shape| [CodeTask::Encode, CodeTask::Delta, CodeTask::Decode].map(|work| (shape, work)))
}

/// The columns of [`measure`].
pub(crate) fn header() -> String {
    let kernels = CodeKernel::ALL.iter().fold(String::new(), |mut line, kernel| {
        let _ = write!(line, " {:>9}", format!("{kernel:?}").to_lowercase());
        line
    });
    format!("{:<16}{kernels}   libisal  best/libisal  goal  result hash", "codes, GB/s")
}

/// Reads a stripe, writes the shards.
type StripeTask<'a> = Box<dyn FnMut(&StripeShards, &mut [&mut [u8]]) + 'a>;

/// One kernel, or one way of libisal.
struct KernelContender<'a> {
    name: &'static str,
    run: StripeTask<'a>,
    seconds: Vec<f64>,
}

/// The shards that are read.
struct StripeShards<'a> {
    data: Vec<&'a [u8]>,
    new: &'a [u8],
    /// Shards that a decoder reads.
    sources: Vec<&'a [u8]>,
}

/// A line for the work on codes of a shape. In a `quick` run hardly anything is repeated.
///
/// # Errors
/// None but from a broken code.
pub(crate) fn measure((k, m): (usize, usize), work: CodeTask, quick: bool) -> Result<String, CodeError> {
    let code = ErasureCode::new(k, m)?;
    let mut rng = SplitMix::new(1, "bench.codes");
    let mut memory = vec![0; (k + 2 * m + 1) * SHARD_BYTES + 64];
    // libisal's XOR wants aligned shards, and flash pages in memory are aligned.
    let skip = memory.as_ptr().align_offset(64);
    for byte in &mut memory[skip..] {
        *byte = rng.next_u64() as u8;
    }
    let mut shards: Vec<&mut [u8]> = memory[skip..].chunks_exact_mut(SHARD_BYTES).collect();
    let mut targets = shards.split_off(k + m + 1);
    let (data, rest) = shards.split_at_mut(k);
    let data: Vec<&[u8]> = data.iter().map(|shard| &**shard).collect();
    let (parity, new) = rest.split_at_mut(m);
    code.encode(&data, parity)?;
    let lost = ShardSet::first(m);
    let present: ShardSet = (m..k + m).collect();
    let sources = data[m..].iter().copied().chain(parity.iter().map(|shard| &**shard)).collect();
    let stripe = StripeShards { data, new: &*new[0], sources };

    let isal = Isal::load().ok();
    let mut contenders = Vec::new();
    for kernel in CodeKernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let code = ErasureCode::with_kernel(k, m, kernel)?;
        let decoder = code.decoder(&present, &lost)?;
        contenders.push(KernelContender {
            name: name(kernel),
            run: our_task(code, decoder, work),
            seconds: Vec::new(),
        });
    }
    if let Some(isal) = &isal {
        let encode = isal.tables(k, m, &encoding_rows(&code)?);
        let decode = isal.tables(k, m, &decoding_rows(&code.decoder(&present, &lost)?, k, m)?);
        for run in libisal_tasks(isal, encode, decode, work, m) {
            contenders.push(KernelContender { name: "libisal", run, seconds: Vec::new() });
        }
    }
    let hash = compare(&mut contenders, &stripe, &mut targets);
    race(&mut contenders, &stripe, &mut targets, quick);

    let bytes = if work == CodeTask::Delta { SHARD_BYTES } else { k * SHARD_BYTES } as f64;
    let rate = |name: &str| {
        let seconds = contenders
            .iter()
            .filter(|contender| contender.name == name)
            .map(|contender| median(&contender.seconds));
        seconds.map(|seconds| bytes / seconds / 1e9).max_by(f64::total_cmp)
    };
    let mut line = format!("{:<16}", format!("({k},{m}) {work:?}").to_lowercase());
    let figure = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.3}"));
    for kernel in CodeKernel::ALL {
        let _ = write!(line, " {:>9}", figure(rate(name(kernel))));
    }
    let (best, libisal) = (rate(name(CodeKernel::best())), rate("libisal"));
    let ratio =
        best.zip(libisal).map_or_else(|| "-".to_owned(), |(best, libisal)| format!("{:.2}x", best / libisal));
    let _ = write!(line, " {:>9} {ratio:>13} 1.00x  {hash:016x}", figure(libisal));
    Ok(line)
}

fn name(kernel: CodeKernel) -> &'static str {
    match kernel {
        CodeKernel::Portable => "portable",
        CodeKernel::Avx2 => "avx2",
        CodeKernel::Gfni256 => "gfni256",
        CodeKernel::Gfni512 => "gfni512",
    }
}

fn our_task<'a>(code: ErasureCode, decoder: ShardDecoder, work: CodeTask) -> StripeTask<'a> {
    const FITS: &str = "the shards were made for the code";
    match work {
        CodeTask::Encode => Box::new(move |stripe, targets| code.encode(&stripe.data, targets).expect(FITS)),
        CodeTask::Delta => Box::new(move |stripe, targets| {
            code.update(CHANGED, stripe.data[CHANGED], stripe.new, targets).expect(FITS);
        }),
        CodeTask::Decode => {
            Box::new(move |stripe, targets| decoder.rebuild(&stripe.sources, targets).expect(FITS))
        }
    }
}

/// Functions of libisal for a task: the general ones, and those of RAID where they apply.
fn libisal_tasks(
    isal: &Isal,
    encode: Tables,
    decode: Tables,
    work: CodeTask,
    m: usize,
) -> Vec<StripeTask<'_>> {
    const ALIGNED: &str = "the shards are aligned";
    let mut tasks: Vec<StripeTask> = Vec::new();
    match (work, m) {
        (CodeTask::Encode, 1) => tasks.push(Box::new(|stripe, targets| {
            assert!(isal.xor(&stripe.data, targets[0]), "{ALIGNED}");
        })),
        (CodeTask::Decode, 1) => tasks.push(Box::new(|stripe, targets| {
            assert!(isal.xor(&stripe.sources, targets[0]), "{ALIGNED}");
        })),
        (CodeTask::Delta, 1) => tasks.push(Box::new(|stripe, targets| {
            assert!(isal.xor_into(stripe.data[CHANGED], stripe.new, targets[0]), "{ALIGNED}");
        })),
        (CodeTask::Encode, 2) => tasks.push(Box::new(|stripe, targets| {
            let [p, q] = targets else { unreachable!("two parities") };
            assert!(isal.p_and_q(&stripe.data, &mut [&mut **p, &mut **q]), "{ALIGNED}");
        })),
        _ => {}
    }
    match work {
        CodeTask::Encode => {
            tasks.push(Box::new(move |stripe, targets| isal.encode(&encode, &stripe.data, targets)));
        }
        CodeTask::Decode => {
            tasks.push(Box::new(move |stripe, targets| isal.encode(&decode, &stripe.sources, targets)));
        }
        CodeTask::Delta => {
            let mut memory = vec![0; SHARD_BYTES + 64];
            let skip = memory.as_ptr().align_offset(64);
            tasks.push(Box::new(move |stripe, targets| {
                let delta = &mut memory[skip..][..SHARD_BYTES];
                assert!(isal.xor(&[stripe.data[CHANGED], stripe.new], delta), "{ALIGNED}");
                isal.update(&encode, CHANGED, delta, targets);
            }));
        }
    }
    tasks
}

/// Matrix of a code, row by row.
fn encoding_rows(code: &ErasureCode) -> Result<Vec<u8>, CodeError> {
    let (k, m) = (code.data_shards(), code.parity_shards());
    (0..k * m).map(|cell| code.coefficient(cell / k, cell % k)).collect()
}

/// The matrix of a decoder, row by row: what it makes of sources that are 1 in one place.
fn decoding_rows(decoder: &ShardDecoder, k: usize, m: usize) -> Result<Vec<u8>, CodeError> {
    let units: Vec<Vec<u8>> =
        (0..k).map(|source| (0..k).map(|byte| u8::from(byte == source)).collect()).collect();
    let mut rows = vec![0; k * m];
    let sources: Vec<&[u8]> = units.iter().map(Vec::as_slice).collect();
    decoder.rebuild(&sources, &mut rows.chunks_mut(k).collect::<Vec<_>>())?;
    Ok(rows)
}

/// Asserts that all contenders write the same bytes; returns a hash of them.
fn compare(contenders: &mut [KernelContender], stripe: &StripeShards, targets: &mut [&mut [u8]]) -> u64 {
    let mut first: Option<Vec<Vec<u8>>> = None;
    for contender in contenders {
        // A delta adds to what is there.
        for target in targets.iter_mut() {
            target.fill(1);
        }
        (contender.run)(stripe, targets);
        let written = targets.iter().map(|target| target.to_vec()).collect();
        let first = first.get_or_insert(written);
        assert!(
            first.iter().zip(targets.iter()).all(|(first, target)| first == target),
            "{} differs",
            contender.name
        );
    }
    first.iter().flatten().flatten().fold(0, |sum, &byte| mix(sum ^ u64::from(byte)))
}

/// Measures the contenders in turns, so that other load on the machine affects all alike.
#[allow(clippy::disallowed_methods, reason = "a benchmark measures")]
fn race(contenders: &mut [KernelContender], stripe: &StripeShards, targets: &mut [&mut [u8]], quick: bool) {
    let (rounds, calls) = if quick { (3, 10) } else { (101, 100) };
    for _ in 0..rounds {
        for contender in &mut *contenders {
            (contender.run)(stripe, targets);
            let start = Instant::now();
            for _ in 0..calls {
                (contender.run)(stripe, targets);
                std::hint::black_box(&mut *targets);
            }
            contender.seconds.push(start.elapsed().as_secs_f64() / f64::from(calls));
        }
    }
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
