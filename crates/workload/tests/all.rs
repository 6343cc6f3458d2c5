//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

mod fio_job_files;
mod fio_jobs;
mod fio_timing;
mod passes;
mod real_traces;
mod synthetic;
mod trace_columns;
mod trace_commands;
mod trace_detection;
mod trace_formats;
mod trace_guesses;
mod trace_packed;
mod trace_settings;
