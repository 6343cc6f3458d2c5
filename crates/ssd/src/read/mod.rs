//! Reading what the flash does not give at once.

mod ladder;
mod recovery;
mod retries;
#[cfg(test)]
mod tests;

pub(crate) use ladder::{Ladder, LadderEffect, Lines};
pub(crate) use retries::Retries;
