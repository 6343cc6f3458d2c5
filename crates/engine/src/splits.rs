//! Time of requests by cause, summed for each latency that occurred.

use outlast_device::{Latencies, LatencyCause, LatencyParts, Op};

/// Bits of a latency below its leading one: up to 256 ns every latency has its own bucket, beyond that a bucket spans a 128th.
const BITS: u32 = 7;
/// Beginnings of the bands of requests, as shares of all requests in order of latency.
const BAND_STARTS: [f64; 6] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999];
/// Fewest requests above the beginning of a band; with fewer it joins the band before.
const LEAST_ABOVE: f64 = 10.0;

/// Requests whose latencies are nearly the same.
#[derive(Clone, Copy, Debug, Default)]
struct LatencyBucket {
    requests: u64,
    /// Sums by cause, in nanoseconds.
    parts: LatencyParts,
}

/// Time of requests of one kind, by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatencySplit {
    /// Buckets by latency, up to the longest that occurred.
    buckets: Vec<LatencyBucket>,
}

/// Requests from one percentile to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyBand {
    /// Beginning and end, as shares of all requests in order of latency.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Number of requests; no whole number where a boundary cuts a bucket.
    pub(crate) requests: f64,
    /// Means by cause, in nanoseconds.
    pub(crate) parts: Latencies<f64>,
}

/// Index of the bucket of a latency in nanoseconds; it grows with the latency and has no gaps.
#[inline]
fn bucket_of(latency: u64) -> usize {
    // For shift > 0 the kept bits are 128..256. Their leading one adds a whole step of 128, so indices continue where the shift grows.
    let shift = (u64::BITS - latency.leading_zeros()).saturating_sub(BITS + 1);
    ((u64::from(shift) << BITS) + (latency >> shift)) as usize
}

impl LatencySplit {
    #[inline]
    fn record(&mut self, latency: u64, parts: &LatencyParts) {
        let index = bucket_of(latency);
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, LatencyBucket::default());
        }
        let bucket = &mut self.buckets[index];
        bucket.requests += 1;
        bucket.parts = bucket.parts + *parts;
    }

    /// Number of requests.
    pub(crate) fn requests(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.requests).sum()
    }

    /// Means over all requests by cause, in nanoseconds.
    pub(crate) fn mean(&self) -> Latencies<f64> {
        let all: LatencyParts = self.buckets.iter().map(|bucket| bucket.parts).sum();
        let requests = self.requests().max(1) as f64;
        all.map(|part| part as f64 / requests)
    }

    /// Bands of requests between percentiles, the fastest first. Requests in one bucket are taken to be alike: a bucket cut by a boundary is
    /// divided in proportion.
    pub(crate) fn bands(&self) -> Vec<LatencyBand> {
        let all = self.requests() as f64;
        let is_resolved = |&&start: &&f64| start == 0.0 || all * (1.0 - start) >= LEAST_ABOVE;
        let starts: Vec<f64> = BAND_STARTS.iter().filter(is_resolved).copied().collect();
        let ends = starts.iter().skip(1).copied().chain([1.0]);
        let bands = starts.iter().zip(ends);
        bands.map(|(&from, to)| self.band(from, to, all)).filter(|band| band.requests > 0.0).collect()
    }

    /// The band of requests between two shares of `all`.
    fn band(&self, from: f64, to: f64, all: f64) -> LatencyBand {
        let (first, last) = (from * all, to * all);
        let (mut below, mut requests) = (0.0, 0.0);
        let mut parts: Latencies<f64> = Latencies::default();
        for bucket in self.buckets.iter().filter(|bucket| bucket.requests != 0) {
            let in_bucket = bucket.requests as f64;
            // Overlap of the band with the bucket, both as ranges of requests in order of latency.
            let within = (last.min(below + in_bucket) - first.max(below)).max(0.0);
            below += in_bucket;
            requests += within;
            parts = parts + bucket.parts.map(|part| part as f64 * (within / in_bucket));
        }
        LatencyBand {
            from,
            to,
            requests,
            parts: parts.map(|sum| sum / f64::max(requests, f64::MIN_POSITIVE)),
        }
    }
}

/// Time of reads and of writes, by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatencySplits([LatencySplit; 2]);

impl LatencySplits {
    pub(crate) fn of(&self, op: Op) -> &LatencySplit {
        &self.0[usize::from(op != Op::Read)]
    }

    /// Records a completed request. Kinds other than reads and writes are not split.
    #[inline]
    pub(crate) fn record(&mut self, op: Op, latency: u64, parts: &LatencyParts) {
        debug_assert!(parts.total() == latency, "{op:?} of {latency} ns went into {parts:?}");
        if matches!(op, Op::Read | Op::Write) {
            self.0[usize::from(op != Op::Read)].record(latency, parts);
        }
    }
}

/// Latencies with the names of their causes, as in results.
pub(crate) fn named(parts: &Latencies<f64>) -> impl Iterator<Item = (&'static str, f64)> + '_ {
    parts.iter().map(|(cause, part): (LatencyCause, f64)| (cause.name(), part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;

    #[test]
    fn a_bucket_is_no_wider_than_a_128th_of_its_latencies() {
        let mut last = 0;
        for latency in (0..5000).chain((13..60).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1])) {
            let index = bucket_of(latency);
            assert!(index >= last, "{latency}");
            last = index;
            let wide = latency + latency / 64 + 1;
            assert!(bucket_of(wide) > index, "{latency} and {wide} share a bucket");
            assert!(latency >= 256 || index == latency as usize);
        }
    }

    /// Against requests sorted by latency: a request counts for the band in which it stands, up to those that share a bucket with a
    /// boundary.
    #[test]
    fn bands_are_those_of_the_sorted_requests() {
        let mut rng = SplitMix::new(7, "test.splits");
        let (mut split, mut all) = (LatencySplit::default(), Vec::new());
        for _ in 0..200_000 {
            let sensing = 50_000 + rng.below(10_000);
            // One in fifty meets a program.
            let program = if rng.below(50) == 0 { rng.below(700_000) } else { 0 };
            let mut parts = LatencyParts::default();
            parts[LatencyCause::Sensing] = sensing;
            parts[LatencyCause::DieProgram] = program;
            split.record(parts.total(), &parts);
            all.push((sensing + program, sensing, program));
        }
        all.sort_unstable();
        let bands = split.bands();
        assert_eq!(bands.len(), BAND_STARTS.len());
        for band in &bands {
            let (first, last) = ((band.from * 2e5).round() as usize, (band.to * 2e5).round() as usize);
            let count = (last - first) as f64;
            assert!((band.requests - count).abs() < 1e-6 * count, "{band:?}");
            let mean = |of: fn(&(u64, u64, u64)) -> u64| {
                all[first..last].iter().map(|one| of(one) as f64).sum::<f64>() / count
            };
            let whole: f64 = band.parts.total();
            assert!((whole / mean(|one| one.0) - 1.0).abs() < 1.0 / 128.0, "{band:?}");
            let error = (band.parts[LatencyCause::DieProgram] - mean(|one| one.2)).abs();
            assert!(error < mean(|one| one.0) / 128.0, "{band:?}: {error}");
        }
        let sum = bands.iter().map(|band| band.parts.total() * band.requests).sum::<f64>() / 2e5;
        assert!((sum / split.mean().total() - 1.0).abs() < 1e-9, "the bands are all of it");
    }

    #[test]
    fn a_band_needs_ten_requests_above_its_beginning() {
        let mut split = LatencySplit::default();
        for latency in 0..1000 {
            let mut parts = LatencyParts::default();
            parts[LatencyCause::Link] = latency;
            split.record(latency, &parts);
        }
        let bands = split.bands();
        assert_eq!(bands.iter().map(|band| band.from).collect::<Vec<_>>(), [0.0, 0.5, 0.9, 0.99]);
        assert_eq!(bands.last().map(|band| band.to), Some(1.0));
        assert!(LatencySplit::default().bands().is_empty());
    }
}
