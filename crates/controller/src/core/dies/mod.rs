//! The dies of a flash core: what they are given to do, what they ask for, what becomes of it, and what follows when one fails or power does.

mod asks;
mod detection;
mod ends;
mod giving_up;
mod lists;
mod power;
mod queues;
mod redundancy;
mod restored;

pub use ends::DieGoesOn;
pub use redundancy::degraded;
