//! Writes by reclaim unit handle over time.

use super::OverTime;
use crate::drives::DriveSet;
use crate::table::ResultTable;

impl OverTime {
    /// Table of the bytes that the host wrote through each handle, and that the drive moved of it, since measuring began; `None` without handles.
    pub(super) fn placement(&self, drives: &DriveSet<'_>) -> Option<ResultTable> {
        self.samples.iter().find(|sample| !sample.handles.is_empty())?;
        let unit = drives.config().ftl.mapping_unit.0;
        let rows = || {
            self.samples
                .iter()
                .flat_map(|sample| (0u64..).zip(&sample.handles).map(move |own| (sample.at, own)))
        };
        let mut table = ResultTable::default();
        table.measures("at_s", rows().map(|(at, _)| at.as_secs_f64()));
        table.counts("handle", rows().map(|(_, (handle, _))| handle));
        table.counts("host_bytes", rows().map(|(_, (_, own))| own.host_units * unit));
        table.counts("moved_bytes", rows().map(|(_, (_, own))| own.moved_units * unit));
        Some(table)
    }
}
