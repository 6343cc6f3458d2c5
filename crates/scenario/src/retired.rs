//! Settings of earlier versions that are no longer: what replaced each, or why it went.

use super::error::ScenarioError;
use super::tree::{PathStep, SettingNode, SettingValue, dotted};
use super::void_settings::table_of;

/// A setting that was, by its dotted name.
#[derive(Debug)]
pub(super) struct RetiredSetting {
    pub(super) name: &'static str,
    pub(super) fate: Fate,
}

/// The reason why a setting is not there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// It always has this value, its default before. Text is as in a scenario, without quotes.
    Constant(&'static str),
    /// Another key in the same table, which takes the same value.
    Renamed(&'static str),
    /// The costs of Reparo's identifier: all are a multiple of what was calibrated, in nanoseconds.
    Cost(u64),
    /// The table of a fitted chip beside its file.
    Fitted,
}

const fn was(name: &'static str, fate: Fate) -> RetiredSetting {
    RetiredSetting { name, fate }
}

/// All of them. One that is removed from the schema is added here.
pub(super) const RETIRED: &[RetiredSetting] = &[
    was("device.controller.background_every", Fate::Constant("32")),
    was("device.controller.command_costs.flush", Fate::Constant("master_cost")),
    was("device.controller.command_costs.trim", Fate::Constant("master_cost")),
    was("device.controller.decode.soft", Fate::Constant("decode.retry")),
    was("device.controller.program_every", Fate::Constant("64")),
    was("device.controller.queues.burst", Fate::Constant("1")),
    was("device.controller.queues.weights.high", Fate::Constant("8")),
    was("device.controller.queues.weights.low", Fate::Constant("2")),
    was("device.controller.queues.weights.medium", Fate::Constant("4")),
    was("device.hazards.block_per_year", Fate::Renamed("per_year.block")),
    was("device.hazards.chip_per_year", Fate::Renamed("per_year.chip")),
    was("device.hazards.die_per_year", Fate::Renamed("per_year.die")),
    was("device.hazards.erase_failure", Fate::Renamed("per_operation.erase")),
    was("device.hazards.page_per_year", Fate::Renamed("per_year.page")),
    was("device.hazards.plane_per_year", Fate::Renamed("per_year.plane")),
    was("device.hazards.program_failure", Fate::Renamed("per_operation.program")),
    was("device.hazards.transient_read", Fate::Renamed("per_operation.read")),
    was("device.hazards.wordline_per_year", Fate::Renamed("per_year.wordline")),
    was("device.protection.rebuild_every", Fate::Constant("32")),
    was("device.reliability.histogram_every", Fate::Constant("256")),
    was("device.reliability.measured", Fate::Fitted),
    was("device.reliability.page_types.normalise", Fate::Constant("true")),
    was("device.reliability.stripe_exact_every", Fate::Constant("16")),
    was("device.repair.copy_cost", Fate::Cost(2)),
    was("device.repair.found_cost", Fate::Cost(3300)),
    was("device.repair.mark_cost", Fate::Cost(1800)),
    was("device.repair.marked_scan_cost", Fate::Cost(194)),
    was("device.repair.predict.window", Fate::Constant("1h")),
    was("device.repair.scan_cost", Fate::Cost(260)),
    was("device.timing.suspend.erase_limit", Fate::Constant("limit")),
    was("device.timing.suspend.program_latency", Fate::Constant("overhead")),
    was("device.timing.suspend.program_limit", Fate::Constant("limit")),
    was("run.histogram_digits", Fate::Constant("3")),
    was("run.max_windows", Fate::Constant("10000")),
    was("run.member_uber", Fate::Constant("1e-16")),
    was("workload.trace.window", Fate::Constant("1024")),
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
            Fate::Constant(value) => format!("it is always {value} now"),
            Fate::Renamed(key) => format!("write {table}.{key}"),
            Fate::Cost(ns) => {
                format!("it is {ns} ns for each page of {table}.pages_per_entry; write that")
            }
            Fate::Fitted => {
                "the fitted chip of a resolved scenario is a table of device.reliability.chip".to_owned()
            }
        }
    }
}

/// What to write in place of a retired form of an error model.
pub(super) fn form_advice(form: &str) -> Option<&'static str> {
    RETIRED_FORMS.iter().find(|(name, _)| *name == form).map(|&(_, advice)| advice)
}

/// Refuses the retired settings of a merged tree, each with its position.
///
/// # Errors
/// All that there are.
pub(super) fn refuse_retired(root: &SettingNode) -> Result<(), ScenarioError> {
    let mut errors = Vec::new();
    collect(root, &mut Vec::new(), &mut errors);
    match errors.pop() {
        None => Ok(()),
        Some(only) if errors.is_empty() => Err(only),
        Some(last) => {
            errors.push(last);
            Err(ScenarioError::Several(errors))
        }
    }
}

fn collect(node: &SettingNode, path: &mut Vec<PathStep>, errors: &mut Vec<ScenarioError>) {
    let name = table_of(path);
    let retired =
        |advice: String| ScenarioError::Retired { at: node.origin.position(), field: dotted(path), advice };
    if let Some(found) = RetiredSetting::of(&name) {
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
                path.push(PathStep::Key(key.clone()));
                collect(inner, path, errors);
                path.pop();
            }
        }
        SettingValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(PathStep::Index(index));
                collect(item, path, errors);
                path.pop();
            }
        }
        _ => {}
    }
}
