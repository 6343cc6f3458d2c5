//! Tables as Parquet, to bytes and from bytes; who holds the files is Python.
//!
//! A column has values of one [`Kind`]; rows without a value are null, and only columns that Python hands over as lists may have
//! them. Columns are packed by zstd and have no statistics, row groups are what is handed over at once.

mod kind;

use std::io::Write;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{ColumnPath, Type};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::guard::guarded;

use self::kind::Kind;

/// A column as Python hands it over: its name, kind, whether rows may be without a value, and the values, an array or a list.
type Given<'py> = (String, String, bool, Bound<'py, PyAny>);

/// Bytes that the writer has given and Python has not yet taken.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<Vec<u8>>>);

impl Pending {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A Parquet file that grows by row groups: what each call gives goes to the end of the file.
#[pyclass(module = "outlast._core")]
struct ParquetWriter {
    // A file's schema is that of the first rows.
    file: Mutex<Option<SerializedFileWriter<Pending>>>,
    pending: Pending,
}

#[pymethods]
impl ParquetWriter {
    #[new]
    fn new() -> Self {
        Self { file: Mutex::default(), pending: Pending::default() }
    }

    /// Appends rows. All calls have the same columns.
    fn write<'py>(&self, py: Python<'py>, columns: Vec<Given<'py>>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            let writer = match &mut *file {
                Some(writer) => writer,
                empty => empty.insert(begin(&columns, self.pending.clone())?),
            };
            let mut group = writer.next_row_group().map_err(told)?;
            for (_, kind, nullable, values) in &columns {
                append(&mut group, Kind::of(kind)?, *nullable, values)?;
            }
            group.close().map_err(told)?;
            Ok(PyBytes::new(py, &self.pending.take()))
        })
    }

    /// Ends the file, which has rows.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| {
            if let Some(writer) = self.file.lock().unwrap_or_else(PoisonError::into_inner).take() {
                writer.into_inner().map_err(told)?;
            }
            Ok(PyBytes::new(py, &self.pending.take()))
        })
    }
}

fn begin(columns: &[Given<'_>], pending: Pending) -> PyResult<SerializedFileWriter<Pending>> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_created_by(concat!("outlast ", env!("CARGO_PKG_VERSION")).to_owned());
    let mut fields = Vec::with_capacity(columns.len());
    for (name, kind, nullable, _) in columns {
        let kind = Kind::of(kind)?;
        fields.push(Arc::new(kind.schema(name, *nullable).map_err(told)?));
        if matches!(kind, Kind::Unsigned | Kind::Signed) {
            // Times and addresses hardly repeat, and most causes are zero: differences are smaller than a dictionary, and need no hashing.
            let column = ColumnPath::from(name.as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let schema = Type::group_type_builder("outlast").with_fields(fields).build().map_err(told)?;
    SerializedFileWriter::new(pending, Arc::new(schema), Arc::new(properties.build())).map_err(told)
}

type Group<'a> = SerializedRowGroupWriter<'a, Pending>;

fn append(group: &mut Group<'_>, kind: Kind, nullable: bool, given: &Bound<'_, PyAny>) -> PyResult<()> {
    match kind {
        // The logical type says that the bits are of a number without a sign.
        Kind::Unsigned => put::<Int64Type, _>(group, nullable, values::<u64>(given)?, u64::cast_signed),
        Kind::Signed => put::<Int64Type, _>(group, nullable, values::<i64>(given)?, |value| value),
        Kind::Real => put::<DoubleType, _>(group, nullable, values::<f64>(given)?, |value| value),
        Kind::Truth => put::<BoolType, _>(group, nullable, values::<bool>(given)?, |value| value),
        Kind::Text => put::<ByteArrayType, _>(group, nullable, given.extract()?, |text: String| {
            ByteArray::from(text.into_bytes())
        }),
    }
}

/// The values of an array, or of a list that may have rows without one.
fn values<'py, T>(given: &Bound<'py, PyAny>) -> PyResult<Vec<Option<T>>>
where
    T: numpy::Element + Copy + for<'a> FromPyObject<'a, 'py>,
{
    if let Ok(array) = given.extract::<PyReadonlyArray1<'_, T>>() {
        return Ok(array.as_array().iter().copied().map(Some).collect());
    }
    given.try_iter()?.map(|value| value?.extract::<Option<T>>().map_err(Into::into)).collect()
}

fn put<D: DataType, T>(
    group: &mut Group<'_>,
    nullable: bool,
    given: Vec<Option<T>>,
    stored: impl Fn(T) -> D::T,
) -> PyResult<()> {
    let present: Option<Vec<i16>> =
        nullable.then(|| given.iter().map(|value| i16::from(value.is_some())).collect());
    let rows = given.len();
    let known: Vec<D::T> = given.into_iter().flatten().map(stored).collect();
    if !nullable && known.len() < rows {
        return Err(PyValueError::new_err("a row without a value in a column that has one in each"));
    }
    let mut column = group
        .next_column()
        .map_err(told)?
        .ok_or_else(|| PyValueError::new_err("more columns than before"))?;
    column.typed::<D>().write_batch(&known, present.as_deref(), None).map_err(told)?;
    column.close().map_err(told)
}

/// Columns of a file by name: arrays, and lists of texts and of what has rows without a value.
#[pyfunction]
fn read_parquet(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Bound<'_, PyDict>> {
    guarded(|| {
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(told)?;
        let schema = file.metadata().file_metadata().schema_descr_ptr();
        let columns = PyDict::new(py);
        for (index, column) in schema.columns().iter().enumerate() {
            let name = column.name();
            let nullable = column.max_def_level() > 0;
            let values = match Kind::read(column).filter(|_| column.max_rep_level() == 0) {
                Some(Kind::Unsigned) => {
                    numbers::<Int64Type, u64, _>(py, &file, index, nullable, i64::cast_unsigned)?
                }
                Some(Kind::Signed) => {
                    numbers::<Int64Type, i64, _>(py, &file, index, nullable, |value| value)?
                }
                Some(Kind::Real) => numbers::<DoubleType, f64, _>(py, &file, index, nullable, |value| value)?,
                Some(Kind::Truth) => numbers::<BoolType, bool, _>(py, &file, index, nullable, |value| value)?,
                Some(Kind::Text) => texts(py, &file, index, nullable)?,
                None => {
                    return Err(PyValueError::new_err(format!(
                        "column '{name}' is of a type that no table has"
                    )));
                }
            };
            columns.set_item(name, values)?;
        }
        Ok(columns)
    })
}

type File = SerializedFileReader<bytes::Bytes>;

fn numbers<'py, D, T, F>(
    py: Python<'py>,
    file: &File,
    index: usize,
    nullable: bool,
    shown: F,
) -> PyResult<Bound<'py, PyAny>>
where
    D: DataType,
    T: numpy::Element + IntoPyObject<'py>,
    F: Fn(D::T) -> T,
{
    let (known, present) = read::<D>(file, index, nullable)?;
    let known = known.into_iter().map(shown);
    if present.iter().all(|level| *level > 0) {
        return Ok(known.collect::<Vec<T>>().into_pyarray(py).into_any());
    }
    spread(known, &present).into_pyobject(py)
}

fn texts<'py>(py: Python<'py>, file: &File, index: usize, nullable: bool) -> PyResult<Bound<'py, PyAny>> {
    let (known, present) = read::<ByteArrayType>(file, index, nullable)?;
    let known: Vec<String> = known
        .iter()
        .map(|text| text.as_utf8().map(ToOwned::to_owned))
        .collect::<Result<_, _>>()
        .map_err(told)?;
    if present.iter().all(|level| *level > 0) {
        return known.into_pyobject(py);
    }
    spread(known.into_iter(), &present).into_pyobject(py)
}

/// A value for each row that has one.
fn spread<T>(mut known: impl Iterator<Item = T>, present: &[i16]) -> Vec<Option<T>> {
    present.iter().map(|level| if *level > 0 { known.next() } else { None }).collect()
}

/// The values of a column in all row groups, and for each row whether it has one: nothing where all have.
fn read<D: DataType>(file: &File, index: usize, nullable: bool) -> PyResult<(Vec<D::T>, Vec<i16>)> {
    let (mut known, mut present) = (Vec::new(), Vec::new());
    for number in 0..file.num_row_groups() {
        let group = file.get_row_group(number).map_err(told)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let column = group.get_column_reader(index).map_err(told)?;
        let mut column: ColumnReaderImpl<D> = get_typed_column_reader(column);
        let mut left = rows;
        while left > 0 {
            let (records, _, _) = column
                .read_records(left, nullable.then_some(&mut present), None, &mut known)
                .map_err(told)?;
            if records == 0 {
                return Err(PyValueError::new_err(format!("row group {number} ends {left} rows too early")));
            }
            left -= records;
        }
    }
    Ok((known, present))
}

fn told(error: ParquetError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ParquetWriter>()?;
    module.add_function(wrap_pyfunction!(read_parquet, module)?)
}
