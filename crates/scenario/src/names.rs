//! Checks names and other text of users that is printed: one line, without effects on a terminal.

use outlast_media::ConfigError;

/// Checks a name that is shown in messages, on terminals and in logs: it has no control characters (a line feed would begin a line of its own, an
/// escape would command the terminal) and none that change the direction of text.
///
/// # Errors
/// The text has such a character; the message names the first.
pub fn check_name(field: &str, text: &str) -> Result<(), ConfigError> {
    match text.chars().find(|&letter| is_refused(letter)) {
        None => Ok(()),
        Some(letter) => {
            let limit =
                format!("must be one line without control characters; it has U+{:04X}", u32::from(letter));
            Err(ConfigError::new(field, text.escape_debug(), limit))
        }
    }
}

/// True for control characters except the tab, separators of lines, and marks that change the direction of text.
fn is_refused(letter: char) -> bool {
    letter.is_control() && letter != '\t'
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_that_commands_no_terminal() {
        for good in ["", "served", "Größe 4 TiB", "a\tb", "名前", "🦀"] {
            assert!(check_name("name", good).is_ok(), "{good}");
        }
        for (bad, code) in [
            ("a\nb", "U+000A"),
            ("\u{1b}[31mred", "U+001B"),
            ("a\rb", "U+000D"),
            ("\u{0}", "U+0000"),
            ("a\u{7f}", "U+007F"),
            ("\u{9b}31m", "U+009B"),
            ("a\u{2028}b", "U+2028"),
            ("a\u{202e}b", "U+202E"),
        ] {
            let refused = check_name("name", bad).unwrap_err().to_string();
            assert!(refused.starts_with("name = ") && refused.ends_with(code), "{refused}");
            assert!(!refused.chars().any(is_refused), "{refused:?}");
        }
    }
}
