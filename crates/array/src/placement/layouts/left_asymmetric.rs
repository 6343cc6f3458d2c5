//! Parity moves left, data stays in order of members.

use super::{DataOrder, LayoutShape};

pub(super) fn period(shape: LayoutShape) -> usize {
    shape.columns()
}

pub(super) fn columns(shape: LayoutShape, stripe: usize) -> Vec<u8> {
    shape.with_parity_at(shape.columns() - 1 - stripe, DataOrder::FromFirst)
}
