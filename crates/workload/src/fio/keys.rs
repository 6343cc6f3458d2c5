//! Applies the keys of each section to the options of its jobs.

mod key_values;
mod rw_key;
mod zone_keys;

use super::data_placement::{self, IdChoice, PlacementKind};
use super::job_options::{BlockSource, ExitWhat, JobOptions, PerDirection, RateProcess};
use super::key_lists::{IGNORED, REFUSED, SIMULATED};
use super::parse::{JobFileEntry, JobSection};
use super::values::{self, ValueFault};
use crate::WorkloadError;
use key_values::{
    block, block_size, bounded, choice, count, distribution, engine, file_size, filename, flow_id, low_mark,
    rate, text, weight,
};
use rw_key::rw;
use zone_keys::{apply_zones, extents};

/// The reason why an entry is refused.
enum EntryFault {
    /// Unknown key.
    Key,
    /// The value is malformed or not supported.
    Value(ValueFault),
}

impl From<ValueFault> for EntryFault {
    fn from(fault: ValueFault) -> Self {
        Self::Value(fault)
    }
}

/// The error about an entry, with its file and line.
fn error(entry: &JobFileEntry, fault: EntryFault) -> WorkloadError {
    let (file, line, key) = (entry.position.file.to_string(), entry.position.line, entry.key.clone());
    match fault {
        EntryFault::Value(expected) => {
            let value = entry.value.as_deref().unwrap_or("(nothing)").chars().take(60).collect();
            WorkloadError::JobValue { file, line, key, value, expected }
        }
        EntryFault::Key => {
            let near = SIMULATED
                .iter()
                .chain(IGNORED)
                .map(|name| (strsim::damerau_levenshtein(name, &key), name))
                .min()
                // One typing error, and one more for every four letters.
                .filter(|&(distance, _)| distance <= 1 + key.len() / 4);
            let suggestion = near.map_or(String::new(), |(_, name)| format!("; did you mean \"{name}\"?"));
            WorkloadError::JobKey { file, line, key: key.chars().take(60).collect(), suggestion }
        }
    }
}

/// Applies one entry to the options of a job.
fn apply(job: &mut JobOptions, entry: &JobFileEntry) -> Result<(), EntryFault> {
    let key = entry.key.as_str();
    // The keys are kept for a note, each once.
    if IGNORED.contains(&key) {
        if !job.ignored.iter().any(|ignored| ignored == key) {
            job.ignored.push(key.to_owned());
        }
        return Ok(());
    }
    if let Some((_, why, harmless)) = REFUSED.iter().find(|(refused, _, _)| *refused == key) {
        if harmless.is_some_and(|value| entry.value.as_deref() == Some(value)) {
            return Ok(());
        }
        return Err(EntryFault::Value(format!("not supported: {why}")));
    }
    match key {
        "rw" | "readwrite" => rw(job, text(entry)?)?,
        "rw_sequencer" => {
            job.identical = choice(text(entry)?, &[("sequential", false), ("identical", true)])?;
        }
        "bs" | "blocksize" => merge(&mut job.block, values::per_direction(text(entry)?, block)?),
        "bsrange" | "blocksize_range" => {
            let ranges = values::per_direction(text(entry)?, |part| {
                let (least, most) = values::range(part)?;
                block_size(least)?;
                Ok((least, block_size(most)?))
            })?;
            merge(&mut job.range, ranges);
        }
        "bssplit" => split(job, text(entry)?)?,
        "ba" | "blockalign" => merge(&mut job.align, values::per_direction(text(entry)?, block)?),
        "bs_is_seq_rand" => job.by_sequence = values::flag(entry.value.as_deref())?,
        "rwmixread" => job.read_percent = values::percent(text(entry)?)?,
        "rwmixwrite" => job.read_percent = 100 - values::percent(text(entry)?)?,
        "iodepth" => job.iodepth = count(text(entry)?, 65_536)?,
        "iodepth_low" => job.iodepth_low = low_mark(text(entry)?)?,
        "iodepth_batch_complete" | "iodepth_batch_complete_min" => {
            job.complete_min = count(text(entry)?, 65_536)?;
        }
        "ioengine" => job.engine = Some(engine(text(entry)?)?),
        "numjobs" => job.numjobs = count(text(entry)?, 4096)?,
        "size" | "io_size" | "io_limit" | "offset" | "fileoffset" | "offset_increment" => {
            extents(job, entry)?;
        }
        "filesize" => job.file_size = Some(one_file_size(text(entry)?)?),
        "offset_align" => {
            let align = values::size(text(entry)?)?;
            job.offset_align = if align == 0 { None } else { Some(block_size(align)?) };
        }
        "number_ios" => job.number_ios = bounded(text(entry)?)?,
        "filename" => job.filename = Some(filename(text(entry)?)?),
        "description" => job.description = Some(text(entry)?.to_owned()),
        "fsync" => job.fsync = bounded(text(entry)?)?,
        "fdatasync" => job.fdatasync = bounded(text(entry)?)?,
        "end_fsync" | "fsync_on_close" => job.end_fsync = values::flag(entry.value.as_deref())?,
        "sync" => {
            job.fua = choice(
                text(entry)?,
                &[("0", false), ("none", false), ("1", true), ("sync", true), ("dsync", true)],
            )?;
        }
        _ => return apply_placement(job, entry),
    }
    Ok(())
}

/// The size of files, which is one for all; fio also draws sizes from a range.
fn one_file_size(text: &str) -> Result<u64, ValueFault> {
    if text.contains(['-', ':', ',']) {
        return Err("not supported: a range of sizes; write one".into());
    }
    file_size(text)
}

/// Applies the keys of placement.
fn apply_placement(job: &mut JobOptions, entry: &JobFileEntry) -> Result<(), EntryFault> {
    match entry.key.as_str() {
        "cmd_type" => choice(text(entry)?, &[("nvme", ())])?,
        "fdp" => {
            let is_on = values::flag(entry.value.as_deref())?;
            job.placement.kind = if is_on { PlacementKind::Fdp } else { PlacementKind::None };
        }
        "dataplacement" => job.placement.kind = choice(text(entry)?, PlacementKind::NAMES)?,
        "plids" | "fdp_pli" => job.placement.ids = data_placement::ids(text(entry)?)?,
        "plid_select" | "fdp_pli_select" => {
            job.placement.choice = choice(text(entry)?, IdChoice::NAMES)?;
        }
        "dp_scheme" => job.placement.scheme_file = Some(text(entry)?.to_owned()),
        _ => return apply_zones(job, entry),
    }
    Ok(())
}

/// Applies the keys of randomness, rates and times.
fn apply_pace(job: &mut JobOptions, entry: &JobFileEntry) -> Result<(), EntryFault> {
    let flag = || values::flag(entry.value.as_deref());
    match entry.key.as_str() {
        "random_distribution" => job.law = distribution(text(entry)?)?,
        "random_generator" => {
            let sources = [
                ("tausworthe", BlockSource::Tausworthe),
                ("tausworthe64", BlockSource::Tausworthe64),
                ("lfsr", BlockSource::Lfsr),
            ];
            job.source = Some(choice(text(entry)?, &sources)?);
        }
        "percentage_random" => {
            let shares = values::per_direction(text(entry)?, |part| values::percent(part).map(u64::from))?;
            merge(&mut job.random_percent, shares);
        }
        "norandommap" => job.map = !flag()?,
        "randrepeat" => job.repeatable = flag()?,
        "allrandrepeat" => job.all_repeatable = flag()?,
        "randseed" => job.randseed = Some(values::number(text(entry)?)?),
        "rate" => merge(&mut job.rate, values::per_direction(text(entry)?, rate)?),
        "rate_iops" => merge(&mut job.rate_iops, values::per_direction(text(entry)?, rate)?),
        "rate_process" => {
            job.process =
                choice(text(entry)?, &[("linear", RateProcess::Linear), ("poisson", RateProcess::Poisson)])?;
        }
        "rate_ignore_thinktime" => job.rate_ignores_think = flag()?,
        "io_submit_mode" => {
            job.offloads = choice(text(entry)?, &[("inline", false), ("offload", true)])?;
        }
        "flow" => job.flow.weight = weight(text(entry)?)?,
        "flow_id" => job.flow.id = flow_id(text(entry)?)?,
        "flow_sleep" => job.flow.sleep = bounded(text(entry)?)?,
        "thinktime" => job.think_time = values::time(text(entry)?, false)?,
        // Spinning is a part of the think time, and the host's processor is not simulated: only the form is checked.
        "thinktime_spin" => {
            values::time(text(entry)?, false)?;
        }
        "thinktime_blocks" => job.think_blocks = Some(bounded(text(entry)?)?),
        "thinktime_blocks_type" => {
            job.think_issued = choice(text(entry)?, &[("complete", false), ("issue", true)])?;
        }
        "thinktime_iotime" => job.think_every = values::time(text(entry)?, true)?,
        "runtime" | "timeout" => job.runtime = values::time(text(entry)?, true)?,
        "time_based" => job.time_based = flag()?,
        "ramp_time" => job.ramp_time = values::time(text(entry)?, true)?,
        "startdelay" => {
            let text = text(entry)?;
            if text.contains(['-', ',', ':']) {
                return Err(ValueFault::from("not supported: a range of delays; write one").into());
            }
            job.start_delay = values::time(text, true)?;
        }
        "loops" => job.loops = u64::from(count(text(entry)?, 1 << 20)?),
        "stonewall" | "wait_for_previous" => job.stonewall = flag()?,
        "new_group" => job.new_group = flag()?,
        "wait_for" => job.wait_for = Some(text(entry)?.to_owned()),
        "exitall" => job.exitall = flag()?,
        "exit_what" => {
            let choices =
                [("group", ExitWhat::Group), ("stonewall", ExitWhat::Running), ("all", ExitWhat::All)];
            job.exit_what = choice(text(entry)?, &choices)?;
        }
        "group_reporting" => job.group_reporting = flag()?,
        _ => return Err(EntryFault::Key),
    }
    Ok(())
}

/// Overwrites the directions for which `from` has a value.
fn merge<T>(into: &mut PerDirection<T>, from: PerDirection<T>) {
    for (slot, value) in into.iter_mut().zip(from) {
        if value.is_some() {
            *slot = value;
        }
    }
}

/// Applies `bssplit`, whose smallest and largest sizes also set the range of the direction.
fn split(job: &mut JobOptions, text: &str) -> Result<(), ValueFault> {
    let splits = values::per_direction(text, |part| {
        let list = values::split(part)?;
        list.iter().try_for_each(|&(size, _)| block_size(size).map(drop))?;
        Ok(list)
    })?;
    for (ddir, list) in splits.iter().enumerate() {
        let Some(list) = list else { continue };
        let sizes = list.iter().map(|&(size, _)| size);
        job.range[ddir] = sizes.clone().min().zip(sizes.max());
    }
    merge(&mut job.split, splits);
    Ok(())
}

/// The options of the jobs of a file, one for each section that is not global.
pub(super) fn jobs(file: &str, sections: &[JobSection]) -> Result<Vec<JobOptions>, WorkloadError> {
    let mut global = JobOptions::new();
    let mut jobs = Vec::new();
    for section in sections {
        // As in fio, any name that begins with "global" makes a global section.
        let is_global = section.name.starts_with("global");
        let mut job =
            if is_global { std::mem::replace(&mut global, JobOptions::new()) } else { global.clone() };
        if !is_global {
            section.name.clone_into(&mut job.name);
            job.position = section.position.clone();
        }
        for entry in &section.entries {
            apply(&mut job, entry).map_err(|fault| error(entry, fault))?;
            job.key_positions.retain(|(key, _)| *key != entry.key);
            job.key_positions.push((entry.key.clone(), entry.position.clone()));
            // A key that is repeated overrides, and is reported at its last position.
            job.options.retain(|(key, _)| *key != entry.key);
            job.options.push((entry.key.clone(), entry.value.clone().unwrap_or_else(|| "1".to_owned())));
        }
        if is_global {
            global = job;
        } else {
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        return Err(WorkloadError::Empty { file: file.to_owned(), content: "no job section".into() });
    }
    Ok(jobs)
}
