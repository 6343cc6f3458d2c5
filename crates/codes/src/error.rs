//! What a caller can get wrong.

use crate::CodeKernel;
use thiserror::Error;

/// Why a code cannot be built, or a call of it cannot be served. No bytes have changed when one is
/// returned, except for what [`CodeError::Unrecoverable`] says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CodeError {
    /// There is no such code.
    #[error("code = ({data}, {parity}): k must be at least 1 and k + m at most 255")]
    Shape {
        /// k, data shards.
        data: usize,
        /// m, parity shards.
        parity: usize,
    },
    /// This processor, or this build, lacks the instructions.
    #[error("kernel = {0:?}: this processor does not have it")]
    KernelMissing(CodeKernel),
    /// A list has the wrong number of shards.
    #[error("{list} = {found} shards: must be {expected}")]
    Count {
        /// Which argument.
        list: &'static str,
        /// How many were given.
        found: usize,
        /// How many the code has.
        expected: usize,
    },
    /// A shard is not as long as the first one of the call.
    #[error(
        "{list}[{index}] = {found} bytes: all shards of a call must have the same length, here {expected} bytes"
    )]
    Length {
        /// Which argument.
        list: &'static str,
        /// Which shard of it.
        index: usize,
        /// Its bytes.
        found: usize,
        /// The bytes of the first shard.
        expected: usize,
    },
    /// A shard number is too large.
    #[error("shard = {index}: must be below {limit}")]
    Index {
        /// The number.
        index: usize,
        /// The first number that is too large.
        limit: usize,
    },
    /// A shard that is to be rebuilt is also said to be present.
    #[error("wanted shard = {index}: is present, and only missing shards are rebuilt")]
    AlreadyPresent {
        /// Its number.
        index: usize,
    },
    /// Too much is lost.
    #[error("present = {present} shards: {needed} are needed to rebuild the others")]
    TooFew {
        /// Shards that are there.
        present: usize,
        /// k, of the code.
        needed: usize,
    },
    /// There is no such product code, or pattern of one.
    #[error("{field} = {value}: must be {limit}")]
    Product {
        /// Which size.
        field: &'static str,
        /// Its value.
        value: usize,
        /// What was expected.
        limit: &'static str,
    },
    /// What is erased of a product code holds a cycle, so that no decoder can tell the erased cells apart. All cells that
    /// can be told have been rebuilt.
    #[error("erased cells = {left}: every line through them has lost at least two")]
    Unrecoverable {
        /// Cells that stay erased.
        left: usize,
    },
}
