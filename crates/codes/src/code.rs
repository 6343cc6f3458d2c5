//! Systematic (k, m) codes on bytes.

use crate::checks::{check_count, check_index, check_length, check_lengths};
use crate::decoder::ShardDecoder;
use crate::kernels::{self, CodeKernel, KernelEngine, LinearMap};
use crate::matrix::FieldMatrix;
use crate::{CodeError, ShardSet};
use outlast_persist::{Damage, Persist, Reader, Writer};

/// A systematic maximum-distance-separable code: `k` data shards as they are, `m` parity shards, and every `k` of the `k + m`
/// determine all others. (k, 0) has no parity, (k, 1) is XOR, (k, 2) is the P and Q of RAID-6, and above that the parity
/// rows are a scaled Cauchy matrix whose first row is XOR again.
///
/// A shard is any run of bytes; all shards of one call have the same length, which may be zero and need not be even. Bytes do
/// not depend on the kernel, nor on how a stripe was put together: by [`encode`](Self::encode) at once, or by
/// [`accumulate`](Self::accumulate) shard by shard onto zeroed parities, in any order, shards left out being zero.
#[derive(Clone, Debug)]
pub struct ErasureCode {
    data: usize,
    parity: usize,
    kernel: CodeKernel,
    engine: KernelEngine,
    matrix: FieldMatrix,
    encoder: LinearMap,
}

/// Codes of equally many shards give the same bytes, whatever kernel computes them.
impl PartialEq for ErasureCode {
    fn eq(&self, other: &Self) -> bool {
        (self.data, self.parity) == (other.data, other.parity)
    }
}

impl Persist for ErasureCode {
    const SHAPE: u64 = outlast_persist::shape("Code", &[]);

    fn write(&self, to: &mut Writer<'_>) {
        (self.data, self.parity).write(to);
    }

    /// Reads k and m; the kernel is the fastest of the processor that the code is read on.
    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let (data, parity) = Persist::read(from)?;
        Self::new(data, parity)
            .map_err(|_| Damage::Value { what: "number of data shards", value: data as u64 })
    }
}

impl ErasureCode {
    /// Limit of shards in a code: the number of nonzero elements of GF(2^8).
    pub const SHARDS_MAX: usize = 255;

    /// The code of `k` data and `m` parity shards, with the fastest kernel of this processor.
    ///
    /// # Errors
    /// [`CodeError::Shape`] unless k ≥ 1 and k + m ≤ 255.
    pub fn new(k: usize, m: usize) -> Result<Self, CodeError> {
        Self::with_kernel(k, m, CodeKernel::best())
    }

    /// The same code with a kernel of the caller's choice: the bytes are the same.
    ///
    /// # Errors
    /// [`CodeError::Shape`] unless k ≥ 1 and k + m ≤ 255; [`CodeError::KernelMissing`] if the processor lacks it.
    pub fn with_kernel(k: usize, m: usize, kernel: CodeKernel) -> Result<Self, CodeError> {
        if k == 0 || k.saturating_add(m) > Self::SHARDS_MAX {
            return Err(CodeError::Shape { data: k, parity: m });
        }
        let engine = KernelEngine::new(kernel).ok_or(CodeError::KernelMissing(kernel))?;
        let matrix = FieldMatrix::parity(k, m);
        let encoder = LinearMap::new(engine, &matrix);
        Ok(Self { data: k, parity: m, kernel, engine, matrix, encoder })
    }

    /// Number of data shards, k.
    pub fn data_shards(&self) -> usize {
        self.data
    }

    /// Number of parity shards, m.
    pub fn parity_shards(&self) -> usize {
        self.parity
    }

    /// Number of all shards, k + m.
    pub fn shards(&self) -> usize {
        self.data + self.parity
    }

    /// The kernel in use.
    pub fn kernel(&self) -> CodeKernel {
        self.kernel
    }

    /// The factor with which data shard `data` enters parity shard `parity` (0 to m − 1), in the field of RAID-6.
    ///
    /// # Errors
    /// [`CodeError::Index`] if there is no such shard.
    pub fn coefficient(&self, parity: usize, data: usize) -> Result<u8, CodeError> {
        check_index(parity, self.parity)?;
        check_index(data, self.data)?;
        Ok(self.matrix.at(parity, data))
    }

    /// Overwrites `parity`, m shards, with the parities of `data`, k shards.
    ///
    /// # Errors
    /// [`CodeError::Count`] or [`CodeError::Length`] if the shards are not so many, or not of one length.
    pub fn encode(&self, data: &[&[u8]], parity: &mut [&mut [u8]]) -> Result<(), CodeError> {
        check_count("data", data.len(), self.data)?;
        check_count("parity", parity.len(), self.parity)?;
        check_lengths("data", data, data[0].len())?;
        check_lengths("parity", parity, data[0].len())?;
        self.encoder.apply(data, parity);
        Ok(())
    }

    /// Adds the contribution of data shard `index` to `parity`, m shards. For parities without the shard, `data` is its content; for parities
    /// with it, the XOR of its old and new content.
    ///
    /// # Errors
    /// [`CodeError::Index`], [`CodeError::Count`] or [`CodeError::Length`] if a shard does not fit.
    pub fn accumulate(&self, index: usize, data: &[u8], parity: &mut [&mut [u8]]) -> Result<(), CodeError> {
        self.add_contribution(index, data, None, parity)
    }

    /// Changes `parity`, m shards, for data shard `index` whose content changes from `old` to `new`, without reading the others.
    ///
    /// # Errors
    /// [`CodeError::Index`], [`CodeError::Count`] or [`CodeError::Length`] if a shard does not fit.
    pub fn update(
        &self,
        index: usize,
        old: &[u8],
        new: &[u8],
        parity: &mut [&mut [u8]],
    ) -> Result<(), CodeError> {
        check_lengths("old", &[old], new.len())?;
        self.add_contribution(index, new, Some(old), parity)
    }

    /// True if the data can be rebuilt from the shards of `present`. Numbers from k + m on do not count.
    pub fn can_recover(&self, present: &ShardSet) -> bool {
        (0..self.shards()).filter(|&shard| present.contains(shard)).count() >= self.data
    }

    /// A plan to rebuild the shards `wanted`, and no others, from some k of those `present`.
    ///
    /// # Errors
    /// [`CodeError::TooFew`] if k shards are not present; [`CodeError::AlreadyPresent`] if a wanted one is;
    /// [`CodeError::Index`] if there is no such shard.
    pub fn decoder(&self, present: &ShardSet, wanted: &ShardSet) -> Result<ShardDecoder, CodeError> {
        ShardDecoder::new(self.engine, &self.matrix, present, wanted)
    }

    /// Rebuilds every missing shard of a stripe, data and parity. [`ErasureCode::decoder`] rebuilds into
    /// the caller's buffers, and can be used again for the next stripe with the same shards missing.
    ///
    /// # Errors
    /// [`CodeError::Count`] unless there are k + m places, [`CodeError::Length`] unless the shards present are of one length,
    /// [`CodeError::TooFew`] unless there are k of them.
    pub fn decode(&self, shards: &mut [Option<Vec<u8>>]) -> Result<(), CodeError> {
        check_count("shards", shards.len(), self.shards())?;
        let is_there = |present: bool| {
            let shards = shards.iter().enumerate().filter(move |(_, shard)| shard.is_some() == present);
            shards.map(|(index, _)| index).collect::<ShardSet>()
        };
        let (present, missing) = (is_there(true), is_there(false));
        if missing.is_empty() {
            return Ok(());
        }
        let decoder = self.decoder(&present, &missing)?;
        let length = shards.iter().flatten().map(Vec::len).next().unwrap_or(0);
        for (index, shard) in shards.iter().enumerate() {
            if let Some(shard) = shard {
                check_length("shards", index, shard.len(), length)?;
            }
        }
        let mut rebuilt = vec![vec![0; length]; missing.len()];
        let sources: Vec<&[u8]> =
            decoder.sources().iter().filter_map(|&index| shards[index].as_deref()).collect();
        let mut targets: Vec<&mut [u8]> = rebuilt.iter_mut().map(Vec::as_mut_slice).collect();
        decoder.rebuild(&sources, &mut targets)?;
        for (index, shard) in missing.iter().zip(rebuilt) {
            shards[index] = Some(shard);
        }
        Ok(())
    }

    fn add_contribution(
        &self,
        index: usize,
        new: &[u8],
        old: Option<&[u8]>,
        parity: &mut [&mut [u8]],
    ) -> Result<(), CodeError> {
        check_index(index, self.data)?;
        check_count("parity", parity.len(), self.parity)?;
        check_lengths("parity", parity, new.len())?;
        kernels::multiply_add(self.engine, |row| self.matrix.at(row, index), new, old, parity);
        Ok(())
    }
}
