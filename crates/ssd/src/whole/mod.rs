//! What concerns the whole drive at once. Only these files take all of it; every other file is a part that owns its state, or wires one.

mod check;
mod check_health;
mod give_up;
mod mount;
mod power;
mod prospects;
mod redirection;
mod redundancy;
mod tear;

pub use mount::Mounts;
pub use redundancy::RedundancyView;
