//! Parsing of a chip's file: a row for each measurement.

use super::RowError;
use crate::reliability::SATURATED_RBER;
use outlast_units::Nanos;

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRow {
    /// Line of the file, counted from 1.
    pub line: u32,
    /// P/E cycles.
    pub cycles: f64,
    /// Days since writing, at the temperature of the row.
    pub days: f64,
    /// Reads since the erasure.
    pub reads: f64,
    /// Index into [`MeasuredRows::types`].
    pub page_type: usize,
    /// °C at which the data was kept; absent where the file does not say.
    pub temperature: Option<f64>,
    /// Errors per bit; 0 where none were counted.
    pub rber: f64,
    /// ln of the rate as it is fitted: ln((errors + 1/2) / (bits + 1)) of counts, which removes most of the bias of the logarithm of a count.
    pub ln: f64,
    /// Variance of that ln: the reciprocal of the count; 1 of a rate, so that all rates weigh alike.
    pub variance: f64,
}

/// All rows of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeasuredRows {
    pub(super) all: Vec<MeasuredRow>,
    /// Names of the page types in the order of pages; one without a name where the file has none.
    pub(super) types: Vec<String>,
    /// True if the file has counts of errors, not rates.
    pub(super) counted: bool,
}

const COLUMNS: [&str; 10] = [
    "pe_cycles",
    "retention",
    "retention_hours",
    "retention_days",
    "reads",
    "page_type",
    "temperature",
    "rber",
    "errors",
    "bits",
];
const MOST_ROWS: usize = 100_000;
const MOST_TYPES: usize = 8;
const MOST_CYCLES: f64 = 1e7;
const MOST_DAYS: f64 = 36_500.0;
const MOST_READS: f64 = 1e12;
/// Page types by their usual names, in the order in which their pages follow each other.
const TYPE_ORDER: [&[&str]; 4] = [
    &["lsb", "lower", "lp"],
    &["csb", "middle", "mp"],
    &["msb", "upper", "up"],
    &["tsb", "top", "extra", "xp"],
];

/// Parses the text of a file.
pub(super) fn parse(text: &str) -> Result<MeasuredRows, RowError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1u32..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((line, head)) = lines.next() else {
        return Err(RowError::whole("pe_cycles", "absent", "must be a column: the file is empty"));
    };
    let header = ColumnHeader::read(line, head)?;
    let (mut rows, mut types) = (Vec::new(), Vec::new());
    for (line, text) in lines {
        if rows.len() == MOST_ROWS {
            return Err(RowError::at(line, "rows", MOST_ROWS + 1, format!("must be at most {MOST_ROWS}")));
        }
        rows.push(header.row(line, text, &mut types)?);
    }
    if rows.is_empty() {
        return Err(RowError::at(line, "rows", 0, "must be at least 1: there is nothing below the header"));
    }
    sort_types(&mut rows, &mut types);
    Ok(MeasuredRows { all: rows, types, counted: header.has("errors") })
}

/// The header: name of each column.
struct ColumnHeader {
    columns: Vec<Option<&'static str>>,
}

impl ColumnHeader {
    fn read(line: u32, text: &str) -> Result<Self, RowError> {
        let mut columns = Vec::new();
        for name in cells(text) {
            let folded = name.to_ascii_lowercase().replace([' ', '-'], "_");
            let column = COLUMNS.into_iter().find(|&column| column == folded);
            if column.is_none() && !folded.starts_with('_') {
                let limit = format!(
                    "unknown column; known are {}; one that begins with _ is passed over",
                    COLUMNS.join(", ")
                );
                return Err(RowError::at(line, "column", shortened(name), limit));
            }
            if column.is_some() && columns.contains(&column) {
                return Err(RowError::at(line, "column", folded, "stands twice in the header"));
            }
            columns.push(column);
        }
        let header = Self { columns };
        let times: Vec<&str> = ["retention", "retention_hours", "retention_days"]
            .into_iter()
            .filter(|name| header.has(name))
            .collect();
        if times.len() > 1 {
            return Err(RowError::at(line, times[1], "given", format!("excludes the column {}", times[0])));
        }
        if !header.has("pe_cycles") {
            return Err(RowError::at(line, "pe_cycles", "absent", "must be a column"));
        }
        match (header.has("rber"), header.has("errors"), header.has("bits")) {
            (true, false, false) | (false, true, true) => Ok(header),
            (true, ..) => Err(RowError::at(line, "rber", "given", "excludes the columns errors and bits")),
            (false, true, false) => {
                Err(RowError::at(line, "bits", "absent", "must be a column where errors is one"))
            }
            (false, ..) => {
                Err(RowError::at(line, "rber", "absent", "must be a column, or errors and bits must"))
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().flatten().any(|column| *column == name)
    }

    fn row(&self, line: u32, text: &str, types: &mut Vec<String>) -> Result<MeasuredRow, RowError> {
        let values: Vec<&str> = cells(text).collect();
        if values.len() != self.columns.len() {
            let limit = format!("must be {}, as the header has", self.columns.len());
            return Err(RowError::at(line, "cells", values.len(), limit));
        }
        let cell = |name: &str| {
            self.columns.iter().position(|column| *column == Some(name)).map(|index| values[index])
        };
        let number = |name: &str, low: f64, high: f64| {
            cell(name).map(|text| number(line, name, text, low, high)).transpose()
        };
        let cycles = number("pe_cycles", 0.0, MOST_CYCLES)?.unwrap_or(0.0);
        let hours = number("retention_hours", 0.0, MOST_DAYS * 24.0)?.map(|hours| hours / 24.0);
        let days = number("retention_days", 0.0, MOST_DAYS)?.or(hours);
        let days = days.map_or_else(|| cell("retention").map_or(Ok(0.0), |text| time(line, text)), Ok)?;
        let reads = number("reads", 0.0, MOST_READS)?.unwrap_or(0.0);
        let temperature = number("temperature", -100.0, 300.0)?;
        let page_type = match cell("page_type") {
            Some(name) => type_of(line, name, types)?,
            None => 0,
        };
        let (rber, ln, variance) = match number("rber", 0.0, SATURATED_RBER)? {
            Some(rber) if rber > 0.0 => (rber, rber.ln(), 1.0),
            Some(rber) => {
                return Err(RowError::at(
                    line,
                    "rber",
                    rber,
                    "must be above 0 and at most 0.5: give errors and bits where none were counted",
                ));
            }
            None => counts(line, number("errors", 0.0, 1e18)?, number("bits", 1.0, 1e18)?)?,
        };
        Ok(MeasuredRow { line, cycles, days, reads, page_type, temperature, rber, ln, variance })
    }
}

fn counts(line: u32, errors: Option<f64>, bits: Option<f64>) -> Result<(f64, f64, f64), RowError> {
    let (errors, bits) = (errors.unwrap_or(0.0), bits.unwrap_or(1.0));
    for (name, count) in [("errors", errors), ("bits", bits)] {
        if count.fract() != 0.0 {
            return Err(RowError::at(line, name, count, "must be a whole number"));
        }
    }
    if errors > SATURATED_RBER * bits {
        let limit = format!("must be at most half of the {bits} bits");
        return Err(RowError::at(line, "errors", errors, limit));
    }
    let ln = ((errors + 0.5) / (bits + 1.0)).ln().min(SATURATED_RBER.ln());
    Ok((errors / bits, ln, 1.0 / (errors + 0.5)))
}

/// Cells of a line, without quotes and blanks around them.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| {
        let cell = cell.trim();
        cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim()
    })
}

fn number(line: u32, column: &str, text: &str, low: f64, high: f64) -> Result<f64, RowError> {
    match text.parse::<f64>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(RowError::at(
            line,
            column,
            shortened(text),
            format!("must be a number between {low} and {high}"),
        )),
    }
}

fn time(line: u32, text: &str) -> Result<f64, RowError> {
    if text == "0" {
        return Ok(0.0);
    }
    let limit = || format!("must be a time such as \"500h\" or \"90d\", at most {MOST_DAYS}d");
    let nanos: Nanos = text.parse().map_err(|_| RowError::at(line, "retention", shortened(text), limit()))?;
    let days = nanos.as_secs_f64() / 86_400.0;
    if days > MOST_DAYS {
        return Err(RowError::at(line, "retention", shortened(text), limit()));
    }
    Ok(days)
}

fn type_of(line: u32, name: &str, types: &mut Vec<String>) -> Result<usize, RowError> {
    let name = name.to_ascii_lowercase();
    if name.is_empty() {
        return Err(RowError::at(line, "page_type", "\"\"", "must be a name such as lsb, or a number"));
    }
    if let Some(index) = types.iter().position(|other| *other == name) {
        return Ok(index);
    }
    if types.len() == MOST_TYPES {
        let limit =
            format!("must be one of at most {MOST_TYPES} page types: there are {} already", types.join(", "));
        return Err(RowError::at(line, "page_type", shortened(&name), limit));
    }
    types.push(name);
    Ok(types.len() - 1)
}

/// Puts page types into the order of their pages: numbers and usual names by themselves, others as they came.
fn sort_types(rows: &mut [MeasuredRow], types: &mut Vec<String>) {
    let rank = |name: &String| {
        let usual = TYPE_ORDER.iter().position(|names| names.contains(&name.as_str()));
        usual.or_else(|| name.parse().ok()).unwrap_or(usize::MAX)
    };
    let mut order: Vec<usize> = (0..types.len()).collect();
    order.sort_by_key(|&index| rank(&types[index]));
    for row in rows {
        row.page_type = order.iter().position(|&index| index == row.page_type).unwrap_or(0);
    }
    *types = order.into_iter().map(|index| types[index].clone()).collect();
}

/// Shortens a text for an error message.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
