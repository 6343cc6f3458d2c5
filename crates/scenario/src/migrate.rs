//! Rewrites the text of a scenario file of an earlier version: settings that were renamed get their new names, those that became constants go.
//! Everything else, comments and order included, stays as it is.

use super::error::ScenarioError;
use super::parse::toml_tree;
use super::position::SourcePosition;
use super::retired::{MODEL, RetiredFate, RetiredSetting, form_advice};
use outlast_units::Nanos;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A scenario file with the settings of this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigratedText {
    /// The text of the file.
    pub text: String,
    /// A sentence for each change by which the scenario may mean something else, and for each that has to be made by hand.
    pub notes: Vec<String>,
}

/// The places of one entry `key = value` of a text.
#[derive(Clone, Debug)]
struct TomlEntry {
    name: String,
    key: Range<usize>,
    value: Range<usize>,
    /// True within `{ … }`.
    is_inline: bool,
}

/// Rewrites the text of the scenario file `source`.
///
/// # Errors
/// The text is not TOML.
pub fn migrate(source: &str, text: &str) -> Result<MigratedText, ScenarioError> {
    toml_tree(source, text)?;
    let mut migrated = MigratedText { text: text.to_owned(), notes: Vec::new() };
    let multiple = cost_multiple(text);
    let mut has_cost = false;
    // Each change moves what is behind it, so the text is read again after each; there are as many as entries.
    while let Some((entry, retired)) = first_retired(&entries(&migrated.text)) {
        let value = migrated.text[entry.value.clone()].to_owned();
        let at = position(source, text, &entry.name);
        match retired.fate {
            RetiredFate::Renamed(key) => migrated.text.replace_range(entry.key.clone(), key),
            RetiredFate::Constant(constant) => {
                if !is_same(&value, constant) {
                    let name = retired.name;
                    migrated.notes.push(format!("{at}: {name} = {value}: went; it is always {constant} now"));
                }
                remove(&mut migrated.text, &entry);
            }
            RetiredFate::Cost(_) => {
                match (multiple, has_cost) {
                    (Some(multiple), false) => {
                        migrated.text.replace_range(entry.value.clone(), &multiple.to_string());
                        migrated.text.replace_range(entry.key.clone(), "pages_per_entry");
                    }
                    (None, false) => {
                        migrated.notes.push(format!(
                            "{at}: the costs of device.repair went: they are not one multiple of the calibrated ones, which pages_per_entry sets"
                        ));
                        remove(&mut migrated.text, &entry);
                    }
                    (_, true) => remove(&mut migrated.text, &entry),
                }
                has_cost = true;
            }
            RetiredFate::Fitted => remove(&mut migrated.text, &entry),
        }
    }
    drop_headers(&mut migrated, source);
    migrate_model(&mut migrated, source, text);
    Ok(migrated)
}

/// Every entry with a value that is no table, and every inline table, in the order of the text.
fn entries(text: &str) -> Vec<TomlEntry> {
    let mut found = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        collect(text, table.get_ref(), "", false, &mut found);
    }
    found.sort_by_key(|entry| entry.key.start);
    found
}

fn collect(text: &str, table: &DeTable<'_>, prefix: &str, is_inline: bool, found: &mut Vec<TomlEntry>) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        let begins_inline = text[value.span()].starts_with('{');
        let is_table = matches!(value.get_ref(), DeValue::Table(_));
        if !is_table || begins_inline {
            found.push(TomlEntry { name: name.clone(), key: key.span(), value: value.span(), is_inline });
        }
        below(text, value, &name, is_inline || begins_inline, found);
    }
}

fn below(text: &str, value: &Spanned<DeValue<'_>>, name: &str, is_inline: bool, found: &mut Vec<TomlEntry>) {
    if let DeValue::Table(inner) = value.get_ref() {
        collect(text, inner, &format!("{name}."), is_inline, found);
    }
}

/// The first entry that is a retired setting, or part of a retired table.
fn first_retired(entries: &[TomlEntry]) -> Option<(TomlEntry, &'static RetiredSetting)> {
    entries.iter().find_map(|entry| {
        let table = "device.reliability.measured";
        let is_fitted = entry.name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
        let retired = RetiredSetting::of(if is_fitted { table } else { &entry.name });
        retired.map(|retired| (entry.clone(), retired))
    })
}

/// Removes an entry: its line or lines, or its part of an inline table.
fn remove(text: &mut String, entry: &TomlEntry) {
    if !entry.is_inline {
        let start = text[..entry.key.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[entry.value.end..].find('\n').map_or(text.len(), |at| entry.value.end + at + 1);
        text.replace_range(start..end, "");
        return;
    }
    let Some(before) = text[..entry.key.start].rfind(['{', ',']) else { return };
    let rest = &text[entry.value.end..];
    let space = rest.len() - rest.trim_start().len();
    if rest.trim_start().starts_with(',') {
        text.replace_range(before + 1..=entry.value.end + space, "");
    } else {
        let start = if text[before..].starts_with(',') { before } else { before + 1 };
        text.replace_range(start..entry.value.end, "");
    }
}

/// Position of the setting `name` in the text as it was given; a text has each name once.
fn position(source: &str, given: &str, name: &str) -> SourcePosition {
    let entry = entries(given).into_iter().find(|entry| entry.name == name);
    let line = entry.map(|entry| given[..entry.key.start].matches('\n').count() as u32 + 1);
    SourcePosition { file: source.to_owned(), line }
}

/// True if a value as it is written is the constant.
fn is_same(value: &str, constant: &str) -> bool {
    let bare = value.trim_matches(['"', '\'']);
    let number = |text: &str| text.replace('_', "").parse::<f64>().ok();
    let time = |text: &str| text.parse::<Nanos>().ok();
    bare == constant
        || number(bare).is_some_and(|own| number(constant).is_some_and(|it| own.to_bits() == it.to_bits()))
        || time(bare).is_some_and(|own| time(constant) == Some(own))
}

/// The one whole multiple of the calibrated costs that those in the text are; `None` without any, or where they differ.
fn cost_multiple(text: &str) -> Option<u64> {
    let mut multiples = entries(text).into_iter().filter_map(|entry| {
        let RetiredFate::Cost(calibrated) = RetiredSetting::of(&entry.name)?.fate else { return None };
        let time = text[entry.value].trim_matches(['"', '\'']).parse::<Nanos>().ok();
        Some(time.filter(|time| time.0.is_multiple_of(calibrated)).map(|time| time.0 / calibrated))
    });
    let first = multiples.next()??;
    multiples.all(|multiple| multiple == Some(first)).then_some(first)
}

/// Removes the headers of tables that are no longer.
fn drop_headers(migrated: &mut MigratedText, source: &str) {
    let is_header = |line: &str| {
        let name = line.trim().trim_start_matches('[').trim_start();
        line.trim_start().starts_with('[')
            && name
                .strip_prefix("device.reliability.measured")
                .is_some_and(|rest| rest.starts_with([']', '.', ' ']))
    };
    if migrated.text.lines().any(is_header) {
        migrated
            .notes
            .push(format!("{source}: device.reliability.measured went: the chip's file is read again"));
        migrated.text = migrated.text.split_inclusive('\n').filter(|line| !is_header(line)).collect();
    }
}

/// A two-point model becomes the exponential through its points; a grid has to become a file.
fn migrate_model(migrated: &mut MigratedText, source: &str, given: &str) {
    let of = |text: &str, key: &str| {
        let name = format!("{MODEL}.{key}");
        entries(text).into_iter().find(|entry| entry.name == name)
    };
    let Some(form) = of(&migrated.text, "form") else { return };
    let name = migrated.text[form.value.clone()].trim_matches(['"', '\'']).to_owned();
    let Some(advice) = form_advice(&name) else { return };
    let at = position(source, given, &form.name);
    let number = |key: &str| {
        let entry = of(&migrated.text, key)?;
        migrated.text[entry.value].replace('_', "").parse::<f64>().ok()
    };
    let points =
        || Some([number("low_cycles")?, number("low_rber")?, number("high_cycles")?, number("high_rber")?]);
    let Some([low_cycles, low_rber, high_cycles, high_rber]) = points() else {
        migrated.notes.push(format!("{at}: {MODEL}.form = \"{name}\": not migrated; {advice}"));
        return;
    };
    let b = (high_rber / low_rber).ln() / (high_cycles - low_cycles);
    let a = low_rber * (-b * low_cycles).exp();
    for (key, new, value) in [("low_cycles", "a", a), ("low_rber", "b", b)] {
        if let Some(entry) = of(&migrated.text, key) {
            migrated.text.replace_range(entry.value, &format!("{value:e}"));
            migrated.text.replace_range(entry.key, new);
        }
    }
    for key in ["high_cycles", "high_rber"] {
        if let Some(entry) = of(&migrated.text, key) {
            remove(&mut migrated.text, &entry);
        }
    }
    if let Some(form) = of(&migrated.text, "form") {
        migrated.text.replace_range(form.value, "\"exponential\"");
    }
}
