//! Fit of an exponential of P/E cycles: a straight line in the logarithm of the rate.

use super::collapse::{MeasuredCondition, distinct};
use super::least_squares::minimise;
use super::settle::{FormSolution, ParameterEstimate};
use super::{FitForm, RowError};
use crate::reliability::{ExponentialRber, RberModel};

pub(super) fn fit(conditions: &[MeasuredCondition], types: usize) -> Result<FormSolution, RowError> {
    for (column, is_there) in [
        ("retention", conditions.iter().any(|c| c.days > 0.0)),
        ("reads", conditions.iter().any(|c| c.reads > 0.0)),
    ] {
        if is_there {
            return Err(RowError::whole(
                column,
                "above 0",
                "must be 0 for fit = \"exponential\", which knows wear only",
            ));
        }
    }
    let worn = distinct(conditions.iter().map(|c| c.cycles + 1.0));
    if worn < 2 || conditions.len() < types + 1 {
        let limit = "must have two values, and a row for each parameter, for fit = \"exponential\"";
        return Err(RowError::whole("pe_cycles", format!("{worn} values"), limit));
    }
    let most = conditions.iter().map(|c| c.cycles).fold(0.0, f64::max);
    let ln_type = |at: &[f64], page_type: usize| if page_type == 0 { 0.0 } else { at[1 + page_type] };
    let residuals = |at: &[f64]| -> Vec<f64> {
        let of = |c: &MeasuredCondition| {
            c.weight.sqrt() * (at[0] + at[1] * c.cycles / most + ln_type(at, c.page_type) - c.ln)
        };
        conditions.iter().map(of).collect()
    };
    let mut bounds = vec![(-300.0, 0.5f64.ln()), (0.0, 300.0)];
    bounds.extend(vec![(-5.0, 5.0); types - 1]);
    let mut start = vec![-10.0, 1.0];
    start.extend(vec![0.0; types - 1]);
    let best = minimise(residuals, &start, &bounds);
    let error =
        |index: usize| Some(best.covariance[index][index].max(0.0).sqrt()).filter(|&error| error > 0.0);
    let model = ExponentialRber { a: best.at[0].exp(), b: best.at[1] / most };
    let estimates = vec![
        ParameterEstimate { name: "a", value: model.a, error: error(0), is_relative: true },
        ParameterEstimate {
            name: "b",
            value: model.b,
            error: error(1).map(|error| error / most),
            is_relative: false,
        },
    ];
    let ln_types = (0..types).map(|page_type| ln_type(&best.at, page_type)).collect();
    Ok(FormSolution {
        model: RberModel::Exponential(model),
        ln_types,
        cost: best.cost,
        estimates,
        fit: FitForm::Exponential,
    })
}
