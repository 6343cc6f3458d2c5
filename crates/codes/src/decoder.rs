//! Plans for rebuilding missing shards: shards to read, and the matrix to multiply them with.

use crate::checks::{check_count, check_lengths};
use crate::kernels::{KernelEngine, LinearMap};
use crate::matrix::FieldMatrix;
use crate::{CodeError, ShardSet};

/// A plan that rebuilds some missing shards from k present ones. It holds for every stripe of the code that has lost the same
/// shards: finding it inverts a small matrix, using it allocates nothing.
#[derive(Clone, Debug)]
pub struct ShardDecoder {
    sources: Vec<usize>,
    targets: Vec<usize>,
    map: LinearMap,
}

impl ShardDecoder {
    /// With e data shards missing, the sources are the data shards present and the first e parities present. These parities are
    /// p[P] = A·d; with the columns of missing (D) and present (S) data separated, d[D] = A[P,D]^-1 · (p[P] + A[P,S]·d[S]).
    /// A wanted parity is its row of the generator applied to d.
    pub(crate) fn new(
        engine: KernelEngine,
        parity: &FieldMatrix,
        present: &ShardSet,
        wanted: &ShardSet,
    ) -> Result<Self, CodeError> {
        let (k, shards) = (parity.columns, parity.columns + parity.rows);
        if let Some(index) = present.iter().chain(wanted.iter()).find(|&index| index >= shards) {
            return Err(CodeError::Index { index, limit: shards });
        }
        if let Some(index) = wanted.iter().find(|&index| present.contains(index)) {
            return Err(CodeError::AlreadyPresent { index });
        }
        if present.len() < k {
            return Err(CodeError::TooFew { present: present.len(), needed: k });
        }
        let (kept, lost): (Vec<usize>, Vec<usize>) = (0..k).partition(|&shard| present.contains(shard));
        let used: Vec<usize> =
            (k..shards).filter(|&shard| present.contains(shard)).take(lost.len()).collect();
        let square = FieldMatrix::from_fn(lost.len(), lost.len(), |i, j| parity.at(used[i] - k, lost[j]));
        let inverse =
            square.inverted().expect("every square submatrix of an MDS code's parity rows is invertible");
        let through_kept = inverse
            .times(&FieldMatrix::from_fn(lost.len(), kept.len(), |i, j| parity.at(used[i] - k, kept[j])));

        // The lost data, then all data, as rows over the sources.
        let lost_rows = FieldMatrix::from_fn(lost.len(), k, |i, j| {
            if j < kept.len() { through_kept.at(i, j) } else { inverse.at(i, j - kept.len()) }
        });
        let position = |shard: usize, among: &[usize]| among.iter().position(|&other| other == shard);
        let data_rows = FieldMatrix::from_fn(k, k, |shard, j| match position(shard, &kept) {
            Some(column) => u8::from(column == j),
            None => lost_rows.at(position(shard, &lost).expect("a shard is kept or lost"), j),
        });
        let targets: Vec<usize> = wanted.iter().collect();
        let parity_rows = {
            let wanted: Vec<usize> =
                targets.iter().filter(|&&shard| shard >= k).map(|&shard| shard - k).collect();
            FieldMatrix::from_fn(wanted.len(), k, |i, j| parity.at(wanted[i], j)).times(&data_rows)
        };
        let data_wanted = targets.iter().filter(|&&shard| shard < k).count();
        let rows = FieldMatrix::from_fn(targets.len(), k, |i, j| {
            if i < data_wanted { data_rows.at(targets[i], j) } else { parity_rows.at(i - data_wanted, j) }
        });
        let sources = kept.into_iter().chain(used).collect();
        Ok(Self { sources, targets, map: LinearMap::new(engine, &rows) })
    }

    /// The shards to read, in the order in which [`rebuild`](Self::rebuild) takes them: k of those present.
    pub fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// The shards that are rebuilt, in the order in which [`rebuild`](Self::rebuild) takes them: ascending.
    pub fn targets(&self) -> &[usize] {
        &self.targets
    }

    /// Overwrites `targets` with the missing shards, from `sources`.
    ///
    /// # Errors
    /// [`CodeError::Count`] or [`CodeError::Length`] if the shards are not as [`sources`](Self::sources) and
    /// [`targets`](Self::targets) say, or not of one length.
    pub fn rebuild(&self, sources: &[&[u8]], targets: &mut [&mut [u8]]) -> Result<(), CodeError> {
        check_count("sources", sources.len(), self.sources.len())?;
        check_count("targets", targets.len(), self.targets.len())?;
        check_lengths("sources", sources, sources[0].len())?;
        check_lengths("targets", targets, sources[0].len())?;
        self.map.apply(sources, targets);
        Ok(())
    }
}
