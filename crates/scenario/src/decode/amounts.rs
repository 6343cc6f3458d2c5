//! Numbers as people write them: `45k`, `12.7%`.

/// Settings that are shares, of which a percentage is a hundredth part. Those whose name says percent take it as it is.
const SHARES: [&str; 8] = [
    "over_provisioning",
    "fill_fraction",
    "hot_fraction",
    "hot_access",
    "factory_bad",
    "host_share",
    "share",
    "tolerance",
];

/// A number with a suffix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    /// A whole number.
    Whole(u64),
    /// Any other.
    Part(f64),
}

/// The number that `text` means for the setting `key`: with `k`, `M` or `G` behind it for thousands, millions and billions, or with `%` where a
/// share or a percentage is set. `None` of all else, `m` included, which is thousandths for some and millions for others.
pub(super) fn parse_amount(text: &str, key: &str) -> Option<Amount> {
    let text = text.trim();
    if let Some(digits) = text.strip_suffix('%') {
        let value: f64 = plain(digits)?.parse().ok()?;
        return match key {
            _ if key.ends_with("percent") => Some(Amount::Part(value)),
            _ if SHARES.contains(&key) => Some(Amount::Part(value / 100.0)),
            _ => None,
        };
    }
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' => (text.strip_suffix('k')?, 1_000u64),
        b'M' => (text.strip_suffix('M')?, 1_000_000),
        b'G' => (text.strip_suffix('G')?, 1_000_000_000),
        _ => return None,
    };
    let digits = plain(digits)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // A fraction of at most nine digits, so that 1.5k is exactly 1500.
    if fraction.len() > 9 {
        return None;
    }
    let scale = 10u64.pow(fraction.len() as u32);
    let part: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let units = whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part)?;
    let product = u128::from(units) * u128::from(factor);
    if product.is_multiple_of(u128::from(scale)) {
        u64::try_from(product / u128::from(scale)).ok().map(Amount::Whole)
    } else {
        Some(Amount::Part(product as f64 / scale as f64))
    }
}

/// What is wrong with a count whose suffix means different things to different programs, with what may be meant: `10m`, `10K`, `1g`.
pub(super) fn unclear_amount(text: &str) -> Option<String> {
    let text = text.trim();
    let suffix = *text.as_bytes().last()?;
    let digits = plain(text.get(..text.len() - 1)?)?;
    let (clear, meaning) = match suffix {
        b'm' => ('M', "millions; m is a thousandth elsewhere"),
        b'K' => ('k', "thousands; K is 1024 elsewhere"),
        b'g' => ('G', "billions"),
        _ => return None,
    };
    Some(format!("must be a number; did you mean {digits}{clear} ({meaning})?"))
}

/// The way to write a share that was written as the percentage `value`; `None` if `field` is no share or `value` no percentage.
pub(crate) fn percentage_hint(field: &str, value: &str) -> Option<String> {
    let key = field.rsplit('.').next()?;
    let percent: f64 = value.parse().ok()?;
    let is_percentage = SHARES.contains(&key) && percent > 1.0 && percent <= 100.0;
    is_percentage.then(|| format!("; for {percent} %, write \"{percent}%\""))
}

/// Digits with at most one point, perhaps before a blank.
fn plain(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let is_number = text.as_bytes().first().is_some_and(u8::is_ascii_digit)
        && text.as_bytes().last().is_some_and(u8::is_ascii_digit)
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && text.bytes().filter(|&byte| byte == b'.').count() <= 1;
    is_number.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn suffixes_are_read_where_they_mean_one_thing() {
        assert_eq!(parse_amount("45k", "rate_iops"), Some(Amount::Whole(45_000)));
        assert_eq!(parse_amount("1.5 M", "rate_iops"), Some(Amount::Whole(1_500_000)));
        assert_eq!(parse_amount("1.0005k", "rate_iops"), Some(Amount::Part(1000.5)));
        assert_eq!(parse_amount("70%", "read_percent"), Some(Amount::Part(70.0)));
        assert_eq!(parse_amount("12.5%", "over_provisioning"), Some(Amount::Part(0.125)));
        for (text, key) in [
            ("10m", "requests"),
            ("5%", "channels"),
            ("k", "requests"),
            ("-1k", "requests"),
            ("1e3k", "requests"),
            (".5k", "requests"),
            ("1.2.3k", "requests"),
            ("", "requests"),
            ("99999999999999999999k", "requests"),
        ] {
            assert_eq!(parse_amount(text, key), None, "{text}");
        }
    }

    #[test]
    fn what_could_be_meant_is_told() {
        let told = |text| unclear_amount(text).unwrap_or_default();
        assert_eq!(
            told("10m"),
            "must be a number; did you mean 10M (millions; m is a thousandth elsewhere)?"
        );
        assert!(told("4K").contains("did you mean 4k (thousands;"));
        assert!(told("1.5g").contains("did you mean 1.5G (billions)"));
        for text in ["10M", "10", "m", "", "x", "10mm", "10µ"] {
            assert_eq!(unclear_amount(text), None, "{text}");
        }
        assert_eq!(
            percentage_hint("workload.synthetic.hot_fraction", "20").unwrap(),
            "; for 20 %, write \"20%\""
        );
        for (field, value) in
            [("a.hot_fraction", "0.2"), ("a.hot_fraction", "101"), ("a.channels", "20"), ("", "x")]
        {
            assert_eq!(percentage_hint(field, value), None, "{field} = {value}");
        }
    }

    proptest! {
        #[test]
        fn thousands_are_exact(value in 0u64..1_000_000_000_000, power in 0usize..3) {
            let (suffix, factor) = [("k", 1000), ("M", 1_000_000), ("G", 1_000_000_000)][power];
            let text = format!("{}.{:09}{suffix}", value / 1_000_000_000, value % 1_000_000_000);
            let found = match parse_amount(&text, "requests") {
                Some(Amount::Whole(found)) => found as f64,
                Some(Amount::Part(found)) => found,
                None => -1.0,
            };
            let wanted = value as f64 * f64::from(factor) / 1e9;
            prop_assert!((found - wanted).abs() <= 1e-12 * wanted, "{} {}", text, found);
        }
    }
}
