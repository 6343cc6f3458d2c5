//! Closed forms against which simulations are checked, and curves that reports draw beside what was measured: write
//! amplification of garbage collection, waiting in queues, bandwidth limits.
//!
//! Architecture Invariant: this room knows plain numbers only, no configuration and no device. Every function states its
//! equation, source and domain; outside the domain it returns a [`DomainError`], never a number and never a panic.

pub mod bandwidth;
mod error;
mod lambert;
pub mod queueing;
pub mod write_amplification;

pub use error::DomainError;
pub use lambert::lambert_w0;
