//! The drive shows its parts what they need of each other, and carries out what they ask for, in the order in which they ask.

mod covers;
mod detect;
mod health;
mod identify;
mod protection;
mod reading;
mod scrub;
mod scrub_view;
mod sensing;
