//! Errors of the calls of a code.

use crate::CodeKernel;
use thiserror::Error;

/// Reasons why a code cannot be built or a call fails. No bytes have changed when an error is returned, except as
/// [`CodeError::Unrecoverable`] says.
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
        /// Name of the argument.
        list: &'static str,
        /// Number given.
        found: usize,
        /// Number that the code has.
        expected: usize,
    },
    /// A shard is not as long as the first one of the call.
    #[error(
        "{list}[{index}] = {found} bytes: all shards of a call must have the same length, here {expected} bytes"
    )]
    Length {
        /// Name of the argument.
        list: &'static str,
        /// Index of the shard.
        index: usize,
        /// Bytes of the shard.
        found: usize,
        /// The bytes of the first shard.
        expected: usize,
    },
    /// A shard number is too large.
    #[error("shard = {index}: must be below {limit}")]
    Index {
        /// Index given.
        index: usize,
        /// Least index that is too large.
        limit: usize,
    },
    /// A shard that is to be rebuilt is also said to be present.
    #[error("wanted shard = {index}: is present, and only missing shards are rebuilt")]
    AlreadyPresent {
        /// Index of the shard.
        index: usize,
    },
    /// More shards are lost than the code can rebuild.
    #[error("present = {present} shards: {needed} are needed to rebuild the others")]
    TooFew {
        /// Shards present.
        present: usize,
        /// Shards needed, k.
        needed: usize,
    },
    /// There is no such product code, or pattern of one.
    #[error("{field} = {value}: must be {limit}")]
    Product {
        /// Name of the size.
        field: &'static str,
        /// Value given.
        value: usize,
        /// Accepted values.
        limit: &'static str,
    },
    /// The erased cells of a product code contain a cycle, which no decoder can resolve. All other erased cells have been rebuilt.
    #[error("erased cells = {left}: every line through them has lost at least two")]
    Unrecoverable {
        /// Cells that stay erased.
        left: usize,
    },
}
