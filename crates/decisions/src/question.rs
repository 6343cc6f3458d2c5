//! Decisions over a few values.

use crate::Forks;
use outlast_units::Nanos;
use std::fmt;

/// A value of a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count or a number of something; times are in nanoseconds.
    Whole(u64),
    /// A ratio or a rate.
    Real(f64),
    /// A name.
    Text(&'static str),
    /// What there is none of.
    None,
}

impl fmt::Display for Value {
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
        impl From<$Type> for Value {
            fn from(value: $Type) -> Self {
                Self::Whole(value.into())
            }
        }
    )*};
}

whole!(u8 u16 u32 u64);

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<Nanos> for Value {
    fn from(value: Nanos) -> Self {
        Self::Whole(value.0)
    }
}

impl From<&'static str> for Value {
    fn from(value: &'static str) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// What is known when something is to be decided; [`question!`](crate::question) makes one.
pub trait Question: fmt::Debug {
    /// What may be answered.
    type Answer;

    /// What is known, by name.
    fn values(&self) -> Vec<(&'static str, Value)>;
}

/// Answers questions of one kind.
pub trait Decides<Q: Question>: fmt::Debug + Send + Sync {
    /// The answer; `None`: as without it.
    ///
    /// # Errors
    /// What went wrong, in one line: the run ends.
    fn decide(&mut self, question: &Q) -> Result<Option<Q::Answer>, String>;

    /// Another one in the same state.
    fn fork(&self) -> Box<dyn Decides<Q>>;
}

impl<Q: Question> Forks for dyn Decides<Q> {
    fn fork(&self) -> Box<Self> {
        Decides::fork(self)
    }
}

/// A question in words.
pub(crate) fn told(question: &impl Question) -> String {
    question.values().iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// A [`Question`] by its fields, each of a type that a [`Value`] can be made of, and the type of its answer.
#[macro_export]
macro_rules! question {
    ($(#[$doc:meta])* $vis:vis struct $Name:ident -> $Answer:ty { $($(#[$field_doc:meta])* $field:ident: $Type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $Name {
            $($(#[$field_doc])* $vis $field: $Type,)*
        }

        impl $crate::Question for $Name {
            type Answer = $Answer;

            fn values(&self) -> Vec<(&'static str, $crate::Value)> {
                vec![$((stringify!($field), self.$field.into()),)*]
            }
        }
    };
}
