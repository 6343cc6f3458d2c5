//! Tables of results, which the caller writes as Parquet.

/// Values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultColumn {
    /// Counts.
    U64(Vec<u64>),
    /// Measures; NaN for a missing value.
    F64(Vec<f64>),
    /// Names.
    Text(Vec<String>),
}

impl ResultColumn {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Columns of equal length, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultTable {
    /// Name and values of each column.
    pub columns: Vec<(String, ResultColumn)>,
}

impl ResultTable {
    pub(crate) fn push(&mut self, name: &str, column: ResultColumn) {
        self.columns.push((name.to_owned(), column));
    }

    pub(crate) fn counts(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.push(name, ResultColumn::U64(values.collect()));
    }

    pub(crate) fn measures(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.push(name, ResultColumn::F64(values.collect()));
    }

    /// Values of the column of measures `name`; empty if there is none.
    pub fn f64(&self, name: &str) -> &[f64] {
        match self.columns.iter().find(|(column, _)| column == name) {
            Some((_, ResultColumn::F64(values))) => values,
            _ => &[],
        }
    }

    /// Values of the column of counts `name`; empty if there is none.
    pub fn u64(&self, name: &str) -> &[u64] {
        match self.columns.iter().find(|(column, _)| column == name) {
            Some((_, ResultColumn::U64(values))) => values,
            _ => &[],
        }
    }
}
