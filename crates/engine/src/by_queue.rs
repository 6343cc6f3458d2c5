//! Figures by submission queue of the host, for drives that distinguish queues.

use crate::histogram::{ByOp, OPS};
use crate::latency::LatencyFigures;
use outlast_device::{Command, Op};
use outlast_settings::drive::{Class, QueuesConfig};
use serde::Serialize;

/// Latency histograms by queue number, each allocated at the first command of its queue.
#[derive(Clone, Debug)]
pub(crate) struct ByQueue {
    digits: u8,
    queues: Vec<Option<Box<ByOp>>>,
}

impl ByQueue {
    pub(crate) fn new(digits: u8) -> Self {
        // Every queue number has its place: a byte has 256.
        Self { digits, queues: vec![None; 1 + usize::from(u8::MAX)] }
    }

    /// Empties all histograms: measuring begins.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.digits);
    }

    /// Counts `command`, which completed after `latency_ns`.
    pub(crate) fn record(&mut self, command: &Command, latency_ns: u64) {
        let histograms =
            self.queues[usize::from(command.queue.0)].get_or_insert_with(|| Box::new(ByOp::new(self.digits)));
        histograms.of_mut(command.op).record(latency_ns);
    }

    /// Figures of each queue that was used; empty unless more than one was.
    pub(crate) fn figures(&self, config: &QueuesConfig) -> Vec<QueueFigures> {
        let used = (0..=u8::MAX).zip(&self.queues);
        let used = used.filter_map(|(queue, histograms)| Some((queue, histograms.as_deref()?)));
        let figures: Vec<_> = used
            .map(|(queue, histograms)| QueueFigures::of(queue, config.class_of(queue), histograms))
            .collect();
        if figures.len() > 1 { figures } else { Vec::new() }
    }
}

/// Commands and latencies of one submission queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueFigures {
    /// Number of the queue; a fio job submits through the queue of its own number, from 0.
    pub queue: u8,
    /// Arbitration class; absent where all queues are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Commands of every kind that were served.
    pub requests: u64,
    /// Reads among them.
    pub reads: u64,
    /// Writes among them.
    pub writes: u64,
    /// Latencies of reads, in microseconds; absent where there was none.
    pub read: Option<LatencyFigures>,
    /// Latencies of writes, in microseconds; absent where there was none.
    pub write: Option<LatencyFigures>,
}

impl QueueFigures {
    fn of(queue: u8, class: Option<Class>, histograms: &ByOp) -> Self {
        Self {
            queue,
            class,
            requests: OPS.iter().map(|&op| histograms.of(op).len()).sum(),
            reads: histograms.of(Op::Read).len(),
            writes: histograms.of(Op::Write).len(),
            read: LatencyFigures::of(histograms.of(Op::Read)),
            write: LatencyFigures::of(histograms.of(Op::Write)),
        }
    }
}
