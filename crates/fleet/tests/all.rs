//! The tests of this crate, as one program.

mod against_chains;
mod machine;
mod support;
