//! The line in the file `image`.

use super::files::OTHER_VERSION_ADVICE;
use crate::log::VERSION;

/// Beginning of the line.
const START: &str = "outlast image ";

/// Number of an image, and CRC-32C of its scenario's text. Written as `outlast image VERSION NUMBER CHECKSUM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageLine {
    pub(super) image: u64,
    pub(super) scenario_sum: u32,
}

impl ImageLine {
    pub(super) fn to_text(self) -> String {
        format!("{START}{VERSION} {:016x} {:08x}\n", self.image, self.scenario_sum)
    }

    /// Reads a line; the error says why it is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["outlast", "image", version, number, sum] = words[..] else {
            return Err("is not an Outlast image".to_owned());
        };
        if version != VERSION.to_string() {
            return Err(format!(
                "has version {version}; this program reads version {VERSION}: {OTHER_VERSION_ADVICE}"
            ));
        }
        let numbers = u64::from_str_radix(number, 16).ok().zip(u32::from_str_radix(sum, 16).ok());
        let (image, scenario_sum) = numbers.ok_or("is damaged")?;
        Ok(Self { image, scenario_sum })
    }

    /// True of a text that a line could begin with, but not end.
    pub(super) fn begins_with(text: &str) -> bool {
        match text.strip_prefix(START) {
            None => START.starts_with(text),
            Some(rest) => rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b' '),
        }
    }
}
