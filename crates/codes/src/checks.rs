//! Whether shards are as many, as long and as numbered as a code wants them.

use crate::CodeError;

pub(crate) fn below(index: usize, limit: usize) -> Result<(), CodeError> {
    if index < limit { Ok(()) } else { Err(CodeError::Index { index, limit }) }
}

pub(crate) fn count(list: &'static str, found: usize, expected: usize) -> Result<(), CodeError> {
    if found == expected { Ok(()) } else { Err(CodeError::Count { list, found, expected }) }
}

pub(crate) fn lengths<S: AsRef<[u8]>>(
    list: &'static str,
    shards: &[S],
    expected: usize,
) -> Result<(), CodeError> {
    let mut shards = shards.iter().enumerate();
    shards.try_for_each(|(index, shard)| same_length(list, index, shard.as_ref().len(), expected))
}

pub(crate) fn same_length(
    list: &'static str,
    index: usize,
    found: usize,
    expected: usize,
) -> Result<(), CodeError> {
    if found == expected { Ok(()) } else { Err(CodeError::Length { list, index, found, expected }) }
}
