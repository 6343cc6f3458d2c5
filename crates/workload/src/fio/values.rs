//! Values of job files, and the keys whose values do not matter here.

/// Keys that concern how fio opens files, fills buffers, measures and prints; they change no request.
pub(super) const IGNORED: &[&str] = &[
    "allow_file_create",
    "allrandrepeat",
    "buffer_compress_percentage",
    "buffered",
    "clat_percentiles",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "description",
    "direct",
    "directory",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "dedupe_percentage",
    "end_fsync",
    "exitall",
    "fallocate",
    "filename",
    "fixedbufs",
    "gtod_cpu",
    "gtod_reduce",
    "group_reporting",
    "hipri",
    "invalidate",
    "iodepth_batch",
    "iodepth_batch_complete",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "iodepth_batch_submit",
    "iodepth_low",
    "ioengine",
    "ioscheduler",
    "lat_percentiles",
    "lockmem",
    "log_avg_msec",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "mem",
    "name",
    "new_group",
    "nice",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "prio",
    "prioclass",
    "randrepeat",
    "refill_buffers",
    "registerfiles",
    "scramble_buffers",
    "slat_percentiles",
    "sqthread_poll",
    "thread",
    "unified_rw_reporting",
    "unlink",
    "userspace_reap",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
    "zero_buffers",
];

/// What is wrong with a value.
pub(super) type Wrong = String;

/// A whole number of decimal digits.
pub(super) fn number(text: &str) -> Result<u64, Wrong> {
    text.parse().map_err(|_| "expected a whole number of at least 0".into())
}

/// A flag: bare, 0 or 1.
pub(super) fn flag(text: Option<&str>) -> Result<bool, Wrong> {
    match text {
        None | Some("1" | "true") => Ok(true),
        Some("0" | "false") => Ok(false),
        Some(_) => Err("expected 0 or 1".into()),
    }
}

/// A number of hundredths, 0 to 100, without or with the sign.
pub(super) fn percent(text: &str) -> Result<f64, Wrong> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    number
        .ok()
        .filter(|n| (0.0..=100.0).contains(n))
        .ok_or_else(|| "expected a percentage of 0 to 100".into())
}

/// A size in bytes. As in fio with its default `kb_base=1024`, k = kb = 1024. The suffixes ki and kib, which mean 1000
/// there, the opposite of everywhere else, are refused.
pub(super) fn size(text: &str) -> Result<u64, Wrong> {
    let lower = text.to_ascii_lowercase();
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
        _ => return Err("expected a size such as 4096, 4k, 10m or 1g".into()),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a size such as 4096, 4k, 10m or 1g".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "expected a size below 2^64 bytes".into())
}

/// A time in nanoseconds; without suffix in seconds.
pub(super) fn time(text: &str) -> Result<u64, Wrong> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let unit = match suffix {
        "us" => 1_000,
        "ms" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err("expected a time such as 60, 60s, 500ms, 10m or 1h".into()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "expected a time such as 60, 60s, 500ms, 10m or 1h".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "expected a time below 584 years".into())
}

/// Up to three values for reads, writes and trims: one holds for all, and the last for those after it.
pub(super) fn each<T: Clone>(
    text: &str,
    mut parse: impl FnMut(&str) -> Result<T, Wrong>,
) -> Result<[Option<T>; 3], Wrong> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err("expected at most three values, for reads, writes and trims".into());
    }
    let mut values = [None, None, None];
    for (index, slot) in values.iter_mut().enumerate() {
        let part = parts[index.min(parts.len() - 1)];
        *slot = if part.is_empty() { None } else { Some(parse(part)?) };
    }
    Ok(values)
}

/// `a/b:c/d:e/`: pairs, with what is left of 100 divided evenly among those that leave the second out.
pub(super) fn pairs(
    text: &str,
    first: impl Fn(&str) -> Result<u64, Wrong>,
) -> Result<Vec<(u64, f64)>, Wrong> {
    let mut list = Vec::new();
    for part in text.split(':') {
        let (value, share) = part.split_once('/').unwrap_or((part, ""));
        let share = if share.trim().is_empty() { None } else { Some(percent(share)?) };
        list.push((first(value)?, share));
    }
    let given: f64 = list.iter().filter_map(|item| item.1).sum();
    let open = list.iter().filter(|item| item.1.is_none()).count();
    if given > 100.0 + 1e-9 {
        return Err(format!("expected shares that add up to at most 100, not {given}"));
    }
    let rest = if open == 0 { 0.0 } else { (100.0 - given) / open as f64 };
    Ok(list
        .into_iter()
        .map(|(value, share)| (value, share.unwrap_or(rest)))
        .filter(|item| item.1 > 0.0)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_pairs() {
        assert_eq!(size("4k"), Ok(4096));
        assert_eq!(size("1G"), Ok(1 << 30));
        assert_eq!(size("512"), Ok(512));
        assert!(size("4KiB").unwrap_err().contains("1000"));
        assert!(size("").is_err() && size("k").is_err() && size("99999999999999p").is_err());
        assert_eq!(time("60"), Ok(60_000_000_000));
        assert_eq!(time("500ms"), Ok(500_000_000));
        assert_eq!(pairs("4k/60:8k/", size), Ok(vec![(4096, 60.0), (8192, 40.0)]));
        assert_eq!(pairs("4k:8k", size), Ok(vec![(4096, 50.0), (8192, 50.0)]));
        assert!(pairs("4k/60:8k/50", size).is_err());
        assert_eq!(each("4k,8k", size), Ok([Some(4096), Some(8192), Some(8192)]));
        assert_eq!(each(",8k", size), Ok([None, Some(8192), Some(8192)]));
    }
}
