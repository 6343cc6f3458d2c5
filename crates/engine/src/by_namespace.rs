//! Figures by namespace of the drive: a request counts for the namespace in which it begins.

use crate::histogram::ByOp;
use crate::latency::LatencyFigures;
use outlast_device::{Command, Op};
use outlast_settings::namespace::NamespaceConfig;
use outlast_units::SECTOR_BYTES;
use serde::Serialize;

/// Requests of each namespace.
#[derive(Clone, Debug)]
pub(crate) struct ByNamespace {
    digits: u8,
    /// Namespaces in order of address, each with the sector behind its last.
    namespaces: Vec<(u64, NamespaceRecord)>,
}

/// Requests of a namespace.
#[derive(Clone, Debug)]
struct NamespaceRecord {
    latency: ByOp,
    /// Bytes read and written.
    bytes: [u64; 2],
}

impl NamespaceRecord {
    fn new(digits: u8) -> Self {
        Self { latency: ByOp::new(digits), bytes: [0; 2] }
    }
}

impl ByNamespace {
    /// Records of `namespaces`, which follow one another from sector 0 on.
    pub(crate) fn new(namespaces: &[NamespaceConfig], digits: u8) -> Self {
        let mut end = 0;
        let one = |own: &NamespaceConfig| {
            end += own.capacity.0 / SECTOR_BYTES;
            (end, NamespaceRecord::new(digits))
        };
        Self { digits, namespaces: namespaces.iter().map(one).collect() }
    }

    /// Empties all records: measuring begins.
    pub(crate) fn restart(&mut self) {
        let digits = self.digits;
        self.namespaces.iter_mut().for_each(|(_, record)| *record = NamespaceRecord::new(digits));
    }

    /// Counts `command`, which was served after `latency_ns`. Flushes concern all namespaces, and count for none.
    pub(crate) fn record(&mut self, command: &Command, latency_ns: u64) {
        let place = self.namespaces.partition_point(|&(end, _)| end <= command.lba.0);
        let Some((_, record)) = self.namespaces.get_mut(place).filter(|_| command.op != Op::Flush) else {
            return;
        };
        record.latency.of_mut(command.op).record(latency_ns);
        if let Some(bytes) = record.bytes.get_mut(command.op as usize) {
            *bytes += u64::from(command.sectors) * SECTOR_BYTES;
        }
    }

    /// Figures of each namespace.
    pub(crate) fn figures(&self, configs: &[NamespaceConfig]) -> Vec<NamespaceFigures> {
        let all = (1..).zip(configs).zip(&self.namespaces);
        all.map(|((namespace, config), (_, record))| NamespaceFigures {
            namespace,
            capacity: config.capacity.0,
            reads: record.latency.of(Op::Read).len(),
            writes: record.latency.of(Op::Write).len(),
            bytes_read: record.bytes[0],
            bytes_written: record.bytes[1],
            read: LatencyFigures::of(record.latency.of(Op::Read)),
            write: LatencyFigures::of(record.latency.of(Op::Write)),
        })
        .collect()
    }
}

/// Requests of one namespace that were served.
#[derive(Clone, Debug, Serialize)]
pub struct NamespaceFigures {
    /// Its number, from 1.
    pub namespace: u32,
    /// Its capacity, in bytes.
    pub capacity: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Latencies of reads, in microseconds; absent where there was none.
    pub read: Option<LatencyFigures>,
    /// Latencies of writes, in microseconds; absent where there was none.
    pub write: Option<LatencyFigures>,
}
