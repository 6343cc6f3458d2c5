//! A Python function that places writes.

use super::{Maker, asked, in_a_line};
use numpy::{PyArray1, PyArrayMethods};
use outlast_workload::{PlacerFactory, WriteBatch, WritePlacer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

impl PlacerFactory for Maker {
    fn name(&self) -> &str {
        &self.name
    }

    fn make(&self) -> Result<Box<dyn WritePlacer>, String> {
        let placer = Python::attach(|py| self.maker.call_method0(py, "begin")?.getattr(py, "place"));
        Ok(Box::new(Placer(placer.map_err(in_a_line)?)))
    }
}

/// A Python function that gives hints to many writes at once.
struct Placer(Py<PyAny>);

impl Placer {
    fn ask(&self, py: Python<'_>, writes: &WriteBatch) -> PyResult<Vec<u16>> {
        let columns = (
            PyArray1::from_slice(py, &writes.offset),
            PyArray1::from_slice(py, &writes.bytes),
            PyArray1::from_slice(py, &writes.at_ns),
            PyArray1::from_slice(py, &writes.hint),
            PyArray1::from_slice(py, &writes.heat),
            PyArray1::from_slice(py, &writes.written),
        );
        let hints = self.0.call1(py, columns)?;
        let hints = hints.cast_bound::<PyArray1<u16>>(py)?.try_readonly();
        let hints = hints.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(hints.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?.to_vec())
    }
}

impl WritePlacer for Placer {
    fn place(&mut self, writes: &WriteBatch) -> Result<Vec<u16>, String> {
        asked(|py| self.ask(py, writes))
    }
}
