//! Codes of groups: which sets of missing pieces lose data.

use serde::Deserialize;

/// Most pieces of a group: sets of them are bits of a word.
pub(crate) const PIECES_MAX: u32 = 64;

/// A code over the pieces of a group, each on a drive of its own. Pieces are numbered as each variant says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum GroupCode {
    /// Any `parity` pieces of `data + parity` may be missing: Reed-Solomon, RAID-5, RAID-6; copies are `data = 1`.
    Mds {
        /// Pieces with data.
        data: u32,
        /// Pieces that may be missing.
        parity: u32,
    },
    /// Locally repairable code: `data` pieces in `local` equal groups with a parity each, and `global` parities over all (Huang et al.,
    /// "Erasure Coding in Windows Azure Storage", USENIX ATC 2012). Maximally recoverable: whatever the counts allow can be decoded. Pieces:
    /// data group by group, local parities, global parities.
    Lrc {
        /// Pieces with data, a multiple of `local`.
        data: u32,
        /// Local groups.
        local: u32,
        /// Global parities.
        global: u32,
    },
    /// Product code: `rows` × `columns` pieces, of which each row survives `row_parity` and each column `column_parity`, decoded by rows and
    /// columns in turn until nothing changes. Pieces: row by row.
    Product {
        /// Rows.
        rows: u32,
        /// Columns.
        columns: u32,
        /// Pieces of a row that may be missing.
        row_parity: u32,
        /// Pieces of a column that may be missing.
        column_parity: u32,
    },
}

impl GroupCode {
    /// Pieces of a group.
    pub const fn pieces(self) -> u32 {
        match self {
            Self::Mds { data, parity } => data + parity,
            Self::Lrc { data, local, global } => data + local + global,
            Self::Product { rows, columns, .. } => rows * columns,
        }
    }

    /// Pieces that may be missing, whichever they are.
    pub const fn survives(self) -> u32 {
        match self {
            Self::Mds { parity, .. } => parity,
            // `global` + 1 in one local group, of which its parity mends one.
            Self::Lrc { global, .. } => global + 1,
            // The smallest set that neither rows nor columns mend is a rectangle.
            Self::Product { row_parity, column_parity, .. } => (row_parity + 1) * (column_parity + 1) - 1,
        }
    }

    /// True if data are lost when the pieces of the set `missing` are.
    pub fn is_lost(self, missing: u64) -> bool {
        if missing.count_ones() <= self.survives() {
            return false;
        }
        match self {
            Self::Mds { .. } => true,
            Self::Lrc { data, local, global } => {
                let width = data / local;
                let beyond: u32 = (0..local)
                    .map(|group| {
                        let own = (bits(width) << (group * width)) | (1 << (data + group));
                        (missing & own).count_ones().saturating_sub(1)
                    })
                    .sum();
                let globals = bits(global) << (data + local);
                beyond + (missing & globals).count_ones() > global
            }
            Self::Product { rows, columns, row_parity, column_parity } => {
                let mut left = missing;
                loop {
                    let before = left;
                    for row in 0..rows {
                        left = mended(left, bits(columns) << (row * columns), row_parity);
                    }
                    let first = (0..rows).fold(0u64, |column, row| column | 1 << (row * columns));
                    for column in 0..columns {
                        left = mended(left, first << column, column_parity);
                    }
                    if left == 0 || left == before {
                        return left != 0;
                    }
                }
            }
        }
    }

    /// True if some piece that is still there is needed: without it, data would be lost.
    pub fn is_critical(self, missing: u64) -> bool {
        let pieces = self.pieces();
        (0..pieces).any(|piece| missing >> piece & 1 == 0 && self.is_lost(missing | 1 << piece))
    }

    /// A sentence on what is wrong with the numbers.
    pub fn fault(self) -> Option<String> {
        let pieces = match self {
            Self::Mds { data, parity } => data.checked_add(parity),
            Self::Lrc { data, local, global } => {
                data.checked_add(local).and_then(|sum| sum.checked_add(global))
            }
            Self::Product { rows, columns, .. } => rows.checked_mul(columns),
        };
        if pieces.is_none_or(|pieces| !(1..=PIECES_MAX).contains(&pieces)) {
            return Some(format!("a group has 1 to {PIECES_MAX} pieces"));
        }
        match self {
            Self::Mds { data: 0, .. } | Self::Lrc { data: 0, .. } => Some("data: at least 1".into()),
            Self::Lrc { data, local, .. } if local == 0 || data % local != 0 => {
                Some(format!("local = {local}: must divide data = {data}"))
            }
            Self::Product { rows, columns, row_parity, column_parity }
                if row_parity >= columns || column_parity >= rows =>
            {
                Some("a row has more columns than it may miss, and a column more rows".into())
            }
            _ => None,
        }
    }
}

/// The lowest `count` bits.
const fn bits(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// `missing` without the pieces of `line`, if they are no more than `parity`.
const fn mended(missing: u64, line: u64, parity: u32) -> u64 {
    if (missing & line).count_ones() <= parity { missing & !line } else { missing }
}
