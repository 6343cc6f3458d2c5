//! A Python object that answers questions of a few values.

use super::{Maker, asked, in_a_line};
use outlast_decisions::{
    PolicyFactory, PolicyQuestion, QuestionPolicy, QuestionValue, RepairDecision, RepairWay,
};
use outlast_units::Nanos;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt;
use std::marker::PhantomData;

/// An answer as Python gives it, which has been looked at there.
pub(super) trait AnswerValue: Sized {
    /// Of what Python returned, and what is not `None`.
    fn of(returned: &Bound<'_, PyAny>) -> PyResult<Self>;
}

impl AnswerValue for (u16, u8) {
    fn of(returned: &Bound<'_, PyAny>) -> PyResult<Self> {
        returned.extract()
    }
}

impl AnswerValue for f64 {
    fn of(returned: &Bound<'_, PyAny>) -> PyResult<Self> {
        returned.extract()
    }
}

impl AnswerValue for bool {
    fn of(returned: &Bound<'_, PyAny>) -> PyResult<Self> {
        returned.extract()
    }
}

impl AnswerValue for RepairDecision {
    /// The name of a way, or nanoseconds.
    fn of(returned: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(later) = returned.extract::<u64>() {
            return Ok(Self::Later(Nanos(later)));
        }
        let name: String = returned.extract()?;
        let way = RepairWay::ALL.into_iter().find(|way| way.name() == name);
        way.map(Self::Now).ok_or_else(|| PyValueError::new_err(format!("there is no way {name} of repair")))
    }
}

impl<Q: PolicyQuestion<Answer: AnswerValue> + 'static> PolicyFactory<dyn QuestionPolicy<Q>> for Maker {
    fn name(&self) -> &str {
        &self.name
    }

    fn make(&self) -> Result<Box<dyn QuestionPolicy<Q>>, String> {
        Python::attach(|py| Answers::<Q>::new(py, self.maker.call_method0(py, "begin")?))
            .map(|answers| Box::new(answers) as Box<dyn QuestionPolicy<Q>>)
            .map_err(in_a_line)
    }
}

/// A Python object that answers questions of one kind.
struct Answers<Q> {
    object: Py<PyAny>,
    /// Its method that answers.
    answer: Py<PyAny>,
    kind: PhantomData<fn(&Q)>,
}

impl<Q> fmt::Debug for Answers<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answers").field(&self.object).finish()
    }
}

impl<Q: PolicyQuestion<Answer: AnswerValue> + 'static> Answers<Q> {
    fn new(py: Python<'_>, object: Py<PyAny>) -> PyResult<Self> {
        let answer = object.getattr(py, "answer")?;
        Ok(Self { object, answer, kind: PhantomData })
    }

    fn ask(&self, py: Python<'_>, question: &Q) -> PyResult<Option<Q::Answer>> {
        let values = PyDict::new(py);
        for (name, value) in question.values() {
            match value {
                QuestionValue::Whole(value) => values.set_item(name, value)?,
                QuestionValue::Real(value) => values.set_item(name, value)?,
                QuestionValue::Text(value) => values.set_item(name, value)?,
                QuestionValue::None => values.set_item(name, py.None())?,
            }
        }
        let returned = self.answer.bind(py).call((), Some(&values))?;
        if returned.is_none() { Ok(None) } else { Q::Answer::of(&returned).map(Some) }
    }
}

impl<Q: PolicyQuestion<Answer: AnswerValue> + 'static> QuestionPolicy<Q> for Answers<Q> {
    fn decide(&mut self, question: &Q) -> Result<Option<Q::Answer>, String> {
        asked(|py| self.ask(py, question))
    }

    fn fork(&self) -> Box<dyn QuestionPolicy<Q>> {
        match Python::attach(|py| Self::new(py, self.object.call_method0(py, "copy")?)) {
            Ok(copied) => Box::new(copied),
            Err(error) => Box::new(super::decider::Failed(in_a_line(error))),
        }
    }
}

impl<Q: PolicyQuestion> QuestionPolicy<Q> for super::decider::Failed {
    fn decide(&mut self, _: &Q) -> Result<Option<Q::Answer>, String> {
        Err(self.0.clone())
    }

    fn fork(&self) -> Box<dyn QuestionPolicy<Q>> {
        Box::new(self.clone())
    }
}
