//! Methods that concern the whole drive at once: self-check, giving up a die, redirection, redundancy, loss of power, mount.
//!
//! They are not the only ones that take the whole drive. Methods in `core/`, `host/` and `wiring/` do, too, and no compiler keeps these folders apart.

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
