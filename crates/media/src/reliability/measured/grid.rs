//! A grid through the measured rates.

use super::collapse::{MeasuredCondition, merge};
use super::isotonic::isotonic;
use super::settle::FormSolution;
use super::{FitForm, RowError};
use crate::reliability::rber::MOST_NODES;
use crate::reliability::{RberGrid, RberModel, SATURATED_RBER};

const MOST_CONDITIONS: usize = 500;
/// Rounds of the two-way means that separate page types from conditions.
const ROUNDS: usize = 50;

pub(super) fn fit(conditions: &[MeasuredCondition], types: usize) -> Result<FormSolution, RowError> {
    let ln_types = ln_factors_of_types(conditions, types);
    let without =
        |c: &MeasuredCondition| MeasuredCondition { page_type: 0, ln: c.ln - ln_types[c.page_type], ..*c };
    let mut points = merge(conditions.iter().map(without).collect());
    if points.len() > MOST_CONDITIONS {
        let limit = format!("must be at most {MOST_CONDITIONS} for fit = \"interpolate\"");
        return Err(RowError::whole("conditions", points.len(), limit));
    }
    let axes = [0, 1, 2].map(|axis| {
        let mut values: Vec<f64> = points.iter().map(|point| place(point)[axis]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    });
    let nodes = axes.iter().map(Vec::len).product::<usize>();
    if nodes > MOST_NODES {
        let limit = format!(
            "must be at most {MOST_NODES} for fit = \"interpolate\": P/E cycles times times times reads"
        );
        return Err(RowError::whole("conditions", nodes, limit));
    }
    let values: Vec<f64> = points.iter().map(|point| point.ln).collect();
    let weights: Vec<f64> = points.iter().map(|point| point.weight).collect();
    let pairs = neighbours(&points);
    for (point, ln) in points.iter_mut().zip(isotonic(&values, &weights, &pairs)) {
        point.ln = ln;
    }
    let rber = filled(&points, &axes).into_iter().map(rounded).collect();
    let [cycles, days, reads] = axes;
    let model = RberModel::Grid(RberGrid { cycles, days, reads, rber });
    Ok(FormSolution { model, ln_types, cost: 0.0, estimates: Vec::new(), fit: FitForm::Interpolate })
}

fn place(point: &MeasuredCondition) -> [f64; 3] {
    [point.cycles, point.days, point.reads]
}

/// True if `a` has no more wear, age and reads than `b`.
fn is_below(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(&b).all(|(a, b)| a <= b)
}

/// Rounds to twelve digits, so that a rate is equal, and in the same order, after it was written and read again.
fn rounded(rate: f64) -> f64 {
    format!("{:.11e}", rate.min(SATURATED_RBER)).parse().unwrap_or(rate)
}

/// ln of the factor of each page type over the first, by two-way means: each condition has its own rate.
fn ln_factors_of_types(conditions: &[MeasuredCondition], types: usize) -> Vec<f64> {
    let mut apart = vec![0.0; types];
    let same = |a: &MeasuredCondition, b: &MeasuredCondition| {
        is_below(place(a), place(b)) && is_below(place(b), place(a))
    };
    for _ in 0..if types > 1 { ROUNDS } else { 0 } {
        let mut sums = vec![(0.0, 0.0); types];
        for group in conditions.chunk_by(same) {
            let (sum, weight) = group.iter().fold((0.0, 0.0), |(sum, weight), c| {
                (sum + c.weight * (c.ln - apart[c.page_type]), weight + c.weight)
            });
            for c in group {
                let (above, by) = &mut sums[c.page_type];
                *above += c.weight * (c.ln - sum / weight);
                *by += c.weight;
            }
        }
        let first = sums[0].0 / sums[0].1;
        apart = sums.iter().map(|(above, by)| above / by - first).collect();
    }
    apart
}

/// Pairs of points of which the first is below the second and none lies between.
fn neighbours(points: &[MeasuredCondition]) -> Vec<(usize, usize)> {
    let at: Vec<[f64; 3]> = points.iter().map(place).collect();
    let below = |a: usize, b: usize| a != b && is_below(at[a], at[b]);
    let mut pairs = Vec::new();
    for high in 0..at.len() {
        let under: Vec<usize> = (0..at.len()).filter(|&low| below(low, high)).collect();
        pairs.extend(
            under
                .iter()
                .filter(|&&low| !under.iter().any(|&between| below(low, between)))
                .map(|&low| (low, high)),
        );
    }
    pairs
}

/// The rate at every node. One that was not measured lies between the greatest measured below it and the least above: at the geometric mean
/// of the two, and at the one where there is but one. Where both age and reads count, what each adds by itself is added, as the mechanisms
/// are elsewhere, within those bounds. Last, no node is left below what is below it.
fn filled(points: &[MeasuredCondition], axes: &[Vec<f64>; 3]) -> Vec<f64> {
    let [cycles, days, reads] = axes;
    let index = |i: usize, j: usize, k: usize| (i * days.len() + j) * reads.len() + k;
    let mut rates = vec![0.0; cycles.len() * days.len() * reads.len()];
    let node = |i: usize, j: usize, k: usize| [cycles[i], days[j], reads[k]];
    let bounds = |at: [f64; 3]| {
        let low =
            points.iter().filter(|p| is_below(place(p), at)).map(|p| p.ln).fold(f64::NEG_INFINITY, f64::max);
        let high =
            points.iter().filter(|p| is_below(at, place(p))).map(|p| p.ln).fold(f64::INFINITY, f64::min);
        (low, high)
    };
    for i in 0..cycles.len() {
        for j in 0..days.len() {
            for k in 0..reads.len() {
                let at = node(i, j, k);
                let (low, high) = bounds(at);
                let measured = points
                    .iter()
                    .find(|p| is_below(place(p), at) && is_below(at, place(p)))
                    .map(|p| p.ln.exp());
                let middle = if low.is_infinite() {
                    high
                } else if high.is_infinite() {
                    low
                } else {
                    f64::midpoint(low, high)
                };
                let guess = if j > 0 && k > 0 {
                    rates[index(i, j, 0)] + rates[index(i, 0, k)] - rates[index(i, 0, 0)]
                } else {
                    middle.exp()
                };
                let within = guess.max(low.exp()).min(high.exp());
                let before = [
                    (i > 0).then(|| rates[index(i - 1, j, k)]),
                    (j > 0).then(|| rates[index(i, j - 1, k)]),
                    (k > 0).then(|| rates[index(i, j, k - 1)]),
                ];
                let least = before.into_iter().flatten().fold(0.0, f64::max);
                rates[index(i, j, k)] = measured.unwrap_or(within).max(least);
            }
        }
    }
    rates
}
