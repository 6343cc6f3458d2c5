//! Names of settings compared whatever the habit of writing: `Flash_Channel_Count`, `flashChannelCount`, `num-channels`.

/// Words in a name that say what kind of thing or number it is, not which one.
const FILLERS: &[&str] = &[
    "count",
    "default",
    "dev",
    "device",
    "drive",
    "flash",
    "gb",
    "gib",
    "io",
    "kb",
    "kib",
    "mb",
    "mib",
    "ms",
    "n",
    "nand",
    "no",
    "nr",
    "ns",
    "num",
    "number",
    "of",
    "pcent",
    "pct",
    "percent",
    "percentage",
    "sec",
    "seconds",
    "ssd",
    "the",
    "total",
    "us",
    "value",
];

/// A name without case, blanks and punctuation.
pub(super) fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The words of a name that distinguish it, in alphabetical order: in lower case, singular, without [`FILLERS`]. A word begins after punctuation
/// and at a capital letter.
pub(super) fn telling_words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (index, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        // A capital begins a word after a small letter, and before one: in `IOQueueDepth`, `Queue` and `Depth`.
        let after_small = index > 0 && letters[index - 1].is_ascii_lowercase();
        let before_small = letters.get(index + 1).is_some_and(char::is_ascii_lowercase);
        if letter.is_ascii_uppercase() && (after_small || before_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
    }
    let mut words: Vec<String> = words
        .into_iter()
        .filter(|word| !word.is_empty() && !FILLERS.contains(&word.as_str()))
        .map(|word| match word.strip_suffix('s') {
            Some(one) if one.len() > 2 && !one.ends_with('s') => one.to_owned(),
            _ => word,
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// True if two names have the same words that distinguish them, of which there is at least one.
pub(super) fn are_alike(name: &str, other: &str) -> bool {
    let words = telling_words(name);
    !words.is_empty() && words == telling_words(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_of_writing_do_not_matter() {
        for name in [
            "Flash_Channel_Count",
            "flashChannelCount",
            "num-channels",
            "channel count",
            "NrChannels",
            "CHANNELS",
        ] {
            assert_eq!(telling_words(name), ["channel"], "{name}");
        }
        assert_eq!(telling_words("IOQueueDepth"), ["depth", "queue"]);
        assert_eq!(telling_words("P_E_cycles"), ["cycle", "e", "p"]);
        assert!(are_alike("read_latency_us", "ReadLatency") && !are_alike("read_latency", "write_latency"));
        assert!(!are_alike("count", "number") && !are_alike("", ""));
    }
}
