//! Parity moves left, data follows it.

use super::{DataOrder, Shape};

pub(super) fn period(shape: Shape) -> usize {
    shape.columns()
}

pub(super) fn columns(shape: Shape, stripe: usize) -> Vec<u8> {
    shape.with_parity_at(shape.columns() - 1 - stripe, DataOrder::AfterParity)
}
