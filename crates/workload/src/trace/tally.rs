//! Counts requests, sizes and addresses of a trace, in memory that grows only with the space touched.

use super::figures::{OpStats, TraceInfo};
use crate::WorkloadRequest;
use outlast_device::Op;
use std::collections::BTreeMap;

/// Sectors of a block of 4 KiB, the unit of footprints.
const BLOCK: u64 = 8;
/// Blocks in a chunk of the sparse map: 1 MiB.
const CHUNK: u64 = 256;
/// Chunks for which accesses are counted, and not only touched blocks: 256 GiB of the trace, with 256 MiB of counts.
const MOST_COUNTED: usize = 1 << 18;
const KINDS: usize = 4;

/// The touched blocks of a chunk, and how often they were accessed.
#[derive(Clone, Debug)]
struct TallyChunk {
    /// A bit for each block, for reads, writes and trims.
    touched: [[u64; 4]; 3],
    /// Accesses of each block; `None` beyond [`MOST_COUNTED`] chunks.
    counts: Option<Box<[u32; CHUNK as usize]>>,
}

/// Sums over the requests so far.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceTally {
    pub(super) records: u64,
    /// Commands that change the state of a zone.
    pub(super) zone_commands: u64,
    /// Requests of each size in sectors, by kind of request.
    sizes: [BTreeMap<u32, u64>; KINDS],
    chunks: BTreeMap<u64, TallyChunk>,
    /// True if accesses of some chunk were not counted.
    uncounted: bool,
    /// End of the last request of each kind.
    ends: [Option<u64>; KINDS],
    aligned: u64,
    sequential: u64,
    /// First sector and end of the touched range, and the last arrival in nanoseconds.
    start: Option<u64>,
    end: u64,
    last: u64,
}

impl TraceTally {
    /// Counts one request. Requests come in order of arrival, the first at 0.
    pub(super) fn add(&mut self, request: &WorkloadRequest) {
        let command = request.command;
        self.records += 1;
        self.last = request.at.0;
        let kind = match command.op {
            // They move no data.
            Op::ManageZone | Op::LbaStatus => {
                self.zone_commands += 1;
                return;
            }
            Op::Append => Op::Write as usize,
            op => op as usize,
        };
        *self.sizes[kind].entry(command.sectors).or_insert(0) += 1;
        if command.op == Op::Flush {
            return;
        }
        let (start, end) = (command.lba.0, command.lba.0 + u64::from(command.sectors));
        self.start = Some(self.start.map_or(start, |first| first.min(start)));
        self.end = self.end.max(end);
        self.aligned += u64::from(start.is_multiple_of(BLOCK) && end.is_multiple_of(BLOCK));
        self.sequential += u64::from(self.ends[kind] == Some(start));
        self.ends[kind] = Some(end);
        for block in start / BLOCK..end.div_ceil(BLOCK) {
            self.touch(block, kind);
        }
    }

    fn touch(&mut self, block: u64, kind: usize) {
        // Beyond the limit a chunk keeps 96 bytes of bits instead of 1 KiB of counts.
        let full = self.chunks.len() >= MOST_COUNTED;
        let chunk = self.chunks.entry(block / CHUNK).or_insert_with(|| TallyChunk {
            touched: [[0; 4]; 3],
            counts: (!full).then(|| Box::new([0; CHUNK as usize])),
        });
        let bit = (block % CHUNK) as usize;
        chunk.touched[kind][bit / 64] |= 1 << (bit % 64);
        match &mut chunk.counts {
            Some(counts) => counts[bit] = counts[bit].saturating_add(1),
            None => self.uncounted = true,
        }
    }

    /// Touched blocks in MiB; `bits_of` gives the bits of each of the four words of a chunk.
    fn footprint(&self, bits_of: impl Fn(&TallyChunk, usize) -> u64) -> f64 {
        let blocks: u64 = self
            .chunks
            .values()
            .map(|chunk| (0..4).map(|word| u64::from(bits_of(chunk, word).count_ones())).sum::<u64>())
            .sum();
        blocks as f64 / CHUNK as f64
    }

    /// Accesses to the most-accessed fifth of the touched blocks, in percent.
    fn hot20(&self) -> Option<f64> {
        if self.uncounted {
            return None;
        }
        // Number of blocks by number of accesses, of which a trace has few different ones, instead of a sorted list of all blocks.
        let mut blocks = BTreeMap::new();
        let counts = self.chunks.values().filter_map(|chunk| chunk.counts.as_deref()).flatten();
        for &count in counts.filter(|&&count| count > 0) {
            *blocks.entry(count).or_insert(0u64) += 1;
        }
        let touched: u64 = blocks.values().sum();
        let accesses: u64 = blocks.iter().map(|(&count, &number)| u64::from(count) * number).sum();
        // From the most accessed blocks down, until a fifth of the touched blocks is taken.
        let (mut left, mut hot) = (touched / 5, 0);
        for (&count, &number) in blocks.iter().rev() {
            let taken = number.min(left);
            hot += taken * u64::from(count);
            left -= taken;
        }
        (accesses > 0).then(|| 100.0 * hot as f64 / accesses as f64)
    }

    fn stats(&self, kind: usize) -> OpStats {
        let sizes = &self.sizes[kind];
        let count: u64 = sizes.values().sum();
        let bytes = sizes.iter().map(|(&sectors, &number)| u64::from(sectors) * 512 * number).sum::<u64>();
        let mut cumulated = 0;
        let median = sizes.iter().find(|&(_, &number)| {
            cumulated += number;
            cumulated * 2 >= count
        });
        OpStats {
            count,
            percent: percent(count, self.records),
            bytes,
            mean_bytes: if count == 0 { 0.0 } else { bytes as f64 / count as f64 },
            median_bytes: median.map_or(0, |(&sectors, _)| u64::from(sectors) * 512),
            max_bytes: sizes.keys().last().map_or(0, |&sectors| u64::from(sectors) * 512),
            footprint_mib: if kind < 3 {
                self.footprint(|chunk, word| chunk.touched[kind][word])
            } else {
                0.0
            },
        }
    }

    /// `info` with the figures of the sums.
    pub(super) fn info(self, info: TraceInfo) -> TraceInfo {
        let flushes = self.stats(Op::Flush as usize);
        let moved = self.records - flushes.count;
        TraceInfo {
            records: self.records,
            span_s: self.last as f64 * 1e-9,
            // There is one gap less than requests.
            rate_iops: (self.last > 0).then(|| (self.records - 1) as f64 / (self.last as f64 * 1e-9)),
            mean_gap_us: if self.records < 2 {
                0.0
            } else {
                self.last as f64 * 1e-3 / (self.records - 1) as f64
            },
            reads: self.stats(Op::Read as usize),
            writes: self.stats(Op::Write as usize),
            trims: self.stats(Op::Trim as usize),
            flushes,
            footprint_mib: self
                .footprint(|chunk, word| chunk.touched.iter().fold(0, |all, kind| all | kind[word])),
            start_lba: self.start.unwrap_or(0),
            end_lba: self.end,
            aligned_percent: percent(self.aligned, moved),
            sequential_percent: percent(self.sequential, moved),
            hot20_percent: self.hot20(),
            ..info
        }
    }
}

fn percent(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 }
}
