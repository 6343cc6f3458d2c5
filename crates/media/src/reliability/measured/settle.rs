//! Fitting the model of a chip to the rows of its file.

use super::collapse::{MeasuredCondition, collapse};
use super::rows::{self, MeasuredRow, MeasuredRows};
use super::{FitForm, FitSettings, MeasuredChip, RowError, exponential, grid, power_law};
use crate::reliability::{ModelRange, PageTypes, RberModel, acceleration};

/// An estimated parameter of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterEstimate {
    /// Name in a scenario.
    pub name: &'static str,
    /// Estimated value.
    pub value: f64,
    /// Standard error; absent where the rows do not determine it.
    pub error: Option<f64>,
    /// True if the error is that of the logarithm.
    pub is_relative: bool,
}

/// Result of fitting a form.
pub(super) struct FormSolution {
    pub(super) model: RberModel,
    /// ln of the factor of each page type, the first being 0.
    pub(super) ln_types: Vec<f64>,
    /// Sum of squares of residuals over their standard deviations.
    pub(super) cost: f64,
    pub(super) estimates: Vec<ParameterEstimate>,
    pub(super) fit: FitForm,
}

/// A chip's file with the model fitted to it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedChip {
    /// The rates, as a scenario holds them.
    pub measured: MeasuredChip,
    /// The rows of the file.
    pub rows: Vec<MeasuredRow>,
    /// Errors per bit that the model gives for each row.
    pub fitted: Vec<f64>,
    /// The model's parameters; none of a grid.
    pub estimates: Vec<ParameterEstimate>,
    /// Page types by name, in the order of `measured.page_types`; none where the file has none.
    pub types: Vec<String>,
    /// Standard deviation of log10 of the rates of one condition about the model, beyond what counting explains.
    pub spread_log10: f64,
}

/// Reads the text of the file `of`.
///
/// # Errors
/// The first error of the file, with its line and column; or a parameter that the rows do not determine.
pub fn fit(of: &str, text: &str, reading: &FitSettings) -> Result<FittedChip, RowError> {
    let rows = rows::parse(text)?;
    let reference = reference(&rows, reading);
    let factor = |row: &MeasuredRow| match (reference, row.temperature) {
        (Some(reference), Some(kept_at)) => acceleration(reading.activation_energy, reference, kept_at),
        _ => 1.0,
    };
    let days = |row: &MeasuredRow| row.days * factor(row);
    let conditions = collapse(&rows.all, days);
    let types = rows.types.len().max(1);
    let (mut solution, spread) = spread_out(&conditions, types, rows.counted, reading.fit)?;
    let page_types = take_types(&mut solution, types);
    let ln_factors = page_types.as_ref().map_or(vec![0.0], PageTypes::ln_factors);
    let at = |row: &MeasuredRow| {
        solution.model.rber(row.cycles, days(row), row.reads) * ln_factors[row.page_type].exp()
    };
    let fitted: Vec<f64> = rows.all.iter().map(at).collect();
    let logs =
        rows.all.iter().zip(&fitted).map(|(row, fitted)| (fitted.ln() - row.ln) / std::f64::consts::LN_10);
    let rms_log10 = (logs.map(|log| log * log).sum::<f64>() / rows.all.len() as f64).sqrt();
    solution.model.validate("chip").map_err(|error| RowError { line: None, error })?;
    let measured = MeasuredChip {
        file: of.to_owned(),
        fit: reading.fit,
        activation_energy: reading.activation_energy,
        reference_temperature: reading.reference,
        temperature: reference,
        range: range(&rows.all, &conditions),
        rows: rows.all.len() as u32,
        model: solution.model,
        page_types,
        rms_log10,
    };
    let estimates = solution.estimates;
    Ok(FittedChip { measured, fitted, estimates, types: rows.types, spread_log10: spread, rows: rows.all })
}

/// Temperature that retention times are converted to: that of the settings, else the lowest of the rows.
fn reference(rows: &MeasuredRows, reading: &FitSettings) -> Option<f64> {
    reading.reference.or_else(|| rows.all.iter().filter_map(|row| row.temperature).reduce(f64::min))
}

/// Fits the form. Counts say how sure each rate is, but blocks and chips differ by more than counting explains: as much more as makes the
/// residuals what they should be is added to each variance (as meta-analyses do: `DerSimonian` and Laird, 1986), so that a row of very many
/// errors does not outweigh all others. Returns that excess as a standard deviation of log10, and of rows without counts the residuals'.
fn spread_out(
    conditions: &[MeasuredCondition],
    types: usize,
    counted: bool,
    fit: FitForm,
) -> Result<(FormSolution, f64), RowError> {
    const ROUNDS: usize = 4;
    let form = |conditions: &[MeasuredCondition]| match fit {
        FitForm::PowerLaw => power_law::fit(conditions, types),
        FitForm::Exponential => exponential::fit(conditions, types),
        FitForm::Interpolate => grid::fit(conditions, types),
    };
    let mut solution = form(conditions)?;
    let freedom = conditions.len() as f64 - (solution.estimates.len() + types - 1) as f64;
    if solution.fit == FitForm::Interpolate || freedom < 1.0 {
        return Ok((solution, 0.0));
    }
    if !counted {
        let spread = (solution.cost / freedom).sqrt();
        solution
            .estimates
            .iter_mut()
            .for_each(|estimate| estimate.error = estimate.error.map(|error| error * spread));
        return Ok((solution, spread / std::f64::consts::LN_10));
    }
    let mut excess = 0.0;
    for _ in 0..ROUNDS {
        let residuals = conditions.iter().map(|c| residual(&solution, c).powi(2)).collect::<Vec<f64>>();
        let more = excess_variance(conditions, &residuals, freedom);
        if more == 0.0 && excess == 0.0 {
            break;
        }
        excess = more;
        let wider =
            |c: &MeasuredCondition| MeasuredCondition { weight: (c.weight.recip() + excess).recip(), ..*c };
        solution = form(&conditions.iter().map(wider).collect::<Vec<_>>())?;
    }
    Ok((solution, excess.sqrt() / std::f64::consts::LN_10))
}

fn residual(solution: &FormSolution, c: &MeasuredCondition) -> f64 {
    solution.model.rber(c.cycles, c.days, c.reads).ln() + solution.ln_types[c.page_type] - c.ln
}

/// The variance that, added to each, makes the sum of squares over variances `freedom`; 0 if it is less already.
fn excess_variance(conditions: &[MeasuredCondition], squares: &[f64], freedom: f64) -> f64 {
    let sum = |excess: f64| {
        conditions.iter().zip(squares).map(|(c, square)| square / (c.weight.recip() + excess)).sum::<f64>()
    };
    if sum(0.0) <= freedom {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, squares.iter().sum::<f64>() / freedom);
    // 60 bisections reach the last bit of a double.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if sum(middle) > freedom { low = middle } else { high = middle }
    }
    high
}

/// The page types of a solution as factors of mean 1; the mean goes into the model.
fn take_types(solution: &mut FormSolution, types: usize) -> Option<PageTypes> {
    if types == 1 {
        return None;
    }
    let factors: Vec<f64> = solution.ln_types.iter().map(|ln| ln.exp()).collect();
    let mean = factors.iter().sum::<f64>() / types as f64;
    solution.model = solution.model.scaled(mean);
    for estimate in solution.estimates.iter_mut().filter(|estimate| estimate.is_relative) {
        estimate.value *= mean;
    }
    Some(PageTypes { factors: factors.iter().map(|factor| factor / mean).collect() })
}

fn range(rows: &[MeasuredRow], conditions: &[MeasuredCondition]) -> ModelRange {
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(None, |ends: Option<[f64; 2]>, value| {
            let [low, high] = ends.unwrap_or([value, value]);
            Some([low.min(value), high.max(value)])
        })
    };
    ModelRange {
        cycles: ends(&mut rows.iter().map(|row| row.cycles)),
        days: ends(&mut conditions.iter().map(|c| c.days)),
        reads: ends(&mut rows.iter().map(|row| row.reads)),
        temperature: ends(&mut rows.iter().filter_map(|row| row.temperature)),
    }
}
