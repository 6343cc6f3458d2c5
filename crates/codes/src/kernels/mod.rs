//! Linear maps of shards, by the fastest instructions that the processor has.
//!
//! Everything that the codes do to bytes is one of two maps: targets[i] = Σ matrix[i][j]·sources[j] ([`LinearMap`]: encoding,
//! decoding), and targets[i] ^= column[i]·source ([`multiply_add`]: updates). Several targets share one pass over the
//! sources. The portable kernel is safe code and defines the result; the tests compare every other with it and with tables.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::matrix::FieldMatrix;

/// Number of targets that share a pass over the sources: so many sums fit into the registers of every kernel, with their operands.
const GROUP: usize = 4;

/// A set of instructions that does the work on bytes. All give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKernel {
    /// Plain Rust, which the compiler makes into whatever vectors every processor of the target has.
    Portable,
    /// AVX2: multiplication by shuffles of two 16-byte tables (Plank, Greenan, Miller, "Screaming fast Galois field arithmetic
    /// using Intel SIMD instructions", FAST 2013).
    Avx2,
    /// GFNI on vectors of 256 bits: multiplication by one instruction.
    Gfni256,
    /// GFNI on vectors of 512 bits.
    Gfni512,
}

impl CodeKernel {
    /// Every kernel, slowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Gfni256, Self::Gfni512];

    /// True if this processor can run the kernel.
    pub fn is_available(self) -> bool {
        KernelEngine::new(self).is_some()
    }

    /// The fastest that this processor can run.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|kernel| kernel.is_available()).unwrap_or(Self::Portable)
    }
}

/// A kernel that this processor is known to support.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KernelEngine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    X86(x86::X86Engine),
}

impl KernelEngine {
    /// Detects the processor's features; `None` if it lacks `kernel`.
    pub(crate) fn new(kernel: CodeKernel) -> Option<Self> {
        match kernel {
            CodeKernel::Portable => Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            other => x86::X86Engine::new(other).map(Self::X86),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        }
    }
}

/// A matrix prepared for a kernel: targets = matrix · sources.
#[derive(Clone, Debug)]
pub(crate) struct LinearMap {
    groups: Vec<RowGroup>,
    sources: usize,
}

/// Up to [`GROUP`] rows of a matrix, computed in one pass.
#[derive(Clone, Debug)]
enum RowGroup {
    Portable(Vec<portable::PortableRow>),
    #[cfg(target_arch = "x86_64")]
    X86(x86::X86RowGroup),
}

impl LinearMap {
    pub(crate) fn new(engine: KernelEngine, matrix: &FieldMatrix) -> Self {
        let starts = (0..matrix.rows).step_by(GROUP);
        let groups = starts.map(|start| {
            let rows: Vec<&[u8]> =
                (start..matrix.rows.min(start + GROUP)).map(|row| matrix.row(row)).collect();
            match engine {
                KernelEngine::Portable => {
                    RowGroup::Portable(rows.into_iter().map(portable::PortableRow::new).collect())
                }
                #[cfg(target_arch = "x86_64")]
                KernelEngine::X86(engine) => RowGroup::X86(engine.prepare(&rows)),
            }
        });
        Self { groups: groups.collect(), sources: matrix.columns }
    }

    /// Overwrites `targets`, one for each row, with the products of the rows and `sources`. All have the same length.
    pub(crate) fn apply(&self, sources: &[&[u8]], targets: &mut [&mut [u8]]) {
        assert_eq!(sources.len(), self.sources, "a source for each column");
        for (group, targets) in self.groups.iter().zip(targets.chunks_mut(GROUP)) {
            match group {
                RowGroup::Portable(rows) => portable::apply(rows, sources, targets),
                #[cfg(target_arch = "x86_64")]
                RowGroup::X86(group) => group.apply(sources, targets),
            }
        }
    }
}

/// `target` = XOR of `sources`, which have its length.
pub(crate) fn xor(engine: KernelEngine, sources: &[&[u8]], target: &mut [u8]) {
    match engine {
        KernelEngine::Portable => portable::xor(sources, target),
        #[cfg(target_arch = "x86_64")]
        KernelEngine::X86(engine) => engine.xor(sources, target),
    }
}

/// `targets[i]` ^= `column(i)` · (`new` ^ `old`), where no `old` means zero. All have the same length.
pub(crate) fn multiply_add(
    engine: KernelEngine,
    column: impl Fn(usize) -> u8,
    new: &[u8],
    old: Option<&[u8]>,
    targets: &mut [&mut [u8]],
) {
    for (group, targets) in targets.chunks_mut(GROUP).enumerate() {
        let mut factors = [0; GROUP];
        for (i, factor) in factors[..targets.len()].iter_mut().enumerate() {
            *factor = column(group * GROUP + i);
        }
        let factors = &factors[..targets.len()];
        match engine {
            KernelEngine::Portable => portable::multiply_add(factors, new, old, targets),
            #[cfg(target_arch = "x86_64")]
            KernelEngine::X86(engine) => engine.multiply_add(factors, new, old, targets),
        }
    }
}
