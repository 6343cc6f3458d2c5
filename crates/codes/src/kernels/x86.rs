//! The kernels of x86-64 processors, the only unsafe code of the room.
//!
//! The unsafe code is worth it: `cargo run --release -p outlast-bench -- codes` measures every kernel beside the portable one, which is
//! safe code: 60.7 against 3.0 GB/s when (8, 3) is encoded (`docs/reference/speed.md`).
//!
//! Soundness: an [`X86Engine`] exists only where the processor was detected to have its instructions, and its safe
//! methods compare the lengths of all shards before any pointer is made, so that every access lies within a slice.
#![allow(unsafe_code)]
#![allow(
    clippy::inline_always,
    reason = "an intrinsic is an instruction only when inlined, through every layer, into a function that enables it"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "closures of iterators are one more layer that may not be inlined"
)]

mod lanes;
mod loops;

use super::{CodeKernel, GROUP};
use crate::field::{AFFINE, NIBBLES, power_of_two};

/// A kernel that this processor has. The field is private, and [`X86Engine::new`] the only way to fill it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct X86Engine(InstructionSet);

#[derive(Clone, Copy, Debug)]
enum InstructionSet {
    Avx2,
    Gfni256,
    Gfni512,
}

/// Up to [`GROUP`] rows of a matrix.
#[derive(Clone, Debug)]
pub(super) struct X86RowGroup {
    shape: RowShape,
    rows: usize,
    sources: usize,
    tables: FactorTables,
}

/// Special forms of rows that a kernel computes faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowShape {
    /// No special form.
    General,
    /// The first row is all ones, that is, XOR.
    OnesFirst,
    /// Two rows, ones and the powers of two (P and Q), on a kernel where doubling is cheaper than a table lookup.
    PlusQ,
}

/// For each source the factors of all rows, as the kernel wants them.
#[derive(Clone, Debug)]
enum FactorTables {
    Avx2(Vec<[u8; 32]>),
    Gfni256(Vec<u64>),
    Gfni512(Vec<u64>),
}

/// Picks the loop that was compiled for the number of rows, and for whether the first is plain XOR.
macro_rules! by_rows {
    ($rows:expr, $ones:expr, $module:ident :: $function:ident ($($argument:expr),*)) => {
        match ($rows, $ones) {
            (1, false) => loops::$module::$function::<1, false>($($argument),*),
            (1, true) => loops::$module::$function::<1, true>($($argument),*),
            (2, false) => loops::$module::$function::<2, false>($($argument),*),
            (2, true) => loops::$module::$function::<2, true>($($argument),*),
            (3, false) => loops::$module::$function::<3, false>($($argument),*),
            (3, true) => loops::$module::$function::<3, true>($($argument),*),
            (4, false) => loops::$module::$function::<4, false>($($argument),*),
            (4, true) => loops::$module::$function::<4, true>($($argument),*),
            (rows, _) => unreachable!("groups have 1 to {GROUP} rows, not {rows}"),
        }
    };
}

impl X86Engine {
    /// Detects the processor's features; `None` if it lacks `kernel`.
    pub(super) fn new(kernel: CodeKernel) -> Option<Self> {
        let avx2 = is_x86_feature_detected!("avx2");
        let gfni = avx2 && is_x86_feature_detected!("gfni");
        let wide = gfni && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        match kernel {
            CodeKernel::Avx2 if avx2 => Some(Self(InstructionSet::Avx2)),
            CodeKernel::Gfni256 if gfni => Some(Self(InstructionSet::Gfni256)),
            CodeKernel::Gfni512 if wide => Some(Self(InstructionSet::Gfni512)),
            _ => None,
        }
    }

    /// Prepares 1 to [`GROUP`] `rows` of one length.
    pub(super) fn prepare(self, rows: &[&[u8]]) -> X86RowGroup {
        let sources = rows[0].len();
        let factors = || (0..sources).flat_map(|source| rows.iter().map(move |row| usize::from(row[source])));
        let ones_first = rows[0].iter().all(|&factor| factor == 1);
        let powers_second =
            rows.len() == 2 && rows[1].iter().enumerate().all(|(j, &factor)| factor == power_of_two(j));
        let shape = match self.0 {
            InstructionSet::Avx2 if ones_first && powers_second => RowShape::PlusQ,
            _ if ones_first => RowShape::OnesFirst,
            _ => RowShape::General,
        };
        let tables = match self.0 {
            InstructionSet::Avx2 => FactorTables::Avx2(factors().map(|factor| NIBBLES[factor]).collect()),
            InstructionSet::Gfni256 => {
                FactorTables::Gfni256(factors().map(|factor| AFFINE[factor]).collect())
            }
            InstructionSet::Gfni512 => {
                FactorTables::Gfni512(factors().map(|factor| AFFINE[factor]).collect())
            }
        };
        X86RowGroup { shape, rows: rows.len(), sources, tables }
    }

    /// `target` = XOR of `sources`.
    pub(super) fn xor(self, sources: &[&[u8]], target: &mut [u8]) {
        check_lengths(target.len(), sources, &mut [&mut *target]);
        let targets = &mut [target];
        // SAFETY: `self` shows that the processor has the instructions; `check_lengths` compared the lengths; a single row that is
        // XOR reads no table.
        unsafe {
            match self.0 {
                InstructionSet::Avx2 => loops::avx2::dot::<1, true>(&[], sources, targets),
                InstructionSet::Gfni256 => loops::gfni256::dot::<1, true>(&[], sources, targets),
                InstructionSet::Gfni512 => loops::gfni512::dot::<1, true>(&[], sources, targets),
            }
        }
    }

    /// `targets[i]` ^= `factors[i]` · (`new` ^ `old`), for 1 to [`GROUP`] targets.
    pub(super) fn multiply_add(
        self,
        factors: &[u8],
        new: &[u8],
        old: Option<&[u8]>,
        targets: &mut [&mut [u8]],
    ) {
        assert!(old.is_none_or(|old| old.len() == new.len()), "old and new have the same length");
        let old = old.unwrap_or_default();
        assert_eq!(factors.len(), targets.len(), "a factor for each target");
        check_lengths(new.len(), &[], targets);
        let (rows, ones) = (factors.len(), factors[0] == 1);
        // SAFETY: `self` shows that the processor has the instructions; the lengths of `old` (or that there is none),
        // `factors` and `targets` were compared above.
        unsafe {
            match self.0 {
                InstructionSet::Avx2 => by_rows!(rows, ones, avx2::multiply_add(factors, new, old, targets)),
                InstructionSet::Gfni256 => {
                    by_rows!(rows, ones, gfni256::multiply_add(factors, new, old, targets));
                }
                InstructionSet::Gfni512 => {
                    by_rows!(rows, ones, gfni512::multiply_add(factors, new, old, targets));
                }
            }
        }
    }
}

impl X86RowGroup {
    /// Overwrites `targets` with rows · `sources`.
    pub(super) fn apply(&self, sources: &[&[u8]], targets: &mut [&mut [u8]]) {
        assert_eq!(targets.len(), self.rows, "a target for each row");
        assert_eq!(sources.len(), self.sources, "a source for each column");
        check_lengths(targets[0].len(), sources, targets);
        let ones = self.shape == RowShape::OnesFirst;
        // SAFETY: a group is made by an `X86Engine` whose kernel decides the variant of `tables`, so the processor has the
        // instructions; `check_lengths` compared the lengths, and `tables` has rows x sources entries since `prepare`.
        unsafe {
            match &self.tables {
                FactorTables::Avx2(_) if self.shape == RowShape::PlusQ => loops::plus_q(sources, targets),
                FactorTables::Avx2(tables) => by_rows!(self.rows, ones, avx2::dot(tables, sources, targets)),
                FactorTables::Gfni256(tables) => {
                    by_rows!(self.rows, ones, gfni256::dot(tables, sources, targets));
                }
                FactorTables::Gfni512(tables) => {
                    by_rows!(self.rows, ones, gfni512::dot(tables, sources, targets));
                }
            }
        }
    }
}

/// Panics unless all shards have `length` bytes.
fn check_lengths(length: usize, sources: &[&[u8]], targets: &mut [&mut [u8]]) {
    let equal = sources.iter().all(|source| source.len() == length)
        && targets.iter().all(|target| target.len() == length);
    assert!(equal, "all shards of a call have the same length");
}
