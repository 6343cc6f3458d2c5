//! Linear maps of shards, by whatever instructions the processor has.
//!
//! Everything that the codes do to bytes is one of two maps: targets[i] = Σ matrix[i][j]·sources[j] ([`Linear`]: encoding,
//! decoding), and targets[i] ^= column[i]·source ([`multiply_add`]: updates). Several targets share one pass over the
//! sources. The portable kernel is safe code and defines the result; the tests compare every other with it and with tables.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::matrix::Matrix;

/// Targets that share a pass over the sources: so many sums fit into the registers of every kernel, beside their operands.
const GROUP: usize = 4;

/// A set of instructions that does the work on bytes. All give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
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

impl Kernel {
    /// Every kernel, slowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Gfni256, Self::Gfni512];

    /// Whether this processor can run it.
    pub fn is_available(self) -> bool {
        Engine::new(self).is_some()
    }

    /// The fastest that this processor can run.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|kernel| kernel.is_available()).unwrap_or(Self::Portable)
    }
}

/// A kernel that this processor was seen to have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    X86(x86::Engine),
}

impl Engine {
    /// Looks at the processor; nothing if it lacks `kernel`.
    pub(crate) fn new(kernel: Kernel) -> Option<Self> {
        match kernel {
            Kernel::Portable => Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            other => x86::Engine::new(other).map(Self::X86),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        }
    }
}

/// A matrix made ready for a kernel: targets = matrix · sources.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    groups: Vec<Group>,
    sources: usize,
}

/// Up to [`GROUP`] rows of it, computed in one pass.
#[derive(Clone, Debug)]
enum Group {
    Portable(Vec<portable::Row>),
    #[cfg(target_arch = "x86_64")]
    X86(x86::Group),
}

impl Linear {
    pub(crate) fn new(engine: Engine, matrix: &Matrix) -> Self {
        let starts = (0..matrix.rows).step_by(GROUP);
        let groups = starts.map(|start| {
            let rows: Vec<&[u8]> =
                (start..matrix.rows.min(start + GROUP)).map(|row| matrix.row(row)).collect();
            match engine {
                Engine::Portable => Group::Portable(rows.into_iter().map(portable::Row::new).collect()),
                #[cfg(target_arch = "x86_64")]
                Engine::X86(engine) => Group::X86(engine.prepare(&rows)),
            }
        });
        Self { groups: groups.collect(), sources: matrix.columns }
    }

    /// Overwrites `targets`, one for each row, with the products of the rows and `sources`. All have the same length.
    pub(crate) fn apply(&self, sources: &[&[u8]], targets: &mut [&mut [u8]]) {
        assert_eq!(sources.len(), self.sources, "a source for each column");
        for (group, targets) in self.groups.iter().zip(targets.chunks_mut(GROUP)) {
            match group {
                Group::Portable(rows) => portable::apply(rows, sources, targets),
                #[cfg(target_arch = "x86_64")]
                Group::X86(group) => group.apply(sources, targets),
            }
        }
    }
}

/// `target` = XOR of `sources`, which have its length.
pub(crate) fn xor(engine: Engine, sources: &[&[u8]], target: &mut [u8]) {
    match engine {
        Engine::Portable => portable::xor(sources, target),
        #[cfg(target_arch = "x86_64")]
        Engine::X86(engine) => engine.xor(sources, target),
    }
}

/// `targets[i]` ^= `column(i)` · (`new` ^ `old`), where no `old` means zero. All have the same length.
pub(crate) fn multiply_add(
    engine: Engine,
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
            Engine::Portable => portable::multiply_add(factors, new, old, targets),
            #[cfg(target_arch = "x86_64")]
            Engine::X86(engine) => engine.multiply_add(factors, new, old, targets),
        }
    }
}
