//! Closed forms against which simulations are checked, and curves that reports draw beside measurements: error rates of
//! pages and stripes, data loss and ages of arrays, mean time to data loss, lifetime, write amplification of garbage
//! collection, waiting in queues, bandwidth limits.
//!
//! Architecture Invariant: this room knows plain numbers only, no configuration and no device. Every function states its
//! equation, source and domain; outside the domain it returns a [`DomainError`], never a number and never a panic.
//! Probabilities are kept as natural logarithms and summed from positive terms, never computed as 1 minus something, so that
//! they stay positive, monotone and accurate however small they are.

pub mod ages;
pub mod array_loss;
pub mod bandwidth;
pub mod chain;
pub mod dies;
mod error;
mod lambert;
pub mod lifetime;
mod logs;
pub mod mirrors;
pub mod mttdl;
pub mod page;
pub mod queueing;
pub mod sets;
mod tail;
pub mod two_level;
pub mod uber;
pub mod uper;
pub mod write_amplification;

pub use error::DomainError;
pub use lambert::lambert_w0;
pub use outlast_media::reliability::{PublishedChip, RberModel, acceleration, chip, chips, measured};
pub use page::{PageCode, PageOutcome};
pub use uber::SectorCode;
pub use uper::PageStripe;
