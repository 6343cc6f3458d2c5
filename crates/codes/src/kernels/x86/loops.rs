//! The loops over shards, written once and compiled for each set of instructions.
//!
//! Each loop covers the shards in strides of a few vectors, then vector by vector, then the bytes after the last whole vector, which go
//! through a buffer.

use super::lanes::{Avx2Vector, FieldVector, Gfni256Vector, Gfni512Vector};

/// Bytes of the widest vector.
const WIDEST: usize = 64;

/// One module for each set of instructions, whose functions enable them, so that the generic loops are inlined into a place
/// where a vector is a register.
macro_rules! instructions {
    ($module:ident, $lane:ty, $features:literal) => {
        /// The loops with these instructions; unsafe as the generic ones are.
        pub(super) mod $module {
            use super::*;

            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn dot<const ROWS: usize, const ONES: bool>(
                tables: &[<$lane as FieldVector>::Table],
                sources: &[&[u8]],
                targets: &mut [&mut [u8]],
            ) {
                // SAFETY: as the caller promised.
                unsafe { super::dot::<$lane, ROWS, ONES>(tables, sources, targets) }
            }

            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn multiply_add<const ROWS: usize, const ONES: bool>(
                factors: &[u8],
                new: &[u8],
                old: &[u8],
                targets: &mut [&mut [u8]],
            ) {
                // SAFETY: as the caller promised.
                unsafe {
                    if old.is_empty() {
                        super::multiply_add::<$lane, ROWS, ONES, false>(factors, new, old, targets);
                    } else {
                        super::multiply_add::<$lane, ROWS, ONES, true>(factors, new, old, targets);
                    }
                }
            }
        }
    };
}

instructions!(avx2, Avx2Vector, "avx2");
instructions!(gfni256, Gfni256Vector, "avx2,gfni");
instructions!(gfni512, Gfni512Vector, "avx512f,avx512bw,gfni");

/// `targets[i]` = Σ `tables[j]`\[i\] · `sources[j]` for ROWS targets; where ONES, the first row is XOR and its tables are not
/// read.
///
/// # Safety
/// The processor has the instructions of `L`. All sources and targets have one length, there are ROWS targets, and ROWS tables
/// for each source, except for a single row of ones.
#[inline(always)]
unsafe fn dot<L: FieldVector, const ROWS: usize, const ONES: bool>(
    tables: &[L::Table],
    sources: &[&[u8]],
    targets: &mut [&mut [u8]],
) {
    // SAFETY: strides and vectors stay below `length`, which all shards have; the rest is as the caller promised.
    unsafe {
        let length = targets[0].len();
        let mut at = 0;
        // Enough sums at a time to hide the latency of their additions, and to load a factor seldom, within 16 registers.
        match ROWS {
            1 => at = strides::<L, ROWS, ONES, 4>(tables, sources, targets, at, length),
            2 => at = strides::<L, ROWS, ONES, 2>(tables, sources, targets, at, length),
            _ if L::BYTES == WIDEST => at = strides::<L, ROWS, ONES, 2>(tables, sources, targets, at, length),
            _ => {}
        }
        at = strides::<L, ROWS, ONES, 1>(tables, sources, targets, at, length);
        if at < length {
            let sums = sums::<L, ROWS, ONES, 1, true>(tables, sources, at, length - at);
            for (sum, target) in sums.iter().zip(targets.iter_mut()) {
                store_partly(sum[0], target.as_mut_ptr().add(at), length - at);
            }
        }
    }
}

/// Computes as many strides of VECTORS vectors as fit between `at` and `length`; returns the end of the last one.
///
/// # Safety
/// The same as for [`dot`]; `length` is at most that of the shards.
#[inline(always)]
unsafe fn strides<L: FieldVector, const ROWS: usize, const ONES: bool, const VECTORS: usize>(
    tables: &[L::Table],
    sources: &[&[u8]],
    targets: &mut [&mut [u8]],
    mut at: usize,
    length: usize,
) -> usize {
    while at + VECTORS * L::BYTES <= length {
        // SAFETY: the stride ends within `length`, which all shards have; the rest is as the caller promised.
        unsafe {
            let sums = sums::<L, ROWS, ONES, VECTORS, false>(tables, sources, at, 0);
            for row in 0..ROWS {
                let to = targets[row].as_mut_ptr().add(at);
                for vector in 0..VECTORS {
                    sums[row][vector].store(to.add(vector * L::BYTES));
                }
            }
        }
        at += VECTORS * L::BYTES;
    }
    at
}

/// The sums of ROWS rows over VECTORS vectors from `at`; where PARTLY, of the first `bytes` bytes of one vector, and zeros.
///
/// # Safety
/// The same as for [`dot`]; what is read lies within the sources.
#[inline(always)]
unsafe fn sums<
    L: FieldVector,
    const ROWS: usize,
    const ONES: bool,
    const VECTORS: usize,
    const PARTLY: bool,
>(
    tables: &[L::Table],
    sources: &[&[u8]],
    at: usize,
    bytes: usize,
) -> [[L; VECTORS]; ROWS] {
    // SAFETY: as the caller promised; ROWS tables for each source were promised where they are read.
    unsafe {
        let mut sums = [[L::zero(); VECTORS]; ROWS];
        for (j, source) in sources.iter().enumerate() {
            let from = source.as_ptr().add(at);
            let mut data = [L::zero(); VECTORS];
            for vector in 0..VECTORS {
                data[vector] =
                    if PARTLY { load_partly(from, bytes) } else { L::load(from.add(vector * L::BYTES)) };
            }
            for row in 0..ROWS {
                if ONES && row == 0 {
                    for vector in 0..VECTORS {
                        sums[0][vector] = sums[0][vector].add(data[vector]);
                    }
                } else {
                    let factor = L::factor(*tables.get_unchecked(j * ROWS + row));
                    for vector in 0..VECTORS {
                        sums[row][vector] = sums[row][vector].add(data[vector].multiply(factor));
                    }
                }
            }
        }
        sums
    }
}

/// `targets[i]` ^= `factors[i]` · (`new` ^ `old`), or of `new` alone unless CHANGE; where ONES, the first factor is 1.
///
/// # Safety
/// The processor has the instructions of `L`. There are ROWS factors and targets; `new`, all targets and, where CHANGE, `old`
/// have one length.
#[inline(always)]
unsafe fn multiply_add<L: FieldVector, const ROWS: usize, const ONES: bool, const CHANGE: bool>(
    factors: &[u8],
    new: &[u8],
    old: &[u8],
    targets: &mut [&mut [u8]],
) {
    // SAFETY: vectors stay below `length`, which all shards have; the rest is as the caller promised.
    unsafe {
        let length = new.len();
        let mut constants = [L::factor(L::table(1)); ROWS];
        let mut pointers = [std::ptr::null_mut(); ROWS];
        for row in 0..ROWS {
            constants[row] = L::factor(L::table(factors[row]));
            pointers[row] = targets[row].as_mut_ptr();
        }
        let (new, old) = (new.as_ptr(), old.as_ptr());
        let mut at = 0;
        while at + L::BYTES <= length {
            let mut data = L::load(new.add(at));
            if CHANGE {
                data = data.add(L::load(old.add(at)));
            }
            for row in 0..ROWS {
                let product = if ONES && row == 0 { data } else { data.multiply(constants[row]) };
                let to = pointers[row].add(at);
                L::load(to).add(product).store(to);
            }
            at += L::BYTES;
        }
        if at < length {
            let bytes = length - at;
            let mut data: L = load_partly(new.add(at), bytes);
            if CHANGE {
                data = data.add(load_partly(old.add(at), bytes));
            }
            for row in 0..ROWS {
                let product = if ONES && row == 0 { data } else { data.multiply(constants[row]) };
                let to = pointers[row].add(at);
                store_partly(load_partly::<L>(to, bytes).add(product), to, bytes);
            }
        }
    }
}

/// P and Q by Horner's rule, Q = (..(d[k-1]·2 + d[k-2])·2 + ..)·2 + d[0]: a doubling takes fewer instructions than two
/// shuffles of tables do.
///
/// # Safety
/// The processor has AVX2. All sources and both targets have one length.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn plus_q(sources: &[&[u8]], targets: &mut [&mut [u8]]) {
    const VECTORS: usize = 4;
    // SAFETY: strides and vectors stay below `length`, which all shards have; the processor has AVX2.
    unsafe {
        let length = targets[0].len();
        let mut at = 0;
        while at + VECTORS * Avx2Vector::BYTES <= length {
            plus_q_vectors::<VECTORS>(sources, targets, at);
            at += VECTORS * Avx2Vector::BYTES;
        }
        while at + Avx2Vector::BYTES <= length {
            plus_q_vectors::<1>(sources, targets, at);
            at += Avx2Vector::BYTES;
        }
        if at < length {
            let bytes = length - at;
            let (mut p, mut q) = (Avx2Vector::zero(), Avx2Vector::zero());
            for source in sources.iter().rev() {
                let data = load_partly(source.as_ptr().add(at), bytes);
                (p, q) = (p.add(data), q.double().add(data));
            }
            store_partly(p, targets[0].as_mut_ptr().add(at), bytes);
            store_partly(q, targets[1].as_mut_ptr().add(at), bytes);
        }
    }
}

/// VECTORS vectors of P and Q from `at`.
///
/// # Safety
/// The same as for [`plus_q`]; the vectors lie within the shards.
#[inline(always)]
unsafe fn plus_q_vectors<const VECTORS: usize>(sources: &[&[u8]], targets: &mut [&mut [u8]], at: usize) {
    // SAFETY: as the caller promised.
    unsafe {
        let (mut p, mut q) = ([Avx2Vector::zero(); VECTORS], [Avx2Vector::zero(); VECTORS]);
        for source in sources.iter().rev() {
            let from = source.as_ptr().add(at);
            for vector in 0..VECTORS {
                let data = Avx2Vector::load(from.add(vector * Avx2Vector::BYTES));
                p[vector] = p[vector].add(data);
                q[vector] = q[vector].double().add(data);
            }
        }
        for (sums, target) in [p, q].iter().zip(targets.iter_mut()) {
            for (vector, sum) in sums.iter().enumerate() {
                sum.store(target.as_mut_ptr().add(at + vector * Avx2Vector::BYTES));
            }
        }
    }
}

/// The first `bytes` bytes of a vector, then zeros.
///
/// # Safety
/// The processor has the instructions of `L`; `bytes` is at most [`FieldVector::BYTES`], and so many are readable.
#[inline(always)]
unsafe fn load_partly<L: FieldVector>(from: *const u8, bytes: usize) -> L {
    let mut buffer = [0; WIDEST];
    // SAFETY: `bytes` is at most the length of the buffer, which no vector exceeds.
    unsafe {
        std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), bytes);
        L::load(buffer.as_ptr())
    }
}

/// Writes the first `bytes` bytes of `vector`.
///
/// # Safety
/// The processor has the instructions of `L`; `bytes` is at most [`FieldVector::BYTES`], and so many are writable.
#[inline(always)]
unsafe fn store_partly<L: FieldVector>(vector: L, to: *mut u8, bytes: usize) {
    let mut buffer = [0; WIDEST];
    // SAFETY: `bytes` is at most the length of the buffer, which no vector exceeds.
    unsafe {
        vector.store(buffer.as_mut_ptr());
        std::ptr::copy_nonoverlapping(buffer.as_ptr(), to, bytes);
    }
}
