//! Parity moves right, data stays in order of members.

use super::{DataOrder, Shape};

pub(super) fn period(shape: Shape) -> usize {
    shape.columns()
}

pub(super) fn columns(shape: Shape, stripe: usize) -> Vec<u8> {
    shape.with_parity_at(stripe, DataOrder::FromFirst)
}
