//! The fewest instructions that each case took in any commit, against creep: many steps below the tolerance of one.

use super::table::CostTable;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Share by which a case may cost more instructions than in the best commit.
const CREEP: f64 = 0.05;

/// Fewest instructions by case, of one build.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BestCosts {
    build: String,
    rows: BTreeMap<String, f64>,
}

impl BestCosts {
    /// The remark on a case that costs too much more than its best; `None` of others, and of a case without a best.
    pub(super) fn creep(&self, name: &str, instructions: f64) -> Option<String> {
        let best = self.rows.get(name)?;
        let change = instructions / best - 1.0;
        (change > CREEP).then(|| format!("{:+.2} % on the best so far, {best:.1}", change * 100.0))
    }

    /// The bests with those of a table: the smaller of both where the builds are alike, those of the table otherwise.
    pub(super) fn with(&self, table: &CostTable) -> Self {
        let alike = self.build == table.build;
        let best = |row: &super::table::CostRow| {
            let before = self.rows.get(&row.name).copied().filter(|_| alike);
            (row.name.clone(), before.map_or(row.costs.instructions, |best| best.min(row.costs.instructions)))
        };
        Self { build: table.build.clone(), rows: table.rows.iter().map(best).collect() }
    }

    /// True if every row of a table has a best and all are of its build.
    #[cfg(test)]
    pub(super) fn cover(&self, table: &CostTable) -> bool {
        self.build == table.build && table.rows.iter().all(|row| self.rows.contains_key(&row.name))
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("# {}; the fewest instructions of any commit\n", self.build);
        for (name, best) in &self.rows {
            let _ = writeln!(text, "{name:<24} {best:>12.1}");
        }
        text
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let build = lines.next().and_then(|line| line.strip_prefix("# ")?.split_once(';'));
        let build = build.ok_or("line 1 names no build")?.0.to_owned();
        let row = |(index, line): (usize, &str)| {
            let words = line.split_once(' ').and_then(|(name, best)| Some((name, best.trim().parse().ok()?)));
            let (name, best) = words.ok_or_else(|| format!("line {}: \"{line}\" is no row", index + 2))?;
            Ok::<(String, f64), String>((name.to_owned(), best))
        };
        Ok(Self { build, rows: lines.enumerate().map(row).collect::<Result<_, _>>()? })
    }
}

#[allow(clippy::disallowed_methods, reason = "a benchmark keeps its own table")]
pub(super) fn read(path: &str) -> Result<BestCosts, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    BestCosts::parse(&text).map_err(|why| format!("{path}, {why}"))
}

#[allow(clippy::disallowed_methods, reason = "a benchmark keeps its own table")]
pub(super) fn write(path: &str, bests: &BestCosts) -> std::io::Result<()> {
    std::fs::write(path, bests.text())
}

#[cfg(test)]
mod tests {
    use super::super::table::{CallCosts, CostRow};
    use super::*;

    fn table(build: &str, rows: &[(&str, f64)]) -> CostTable {
        let row = |&(name, instructions): &(&str, f64)| CostRow {
            name: name.to_owned(),
            costs: CallCosts { instructions, misses: None },
            hash: 0,
        };
        CostTable { build: build.to_owned(), rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn bests_are_read_as_they_were_written() {
        let bests = BestCosts::default().with(&table("a", &[("random-read", 1234.5), ("trace-msr", 80.0)]));
        assert_eq!(BestCosts::parse(&bests.text()), Ok(bests));
        assert!(BestCosts::parse("# a; b\nx y\n").unwrap_err().contains("line 2"));
        assert!(BestCosts::parse("").is_err());
    }

    #[test]
    fn steps_below_the_tolerance_of_one_fail_together() {
        let first = table("a", &[("read", 1000.0)]);
        let bests = BestCosts::default().with(&first);
        // Two steps of 2.6 %, each with its own table.
        let (second, third) = (table("a", &[("read", 1026.0)]), table("a", &[("read", 1052.7)]));
        assert_eq!(first.compare(&bests, &second, true).failures, 0);
        let bests = bests.with(&second);
        let verdict = second.compare(&bests, &third, true);
        assert_eq!(verdict.failures, 1, "{:?}", verdict.lines);
        assert!(verdict.lines[1].contains("+5.27 % on the best so far, 1000.0"), "{:?}", verdict.lines);
    }

    #[test]
    fn a_gain_is_the_new_best_and_another_build_begins_anew() {
        let bests = BestCosts::default().with(&table("a", &[("read", 1000.0)]));
        let better = bests.with(&table("a", &[("read", 900.0)]));
        assert!(better.creep("read", 950.0).is_some() && bests.creep("read", 950.0).is_none());
        let anew = better.with(&table("b", &[("read", 2000.0)]));
        assert!(anew.creep("read", 2050.0).is_none() && anew.cover(&table("b", &[("read", 2050.0)])));
        assert!(!anew.cover(&table("a", &[("read", 1.0)])) && !anew.cover(&table("b", &[("write", 1.0)])));
    }

    #[test]
    fn of_another_build_creep_fails_nothing() {
        let before = table("a", &[("read", 1000.0)]);
        let bests = BestCosts::default().with(&before);
        assert_eq!(before.compare(&bests, &table("b", &[("read", 2000.0)]), true).failures, 0);
    }
}
