//! Any text as a chip's file: no panic, and rates that are valid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_media::reliability::measured::{Fit, Reading, fit};

fuzz_target!(|text: &str| {
    for form in [Fit::PowerLaw, Fit::Exponential, Fit::Interpolate] {
        let reading = Reading { fit: form, ..Reading::default() };
        if let Ok(fitted) = fit("chip.csv", text, &reading) {
            fitted.measured.model.validate("model").expect("what is fitted is valid");
        }
    }
});
