//! A Python object that orders the rows that a member of an array has lost.

use super::decider::Failed;
use super::{Maker, asked, in_a_line};
use numpy::{PyArray1, PyArrayMethods};
use outlast_decisions::{LostRows, OrdersRows, PolicyFactory};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

impl PolicyFactory<dyn OrdersRows> for Maker {
    fn name(&self) -> &str {
        &self.name
    }

    fn make(&self) -> Result<Box<dyn OrdersRows>, String> {
        Python::attach(|py| Orders::new(py, self.maker.call_method0(py, "begin")?))
            .map(|orders| Box::new(orders) as Box<dyn OrdersRows>)
            .map_err(in_a_line)
    }
}

/// A Python object that gives rows their scores.
#[derive(Debug)]
struct Orders {
    object: Py<PyAny>,
    /// Its method that does.
    order: Py<PyAny>,
}

impl Orders {
    fn new(py: Python<'_>, object: Py<PyAny>) -> PyResult<Self> {
        let order = object.getattr(py, "order")?;
        Ok(Self { object, order })
    }

    fn ask(&self, py: Python<'_>, rows: &LostRows) -> PyResult<Vec<f64>> {
        let columns = (
            rows.member,
            PyArray1::from_slice(py, &rows.sector),
            PyArray1::from_slice(py, &rows.sectors),
            PyArray1::from_slice(py, &rows.exposure),
            PyArray1::from_slice(py, &rows.readable),
        );
        let scores = self.order.call1(py, columns)?;
        let scores = scores.cast_bound::<PyArray1<f64>>(py)?.try_readonly();
        let scores = scores.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(scores.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?.to_vec())
    }
}

impl OrdersRows for Orders {
    fn order(&mut self, rows: &LostRows) -> Result<Vec<f64>, String> {
        asked(|py| self.ask(py, rows))
    }

    fn fork(&self) -> Box<dyn OrdersRows> {
        match Python::attach(|py| Self::new(py, self.object.call_method0(py, "copy")?)) {
            Ok(copied) => Box::new(copied),
            Err(error) => Box::new(Failed(in_a_line(error))),
        }
    }
}

impl OrdersRows for Failed {
    fn order(&mut self, _: &LostRows) -> Result<Vec<f64>, String> {
        Err(self.0.clone())
    }

    fn fork(&self) -> Box<dyn OrdersRows> {
        Box::new(self.clone())
    }
}
