//! Result tables as numpy arrays, without copying a column twice.

use numpy::IntoPyArray;
use outlast_engine::{ResultColumn, ResultTable};
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Makes numpy's interface known to this module. It is looked up on first use, and a signal that Python raises in the middle
/// of that would be a panic: to be called while there is nothing to lose.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    crate::guard::guarded(|| {
        Vec::<u64>::new().into_pyarray(py);
        Vec::<f64>::new().into_pyarray(py);
        Ok(())
    })
    .map_err(|error| {
        let interrupted = error.to_string().contains("KeyboardInterrupt");
        if interrupted { PyKeyboardInterrupt::new_err(()) } else { error }
    })
}

/// Tables of a finished run, which become numpy's arrays when they are asked for: a program that reads the summary alone does without numpy.
#[pyclass(frozen, module = "outlast._core")]
pub(crate) struct HeldTables {
    names: Vec<String>,
    tables: Mutex<BTreeMap<String, ResultTable>>,
}

impl HeldTables {
    pub(crate) fn new(tables: Vec<(String, ResultTable)>) -> Self {
        let names = tables.iter().map(|(name, _)| name.clone()).collect();
        Self { names, tables: Mutex::new(tables.into_iter().collect()) }
    }
}

#[pymethods]
impl HeldTables {
    /// The names of all tables, in their order.
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The columns of a table by name, given away: once.
    fn take<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        prepare(py)?;
        let table = self.tables.lock().ok().and_then(|mut tables| tables.remove(name));
        let table = table.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        crate::guard::guarded(|| columns_of(py, table))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HeldTables>()
}

/// Tables by name, columns by name.
pub(crate) fn to_python(py: Python<'_>, tables: Vec<(String, ResultTable)>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (name, table) in tables {
        all.set_item(name, columns_of(py, table)?)?;
    }
    Ok(all)
}

/// Columns by name.
pub(crate) fn columns_of(py: Python<'_>, table: ResultTable) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (column, values) in table.columns {
        match values {
            ResultColumn::U64(values) => columns.set_item(column, values.into_pyarray(py))?,
            ResultColumn::F64(values) => columns.set_item(column, values.into_pyarray(py))?,
            ResultColumn::Text(values) => columns.set_item(column, values)?,
        }
    }
    Ok(columns)
}
