//! The drive shows its parts what they need of each other, and carries out what they ask for, in the order in which they ask.

mod covers;
mod health;
mod protection;
mod sensing;
