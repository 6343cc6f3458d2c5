//! Memory of cells of operations that have ended, for those to come.

use outlast_units::spare_buffers::SpareBuffers;
use std::fmt;

/// Cells, and lists of cells, whose operations have ended.
#[derive(Clone, Default)]
pub(crate) struct SpareCells {
    cells: SpareBuffers,
    lists: Vec<Vec<Vec<u8>>>,
}

impl fmt::Debug for SpareCells {
    /// Shows nothing of the cells, as [`SpareBuffers`] does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpareCells")
    }
}

impl SpareCells {
    /// Lists kept at most: those of the operations that a queue of the usual depth has under way.
    const LISTS: usize = 64;

    /// A list of `roles` empty cells.
    pub(crate) fn take_list(&mut self, roles: usize) -> Vec<Vec<u8>> {
        let mut list = self.lists.pop().unwrap_or_default();
        list.resize_with(roles, Vec::new);
        list
    }

    /// Memory of a cell, if there is some.
    pub(crate) fn take_memory(&mut self) -> Option<Vec<u8>> {
        self.cells.take()
    }

    /// Gives `cell` memory, if it has none and there is some. Its length is that of what was there before: bytes without meaning.
    pub(crate) fn give_memory(&mut self, cell: &mut Vec<u8>) {
        if cell.capacity() == 0
            && let Some(spare) = self.cells.take()
        {
            *cell = spare;
        }
    }

    /// Keeps the memory of `cell` for those to come.
    pub(crate) fn give(&mut self, cell: Vec<u8>) {
        self.cells.give(cell);
    }

    /// Takes back the cells of an operation that has ended.
    pub(crate) fn take_back(&mut self, mut list: Vec<Vec<u8>>) {
        list.drain(..).for_each(|cell| self.cells.give(cell));
        if self.lists.len() < Self::LISTS {
            self.lists.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SpareCells;

    #[test]
    fn lists_come_back_empty_and_cells_with_their_memory() {
        let mut spare = SpareCells::default();
        let mut list = spare.take_list(3);
        list[1] = vec![7; 512];
        spare.take_back(list);
        assert_eq!(spare.take_list(2), vec![Vec::<u8>::new(); 2]);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        spare.give_memory(&mut first);
        spare.give_memory(&mut second);
        assert_eq!((first.len(), second.len()), (512, 0));
        spare.take_back(vec![vec![2; 512]]);
        let mut own = vec![1; 8];
        spare.give_memory(&mut own);
        assert_eq!(own, [1; 8], "a cell that has memory keeps it");
        assert_eq!(spare.take_memory(), Some(vec![2; 512]));
    }
}
