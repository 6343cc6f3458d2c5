//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

#[path = "../../nvme-tcp/tests/initiator/mod.rs"]
mod initiator;
mod support;

mod checkpoint;
mod compaction;
mod compaction_kills;
mod content;
mod creation;
mod device;
mod differential;
mod forged;
mod gaps;
mod horizon;
mod image;
mod kill;
mod limits;
mod links;
mod log;
mod members;
mod nvme;
mod own_state;
mod records;
mod requests;
mod service_loop;
mod stored;
mod trace;
