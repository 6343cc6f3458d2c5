//! Buckets of fio's latency histograms.

use hdrhistogram::Histogram;

/// Bits of a latency that fio's histogram keeps below the leading one: `FIO_IO_U_PLAT_BITS`.
const PRECISION: u32 = 6;

/// Counts of a histogram in fio's buckets, each keyed by the middle of its range (`plat_val_to_idx` and `plat_idx_to_val` of fio's `stat.c`).
pub(super) fn buckets(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for step in histogram.iter_recorded() {
        let middle = step.value_iterated_to();
        // Steps come in order, so those of one bucket are neighbours.
        let bucket = bucket(middle);
        match counts.last_mut() {
            Some(last) if last.0 == bucket => last.1 += step.count_at_value(),
            _ => counts.push((bucket, step.count_at_value())),
        }
    }
    counts
}

/// The middle of fio's bucket of a latency, in nanoseconds.
fn bucket(nanos: u64) -> u64 {
    let leading = nanos.max(1).ilog2();
    if leading <= PRECISION {
        return nanos;
    }
    let width = leading - PRECISION;
    (nanos >> width << width) + (1 << width) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_fio() {
        // plat_idx_to_val(plat_val_to_idx(n)) of fio 3.33, from its source.
        for (nanos, middle) in [
            (0, 0),
            (127, 127),
            (128, 129),
            (129, 129),
            (255, 255),
            (256, 258),
            (1000, 1004),
            (1 << 20, (1 << 20) + (1 << 13)),
        ] {
            assert_eq!(bucket(nanos), middle, "{nanos}");
        }
    }
}
