//! A Python object that decides about superblocks.

use super::{Maker, asked, in_a_line};
use numpy::{Element, PyArray1, PyArrayMethods};
use outlast_decisions::{CellColumns, PolicyFactory, RandomDraws, SuperblockChoice, SuperblockColumns};
use outlast_units::SuperblockId;
use outlast_units::rng::SplitMix;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

impl PolicyFactory<dyn SuperblockChoice> for Maker {
    fn name(&self) -> &str {
        &self.name
    }

    fn make(&self) -> Result<Box<dyn SuperblockChoice>, String> {
        Python::attach(|py| Decider::new(py, self.maker.call_method0(py, "begin")?))
            .map(|decider| Box::new(decider) as Box<dyn SuperblockChoice>)
            .map_err(in_a_line)
    }
}

/// The lots of a flash core, for as long as Python decides.
#[pyclass]
struct Lots {
    rng: SplitMix,
    choices: u32,
}

#[pymethods]
impl Lots {
    /// A number uniform in `0..bound`.
    fn below(&mut self, bound: u64) -> PyResult<u64> {
        if bound == 0 {
            return Err(PyValueError::new_err("below(0): must be at least 1"));
        }
        Ok(self.rng.below(bound))
    }

    /// `device.ftl.gc.choices`.
    #[getter]
    fn choices(&self) -> u32 {
        self.choices
    }
}

/// One column of what a policy sees, which Python holds and each question fills anew.
#[derive(Debug)]
struct Column<T>(Py<PyArray1<T>>);

impl<T: Element + Copy + Default> Column<T> {
    fn new(py: Python<'_>, entries: usize) -> Self {
        Self(PyArray1::from_vec(py, vec![T::default(); entries]).unbind())
    }

    fn fill(&self, py: Python<'_>, values: impl Iterator<Item = T>) -> PyResult<()> {
        let mut array =
            self.0.bind(py).try_readwrite().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let slice = array.as_slice_mut().map_err(|error| PyValueError::new_err(error.to_string()))?;
        slice.iter_mut().zip(values).for_each(|(entry, value)| *entry = value);
        Ok(())
    }
}

#[derive(Debug)]
struct Columns {
    valid: Column<u32>,
    is_candidate: Column<bool>,
    age: Column<u64>,
    order: Column<u64>,
    erases: Column<u32>,
    state: Column<u8>,
    stream: Column<u8>,
    cells: Option<Cells>,
}

/// What the cells have gone through.
#[derive(Debug)]
struct Cells {
    reads: Column<u32>,
    rereads: Column<u32>,
    errors: Column<f64>,
    days: Column<f64>,
}

impl Cells {
    fn new(py: Python<'_>, entries: usize) -> Self {
        Self {
            reads: Column::new(py, entries),
            rereads: Column::new(py, entries),
            errors: Column::new(py, entries),
            days: Column::new(py, entries),
        }
    }

    /// Of a view without them all are 0.
    fn fill(&self, py: Python<'_>, from: Option<&CellColumns>) -> PyResult<()> {
        let Some(CellColumns { reads, rereads, errors, days }) = from else { return Ok(()) };
        self.reads.fill(py, reads.iter().copied())?;
        self.rereads.fill(py, rereads.iter().copied())?;
        self.errors.fill(py, errors.iter().copied())?;
        self.days.fill(py, days.iter().copied())
    }
}

/// A Python object that decides for one flash core.
#[derive(Debug)]
struct Decider {
    object: Py<PyAny>,
    /// Its method that decides.
    decide: Py<PyAny>,
    lots: Py<Lots>,
    /// Whether it sees what the cells have gone through.
    sees_cells: bool,
    /// Made when it is first asked, since only then it is known how many superblocks there are.
    columns: Option<Columns>,
}

impl Decider {
    fn new(py: Python<'_>, object: Py<PyAny>) -> PyResult<Self> {
        let decide = object.getattr(py, "decide")?;
        let sees_cells = object.getattr(py, "sees_cells")?.extract(py)?;
        let lots = Py::new(py, Lots { rng: SplitMix::new(0, "policy"), choices: 0 })?;
        Ok(Self { object, decide, lots, sees_cells, columns: None })
    }

    fn columns(&mut self, py: Python<'_>, view: &SuperblockColumns<'_>) -> PyResult<&Columns> {
        if self.columns.is_none() {
            let count = view.valid.len();
            let own = Columns {
                valid: Column::new(py, count),
                is_candidate: Column::new(py, count),
                age: Column::new(py, count),
                order: Column::new(py, count),
                erases: Column::new(py, count),
                state: Column::new(py, count),
                stream: Column::new(py, count),
                cells: self.sees_cells.then(|| Cells::new(py, count)),
            };
            let columns = (
                &own.valid.0,
                &own.is_candidate.0,
                &own.age.0,
                &own.order.0,
                &own.erases.0,
                &own.state.0,
                &own.stream.0,
            );
            let cells = own.cells.as_ref();
            let cells = cells.map(|own| (&own.reads.0, &own.rereads.0, &own.errors.0, &own.days.0));
            self.object.call_method1(py, "bind", (columns, &self.lots, cells))?;
            self.columns = Some(own);
        }
        self.columns.as_ref().ok_or_else(|| PyValueError::new_err("no columns"))
    }

    fn ask(
        &mut self,
        py: Python<'_>,
        view: &SuperblockColumns<'_>,
        draws: &mut RandomDraws<'_>,
    ) -> PyResult<Option<SuperblockId>> {
        let columns = self.columns(py, view)?;
        let ids = || (0..view.superblocks()).map(SuperblockId);
        columns.valid.fill(py, ids().map(|id| view.valid(id)))?;
        columns.is_candidate.fill(py, ids().map(|id| view.is_candidate(id)))?;
        columns.age.fill(py, view.sealed_at.iter().map(|&sealed| view.clock - sealed))?;
        columns.order.fill(py, view.sealed_order.iter().copied())?;
        columns.erases.fill(py, view.cycles.iter().copied())?;
        if let Some(cells) = &columns.cells {
            cells.fill(py, view.cells)?;
        }
        columns.stream.fill(py, view.streams.iter().map(|stream| stream.0))?;
        columns.state.fill(py, view.states.iter().map(|&state| state as u8))?;
        {
            let mut lots = self.lots.try_borrow_mut(py)?;
            (lots.rng, lots.choices) = (draws.rng.clone(), draws.choices);
        }
        let choice = self.decide.call1(py, (view.clock, view.units))?.extract::<Option<u32>>(py)?;
        *draws.rng = self.lots.try_borrow(py)?.rng.clone();
        Ok(choice.map(SuperblockId))
    }
}

impl SuperblockChoice for Decider {
    fn choose(
        &mut self,
        view: &SuperblockColumns<'_>,
        draws: &mut RandomDraws<'_>,
    ) -> Result<Option<SuperblockId>, String> {
        asked(|py| self.ask(py, view, draws))
    }

    fn sees_cells(&self) -> bool {
        self.sees_cells
    }

    fn fork(&self) -> Box<dyn SuperblockChoice> {
        let copied = Python::attach(|py| Self::new(py, self.object.call_method0(py, "copy")?));
        match copied {
            Ok(copied) => Box::new(copied),
            Err(error) => Box::new(Failed(in_a_line(error))),
        }
    }
}

/// A decider that could not be copied.
#[derive(Clone, Debug)]
pub(super) struct Failed(pub(super) String);

impl SuperblockChoice for Failed {
    fn choose(
        &mut self,
        _: &SuperblockColumns<'_>,
        _: &mut RandomDraws<'_>,
    ) -> Result<Option<SuperblockId>, String> {
        Err(self.0.clone())
    }

    fn fork(&self) -> Box<dyn SuperblockChoice> {
        Box::new(self.clone())
    }
}
