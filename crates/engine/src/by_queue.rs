//! What came through each of the host's submission queues, where the drive tells them apart.

use crate::histogram::{ByOp, OPS};
use crate::latency::Latency;
use outlast_device::{Command, Op};
use outlast_settings::drive::{Class, QueuesConfig};
use serde::Serialize;

/// Histograms by queue, each made when it is first needed.
#[derive(Clone, Debug)]
pub(crate) struct ByQueue {
    digits: u8,
    queues: Vec<Option<Box<ByOp>>>,
}

impl ByQueue {
    pub(crate) fn new(digits: u8) -> Self {
        Self { digits, queues: vec![None; 1 + usize::from(u8::MAX)] }
    }

    /// Measuring begins.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.digits);
    }

    /// `command` has completed after `latency_ns`.
    pub(crate) fn record(&mut self, command: &Command, latency_ns: u64) {
        let own =
            self.queues[usize::from(command.queue.0)].get_or_insert_with(|| Box::new(ByOp::new(self.digits)));
        own.of_mut(command.op).record(latency_ns);
    }

    /// Of each queue that was used, if more than one was.
    pub(crate) fn figures(&self, config: &QueuesConfig) -> Vec<QueueFigures> {
        let used = (0..=u8::MAX).zip(&self.queues);
        let used = used.filter_map(|(queue, own)| own.as_deref().map(|own| (queue, own)));
        let figures: Vec<_> =
            used.map(|(queue, own)| QueueFigures::of(queue, config.class_of(queue), own)).collect();
        if figures.len() > 1 { figures } else { Vec::new() }
    }
}

/// What came through one submission queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueFigures {
    /// Its number; of a fio job that of the job, from 0.
    pub queue: u8,
    /// Its class; absent where all are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Commands of every kind that were served.
    pub requests: u64,
    /// Reads among them.
    pub reads: u64,
    /// Writes among them.
    pub writes: u64,
    /// Latencies of its reads, in microseconds; absent where there was none.
    pub read: Option<Latency>,
    /// Of its writes.
    pub write: Option<Latency>,
}

impl QueueFigures {
    fn of(queue: u8, class: Option<Class>, own: &ByOp) -> Self {
        Self {
            queue,
            class,
            requests: OPS.iter().map(|&op| own.of(op).len()).sum(),
            reads: own.of(Op::Read).len(),
            writes: own.of(Op::Write).len(),
            read: Latency::of(own.of(Op::Read)),
            write: Latency::of(own.of(Op::Write)),
        }
    }
}
