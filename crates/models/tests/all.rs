//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

mod ages;
mod arrays;
mod chains;
mod lifetime;
mod mirrors;
mod mttdl;
mod uper;
