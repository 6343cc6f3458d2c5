//! Settings of earlier versions that are no longer: what replaced each, or why it went.

use super::error::ScenarioError;
use super::tree::{PathStep, SettingNode, SettingValue, dotted};

/// A setting that was, by its dotted name.
#[derive(Debug)]
pub(super) struct RetiredSetting {
    pub(super) name: &'static str,
    pub(super) fate: RetiredFate,
}

/// The reason why a setting is not there.
#[derive(Clone, Copy, Debug)]
pub(super) enum RetiredFate {
    /// A constant, the default before. Text is as in a scenario, without quotes.
    Constant(&'static str),
    /// Another key in the same table, which takes the same value.
    Renamed(&'static str),
    /// The costs of Reparo's identifier: all are a multiple of what was calibrated, in nanoseconds.
    Cost(u64),
    /// The table of a fitted chip beside its file.
    Fitted,
}

const fn gone(name: &'static str, fate: RetiredFate) -> RetiredSetting {
    RetiredSetting { name, fate }
}

/// All of them. One that is removed from the schema is added here.
pub(super) const RETIRED: &[RetiredSetting] = &[
    gone("device.controller.background_every", RetiredFate::Constant("32")),
    gone("device.controller.command_costs.flush", RetiredFate::Constant("that of master_cost")),
    gone("device.controller.command_costs.trim", RetiredFate::Constant("that of master_cost")),
    gone("device.controller.decode.soft", RetiredFate::Constant("that of decode.retry")),
    gone("device.controller.program_every", RetiredFate::Constant("64")),
    gone("device.controller.queues.burst", RetiredFate::Constant("1")),
    gone("device.controller.queues.weights.high", RetiredFate::Constant("8")),
    gone("device.controller.queues.weights.low", RetiredFate::Constant("2")),
    gone("device.controller.queues.weights.medium", RetiredFate::Constant("4")),
    gone("device.hazards.block_per_year", RetiredFate::Renamed("per_year.block")),
    gone("device.hazards.chip_per_year", RetiredFate::Renamed("per_year.chip")),
    gone("device.hazards.die_per_year", RetiredFate::Renamed("per_year.die")),
    gone("device.hazards.erase_failure", RetiredFate::Renamed("per_operation.erase")),
    gone("device.hazards.page_per_year", RetiredFate::Renamed("per_year.page")),
    gone("device.hazards.plane_per_year", RetiredFate::Renamed("per_year.plane")),
    gone("device.hazards.program_failure", RetiredFate::Renamed("per_operation.program")),
    gone("device.hazards.transient_read", RetiredFate::Renamed("per_operation.read")),
    gone("device.hazards.wordline_per_year", RetiredFate::Renamed("per_year.wordline")),
    gone("device.reliability.histogram_every", RetiredFate::Constant("256")),
    gone("device.reliability.measured", RetiredFate::Fitted),
    gone("device.reliability.page_types.normalise", RetiredFate::Constant("true")),
    gone("device.reliability.stripe_exact_every", RetiredFate::Constant("16")),
    gone("device.repair.copy_cost", RetiredFate::Cost(2)),
    gone("device.repair.found_cost", RetiredFate::Cost(3300)),
    gone("device.repair.mark_cost", RetiredFate::Cost(1800)),
    gone("device.repair.marked_scan_cost", RetiredFate::Cost(194)),
    gone("device.repair.predict.window", RetiredFate::Constant("1h")),
    gone("device.repair.scan_cost", RetiredFate::Cost(260)),
    gone("device.timing.suspend.erase_limit", RetiredFate::Constant("that of limit")),
    gone("device.timing.suspend.program_latency", RetiredFate::Constant("that of overhead")),
    gone("device.timing.suspend.program_limit", RetiredFate::Constant("that of limit")),
    gone("run.histogram_digits", RetiredFate::Constant("3")),
    gone("run.max_windows", RetiredFate::Constant("10000")),
    gone("run.member_uber", RetiredFate::Constant("1e-16")),
    gone("workload.trace.window", RetiredFate::Constant("1024")),
];

/// The tables of error models that were, by the value of `device.reliability.model.form`, with what to write.
const RETIRED_FORMS: [(&str, &str); 2] = [
    (
        "two-point",
        "write form = \"exponential\" with a and b, or the two points as rows of a chip's file with fit = \"exponential\"",
    ),
    ("grid", "write the rates as rows of a chip's file (device.reliability.chip) with fit = \"interpolate\""),
];

/// The model in which a retired form may stand.
pub(super) const MODEL: &str = "device.reliability.model";

impl RetiredSetting {
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        RETIRED.iter().find(|retired| retired.name == name)
    }

    /// The sentence for whoever still writes it.
    fn advice(&self) -> String {
        let table = self.name.rsplit_once('.').map_or("", |(table, _)| table);
        match self.fate {
            RetiredFate::Constant(value) => format!("it is always {value} now"),
            RetiredFate::Renamed(key) => format!("write {table}.{key}"),
            RetiredFate::Cost(ns) => {
                format!("it is {ns} ns for each page of {table}.pages_per_entry; write that")
            }
            RetiredFate::Fitted => {
                "the fitted chip of a resolved scenario is a table of device.reliability.chip".to_owned()
            }
        }
    }
}

/// Replacements of retired forms of error models.
pub(super) fn form_advice(form: &str) -> Option<&'static str> {
    RETIRED_FORMS.iter().find(|(name, _)| *name == form).map(|&(_, advice)| advice)
}

/// Refuses the retired settings of a merged tree, each with its position.
///
/// # Errors
/// All that there are.
pub(super) fn refuse_retired(root: &SettingNode) -> Result<(), ScenarioError> {
    let mut errors = Vec::new();
    collect(root, &mut String::new(), &mut Vec::new(), &mut errors);
    match errors.pop() {
        None => Ok(()),
        Some(only) if errors.is_empty() => Err(only),
        Some(last) => {
            errors.push(last);
            Err(ScenarioError::Several(errors))
        }
    }
}

/// Collects what is retired in `node`, whose dotted name is `name`, without the places of lists that are in `path`.
fn collect(node: &SettingNode, name: &mut String, path: &mut Vec<PathStep>, errors: &mut Vec<ScenarioError>) {
    let retired =
        |advice: String| ScenarioError::Retired { at: node.origin.position(), field: dotted(path), advice };
    if let Some(found) = RetiredSetting::of(name) {
        errors.push(retired(found.advice()));
        return;
    }
    match &node.value {
        SettingValue::Table(table) => {
            if name == MODEL
                && let Some(SettingNode { value: SettingValue::Text(form), .. }) = table.get("form")
                && let Some(advice) = form_advice(form)
            {
                errors.push(retired(format!("there is no form \"{form}\" any more; {advice}")));
                return;
            }
            for (key, inner) in table {
                let length = name.len();
                if length != 0 {
                    name.push('.');
                }
                name.push_str(key);
                // Looks only where something retired may be: most tables have nothing.
                if leads_to_retired(name) {
                    path.push(PathStep::Key(key.clone()));
                    collect(inner, name, path, errors);
                    path.pop();
                }
                name.truncate(length);
            }
        }
        SettingValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(PathStep::Index(index));
                collect(item, name, path, errors);
                path.pop();
            }
        }
        _ => {}
    }
}

/// True if `name` is of a setting that is looked at, or of a table around one.
fn leads_to_retired(name: &str) -> bool {
    let is_within =
        |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    is_within(MODEL) || RETIRED.iter().any(|retired| is_within(retired.name))
}
