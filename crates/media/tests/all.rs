//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

mod cells;
mod cells_draws;
mod cells_grid;
mod contents;
mod faults;
mod reliability_accumulator;
mod reliability_binomial;
mod reliability_measured;
mod reliability_power_table;
mod reliability_rber;
mod reliability_reads;
mod store;
