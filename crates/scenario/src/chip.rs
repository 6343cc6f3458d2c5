//! A chip of one's own: its file is read when a scenario is loaded, and what it gave is part of the scenario from then on.

use super::load::ReadFile;
use super::{Place, Provenance, Scenario, ScenarioError};
use outlast_media::reliability::measured::{RowError, fit};
use std::path::Path;

/// Text of more bytes than any characterisation of a chip has.
const MOST_BYTES: usize = 64 << 20;

/// Reads the file of `device.reliability.chip`, if it is one and was not read before with the same settings.
pub(super) fn measure_chip(
    scenario: &mut Scenario,
    provenance: &Provenance,
    read: ReadFile<'_>,
) -> Result<(), ScenarioError> {
    let Some(reliability) = &mut scenario.device.reliability else { return Ok(()) };
    let Some(file) = reliability.chip_file() else {
        // Of a file that another layer has since replaced.
        reliability.measured = None;
        return Ok(());
    };
    let reading = reliability.reading();
    if reliability.measured.as_ref().is_some_and(|measured| measured.is_of(file, &reading)) {
        return Ok(());
    }
    let file = file.to_owned();
    let text = read(Path::new(&file)).map_err(|source| ScenarioError::Read {
        file: file.clone(),
        source,
        hint: match provenance.place("device.reliability.chip") {
            Some(place) => format!(" (asked for by {place}: device.reliability.chip)"),
            None => String::new(),
        },
    })?;
    if text.len() > MOST_BYTES {
        let at = Place { file, line: None };
        return Err(ScenarioError::Limit {
            at,
            what: "the number of bytes of a chip's file",
            limit: MOST_BYTES,
        });
    }
    let fitted = fit(&file, &text, &reading).map_err(|error| of_row(&file, error))?;
    reliability.measured = Some(fitted.measured);
    Ok(())
}

fn of_row(file: &str, RowError { line, error }: RowError) -> ScenarioError {
    let at = Some(Place { file: file.to_owned(), line });
    ScenarioError::Setting { at, field: error.field, value: error.value, limit: error.limit }
}
