//! Write amplification and lifetime.

use super::pages::{domain, rber_model};
use super::{Column, Out, copied, each, free};
use numpy::{IntoPyArray, PyArrayMethods};
use outlast_models::lifetime::{LifeEnd, WearingDrive, WornDrive};
use outlast_models::write_amplification::{
    HotCold, IsolatedHandle, effective_spare, greedy, greedy_finite_blocks, parity_overhead, spare_for,
    with_parity,
};
use outlast_models::{PageCode, PageStripe, RberModel};
use pyo3::prelude::*;

#[pyfunction]
fn model_waf_greedy<'py>(py: Python<'py>, spare: Column<'py>) -> PyResult<Out<'py>> {
    each(py, [&spare], |[spare]| greedy(spare))
}

#[pyfunction]
fn model_waf_blocks<'py>(py: Python<'py>, spare: Column<'py>, pages: Column<'py>) -> PyResult<Out<'py>> {
    each(py, [&spare, &pages], |[spare, pages]| greedy_finite_blocks(spare, pages))
}

#[pyfunction]
fn model_waf_with_parity<'py>(
    py: Python<'py>,
    spare: Column<'py>,
    unusable: Column<'py>,
    overhead: Column<'py>,
) -> PyResult<Out<'py>> {
    each(py, [&spare, &unusable, &overhead], |[spare, unusable, overhead]| {
        with_parity(spare, unusable, overhead)
    })
}

#[pyfunction]
fn model_effective_spare<'py>(
    py: Python<'py>,
    spare: Column<'py>,
    unusable: Column<'py>,
    overhead: Column<'py>,
) -> PyResult<Out<'py>> {
    each(py, [&spare, &unusable, &overhead], |[spare, unusable, overhead]| {
        effective_spare(spare, unusable, overhead)
    })
}

#[pyfunction]
fn model_parity_overhead(py: Python<'_>, classes: Vec<(f64, u32, u32)>) -> PyResult<f64> {
    domain(py, parity_overhead(&classes))
}

#[pyfunction]
fn model_spare_for<'py>(py: Python<'py>, write_amplification: Column<'py>) -> PyResult<Out<'py>> {
    each(py, [&write_amplification], |[waf]| spare_for(waf))
}

/// Write amplification of hot and cold data apart, and the share of the spare space that hot data has; where `division` is not a
/// number, of the division with the least.
#[pyfunction]
fn model_waf_hot_cold<'py>(
    py: Python<'py>,
    spare: Column<'py>,
    hot_space: Column<'py>,
    hot_writes: Column<'py>,
    division: Column<'py>,
) -> PyResult<(Out<'py>, Out<'py>)> {
    let best = each(py, [&spare, &hot_space, &hot_writes, &division], |[spare, space, writes, division]| {
        let data = HotCold { hot_space: space, hot_writes: writes };
        if division.is_nan() { Ok(data.best(spare)?.1) } else { Ok(division) }
    })?;
    let chosen = best.readonly();
    let waf = each(py, [&spare, &hot_space, &hot_writes, &chosen], |[spare, space, writes, division]| {
        HotCold { hot_space: space, hot_writes: writes }.separated(spare, division)
    })?;
    Ok((waf, best))
}

/// Write amplification of a drive with an isolated handle; `pages` that are not a number count as infinitely many.
#[pyfunction]
fn model_waf_isolated<'py>(
    py: Python<'py>,
    spare: Column<'py>,
    user_space: Column<'py>,
    writes: Column<'py>,
    pages: Column<'py>,
) -> PyResult<Out<'py>> {
    each(py, [&spare, &user_space, &writes, &pages], |[spare, user_space, writes, pages]| {
        let pages = Some(pages).filter(|pages| !pages.is_nan());
        IsolatedHandle { space: user_space, writes, pages }.whole_drive(spare)
    })
}

/// A drive as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct DriveSettings {
    model: String,
    days: f64,
    reads: f64,
    n: u32,
    k: u32,
    codewords: u32,
    pages: u32,
    parities: u32,
    spare: f64,
    overhead: f64,
    retired_per_cycle: f64,
    write_amplification: Option<f64>,
}

struct Parts {
    model: RberModel,
    stripe: PageStripe,
}

impl DriveSettings {
    fn parts(&self, py: Python<'_>) -> PyResult<Parts> {
        let code = domain(py, PageCode::new(self.n, self.k, self.codewords))?;
        let stripe = domain(py, PageStripe::new(code, self.pages, self.parities))?;
        Ok(Parts { model: rber_model(py, &self.model)?, stripe })
    }

    fn drive<'a>(&self, parts: &'a Parts) -> WearingDrive<'a> {
        WearingDrive {
            model: &parts.model,
            days: self.days,
            reads: self.reads,
            stripe: &parts.stripe,
            spare: self.spare,
            overhead: self.overhead,
            retired_per_cycle: self.retired_per_cycle,
            write_amplification: self.write_amplification,
        }
    }
}

/// Cycles, drive writes, write amplification, RBER and ln UPER.
type Columns<'py> = Vec<Out<'py>>;

fn columns<'py>(py: Python<'py>, worn: &[WornDrive]) -> Columns<'py> {
    let column = |field: fn(&WornDrive) -> f64| worn.iter().map(field).collect::<Vec<f64>>().into_pyarray(py);
    vec![
        column(|worn| worn.cycles),
        column(|worn| worn.drive_writes),
        column(|worn| worn.write_amplification),
        column(|worn| worn.rber),
        column(|worn| worn.ln_uper),
    ]
}

/// The last state and its reason for each target.
#[pyfunction]
fn model_lifetime<'py>(
    py: Python<'py>,
    drive: DriveSettings,
    target: Column<'py>,
) -> PyResult<(Columns<'py>, Vec<&'static str>)> {
    let (parts, targets) = (drive.parts(py)?, copied(&target)?);
    let drive = drive.drive(&parts);
    let lives = free(py, || {
        targets
            .iter()
            .map(|&target| drive.lifetime(target).map_err(|error| error.to_string()))
            .collect::<Result<Vec<_>, String>>()
    })?;
    let ends = lives
        .iter()
        .map(|life| match life.end {
            LifeEnd::ErrorRate => "error_rate",
            LifeEnd::SpareSpace => "spare_space",
        })
        .collect();
    Ok((columns(py, &lives.iter().map(|life| life.worn).collect::<Vec<_>>()), ends))
}

/// The state after so many cycles.
#[pyfunction]
fn model_worn<'py>(py: Python<'py>, drive: DriveSettings, cycles: Column<'py>) -> PyResult<Columns<'py>> {
    let (parts, cycles) = (drive.parts(py)?, copied(&cycles)?);
    let drive = drive.drive(&parts);
    let worn = free(py, || {
        cycles
            .iter()
            .map(|&cycles| drive.worn(cycles).map_err(|error| error.to_string()))
            .collect::<Result<Vec<_>, String>>()
    })?;
    Ok(columns(py, &worn))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_waf_greedy, module)?)?;
    module.add_function(wrap_pyfunction!(model_waf_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(model_waf_with_parity, module)?)?;
    module.add_function(wrap_pyfunction!(model_effective_spare, module)?)?;
    module.add_function(wrap_pyfunction!(model_parity_overhead, module)?)?;
    module.add_function(wrap_pyfunction!(model_spare_for, module)?)?;
    module.add_function(wrap_pyfunction!(model_waf_hot_cold, module)?)?;
    module.add_function(wrap_pyfunction!(model_waf_isolated, module)?)?;
    module.add_function(wrap_pyfunction!(model_lifetime, module)?)?;
    module.add_function(wrap_pyfunction!(model_worn, module)?)
}
