//! Values of the keys of job files.

use super::law::AccessZone;

/// The end of the message on a malformed value, such as "expected 0 or 1".
pub(super) type ValueFault = String;

/// A whole number, with fio's suffixes: k is 1024.
pub(super) fn number(text: &str) -> Result<u64, ValueFault> {
    size(text).map_err(|_| "expected a whole number of at least 0".into())
}

/// A flag: 0, 1, or bare, which is 1.
pub(super) fn flag(text: Option<&str>) -> Result<bool, ValueFault> {
    match text {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err("expected 0 or 1".into()),
    }
}

/// A whole percentage, with or without the percent sign.
pub(super) fn percent(text: &str) -> Result<u32, ValueFault> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<u32>();
    number
        .ok()
        .filter(|&n| n <= 100)
        .ok_or_else(|| "expected a whole percentage of 0 to 100, as fio takes no fractions".into())
}

/// A size in bytes. As in fio with its default `kb_base=1024`, k = kb = 1024. The suffixes ki and kib, which mean 1000
/// there, the opposite of everywhere else, are refused.
pub(super) fn size(text: &str) -> Result<u64, ValueFault> {
    let expected = || ValueFault::from("expected a size such as 4096, 4k, 10m or 1g");
    let lower = text.trim().to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).map_err(|_| expected());
    }
    if lower.starts_with('(') {
        return Err("not supported: arithmetic; write the result".into());
    }
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(end);
    if suffix.contains('i') {
        return Err("fio takes k as 1024 and ki as 1000 by default; write k, m, g or t".into());
    }
    let shift = match suffix {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "p" | "pb" => 50,
        _ => return Err(expected()),
    };
    let number: u64 = digits.parse().map_err(|_| expected())?;
    number.checked_mul(1 << shift).ok_or_else(|| "expected a size below 2^64 bytes".into())
}

/// A time in microseconds; without suffix in seconds, or in microseconds where fio has it so.
pub(super) fn time(text: &str, bare_is_seconds: bool) -> Result<u64, ValueFault> {
    let expected = || ValueFault::from("expected a time such as 60, 60s, 500ms, 10m or 1h");
    let lower = text.trim().to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(end);
    let unit = match suffix {
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "" if !bare_is_seconds => 1,
        "" | "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return Err(expected()),
    };
    let number: u64 = digits.parse().map_err(|_| expected())?;
    // Nanoseconds are to fit into 64 bits, with room to add a few of them.
    number
        .checked_mul(unit)
        .filter(|&us| us <= 100 * 365 * 86_400_000_000)
        .ok_or_else(|| "expected a time below 100 years".into())
}

/// Up to three values, for reads, writes and trims; the last one holds for the directions that follow.
pub(super) fn per_direction<T: Clone>(
    text: &str,
    mut parse: impl FnMut(&str) -> Result<T, ValueFault>,
) -> Result<[Option<T>; 3], ValueFault> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err("expected at most three values, for reads, writes and trims".into());
    }
    let mut values = [None, None, None];
    // An empty part leaves its direction alone: `bs=,8k` sets writes, and trims, which follow them.
    for (index, slot) in values.iter_mut().enumerate() {
        let part = parts[index.min(parts.len() - 1)];
        *slot = if part.is_empty() { None } else { Some(parse(part)?) };
    }
    Ok(values)
}

/// `4k-16k`, in either order.
pub(super) fn range(text: &str) -> Result<(u64, u64), ValueFault> {
    let (a, b) = text
        .split_once('-')
        .or_else(|| text.split_once(':'))
        .ok_or_else(|| ValueFault::from("expected a range such as 4k-64k"))?;
    let (a, b) = (size(a)?, size(b)?);
    Ok((a.min(b), a.max(b)))
}

/// The pairs of `a/b:c/d:e/`: a value and a share; `None` if the share is left out, or 0, which fio takes as left out.
fn pairs(text: &str) -> Result<Vec<(&str, Option<&str>)>, ValueFault> {
    let list: Vec<_> = text
        .split(':')
        // fio stops at the first empty entry, so a colon at the end is no error.
        .take_while(|part| !part.is_empty())
        .map(|part| match part.split_once('/') {
            Some((value, share)) => (value, Some(share).filter(|share| !matches!(share.trim(), "" | "0"))),
            None => (part, None),
        })
        .collect();
    if list.is_empty() { Err("expected pairs such as 4k/60:64k/40".into()) } else { Ok(list) }
}

/// Divides the rest of 100 percent evenly among the entries without a share, rounded down.
fn fill_shares(shares: &[Option<u32>]) -> Result<Vec<u32>, ValueFault> {
    let sum: u32 = shares.iter().flatten().sum();
    let missing = shares.iter().filter(|share| share.is_none()).count() as u32;
    if sum > 100 {
        return Err(format!("expected shares that add up to at most 100, not {sum}"));
    }
    if missing == 0 && sum < 100 {
        return Err(format!("expected shares that add up to 100, not {sum}"));
    }
    // `None` where no share is missing: nothing is left to divide.
    let default = (100 - sum).checked_div(missing).unwrap_or(0);
    Ok(shares.iter().map(|share| share.unwrap_or(default)).collect())
}

/// The `bssplit` of one direction: sizes in bytes with their percent, in fio's order, the rarest first.
pub(super) fn split(text: &str) -> Result<Vec<(u64, u32)>, ValueFault> {
    let pairs = pairs(text)?;
    let shares: Vec<Option<u32>> =
        pairs.iter().map(|pair| pair.1.map(percent).transpose()).collect::<Result<_, _>>()?;
    let mut list = Vec::new();
    for (pair, share) in pairs.iter().zip(fill_shares(&shares)?) {
        list.push((size(pair.0)?, share));
    }
    // fio sorts them, and the order decides which size a draw gives.
    list.sort_by_key(|&(_, share)| share);
    Ok(list)
}

/// The zones of one direction: accesses in percent, and sizes in bytes or, if not `bytes`, in percent of the region.
pub(super) fn zones(text: &str, bytes: bool) -> Result<Vec<AccessZone>, ValueFault> {
    let pairs = pairs(text)?;
    let accesses: Vec<u32> = pairs.iter().map(|pair| percent(pair.0)).collect::<Result<_, _>>()?;
    let total: u32 = accesses.iter().sum();
    if total != 100 {
        return Err(format!("expected shares of accesses that add up to 100, not {total}"));
    }
    let sizes: Vec<u64> = if bytes {
        pairs.iter().map(|pair| pair.1.map_or(Ok(0), size)).collect::<Result<_, _>>()?
    } else {
        let shares: Vec<Option<u32>> =
            pairs.iter().map(|pair| pair.1.map(percent).transpose()).collect::<Result<_, _>>()?;
        let sum: u32 = shares.iter().flatten().sum();
        if sum > 100 {
            return Err(format!("expected zones that add up to at most 100, not {sum}"));
        }
        // Unlike sizes, zones may leave a part of the region untouched, so a sum below 100 is no error.
        let missing = shares.iter().filter(|share| share.is_none()).count() as u32;
        let default = (100 - sum).checked_div(missing).unwrap_or(0);
        shares.iter().map(|share| u64::from(share.unwrap_or(default))).collect()
    };
    Ok(accesses.into_iter().zip(sizes).map(|(access, size)| AccessZone { access, size }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_pairs_are_parsed_as_in_fio() {
        assert_eq!(size("4k"), Ok(4096));
        assert_eq!(size("1G"), Ok(1 << 30));
        assert_eq!(size("0x89"), Ok(0x89));
        assert!(size("4KiB").unwrap_err().contains("1000"));
        assert!(size("").is_err() && size("k").is_err() && size("99999999999999p").is_err());
        assert_eq!(time("60", true), Ok(60_000_000));
        assert_eq!((time("500ms", true), time("500", false)), (Ok(500_000), Ok(500)));
        assert_eq!(split("4k/60:8k/"), Ok(vec![(8192, 40), (4096, 60)]));
        assert_eq!(split("4k:8k"), Ok(vec![(4096, 50), (8192, 50)]));
        assert!(split("4k/60:8k/50").is_err() && split("4k/60").is_err() && split("").is_err());
        assert_eq!(per_direction("4k,8k", size), Ok([Some(4096), Some(8192), Some(8192)]));
        assert_eq!(per_direction(",8k", size), Ok([None, Some(8192), Some(8192)]));
        assert_eq!(range("16k-4k"), Ok((4096, 16384)));
    }
}
