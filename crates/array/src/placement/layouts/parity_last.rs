//! Parity always on the last members.

use super::{DataOrder, Shape};

pub(super) fn period(_shape: Shape) -> usize {
    1
}

pub(super) fn columns(shape: Shape, _stripe: usize) -> Vec<u8> {
    shape.with_parity_at(shape.data, DataOrder::FromFirst)
}
