//! Points of a sweep: scenarios that differ in single settings, resolved and checked many at a time.

use crate::errors::{ScenarioError, of_engine, of_scenario};
use crate::guard::{guarded, unlocked};
use crate::policies::form_of;
use crate::scenario::{Override, RawLayer, layers_of};
use outlast_engine::{MergedLayers, Simulation};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use std::num::NonZero;
use std::panic::resume_unwind;

/// A scenario in full as JSON, and every file that it reads: the setting that names it, and its path.
type Point = (String, Vec<(String, String)>);

/// A point, or what is wrong with it.
#[derive(IntoPyObject)]
enum ResolvedPoint {
    Resolved(Point),
    Refused(Py<PyBaseException>),
}

/// The layers that all points have, read and merged once.
#[pyclass(frozen, module = "outlast._core")]
struct PointBase {
    layers: MergedLayers,
}

#[pymethods]
impl PointBase {
    #[new]
    fn new(py: Python<'_>, layers: Vec<RawLayer>) -> PyResult<Self> {
        unlocked(py, || {
            let layers = layers_of(layers)?;
            Ok(Self { layers: MergedLayers::of_files(&layers).map_err(of_scenario)? })
        })
    }

    /// Resolves the point of each of `overrides` and checks it as `validate` does, on all processors; in their order.
    fn points(&self, py: Python<'_>, overrides: Vec<Vec<Override>>) -> PyResult<Vec<ResolvedPoint>> {
        let found = unlocked(py, || Ok(self.on_all_processors(&overrides)))?;
        let answer = |point: PyResult<Point>| match point {
            Ok(point) => ResolvedPoint::Resolved(point),
            Err(error) => ResolvedPoint::Refused(error.into_value(py)),
        };
        Ok(found.into_iter().map(answer).collect())
    }
}

impl PointBase {
    fn on_all_processors(&self, overrides: &[Vec<Override>]) -> Vec<PyResult<Point>> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let each = overrides.len().div_ceil(threads).max(1);
        let share = |part: &[Vec<Override>]| -> Vec<PyResult<Point>> {
            part.iter().map(|own| guarded(|| self.point(own))).collect()
        };
        if overrides.len() <= each {
            return share(overrides);
        }
        #[allow(clippy::disallowed_methods, reason = "points have nothing to do with each other")]
        std::thread::scope(|scope| {
            let parts: Vec<_> = overrides.chunks(each).map(|part| scope.spawn(move || share(part))).collect();
            parts
                .into_iter()
                .flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    }

    fn point(&self, overrides: &[Override]) -> PyResult<Point> {
        let (scenario, provenance) = self.layers.scenario(overrides).map_err(of_scenario)?;
        let text = scenario.to_json().map_err(|error| ScenarioError::new_err(error.to_string()))?;
        let files =
            scenario.input_files().into_iter().map(|file| (file.setting.to_owned(), file.path)).collect();
        Simulation::check(&form_of(scenario)?).map_err(|error| of_engine(error, &provenance))?;
        Ok((text, files))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PointBase>()
}
