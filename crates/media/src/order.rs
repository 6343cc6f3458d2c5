//! Order in which NAND rows are programmed.

use std::ops::Range;

/// Columns of pages, such as the blocks of several planes that are always programmed and erased together. It asserts what NAND
/// demands of each: rows are programmed in order, each once between two erasures.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(check)]
pub struct ProgramOrder {
    /// The row that must be programmed next, of each column.
    #[persist(each)]
    next: Vec<u32>,
    #[persist(skip)]
    rows: u32,
}

impl ProgramOrder {
    /// `columns` columns of `rows` rows, erased.
    pub fn new(columns: usize, rows: u32) -> Self {
        Self { next: vec![0; columns], rows }
    }

    /// No column has been programmed beyond its end.
    fn check_restored(&self) -> Result<(), String> {
        match self.next.iter().position(|&next| next > self.rows) {
            None => Ok(()),
            Some(column) => {
                Err(format!("column {column} is programmed to row {}, of {}", self.next[column], self.rows))
            }
        }
    }

    /// Programs row `row` of column `column`.
    ///
    /// # Panics
    /// If it is not the next one in order: the FTL broke a rule of NAND.
    #[inline]
    pub fn program(&mut self, column: usize, row: u32) {
        let next = &mut self.next[column];
        assert!(*next == row, "row {row} of column {column} programmed out of order: row {next} is next");
        *next += 1;
        assert!(*next <= self.rows, "row {row} of column {column} lies beyond the block");
    }

    /// Programs row `row` of each of `columns`.
    ///
    /// # Panics
    /// If it is not the next one in order in one of them.
    #[inline]
    pub fn program_all(&mut self, columns: Range<usize>, row: u32) {
        assert!(row < self.rows, "row {row} lies beyond the block");
        let mut off = 0;
        for next in &mut self.next[columns.clone()] {
            off |= *next ^ row;
            *next = row + 1;
        }
        assert!(off == 0, "row {row} of a column of {columns:?} programmed out of order");
    }

    /// Erases column `column`.
    #[inline]
    pub fn erase(&mut self, column: usize) {
        self.next[column] = 0;
    }

    /// Rows of column `column` that have been programmed since the last erasure: the first ones.
    #[inline]
    pub fn programmed(&self, column: usize) -> u32 {
        self.next[column]
    }

    /// Resident bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.next.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::ProgramOrder;

    #[test]
    fn rows_are_programmed_in_order_and_again_after_erasure() {
        let mut order = ProgramOrder::new(3, 2);
        order.program(1, 0);
        order.program(2, 0);
        order.program(1, 1);
        assert_eq!([0, 1, 2].map(|column| order.programmed(column)), [0, 2, 1]);
        order.erase(1);
        assert_eq!([0, 1, 2].map(|column| order.programmed(column)), [0, 0, 1]);
        order.program(1, 0);
    }

    #[test]
    fn a_column_that_was_read_ends_within_its_block() {
        let mut order = ProgramOrder::new(2, 4);
        order.next[1] = 4;
        assert_eq!(order.check_restored(), Ok(()));
        order.next[1] = 5;
        assert_eq!(order.check_restored(), Err("column 1 is programmed to row 5, of 4".to_owned()));
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn programming_a_row_twice_panics() {
        let mut order = ProgramOrder::new(1, 4);
        order.program(0, 0);
        order.program(0, 0);
    }

    #[test]
    #[should_panic(expected = "row 0 of a column of 0..3 programmed out of order")]
    fn one_column_that_is_off_among_many_panics() {
        let mut order = ProgramOrder::new(3, 2);
        order.program_all(0..2, 0);
        order.program_all(0..2, 1);
        assert_eq!([0, 1, 2].map(|column| order.programmed(column)), [2, 2, 0]);
        order.erase(0);
        order.program_all(0..3, 0);
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn skipping_a_row_panics() {
        ProgramOrder::new(1, 4).program(0, 1);
    }

    #[test]
    #[should_panic(expected = "beyond the block")]
    fn programming_past_the_end_panics() {
        let mut order = ProgramOrder::new(1, 1);
        order.program(0, 0);
        order.program(0, 1);
    }
}
