//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

mod support;

mod channel;
mod idle;
mod model;
mod order;
mod passes;
mod pipe;
mod suspend;
mod think;
mod times;
