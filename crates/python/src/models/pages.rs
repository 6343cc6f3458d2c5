//! Error rates of bits, pages and stripes.

use super::{Column, Out, copied, each, each_run, free, refused};
use numpy::IntoPyArray;
use outlast_codes::PatternCounts;
use outlast_models::two_level::ln_uper_of_patterns;
use outlast_models::uper::{ln_mds_uper, ln_stripe_loss};
use outlast_models::{DomainError, PageCode, PageStripe, RberModel, SectorCode};
use pyo3::prelude::*;

/// The model that JSON describes, as `device.errors.model` does in a scenario.
pub(super) fn rber_model(py: Python<'_>, json: &str) -> PyResult<RberModel> {
    let model: RberModel =
        serde_json::from_str(json).map_err(|error| refused(py, format!("model: {error}")))?;
    model.validate("model").map_err(|error| refused(py, error.to_string()))?;
    Ok(model)
}

/// `error` as an exception.
pub(super) fn domain<T>(py: Python<'_>, result: Result<T, DomainError>) -> PyResult<T> {
    result.map_err(|error| refused(py, error.to_string()))
}

fn not_negative(argument: &'static str, value: f64) -> Result<f64, DomainError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(DomainError { argument, value, domain: "a number of at least 0" })
}

#[pyfunction]
fn model_rber<'py>(
    py: Python<'py>,
    model: &str,
    cycles: Column<'py>,
    days: Column<'py>,
    reads: Column<'py>,
) -> PyResult<Out<'py>> {
    let model = rber_model(py, model)?;
    each(py, [&cycles, &days, &reads], |[cycles, days, reads]| {
        let days = not_negative("days", days)?;
        let reads = not_negative("reads", reads)?;
        Ok(model.saturated(not_negative("cycles", cycles)?, days, reads).rber)
    })
}

/// The cycles at which the rate is reached; infinite where it never is.
#[pyfunction]
fn model_cycles_to_reach<'py>(
    py: Python<'py>,
    model: &str,
    rber: Column<'py>,
    days: Column<'py>,
    reads: Column<'py>,
) -> PyResult<Out<'py>> {
    let model = rber_model(py, model)?;
    each(py, [&rber, &days, &reads], |[rber, days, reads]| {
        let days = not_negative("days", days)?;
        let reads = not_negative("reads", reads)?;
        Ok(model.cycles_to_reach(not_negative("rber", rber)?, days, reads).unwrap_or(f64::INFINITY))
    })
}

/// Logarithms of the probabilities that a page is correctable, detectably wrong, undetectably wrong.
#[pyfunction]
fn model_page<'py>(
    py: Python<'py>,
    rber: Column<'py>,
    n: u32,
    k: u32,
    codewords: u32,
) -> PyResult<(Out<'py>, Out<'py>, Out<'py>)> {
    let code = domain(py, PageCode::new(n, k, codewords))?;
    let correct = each(py, [&rber], |[rber]| Ok(code.outcome(rber)?.ln_correct))?;
    let detected = each(py, [&rber], |[rber]| Ok(code.outcome(rber)?.ln_detected))?;
    let undetected = each(py, [&rber], |[rber]| Ok(code.outcome(rber)?.ln_undetected))?;
    Ok((correct, detected, undetected))
}

/// What is asked of a stripe.
#[derive(Clone, Copy)]
enum Asked {
    Uper,
    LnUper,
    LnStripe,
    LnPage,
}

#[pyfunction]
#[pyo3(signature = (rber, n, k, codewords, pages, parities, asked))]
#[allow(clippy::too_many_arguments, reason = "a table of numbers, named in Python")]
fn model_uper<'py>(
    py: Python<'py>,
    rber: Column<'py>,
    n: u32,
    k: u32,
    codewords: u32,
    pages: u32,
    parities: u32,
    asked: &str,
) -> PyResult<Out<'py>> {
    let code = domain(py, PageCode::new(n, k, codewords))?;
    let stripe = domain(py, PageStripe::new(code, pages, parities))?;
    let asked = match asked {
        "uper" => Asked::Uper,
        "ln_uper" => Asked::LnUper,
        "ln_stripe" => Asked::LnStripe,
        "ln_page" => Asked::LnPage,
        other => {
            return Err(refused(py, format!("asked = {other}: must be uper, ln_uper, ln_stripe or ln_page")));
        }
    };
    each(py, [&rber], |[rber]| match asked {
        Asked::Uper => stripe.uper(rber),
        Asked::LnUper => stripe.ln_uper(rber),
        Asked::LnStripe => stripe.ln_stripe_loss(rber),
        Asked::LnPage => stripe.ln_page_loss(rber),
    })
}

/// ln P(data loss) of stripes of unlike pages: `rber` holds `pages` rates for each stripe.
#[pyfunction]
fn model_unlike_stripe<'py>(
    py: Python<'py>,
    rber: Column<'py>,
    pages: usize,
    n: u32,
    k: u32,
    codewords: u32,
    parities: u32,
) -> PyResult<Out<'py>> {
    let code = domain(py, PageCode::new(n, k, codewords))?;
    each_run(py, &rber, pages, |rates| {
        let outcomes = rates.iter().map(|&rber| code.outcome(rber)).collect::<Result<Vec<_>, _>>()?;
        ln_stripe_loss(&outcomes, parities)
    })
}

#[pyfunction]
fn model_ln_mds_uper<'py>(
    py: Python<'py>,
    ln_page: Column<'py>,
    data: u32,
    parities: u32,
) -> PyResult<Out<'py>> {
    each(py, [&ln_page], |[ln_page]| ln_mds_uper(data, parities, ln_page))
}

#[pyfunction]
fn model_ln_uper_of_patterns<'py>(
    py: Python<'py>,
    ln_page: Column<'py>,
    ln_unrecoverable: Column<'py>,
) -> PyResult<Out<'py>> {
    let (counts, pages) = (copied(&ln_unrecoverable)?, copied(&ln_page)?);
    let result = free(py, || {
        pages
            .iter()
            .map(|&ln_page| ln_uper_of_patterns(&counts, ln_page).map_err(|error| error.to_string()))
            .collect::<Result<Vec<f64>, String>>()
    })?;
    Ok(result.into_pyarray(py))
}

/// ln β(M, N, i) for i = 0 … MN: the exact counts of erasures that single parity in rows and columns does not recover.
#[pyfunction]
fn model_ln_product_patterns(py: Python<'_>, rows: usize, columns: usize) -> PyResult<Out<'_>> {
    let logs = free(py, || {
        let counts = PatternCounts::new(rows, columns).map_err(|error| error.to_string())?;
        Ok((0..=counts.cells()).map(|erased| counts.unrecoverable(erased).ln()).collect::<Vec<f64>>())
    })?;
    Ok(logs.into_pyarray(py))
}

#[pyfunction]
fn model_uber<'py>(
    py: Python<'py>,
    rber: Column<'py>,
    n: u32,
    k: u32,
    user_bits: u32,
    log: bool,
) -> PyResult<Out<'py>> {
    let sector = domain(py, SectorCode::new(n, k, user_bits))?;
    each(py, [&rber], |[rber]| if log { sector.ln_uber(rber) } else { sector.uber(rber) })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_rber, module)?)?;
    module.add_function(wrap_pyfunction!(model_cycles_to_reach, module)?)?;
    module.add_function(wrap_pyfunction!(model_page, module)?)?;
    module.add_function(wrap_pyfunction!(model_uper, module)?)?;
    module.add_function(wrap_pyfunction!(model_unlike_stripe, module)?)?;
    module.add_function(wrap_pyfunction!(model_ln_mds_uper, module)?)?;
    module.add_function(wrap_pyfunction!(model_ln_uper_of_patterns, module)?)?;
    module.add_function(wrap_pyfunction!(model_ln_product_patterns, module)?)?;
    module.add_function(wrap_pyfunction!(model_uber, module)?)
}
