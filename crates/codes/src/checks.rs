//! Checks of the number, length and indices of shards.

use crate::CodeError;

pub(crate) fn check_index(index: usize, limit: usize) -> Result<(), CodeError> {
    if index < limit { Ok(()) } else { Err(CodeError::Index { index, limit }) }
}

pub(crate) fn check_count(list: &'static str, found: usize, expected: usize) -> Result<(), CodeError> {
    if found == expected { Ok(()) } else { Err(CodeError::Count { list, found, expected }) }
}

pub(crate) fn check_lengths<S: AsRef<[u8]>>(
    list: &'static str,
    shards: &[S],
    expected: usize,
) -> Result<(), CodeError> {
    let mut shards = shards.iter().enumerate();
    shards.try_for_each(|(index, shard)| check_length(list, index, shard.as_ref().len(), expected))
}

pub(crate) fn check_length(
    list: &'static str,
    index: usize,
    found: usize,
    expected: usize,
) -> Result<(), CodeError> {
    if found == expected { Ok(()) } else { Err(CodeError::Length { list, index, found, expected }) }
}
