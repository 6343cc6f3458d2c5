//! Merging of rows that were measured under the same condition.

use super::MeasuredRow;

/// A condition, with the mean of all rows measured under it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeasuredCondition {
    pub(super) cycles: f64,
    /// Days since writing, at the reference temperature.
    pub(super) days: f64,
    pub(super) reads: f64,
    pub(super) page_type: usize,
    /// Mean ln of the rate.
    pub(super) ln: f64,
    /// Reciprocal of its variance.
    pub(super) weight: f64,
}

impl MeasuredCondition {
    fn key(&self) -> [u64; 4] {
        [self.cycles.to_bits(), self.days.to_bits(), self.reads.to_bits(), self.page_type as u64]
    }
}

/// The conditions of the rows, in rising order; `days` gives the age of a row at the reference temperature.
pub(super) fn collapse(rows: &[MeasuredRow], days: impl Fn(&MeasuredRow) -> f64) -> Vec<MeasuredCondition> {
    let of_row = |row: &MeasuredRow| MeasuredCondition {
        cycles: row.cycles,
        days: days(row),
        reads: row.reads,
        page_type: row.page_type,
        ln: row.ln,
        weight: row.variance.recip(),
    };
    merge(rows.iter().map(of_row).collect())
}

/// Merges equal conditions into their weighted mean, in rising order. Keys are bits of numbers of at least 0, which sort like the numbers.
pub(super) fn merge(mut all: Vec<MeasuredCondition>) -> Vec<MeasuredCondition> {
    all.sort_by_key(MeasuredCondition::key);
    all.chunk_by(|a, b| a.key() == b.key())
        .map(|same| {
            let weight: f64 = same.iter().map(|one| one.weight).sum();
            // A single row keeps its bits: the mean would round.
            let ln = match same {
                [one] => one.ln,
                _ => same.iter().map(|one| one.weight * one.ln).sum::<f64>() / weight,
            };
            MeasuredCondition { ln, weight, ..same[0] }
        })
        .collect()
}

/// Number of different values above 0.
pub(super) fn distinct(values: impl Iterator<Item = f64>) -> usize {
    let mut values: Vec<f64> = values.filter(|&value| value > 0.0).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len()
}

/// Geometric mean of the values above 0; 1 if there are none.
pub(super) fn typical(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values
        .filter(|&value| value > 0.0)
        .fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    if count > 0.0 { (sum / count).exp() } else { 1.0 }
}
