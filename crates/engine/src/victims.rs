//! Table of every superblock that was moved, with its figures when it was chosen: `run.utilisation`.

use crate::drives::DriveSet;
use crate::table::{ResultColumn, ResultTable};
use outlast_ssd::Victim;

/// One row for each superblock that was moved.
pub(crate) fn victims(drives: &DriveSet<'_>) -> ResultTable {
    let all: Vec<(u64, &Victim)> = (0u64..)
        .zip(drives.all())
        .flat_map(|(index, ssd)| ssd.victims_kept().iter().map(move |victim| (index, victim)))
        .collect();
    let rows = || all.iter().map(|&(_, victim)| victim);
    let mut table = ResultTable::default();
    table.measures("at_s", rows().map(|victim| victim.at.as_secs_f64()));
    if drives.array.is_some() {
        table.counts("device", all.iter().map(|&(index, _)| index));
    }
    table.counts("core", rows().map(|victim| u64::from(victim.core.0)));
    table.counts("superblock", rows().map(|victim| u64::from(victim.superblock.0)));
    table.push("reason", ResultColumn::Text(rows().map(|victim| victim.reason.name().to_owned()).collect()));
    table.counts("class", rows().map(|victim| u64::from(victim.class)));
    table.measures("valid_share", rows().map(|victim| victim.valid_share));
    table.measures("age_writes", rows().map(|victim| victim.age_writes));
    table
}
