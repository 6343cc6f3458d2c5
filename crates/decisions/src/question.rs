//! Questions: decisions over a few values.

use crate::ForkPolicy;
use outlast_units::Nanos;
use std::fmt;

/// A value of a question, as user code gets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuestionValue {
    /// A count or a number of something; times are in nanoseconds.
    Whole(u64),
    /// A ratio or a rate.
    Real(f64),
    /// A name.
    Text(&'static str),
    /// An absent value.
    None,
}

impl fmt::Display for QuestionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
            Self::None => f.write_str("None"),
        }
    }
}

macro_rules! whole {
    ($($Type:ty)*) => {$(
        impl From<$Type> for QuestionValue {
            fn from(value: $Type) -> Self {
                Self::Whole(value.into())
            }
        }
    )*};
}

whole!(u8 u16 u32 u64);

impl From<f64> for QuestionValue {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<Nanos> for QuestionValue {
    fn from(value: Nanos) -> Self {
        Self::Whole(value.0)
    }
}

impl From<&'static str> for QuestionValue {
    fn from(value: &'static str) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for QuestionValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// The facts that one decision depends on; [`question!`](crate::question) defines one.
pub trait PolicyQuestion: fmt::Debug {
    /// Type of the answer.
    type Answer;

    /// The facts, by name.
    fn values(&self) -> Vec<(&'static str, QuestionValue)>;
}

/// A policy that answers questions of one kind.
pub trait QuestionPolicy<Q: PolicyQuestion>: fmt::Debug + Send + Sync {
    /// The answer; `None`: the settings decide.
    ///
    /// # Errors
    /// The error of the user's code, in one line: the run ends.
    fn decide(&mut self, question: &Q) -> Result<Option<Q::Answer>, String>;

    /// A copy in the same state.
    fn fork(&self) -> Box<dyn QuestionPolicy<Q>>;
}

impl<Q: PolicyQuestion> ForkPolicy for dyn QuestionPolicy<Q> {
    fn fork(&self) -> Box<Self> {
        QuestionPolicy::fork(self)
    }
}

/// A question in words, for messages.
pub(crate) fn in_words(question: &impl PolicyQuestion) -> String {
    question.values().iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Defines a [`PolicyQuestion`] by its fields, each of a type that converts to a [`QuestionValue`], and the type of its answer.
#[macro_export]
macro_rules! question {
    ($(#[$doc:meta])* $vis:vis struct $Name:ident -> $Answer:ty { $($(#[$field_doc:meta])* $field:ident: $Type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $Name {
            $($(#[$field_doc])* $vis $field: $Type,)*
        }

        impl $crate::PolicyQuestion for $Name {
            type Answer = $Answer;

            fn values(&self) -> Vec<(&'static str, $crate::QuestionValue)> {
                vec![$((stringify!($field), self.$field.into()),)*]
            }
        }
    };
}
