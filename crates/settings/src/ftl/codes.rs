//! Codes that superblocks get by what they have gone through.

use super::CodeConfig;
use outlast_media::ConfigError;
use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// A code for superblocks whose figures have reached all given values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeRule {
    /// P/E cycles of the superblock, the mean of its blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_cycles: Option<u32>,
    /// Wrong bits expected of its worst codeword at the end of its last use, when its blocks were erased; of one that has not been erased since the run
    /// began, at the beginning. Needs `device.reliability`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_errors: Option<f64>,
    /// Pages of it that were read again in its last use. Needs `device.reliability`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rereads: Option<u32>,
    /// Units of it that neither ECC nor the re-reads before the stripe could correct in its last use, whether or not parity recovered them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncorrectable: Option<u32>,
    /// Program units of data in a stripe.
    pub data: u16,
    /// Program units of parity in a stripe.
    pub parity: u8,
}

impl CodeRule {
    /// The code, with `block` within blocks.
    pub fn code(&self, block: Option<u16>) -> CodeConfig {
        CodeConfig { data: self.data, parity: self.parity, block }
    }

    /// Whether it looks at what only an error model gives.
    pub fn needs_errors(&self) -> bool {
        self.expected_errors.is_some() || self.rereads.is_some()
    }

    /// Checks the rule; `at` is its dotted name, and `before` the code of the one before it, or of the class.
    ///
    /// # Errors
    /// No figure; a figure that is out of range; a code that is out of range, or weaker than the one before.
    pub fn validate(&self, at: &str, before: CodeConfig) -> Result<(), ConfigError> {
        let counts =
            [("pe_cycles", self.pe_cycles), ("rereads", self.rereads), ("uncorrectable", self.uncorrectable)];
        if counts.iter().all(|(_, given)| given.is_none()) && self.expected_errors.is_none() {
            let limit = "give pe_cycles, expected_errors, rereads or uncorrectable";
            return Err(ConfigError::new(at, "no figure", limit));
        }
        if let Some((field, _)) = counts.iter().find(|(_, given)| *given == Some(0)) {
            return Err(ConfigError::new(&format!("{at}.{field}"), 0, "must be at least 1"));
        }
        if let Some(errors) = self.expected_errors.filter(|errors| !(errors.is_finite() && *errors > 0.0)) {
            let limit = "must be a number above 0";
            return Err(ConfigError::new(&format!("{at}.expected_errors"), errors, limit));
        }
        let own = self.code(before.block);
        own.validate(at)?;
        let width = |code: CodeConfig| u32::from(code.data) + u32::from(code.parity);
        if own.parity < before.parity
            || u32::from(own.data) * width(before) > u32::from(before.data) * width(own)
        {
            let limit = format!(
                "must protect as well as the code before it, ({}, {}): no less parity, no greater share of data",
                before.data, before.parity
            );
            return Err(ConfigError::new(at, format!("({}, {})", own.data, own.parity), limit));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_go_from_the_weakest_code_to_the_strongest() {
        let before = CodeConfig { data: 7, parity: 1, block: None };
        let told = |rule: CodeRule| rule.validate("codes[0]", before).map_err(|error| error.to_string());
        let worn = CodeRule { pe_cycles: Some(1000), data: 6, parity: 2, ..CodeRule::default() };
        assert_eq!(told(worn), Ok(()));
        assert_eq!(told(CodeRule { data: 7, parity: 1, ..worn }), Ok(()));
        for (data, parity) in [(8, 1), (7, 0), (15, 2)] {
            let weaker = told(CodeRule { data, parity, ..worn }).unwrap_err();
            assert!(weaker.contains("as well as the code before it, (7, 1)"), "{weaker}");
        }
        let silent = told(CodeRule { pe_cycles: None, ..worn }).unwrap_err();
        assert!(silent.contains("codes[0]") && silent.contains("no figure"), "{silent}");
        let always = told(CodeRule { rereads: Some(0), ..worn }).unwrap_err();
        assert!(always.contains("codes[0].rereads") && always.contains("at least 1"), "{always}");
        for errors in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let odd = told(CodeRule { expected_errors: Some(errors), ..worn }).unwrap_err();
            assert!(odd.contains("codes[0].expected_errors"), "{odd}");
        }
        assert!(told(CodeRule { data: 0, ..worn }).unwrap_err().contains("codes[0].data"));
    }
}
