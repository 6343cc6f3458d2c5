//! The only error of this crate: a number outside the domain of an equation.

use std::fmt;

/// An argument for which an equation has no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DomainError {
    /// Name of the argument.
    pub argument: &'static str,
    /// Value that was given.
    pub value: f64,
    /// Domain of the argument, in words.
    pub domain: &'static str,
}

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { argument, value, domain } = self;
        if *value != 0.0 && !(1e-4..1e15).contains(&value.abs()) {
            // In scientific notation, so that nobody has to count zeros.
            return write!(f, "{argument} = {value:e}: must be {domain}");
        }
        write!(f, "{argument} = {value}: must be {domain}")
    }
}

impl std::error::Error for DomainError {}

/// `value` if it is a finite number for which `holds`.
pub(crate) fn within(
    argument: &'static str,
    value: f64,
    domain: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<f64, DomainError> {
    if value.is_finite() && holds(value) { Ok(value) } else { Err(DomainError { argument, value, domain }) }
}

/// `value` if it is finite and above zero.
pub(crate) fn positive(argument: &'static str, value: f64) -> Result<f64, DomainError> {
    within(argument, value, "a number above 0", |value| value > 0.0)
}

/// `value` if it is finite and not negative.
pub(crate) fn not_negative(argument: &'static str, value: f64) -> Result<f64, DomainError> {
    within(argument, value, "a number of at least 0", |value| value >= 0.0)
}

/// `value` if it lies strictly between 0 and 1.
pub(crate) fn share(argument: &'static str, value: f64) -> Result<f64, DomainError> {
    within(argument, value, "between 0 and 1, ends excluded", |value| value > 0.0 && value < 1.0)
}
