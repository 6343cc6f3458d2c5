//! Records of every single request, only on demand: its time by cause, its row in the log, its queue.

use crate::by_namespace::ByNamespace;
use crate::by_queue::ByQueue;
use crate::splits::LatencySplits;
use crate::table::ResultTable;
use outlast_device::{Command, LatencyCause, LatencyParts, Outcome};
use outlast_units::{Nanos, SECTOR_BYTES};

/// Rows in one table of the log.
const ROWS: usize = 1 << 16;

/// Kinds of request, by their numbers in the log.
pub const REQUEST_KINDS: [&str; 4] = ["read", "write", "trim", "flush"];
/// Outcomes of requests, by their numbers in the log.
pub const REQUEST_OUTCOMES: [&str; Outcome::KINDS] = [
    "ok",
    "out-of-range",
    "read-only",
    "medium-error",
    "aborted",
    "invalid-namespace",
    "refused-by-zone",
    "invalid-opcode",
];

/// Receives rows of the log in order of completion, as columns of numbers. `kind` counts through [`REQUEST_KINDS`] and `outcome` through
/// [`REQUEST_OUTCOMES`]; times and parts are nanoseconds.
pub type OnRows<'a> = &'a mut dyn FnMut(ResultTable);

/// A completed request. `parts` are its nanoseconds by cause, if latencies are split.
pub(crate) struct CompletedRequest<'a> {
    pub(crate) command: &'a Command,
    pub(crate) since: Nanos,
    pub(crate) at: Nanos,
    pub(crate) outcome: Outcome,
    pub(crate) parts: Option<LatencyParts>,
}

/// The columns of every log.
const COLUMNS: [&str; 7] = ["submitted_ns", "completed_ns", "kind", "lba", "bytes", "queue", "outcome"];

/// The log of requests: rows that have not been handed on yet.
pub(crate) struct RequestLog {
    full: Vec<ResultTable>,
    columns: [Vec<u64>; COLUMNS.len()],
    /// One column for each cause; empty if latencies are not split.
    parts: Vec<Vec<u64>>,
}

impl RequestLog {
    pub(crate) fn new(splits: bool) -> Self {
        let causes = if splits { LatencyCause::COUNT } else { 0 };
        Self { full: Vec::new(), columns: Default::default(), parts: vec![Vec::new(); causes] }
    }

    /// Adds the row of `request`.
    fn push(&mut self, request: &CompletedRequest<'_>) {
        let CompletedRequest { command, since, at, outcome, parts } = request;
        let row = [
            since.0,
            at.0,
            command.op as u64,
            command.lba.0,
            u64::from(command.sectors) * SECTOR_BYTES,
            u64::from(command.queue.0),
            u64::from(outcome.kind()),
        ];
        self.columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        for (column, (_, part)) in self.parts.iter_mut().zip(parts.unwrap_or_default().iter()) {
            column.push(part);
        }
        // All columns are of equal length.
        if self.columns[0].len() == ROWS {
            self.close();
        }
    }

    /// Makes a table of the rows so far, which is then handed on.
    fn close(&mut self) {
        let mut table = ResultTable::default();
        let full = |column: &mut Vec<u64>| std::mem::take(column).into_iter();
        for (name, column) in COLUMNS.iter().zip(&mut self.columns) {
            table.counts(name, full(column));
        }
        for (cause, column) in LatencyCause::ALL.iter().zip(&mut self.parts) {
            table.counts(&format!("{}_ns", cause.name()), full(column));
        }
        self.full.push(table);
    }
}

/// Recorder of single requests, with those parts that the run asks for.
#[derive(Default)]
pub(crate) struct RequestRecorder {
    pub(crate) splits: Option<LatencySplits>,
    pub(crate) log: Option<RequestLog>,
    pub(crate) queues: Option<ByQueue>,
    pub(crate) namespaces: Option<ByNamespace>,
}

/// Records of the requests that were measured.
#[derive(Default)]
pub(crate) struct RequestRecords {
    /// Time by cause; only with `run.causes`.
    pub(crate) splits: Option<LatencySplits>,
    /// Latencies by submission queue; only if the drive distinguishes queues.
    pub(crate) queues: Option<ByQueue>,
    /// Requests by namespace; only if the scenario has some.
    pub(crate) namespaces: Option<ByNamespace>,
}

impl RequestRecorder {
    /// Drops the records of the warm-up. The log keeps its rows.
    pub(crate) fn restart(&mut self) {
        self.splits = self.splits.take().map(|_| LatencySplits::default());
        self.queues.iter_mut().for_each(ByQueue::restart);
        self.namespaces.iter_mut().for_each(ByNamespace::restart);
    }

    /// Records a completed request.
    pub(crate) fn completed(&mut self, request: &CompletedRequest<'_>) {
        let latency = (request.at - request.since).0;
        // Failed requests are logged, but their latencies are not counted, as everywhere.
        let is_served = request.outcome == Outcome::Ok;
        if let (true, Some(splits), Some(parts)) = (is_served, &mut self.splits, &request.parts) {
            splits.record(request.command.op, latency, parts);
        }
        if let (true, Some(queues)) = (is_served, &mut self.queues) {
            queues.record(request.command, latency);
        }
        if let (true, Some(namespaces)) = (is_served, &mut self.namespaces) {
            namespaces.record(request.command, latency);
        }
        if let Some(log) = &mut self.log {
            log.push(request);
        }
    }

    /// Hands on the tables that are full.
    pub(crate) fn hand_on(&mut self, rows: OnRows<'_>) {
        self.log.iter_mut().flat_map(|log| log.full.drain(..)).for_each(rows);
    }

    /// Hands on the remaining rows and returns the records; no request may follow.
    pub(crate) fn finish(mut self, rows: Option<OnRows<'_>>) -> RequestRecords {
        // Even a log without requests has its columns, so the last table may be empty.
        self.log.iter_mut().for_each(RequestLog::close);
        if let Some(rows) = rows {
            self.hand_on(rows);
        }
        RequestRecords { splits: self.splits, queues: self.queues, namespaces: self.namespaces }
    }
}
