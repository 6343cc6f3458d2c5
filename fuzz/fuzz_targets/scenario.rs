//! Scenario files: any text is a scenario or an error, and a scenario written out reads back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outlast_engine::parse_text;

fuzz_target!(|text: &str| {
    let Ok((scenario, _)) = parse_text(text) else { return };
    // Whole numbers beyond TOML's are refused by `to_toml`, which is an answer too.
    if let Ok(written) = scenario.to_toml() {
        let (again, _) = parse_text(&written).expect("what was written can be read");
        assert_eq!(again, scenario);
    }
});
