//! The table of costs, and when a case costs too much.

use super::bests::BestCosts;
use super::build;
use std::fmt::Write as _;

/// Share by which a case may cost more instructions than the table says.
const TOLERANCE: f64 = 0.03;

/// Mean cost of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CallCosts {
    pub(super) instructions: f64,
    /// Absent where no caches were simulated.
    pub(super) misses: Option<CacheMisses>,
}

/// Misses of simulated caches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CacheMisses {
    /// Misses of the first-level data cache.
    pub(super) d1: f64,
    /// Misses of the last-level cache.
    pub(super) ll: f64,
}

impl CallCosts {
    pub(super) fn per(self, count: u64) -> Self {
        let per = |cost: f64| cost / count.max(1) as f64;
        let misses = self.misses.map(|CacheMisses { d1, ll }| CacheMisses { d1: per(d1), ll: per(ll) });
        Self { instructions: per(self.instructions), misses }
    }

    /// The columns of a table.
    fn columns(&self) -> String {
        let misses = match self.misses {
            Some(CacheMisses { d1, ll }) => format!("{d1:>12.3} {ll:>12.3}"),
            None => format!("{:>12} {:>12}", "-", "-"),
        };
        format!("{:>12.1} {misses}", self.instructions)
    }
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CostRow {
    pub(super) name: String,
    pub(super) costs: CallCosts,
    pub(super) hash: u64,
}

/// Costs of one build: counts of different compilers or profiles cannot be compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CostTable {
    pub(super) build: String,
    pub(super) rows: Vec<CostRow>,
}

/// Result of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableVerdict {
    pub(super) lines: Vec<String>,
    pub(super) failures: usize,
}

const HEADER: &str = "\
case                     instructions    D1 misses    LL misses  result hash";

impl CostTable {
    pub(super) fn text(&self) -> String {
        let mut text = format!("# {}; each time that the case does what it measures\n{HEADER}\n", self.build);
        for CostRow { name, costs, hash } in &self.rows {
            let _ = writeln!(text, "{name:<24} {}  {hash:016x}", costs.columns());
        }
        text
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let build =
            lines.next().and_then(|line| line.strip_prefix("# ")).and_then(|line| line.split_once(';'));
        let build = build.ok_or("line 1 names no build")?.0.to_owned();
        let row = |(index, line): (usize, &str)| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let row = |words: &[&str]| {
                let [name, instructions, d1, ll, hash] = words else { return None };
                let number = |word: &str| word.parse::<f64>().ok();
                let misses = Some(CacheMisses { d1: number(d1)?, ll: number(ll)? });
                let costs = CallCosts { instructions: number(instructions)?, misses };
                Some(CostRow { name: (*name).to_owned(), costs, hash: u64::from_str_radix(hash, 16).ok()? })
            };
            row(&words).ok_or_else(|| format!("line {}: \"{line}\" is no row", index + 3))
        };
        let rows = lines.skip(1).enumerate().map(row).collect::<Result<_, _>>()?;
        Ok(Self { build, rows })
    }

    /// Compares `found` with the table and with the fewest instructions that a commit took. A row fails where it costs more than the tolerance
    /// allows, has crept too far above the best, its result is another, or it is in one table only; the last counts where `whole`, since
    /// otherwise only some cases were run. Of another build costs do not fail.
    pub(super) fn compare(&self, bests: &BestCosts, found: &Self, whole: bool) -> TableVerdict {
        let alike = self.build == found.build;
        let mut verdict = TableVerdict { lines: Vec::new(), failures: 0 };
        if !alike {
            verdict.lines.push(build::another(&found.build, &self.build));
        }
        verdict.lines.push(HEADER.replace("result hash", "against the table"));
        for row in &found.rows {
            let before = self.rows.iter().find(|before| before.name == row.name);
            let (mut note, mut fails) = judge_row(before, row, alike);
            if let Some(creep) = bests.creep(&row.name, row.costs.instructions).filter(|_| alike) {
                note = format!("{note}; {creep}");
                fails = true;
            }
            let mark = if fails { "FAILS: " } else { "" };
            let line = format!("{:<24} {}  {mark}{note}", row.name, row.costs.columns());
            verdict.lines.push(line);
            verdict.failures += usize::from(fails);
        }
        for row in
            self.rows.iter().filter(|row| whole && !found.rows.iter().any(|other| other.name == row.name))
        {
            verdict.lines.push(format!("{}: FAILS: in the table, but not run", row.name));
            verdict.failures += 1;
        }
        verdict
    }
}

/// Remark on a row, and true if it fails.
fn judge_row(before: Option<&CostRow>, row: &CostRow, alike: bool) -> (String, bool) {
    let Some(before) = before else { return ("not in the table".to_owned(), true) };
    let change = row.costs.instructions / before.costs.instructions - 1.0;
    let note = format!("{:+.2} %", change * 100.0);
    if before.hash != row.hash {
        (format!("{note}, and another result: {:016x} in place of {:016x}", row.hash, before.hash), true)
    } else if alike && change > TOLERANCE {
        (note, true)
    } else if alike && change < -TOLERANCE {
        (format!("{note}: the table should say so (make bench-instructions ARGS=--write)"), false)
    } else {
        (note, false)
    }
}

#[allow(clippy::disallowed_methods, reason = "a benchmark keeps its own table")]
pub(super) fn read(path: &str) -> Result<CostTable, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    CostTable::parse(&text).map_err(|why| format!("{path}, {why}"))
}

#[allow(clippy::disallowed_methods, reason = "a benchmark keeps its own table")]
pub(super) fn write(path: &str, table: &CostTable) -> std::io::Result<()> {
    std::fs::write(path, table.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, f64, u64)]) -> CostTable {
        let row = |&(name, instructions, hash): &(&str, f64, u64)| CostRow {
            name: name.to_owned(),
            costs: CallCosts { instructions, misses: Some(CacheMisses { d1: 1.5, ll: 0.25 }) },
            hash,
        };
        CostTable {
            build: "rustc 1.95.0, profile ci, x86_64".to_owned(),
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let before = table(&[("random-read", 1234.5, 0xbeef), ("trace-msr", 80.0, 0)]);
        assert_eq!(CostTable::parse(&before.text()), Ok(before));
        assert!(CostTable::parse("# a; b\nheader\nx 1 2 3\n").unwrap_err().contains("line 3"));
        assert!(CostTable::parse("").is_err());
    }

    #[test]
    fn a_loss_of_three_percent_fails_and_a_gain_does_not() {
        let before = table(&[("a", 1000.0, 7), ("b", 1000.0, 7), ("c", 1000.0, 7)]);
        let after = table(&[("a", 1029.9, 7), ("b", 1030.1, 7), ("c", 900.0, 7)]);
        let verdict = before.compare(&BestCosts::default(), &after, true);
        assert_eq!(verdict.failures, 1, "{:?}", verdict.lines);
        let line = |name: &str| verdict.lines.iter().find(|line| line.starts_with(name)).unwrap().as_str();
        assert!(line("b ").contains("FAILS") && !line("a ").contains("FAILS"));
        assert!(line("c ").contains("-10.00 %: the table should say so"));
        // With the table changed in the same commit nothing fails.
        assert_eq!(after.compare(&BestCosts::default(), &after, true).failures, 0);
    }

    #[test]
    fn instructions_hold_without_caches_as_well() {
        let before = table(&[("a", 1000.0, 7)]);
        let mut after = table(&[("a", 1031.0, 7)]);
        after.rows[0].costs.misses = None;
        let verdict = before.compare(&BestCosts::default(), &after, true);
        assert_eq!(verdict.failures, 1, "{:?}", verdict.lines);
        assert!(verdict.lines[1].contains("1031.0            -            -  FAILS"), "{:?}", verdict.lines);
    }

    #[test]
    fn another_result_and_missing_rows_fail() {
        let before = table(&[("a", 1000.0, 7), ("b", 1000.0, 7)]);
        let after = table(&[("a", 1000.0, 8), ("new", 1.0, 7)]);
        assert_eq!(
            before.compare(&BestCosts::default(), &after, true).failures,
            3,
            "another result, a new row, a missing one"
        );
        assert_eq!(before.compare(&BestCosts::default(), &after, false).failures, 2, "b was not asked for");
    }

    #[test]
    fn costs_of_another_compiler_fail_nothing_and_say_so() {
        let (before, mut after) = (table(&[("a", 1000.0, 7)]), table(&[("a", 2000.0, 7)]));
        after.build = "rustc 1.96.0, profile ci, x86_64".to_owned();
        let verdict = before.compare(&BestCosts::default(), &after, true);
        assert_eq!(verdict.failures, 0);
        assert!(
            verdict.lines[0].contains("1.96.0") && verdict.lines[0].contains("1.95.0"),
            "{:?}",
            verdict.lines
        );
    }
}
