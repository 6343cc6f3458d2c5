//! Result tables as numpy arrays, without copying a column twice.

use numpy::IntoPyArray;
use outlast_engine::{Column, Table};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Tables by name, columns by name.
pub(crate) fn to_python(py: Python<'_>, tables: Vec<(String, Table)>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (name, table) in tables {
        let columns = PyDict::new(py);
        for (column, values) in table.columns {
            match values {
                Column::U64(values) => columns.set_item(column, values.into_pyarray(py))?,
                Column::F64(values) => columns.set_item(column, values.into_pyarray(py))?,
                Column::Text(values) => columns.set_item(column, values)?,
            }
        }
        all.set_item(name, columns)?;
    }
    Ok(all)
}
