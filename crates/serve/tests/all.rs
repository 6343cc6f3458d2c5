//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

mod support;

mod checkpoint;
mod compaction;
mod compaction_kills;
mod content;
mod differential;
mod forged;
mod image;
mod kill;
mod limits;
mod links;
mod log;
mod machine;
mod members;
mod records;
mod stored;
mod trace;
mod turns;
