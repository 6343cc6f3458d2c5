//! The tests of this crate, as one program.

mod against_chains;
mod codes;
mod machine;
mod sharing;
mod support;
