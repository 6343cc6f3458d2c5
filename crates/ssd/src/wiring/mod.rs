//! The drive shows its parts what they need of each other, and carries out what they ask for, in the order in which they ask.

mod accounts;
mod block_parts;
mod covers;
mod decoding;
mod detect;
mod extents;
mod flash;
mod flushing;
mod health;
mod identify;
mod moves;
mod policies;
mod protection;
mod reading;
mod repairs;
mod scrub;
mod scrub_view;
mod sensing;
