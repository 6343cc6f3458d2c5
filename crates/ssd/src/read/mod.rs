//! Reading what the flash does not give at once.

mod ladder;
mod lines;
mod recovery;
mod retries;
#[cfg(test)]
mod tests;

pub(crate) use ladder::{Ladder, LadderEffect};
pub(crate) use lines::Lines;
pub(crate) use retries::Retries;
