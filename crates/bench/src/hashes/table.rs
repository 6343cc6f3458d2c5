//! Hashes by case, as text: a name and a hash to a line, in order of name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Hashes by name of case.
pub(super) type HashTable = BTreeMap<String, u64>;

pub(super) fn text(hashes: &HashTable) -> String {
    hashes.iter().fold(String::new(), |mut text, (name, hash)| {
        let _ = writeln!(text, "{name:<44} {hash:016x}");
        text
    })
}

fn parse(text: &str) -> Result<HashTable, String> {
    let line = |(index, line): (usize, &str)| {
        let mut words = line.split_whitespace();
        let hash = |word: &str| u64::from_str_radix(word, 16).ok();
        match (words.next(), words.next().and_then(hash), words.next()) {
            (Some(name), Some(hash), None) => Ok((name.to_owned(), hash)),
            _ => Err(format!("line {}: \"{line}\" is not a name and a hash", index + 1)),
        }
    };
    text.lines().enumerate().map(line).collect()
}

#[allow(clippy::disallowed_methods, reason = "a benchmark keeps its own table")]
pub(super) fn write(path: &str, hashes: &HashTable) -> Result<(), String> {
    std::fs::write(path, text(hashes)).map_err(|error| format!("{path}: {error}"))
}

#[allow(clippy::disallowed_methods, reason = "a benchmark keeps its own table")]
pub(super) fn read(path: &str) -> Result<HashTable, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    parse(&text).map_err(|why| format!("{path}, {why}"))
}

/// A line for each case that is not as expected; cases that are only expected count where the whole battery was run.
pub(super) fn differences(expected: &HashTable, found: &HashTable, whole: bool) -> Vec<String> {
    let changed = found.iter().filter_map(|(name, hash)| match expected.get(name) {
        None => Some(format!("{name}: not in the table, found {hash:016x}")),
        Some(before) if before != hash => Some(format!("{name}: expected {before:016x}, found {hash:016x}")),
        Some(_) => None,
    });
    let missing = expected.keys().filter(|name| whole && !found.contains_key(*name));
    changed.chain(missing.map(|name| format!("{name}: in the table, but not run"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(of: &[(&str, u64)]) -> HashTable {
        of.iter().map(|&(name, hash)| (name.to_owned(), hash)).collect()
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = hashes(&[("drive/plain", 0xfeed), ("array/raid5", u64::MAX), ("z", 0)]);
        assert_eq!(parse(&text(&table)), Ok(table));
        assert_eq!(parse("a 1\nb\n"), Err("line 2: \"b\" is not a name and a hash".to_owned()));
    }

    #[test]
    fn changed_new_and_missing_cases_are_named() {
        let (before, after) =
            (hashes(&[("a", 1), ("b", 2), ("c", 3)]), hashes(&[("a", 1), ("b", 5), ("d", 4)]));
        let lines = differences(&before, &after, true);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(
            lines[0].starts_with("b: expected")
                && lines[1].starts_with("d: not in")
                && lines[2].starts_with("c: in")
        );
        assert_eq!(differences(&before, &after, false).len(), 2, "some were not asked for");
        assert!(differences(&before, &before, true).is_empty());
    }
}
