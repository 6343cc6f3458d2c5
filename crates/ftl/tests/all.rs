//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

mod support;

mod breaking;
mod collection_oracle;
mod configurations;
mod covers;
mod map_flush;
mod model;
mod modes;
mod paged;
mod parity;
mod placement;
mod slc_cache;
mod strays;
mod trims;
mod wearing_out;
mod zones;
