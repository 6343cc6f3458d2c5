//! Fit of a power law to the measured rates.

use super::collapse::{MeasuredCondition, distinct, typical};
use super::least_squares::{LocalMinimum, minimise};
use super::settle::{FormSolution, ParameterEstimate};
use super::{FitForm, RowError};
use crate::reliability::{PowerLaw, RberModel};

/// Indices of the parameters; those of the page types follow. An amplitude is the logarithm of its term at typical cycles, days and reads, so that
/// it is nearly independent of the exponents.
const FLOOR: usize = 0;
const WEAR: usize = 1;
const K: usize = 2;
const RETENTION: usize = 3;
const M: usize = 4;
const N: usize = 5;
const DISTURBANCE: usize = 6;
const P: usize = 7;
const Q: usize = 8;
const TYPES: usize = 9;
const NAMES: [&str; TYPES] = ["epsilon", "alpha", "k", "beta", "m", "n", "gamma", "p", "q"];
/// ln of an amplitude of zero.
const NONE: f64 = -600.0;
/// Limit of conditions: a fit of so many takes seconds.
const MOST_CONDITIONS: usize = 10_000;
const MOST_EXPONENT: f64 = 8.0;
/// Initial exponents of time, of reads and of cycles, which the fit starts from in all combinations.
const TIMES: [f64; 3] = [0.3, 0.6, 1.5];
const READS: [f64; 3] = [0.5, 1.0, 1.7];
const CYCLES: [f64; 3] = [0.1, 0.7, 2.0];
/// Number of starts that are followed to their minimum: those of the least cost.
const FOLLOWED: usize = 4;

/// A fit in progress: conditions, scales of the quantities, and bounds of the parameters that the conditions determine.
struct PowerLawFit<'a> {
    conditions: &'a [MeasuredCondition],
    types: usize,
    scale: [f64; 3],
    bounds: Vec<(f64, f64)>,
}

pub(super) fn fit(conditions: &[MeasuredCondition], types: usize) -> Result<FormSolution, RowError> {
    let frame = PowerLawFit::new(conditions, types)?;
    let mut starts: Vec<(f64, Vec<f64>)> =
        frame.starts().into_iter().map(|at| (frame.cost(&at), at)).collect();
    starts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let followed = starts.iter().take(FOLLOWED);
    let minima = followed.map(|(_, at)| minimise(|at| frame.residuals(at), at, &frame.bounds));
    let best = minima.min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("there is at least one start");
    Ok(frame.solution(&best))
}

impl<'a> PowerLawFit<'a> {
    fn new(conditions: &'a [MeasuredCondition], types: usize) -> Result<Self, RowError> {
        if conditions.len() > MOST_CONDITIONS {
            let limit = format!(
                "must be at most {MOST_CONDITIONS}: different P/E cycles, times, reads and page types"
            );
            return Err(RowError::whole("conditions", conditions.len(), limit));
        }
        let cycles = |c: &MeasuredCondition| c.cycles;
        let aged: Vec<&MeasuredCondition> = conditions.iter().filter(|c| c.days > 0.0).collect();
        let read: Vec<&MeasuredCondition> = conditions.iter().filter(|c| c.reads > 0.0).collect();
        let worn = distinct(conditions.iter().map(cycles));
        let fresh = conditions.iter().any(|c| c.cycles == 0.0);
        if fresh && worn == 1 {
            let limit = "must have two values above 0 for the power of wear; fit = \"interpolate\" takes what there is";
            return Err(RowError::whole("pe_cycles", "0 and one more", limit));
        }
        let times = distinct(aged.iter().map(|c| c.days));
        let reads = distinct(read.iter().map(|c| c.reads));
        for (column, count) in [("retention", times), ("reads", reads)] {
            if count == 1 {
                let limit = format!(
                    "must have two values above 0 for the power of {column}; fit = \"interpolate\" takes what there is"
                );
                return Err(RowError::whole(column, "one value above 0", limit));
            }
        }
        let least = conditions.iter().map(|c| c.ln).fold(0.0, f64::min);
        let amplitude = |is_determined: bool| if is_determined { (least - 14.0, 1.0) } else { (NONE, NONE) };
        let power = |is_determined: bool| if is_determined { (0.0, MOST_EXPONENT) } else { (0.0, 0.0) };
        let several = |of: &[&MeasuredCondition]| distinct(of.iter().map(|c| c.cycles)) > 1;
        let mut bounds = vec![
            amplitude(worn != 2 || fresh),
            amplitude(worn >= 2),
            power(worn >= 2),
            amplitude(times > 0),
            power(several(&aged)),
            power(times > 0),
            amplitude(reads > 0),
            power(several(&read)),
            power(reads > 0),
        ];
        bounds.extend(vec![(-5.0, 5.0); types - 1]);
        let parameters = bounds.iter().filter(|(low, high)| low < high).count();
        if conditions.len() < parameters {
            let limit = format!(
                "must be at least {parameters}, as many as the power law has parameters for such rows; fit = \"interpolate\" takes what there is"
            );
            return Err(RowError::whole("conditions", conditions.len(), limit));
        }
        let scale = [
            typical(conditions.iter().map(cycles)),
            typical(aged.iter().map(|c| c.days)),
            typical(read.iter().map(|c| c.reads)),
        ];
        Ok(Self { conditions, types, scale, bounds })
    }

    /// Terms of the power law under a condition, with amplitude 1.
    fn terms(&self, at: &[f64], condition: &MeasuredCondition) -> [f64; 4] {
        let [c, t, r] = [
            condition.cycles / self.scale[0],
            condition.days / self.scale[1],
            condition.reads / self.scale[2],
        ];
        let aged = if t > 0.0 { c.powf(at[M]) * t.powf(at[N]) } else { 0.0 };
        let read = if r > 0.0 { c.powf(at[P]) * r.powf(at[Q]) } else { 0.0 };
        let worn = if c > 0.0 { c.powf(at[K]) } else { 0.0 };
        [1.0, worn, aged, read]
    }

    fn ln_type(at: &[f64], page_type: usize) -> f64 {
        if page_type == 0 { 0.0 } else { at[TYPES + page_type - 1] }
    }

    fn residuals(&self, at: &[f64]) -> Vec<f64> {
        let amplitudes = [FLOOR, WEAR, RETENTION, DISTURBANCE].map(|index| at[index].exp());
        let of = |condition: &MeasuredCondition| {
            let terms = self.terms(at, condition);
            let rate: f64 = terms.iter().zip(&amplitudes).map(|(term, amplitude)| term * amplitude).sum();
            condition.weight.sqrt()
                * (rate.max(1e-300).ln() + Self::ln_type(at, condition.page_type) - condition.ln)
        };
        self.conditions.iter().map(of).collect()
    }

    fn cost(&self, at: &[f64]) -> f64 {
        self.residuals(at).iter().map(|r| r * r).sum()
    }

    /// Starts of the fit: combinations of exponents, each with its best amplitudes.
    fn starts(&self) -> Vec<Vec<f64>> {
        let mut starts = Vec::new();
        let choose =
            |index: usize, of: &[f64]| if self.bounds[index].1 > 0.0 { of.to_vec() } else { vec![0.0] };
        let types = self.mean_by_type();
        for k in choose(K, &[0.5, 1.0, 2.0, 3.0]) {
            for m in choose(M, &CYCLES) {
                for n in choose(N, &TIMES) {
                    for p in choose(P, &CYCLES) {
                        for q in choose(Q, &READS) {
                            let mut at = vec![NONE, NONE, k, NONE, m, n, NONE, p, q];
                            at.extend(&types[1..]);
                            self.set_amplitudes(&mut at);
                            starts.push(at);
                        }
                    }
                }
            }
        }
        starts
    }

    /// Mean ln of the rate of each page type, relative to the first.
    fn mean_by_type(&self) -> Vec<f64> {
        let mean = |page_type: usize| {
            let of = self.conditions.iter().filter(|c| c.page_type == page_type);
            let (sum, weight) =
                of.fold((0.0, 0.0), |(sum, weight), c| (sum + c.weight * c.ln, weight + c.weight));
            if weight > 0.0 { sum / weight } else { 0.0 }
        };
        (0..self.types).map(|page_type| mean(page_type) - mean(0)).collect()
    }

    /// The amplitudes of at least 0 with the least squares of relative errors, one after the other until they hardly change.
    fn set_amplitudes(&self, at: &mut [f64]) {
        const SWEEPS: usize = 60;
        let places = [FLOOR, WEAR, RETENTION, DISTURBANCE];
        let (mut normal, mut right) = ([[0.0; 4]; 4], [0.0; 4]);
        for condition in self.conditions {
            let rate = (condition.ln - Self::ln_type(at, condition.page_type)).exp();
            let terms = self.terms(at, condition).map(|term| term / rate);
            for i in 0..4 {
                right[i] += condition.weight * terms[i];
                for j in 0..4 {
                    normal[i][j] += condition.weight * terms[i] * terms[j];
                }
            }
        }
        let mut amplitudes = [0.0f64; 4];
        for _ in 0..SWEEPS {
            for i in (0..4).filter(|&i| self.bounds[places[i]].0 > NONE && normal[i][i] > 0.0) {
                let others: f64 = (0..4).filter(|&j| j != i).map(|j| normal[i][j] * amplitudes[j]).sum();
                amplitudes[i] = ((right[i] - others) / normal[i][i]).max(0.0);
            }
        }
        for (place, amplitude) in places.into_iter().zip(amplitudes) {
            let (low, high) = self.bounds[place];
            // One of nothing has no slope to follow: a little of it is left.
            at[place] = amplitude.max(1e-300).ln().max(low + 4.0).clamp(low, high);
        }
    }

    fn solution(&self, found: &LocalMinimum) -> FormSolution {
        let at = &found.at;
        let [c, t, r] = self.scale.map(f64::ln);
        // ln of a coefficient is that of its amplitude less what the scales make of the powers.
        let combined = |amplitude: usize, powers: &[(usize, f64)]| {
            let parts: Vec<(usize, f64)> =
                powers.iter().map(|&(power, ln)| (power, -ln)).chain([(amplitude, 1.0)]).collect();
            let value: f64 = parts.iter().map(|&(index, by)| by * at[index]).sum();
            let pairs = parts.iter().flat_map(|a| parts.iter().map(move |b| (a, b)));
            let variance: f64 = pairs.map(|(a, b)| a.1 * b.1 * found.covariance[a.0][b.0]).sum();
            (value.exp(), variance.max(0.0).sqrt())
        };
        let own = |index: usize| (at[index], found.covariance[index][index].max(0.0).sqrt());
        let each = [
            combined(FLOOR, &[]),
            combined(WEAR, &[(K, c)]),
            own(K),
            combined(RETENTION, &[(M, c), (N, t)]),
            own(M),
            own(N),
            combined(DISTURBANCE, &[(P, c), (Q, r)]),
            own(P),
            own(Q),
        ];
        let told = |index: usize| self.bounds[index].0 < self.bounds[index].1;
        let term = |amplitude: usize| if told(amplitude) { each[amplitude].0 } else { 0.0 };
        let law = PowerLaw {
            epsilon: term(FLOOR),
            alpha: term(WEAR),
            beta: term(RETENTION),
            gamma: term(DISTURBANCE),
            k: at[K],
            m: at[M],
            n: at[N],
            p: at[P],
            q: at[Q],
        };
        let is_ln = |index: usize| [FLOOR, WEAR, RETENTION, DISTURBANCE].contains(&index);
        let estimates = (0..TYPES).filter(|&index| told(index)).map(|index| ParameterEstimate {
            name: NAMES[index],
            value: each[index].0,
            // An error of 0 is that of a parameter at its bound: nothing is known of it.
            error: (each[index].1 > 0.0).then_some(each[index].1),
            is_relative: is_ln(index),
        });
        let ln_types = (0..self.types).map(|page_type| Self::ln_type(at, page_type)).collect();
        FormSolution {
            model: RberModel::PowerLaw(law),
            ln_types,
            cost: found.cost,
            estimates: estimates.collect(),
            fit: FitForm::PowerLaw,
        }
    }
}
