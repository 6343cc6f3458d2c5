//! Any text as a chip's file: no panic, and rates that are valid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_media::reliability::measured::{FitForm, FitSettings, fit};

fuzz_target!(|text: &str| {
    for form in [FitForm::PowerLaw, FitForm::Exponential, FitForm::Interpolate] {
        let reading = FitSettings { fit: form, ..FitSettings::default() };
        if let Ok(fitted) = fit("chip.csv", text, &reading) {
            fitted.measured.model.validate("model").expect("what is fitted is valid");
        }
    }
});
