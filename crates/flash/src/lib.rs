//! Dies and channels in time. An operation is submitted with its place resolved; the room says when it ends.
//!
//! The room knows no mapping, no request and no policy. The purpose of an operation is in its tag, which the room never looks at. It calls nobody
//! (decision 0030): the result of a die's look for work is the value [`DieStep`], by which the room also asks for the next read of an internal task
//! on an idle die ([`DieStep::Asks`]: [`Flash::give_read`], or [`Flash::answer`]).
//!
//! Order of calls: [`Flash::submit`] queues an operation, and the die may begin it at once. When [`Flash::next_event`] is due and its source is a
//! die, [`Flash::handle_event`] handles it; an operation that ends is handed back by value, and its die is free. The caller handles it (or has it
//! [sensed again](Flash::sense_again)), and then calls [`Flash::wake`], so that the die takes up its next operation.
//!
//! Each source of events (a die, or the slots that think) has at most one pending event, in a tournament tree of single words. Nothing is allocated
//! for an operation (decision 0030).
//!
//! A die takes its next operation by priority: host reads, host programs, garbage collection, background; if host writes wait for collection, collection goes
//! before host programs. Each priority is bounded, so that nothing starves. Reads go before a suspended operation at most `timing.suspend.reads` times, before
//! a host program `program_every` times, and before urgent collection eight times; everything goes before a background task at most
//! `background_every` times (decision 0020).
//!
//! The units of one command are queued before any die looks at its queue ([`Flash::begin_gathering`]), so that a page is sensed once for all of them (decision
//! 0019). A suspension is decided when the read comes (decisions 0060, 0166). Only dies with several reads in progress (independent plane reads, a cache
//! register) keep them in `pipe.rs` (decision 0061), and only flash that programs in two passes keeps programs in `passes.rs` (decision 0156).

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

mod accounts;
mod answer;
mod channel;
mod die;
mod die_step;
mod events;
mod figures;
mod flash;
mod op;
mod op_kind;
mod passes;
mod phases;
mod pipe;
mod submit;
mod think;
mod transfer_queue;
mod turn;
mod under_way;
mod work;

pub use accounts::{ActivityTimes, DieActivity, ReadAccount};
pub use die::PerArrayWork;
pub use die_step::{CoreDemand, DieStep, TaskReadAnswer, TaskReadQuery};
pub use events::FlashSource;
pub use flash::{DieEvent, Flash, FlashSetup};
pub use op::{BlockRow, DieQueue, FlashOp, FlashOpId, InternalTask};
pub use op_kind::FlashOpKind;
pub use passes::Passes;
pub use under_way::{OutstandingProgram, flash_busy_until, operations};
