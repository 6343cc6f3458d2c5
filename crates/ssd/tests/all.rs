//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

mod block_scrub;
mod coalesce;
mod combined_parts;
mod decode;
mod errors;
mod extents;
mod failures;
mod faults;
mod find;
mod fork;
mod groups;
mod groups_torture;
mod health_log;
mod heat;
mod host_latency;
mod latency;
mod latency_causes;
mod map_cache;
mod map_flush;
mod mount;
mod namespaces;
mod on_chip;
mod oracle;
mod overlap;
mod pauses;
mod placement;
mod power;
mod promise;
mod promises;
mod queues;
mod read_cache;
mod rebuilding;
mod redundancy;
mod relocation_reads;
mod repair;
mod scheduling;
mod slc_cache;
mod slc_cache_torture;
mod snapshot;
mod snapshot_parts;
mod stored;
mod think_time;
mod torn;
mod two_pass;
mod two_pass_torture;
mod unequal;
mod untimed_order;
mod zone_areas;
mod zone_faults;
mod zones;
