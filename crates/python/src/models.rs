//! The closed forms of `outlast_models` over arrays. Each function takes columns of equal length and gives a column; shapes,
//! scalars and defaults are the Python package's business.

mod ages;
mod arrays;
mod chips;
mod fleets;
mod life;
mod pages;
mod wear;

use crate::errors::{InternalError, OutlastError};
use crate::guard::unlocked;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use outlast_models::DomainError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

/// A column of numbers from Python.
type Column<'py> = PyReadonlyArray1<'py, f64>;
/// A column of numbers for Python.
type Out<'py> = Bound<'py, PyArray1<f64>>;

/// `ModelError`: both an `OutlastError` and a `ValueError`.
static MODEL_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The error, naming argument, value and domain.
fn refused(py: Python<'_>, message: String) -> PyErr {
    match MODEL_ERROR.get(py) {
        Some(kind) => PyErr::from_type(kind.bind(py).clone(), message),
        None => InternalError::new_err(message),
    }
}

/// Calls `work` without the interpreter lock.
fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, String> + Send) -> PyResult<T> {
    unlocked(py, || Ok(work()))?.map_err(|message| refused(py, message))
}

/// A copy, so that nobody changes the numbers while the interpreter lock is released.
fn copied(column: &Column<'_>) -> PyResult<Vec<f64>> {
    Ok(column.as_slice()?.to_vec())
}

/// The message of an error at one place of a column.
fn at(index: usize, count: usize) -> impl Fn(DomainError) -> String {
    move |error| if count == 1 { error.to_string() } else { format!("{error} (at index {index})") }
}

/// `f` of each row of the columns, which have equal lengths.
fn each<'py, const N: usize>(
    py: Python<'py>,
    columns: [&Column<'py>; N],
    f: impl Fn([f64; N]) -> Result<f64, DomainError> + Send,
) -> PyResult<Out<'py>> {
    let mut owned = Vec::with_capacity(N);
    for column in columns {
        owned.push(copied(column)?);
    }
    let result = free(py, move || {
        let count = owned.iter().map(Vec::len).min().unwrap_or(0);
        (0..count)
            .map(|row| f(std::array::from_fn(|column| owned[column][row])).map_err(at(row, count)))
            .collect::<Result<Vec<f64>, String>>()
    })?;
    Ok(result.into_pyarray(py))
}

/// `f` of each run of `width` numbers of the column.
fn each_run<'py>(
    py: Python<'py>,
    column: &Column<'py>,
    width: usize,
    f: impl Fn(&[f64]) -> Result<f64, DomainError> + Send,
) -> PyResult<Out<'py>> {
    let owned = copied(column)?;
    let result = free(py, move || {
        let count = owned.len() / width.max(1);
        owned
            .chunks_exact(width.max(1))
            .enumerate()
            .map(|(row, run)| f(run).map_err(at(row, count)))
            .collect::<Result<Vec<f64>, String>>()
    })?;
    Ok(result.into_pyarray(py))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let kind = MODEL_ERROR.get_or_try_init(py, || {
        let bases = PyTuple::new(py, [py.get_type::<OutlastError>(), py.get_type::<PyValueError>()])?;
        let members = PyDict::new(py);
        members.set_item("__module__", "outlast")?;
        members
            .set_item("__doc__", "A closed form has no answer: argument, value, and what it has to be.")?;
        let made = py.get_type::<PyType>().call1(("ModelError", bases, members))?;
        Ok::<_, PyErr>(made.cast_into::<PyType>()?.unbind())
    })?;
    module.add("ModelError", kind.bind(py))?;
    chips::register(module)?;
    pages::register(module)?;
    arrays::register(module)?;
    fleets::register(module)?;
    life::register(module)?;
    ages::register(module)?;
    wear::register(module)
}
