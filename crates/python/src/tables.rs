//! Result tables as numpy arrays, without copying a column twice.

use numpy::IntoPyArray;
use outlast_engine::{ResultColumn, ResultTable};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

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
