//! The field's words for settings: what fio, `MQSim`, `SimpleSSD`, FEMU, `NVMeVirt`, `NVMe`, md, data sheets and papers call them.

mod spelling;

use super::error::{hint as hint_by_spelling, nearest};
use spelling::{are_alike, folded};

/// Words that mean one setting, from `words.txt`.
struct FieldWords {
    /// The setting by its dotted name; of a list of tables, `[[namespace]] capacity`.
    setting: String,
    /// Difference in meaning, as ` (in W)`, or nothing.
    remark: String,
    words: Vec<String>,
}

/// The start of an entry that is for a value of any setting, and for none of the names.
const CHOICE: &str = "choice ";

/// All of them. The table is read anew for each refusal, of which a run has one.
fn all() -> Vec<FieldWords> {
    let mut lines: Vec<String> = Vec::new();
    for line in include_str!("synonyms/words.txt").lines().filter(|line| !line.starts_with('#')) {
        match lines.last_mut() {
            Some(entry) if line.starts_with(' ') => {
                entry.push(' ');
                entry.push_str(line.trim_start());
            }
            _ => lines.push(line.to_owned()),
        }
    }
    let entries = lines.iter().filter_map(|line| line.split_once(" = "));
    let words = entries.map(|(name, words)| {
        let end = name.find(" (").unwrap_or(name.len());
        let (setting, remark) = name.split_at(end);
        let words = words.split_whitespace().map(ToOwned::to_owned).collect();
        FieldWords { setting: setting.to_owned(), remark: remark.to_owned(), words }
    });
    words.collect()
}

/// "; did you mean `device.timing.read`?" for a name that is unknown in its table, or the names that there are. `tables` are the keys around it
/// from the outermost one, and `names` those that its table has.
pub(super) fn hint(tables: &[&str], name: &str, names: &[&str]) -> String {
    let meant = |name: &str| format!("; did you mean `{name}`?");
    // A word of the field comes before what is only near in spelling, as it is near other names by chance.
    names
        .iter()
        .find(|known| folded(known) == folded(name))
        .map(|known| meant(known))
        .or_else(|| word_of_the_field(tables, |word| folded(word) == folded(name)))
        .or_else(|| names.iter().find(|known| are_alike(known, name)).map(|known| meant(known)))
        .or_else(|| elsewhere(|setting| folded(setting) == folded(name)))
        .or_else(|| word_of_the_field(tables, |word| are_alike(word, name)))
        .or_else(|| nearest(name, names).map(meant))
        .or_else(|| elsewhere(|setting| are_alike(setting, name)))
        .or_else(|| misspelt_word(tables, name))
        .unwrap_or_else(|| match names {
            [] => String::new(),
            _ => format!("; known are {}", names.join(", ")),
        })
}

/// "; did you mean `cost-benefit`?" for a value that is none of `names`, or the names that there are.
pub(super) fn hint_of_choice(value: &str, names: &[&str]) -> String {
    let means = |name: &&&str| {
        let entry = format!("{CHOICE}{name}");
        all()
            .iter()
            .any(|own| own.setting == entry && own.words.iter().any(|word| folded(word) == folded(value)))
    };
    names
        .iter()
        .find(|name| folded(name) == folded(value) || are_alike(name, value))
        .or_else(|| names.iter().find(means))
        .map_or_else(|| hint_by_spelling(value, names), |name| format!("; did you mean `{name}`?"))
}

/// The first setting one of whose words `fits`: those of the tables around it first, from the innermost one.
fn word_of_the_field(tables: &[&str], fits: impl Fn(&str) -> bool) -> Option<String> {
    let entries = all();
    let scopes = tables.iter().rev().map(|&table| Some(table)).chain([None]);
    for scope in scopes {
        let found = entries.iter().find(|entry| {
            !entry.setting.starts_with(CHOICE)
                && entry.words.iter().any(|word| match (word.split_once('/'), scope) {
                    (Some((table, word)), Some(scope)) => table == scope && fits(word),
                    (None, None) => fits(word),
                    _ => false,
                })
        });
        if let Some(FieldWords { setting, remark, .. }) = found {
            return Some(format!("; did you mean `{setting}`{remark}?"));
        }
    }
    None
}

/// Every setting and table by its dotted name, as [`super::schema::setting_names`] has them in builds with the feature `schema`.
fn known_everywhere() -> impl Iterator<Item = &'static str> {
    include_str!("synonyms/settings.txt").lines()
}

/// The settings in other tables whose own name `fits`, three at most: more would be a coincidence of a common word.
fn elsewhere(fits: impl Fn(&str) -> bool) -> Option<String> {
    let own_name = |setting: &str| fits(setting.rsplit(['.', ' ']).next().unwrap_or(setting));
    let mut found: Vec<&str> = known_everywhere().filter(|setting| own_name(setting)).collect();
    found.sort_by_key(|setting| setting.matches('.').count());
    let last = found.pop()?;
    match found.as_slice() {
        [] => Some(format!("; did you mean `{last}`?")),
        first if first.len() < 3 => Some(format!("; did you mean `{}` or `{last}`?", first.join("`, `"))),
        _ => None,
    }
}

/// A word of the field with a typing error. Short words are too near each other.
fn misspelt_word(tables: &[&str], name: &str) -> Option<String> {
    let name = folded(name);
    word_of_the_field(tables, |word| {
        let word = folded(word);
        word.len() >= 6 && strsim::damerau_levenshtein(&word, &name) <= 1 + word.len() / 10
    })
}

/// The settings that words mean.
#[cfg(test)]
pub(super) fn settings() -> impl Iterator<Item = String> {
    all().into_iter().map(|entry| entry.setting).filter(|setting| !setting.starts_with(CHOICE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_means_one_setting() {
        let mut seen = BTreeSet::new();
        let names = all().into_iter().filter(|entry| !entry.setting.starts_with(CHOICE));
        for word in names.flat_map(|entry| entry.words) {
            let (table, name) = word.split_once('/').unwrap_or(("", &word));
            assert!(seen.insert((table.to_owned(), folded(name))), "{word} twice");
            assert_eq!(word, word.to_lowercase(), "words are in lower case");
        }
        assert!(seen.len() > 400, "{}", seen.len());
    }

    #[test]
    fn a_word_of_the_field_is_answered_with_its_setting() {
        let meant = |tables: &[&str], name| hint(tables, name, &["read", "program", "erase"]);
        assert_eq!(meant(&["device", "timing"], "tR"), "; did you mean `device.timing.read`?");
        assert_eq!(meant(&["device", "timing"], "Erase"), "; did you mean `erase`?");
        assert_eq!(meant(&["device", "timing"], "eraze"), "; did you mean `erase`?");
        assert_eq!(meant(&["device", "slc_cache"], "size"), "; did you mean `device.slc_cache.static_size`?");
        assert_eq!(
            meant(&["device"], "Flash_Chanel_Count").split('`').nth(1),
            Some("device.geometry.channels")
        );
        assert_eq!(
            meant(&["device"], "chips_per_channel"),
            "; did you mean `device.geometry.chips_per_channel`?"
        );
        assert_eq!(meant(&["device"], "wombat"), "; known are read, program, erase");
    }
}
