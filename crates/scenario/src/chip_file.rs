//! Characterisations of chips: the file is read when a scenario is loaded, and the fitted model becomes part of the scenario.

use super::load::ReadFile;
use super::{Provenance, Scenario, ScenarioError, SourcePosition};
use outlast_media::reliability::measured::{RowError, fit};
use std::path::Path;

/// Bytes of a characterisation at most: more than any has.
const MOST_BYTES: usize = 64 << 20;

/// Reads the file of `device.reliability.chip`, unless it names a chip of the catalogue or was read before with the same settings.
pub(super) fn measure_chip(
    scenario: &mut Scenario,
    provenance: &Provenance,
    read: ReadFile<'_>,
) -> Result<(), ScenarioError> {
    let Some(reliability) = &mut scenario.device.reliability else { return Ok(()) };
    let Some(file) = reliability.chip_file() else {
        // A model of a file that another layer has replaced is no longer valid.
        reliability.measured = None;
        return Ok(());
    };
    // A scenario that was written out contains the fitted model and must not need the file again.
    let reading = reliability.reading();
    if reliability.measured.as_ref().is_some_and(|measured| measured.is_result_of(file, &reading)) {
        return Ok(());
    }
    let file = file.to_owned();
    let text = read(Path::new(&file)).map_err(|source| ScenarioError::Read {
        file: file.clone(),
        source,
        hint: match provenance.position("device.reliability.chip") {
            Some(position) => format!(" (asked for by {position}: device.reliability.chip)"),
            None => String::new(),
        },
    })?;
    if text.len() > MOST_BYTES {
        let at = SourcePosition { file, line: None };
        return Err(ScenarioError::Limit {
            at,
            measure: "the number of bytes of a chip's file",
            limit: MOST_BYTES,
        });
    }
    let fitted = fit(&file, &text, &reading).map_err(|error| row_error(&file, error))?;
    reliability.measured = Some(fitted.measured);
    Ok(())
}

/// The error about a row of the file.
fn row_error(file: &str, RowError { line, error }: RowError) -> ScenarioError {
    let at = Some(SourcePosition { file: file.to_owned(), line });
    ScenarioError::Setting { at, field: error.field, value: error.value, limit: error.limit }
}
