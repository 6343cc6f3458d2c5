//! Means of independent repetitions, with what they are worth.

/// Repetitions of an estimate, each with a chance of its own.
pub(crate) const BATCHES: u64 = 10;
/// Quantile 97.5 % of Student's distribution with `BATCHES` − 1 degrees of freedom.
const STUDENT: f64 = 2.262;

/// A number that was estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalEstimate {
    /// Mean of the repetitions.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Ends of the interval that holds the true number with 95 %.
    pub low: f64,
    /// The higher of them.
    pub high: f64,
}

impl IntervalEstimate {
    /// From repetitions that are independent and alike, ten of them.
    pub(crate) fn of_batches(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = (squares / (count * (count - 1.0))).sqrt();
        let half = STUDENT * standard_error;
        Self { mean, standard_error, low: (mean - half).max(0.0), high: mean + half }
    }
}

/// Findings of a rare-event method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RareLosses {
    /// Losses by the end of each year.
    pub by_year: Vec<IntervalEstimate>,
    /// Share of each cause in the losses by the end.
    pub causes: Vec<(crate::LossCause, f64)>,
    /// Events that were played.
    pub events: u64,
}

/// Weights of losses of one repetition, by year and by cause.
#[derive(Clone, Debug)]
pub(crate) struct LossWeights {
    year_hours: f64,
    by_year: Vec<f64>,
    by_cause: std::collections::BTreeMap<crate::LossCause, f64>,
}

impl LossWeights {
    pub(crate) fn new(years: usize, year_hours: f64) -> Self {
        Self { year_hours, by_year: vec![0.0; years], by_cause: std::collections::BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, at: f64, cause: crate::LossCause, weight: f64) {
        let year = ((at / self.year_hours) as usize).min(self.by_year.len() - 1);
        self.by_year[year] += weight;
        *self.by_cause.entry(cause).or_default() += weight;
    }

    /// Adds the losses of a part with a share of the whole.
    pub(crate) fn add_part(&mut self, part: &Self, share: f64) {
        self.by_year.iter_mut().zip(&part.by_year).for_each(|(sum, weight)| *sum += share * weight);
        for (&cause, weight) in &part.by_cause {
            *self.by_cause.entry(cause).or_default() += share * weight;
        }
    }
}

impl RareLosses {
    pub(crate) fn of_batches(batches: &[LossWeights], events: u64) -> Self {
        let years = batches[0].by_year.len();
        let by_year = (0..years)
            .map(|year| {
                let sums: Vec<f64> =
                    batches.iter().map(|batch| batch.by_year[..=year].iter().sum()).collect();
                IntervalEstimate::of_batches(&sums)
            })
            .collect();
        let mut causes = std::collections::BTreeMap::<crate::LossCause, f64>::new();
        for (&cause, weight) in batches.iter().flat_map(|batch| &batch.by_cause) {
            *causes.entry(cause).or_default() += weight;
        }
        let total: f64 = causes.values().sum();
        let causes =
            causes.into_iter().filter(|_| total > 0.0).map(|(cause, sum)| (cause, sum / total)).collect();
        Self { by_year, causes, events }
    }
}
