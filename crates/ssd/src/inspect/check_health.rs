//! The self-check of health and repair: what a part waits for is under way, and nothing is left lying.

use crate::ssd::Ssd;
use outlast_controller::{OpKind, Scrub};
use outlast_device::Op as HostOp;
use outlast_units::CoreId;

impl Ssd {
    /// Checks each part of the drive's health, and compares what the parts wait for with the operations under way.
    pub(crate) fn check_health(&self) -> Result<(), String> {
        for (index, core) in self.cores.iter_indexed() {
            let scrub = core.scrub().map_or(Ok(()), Scrub::self_check);
            scrub.map_err(|error| format!("core {index}: {error}"))?;
            let patrols = self.reads_of(OpKind::PatrolRead, index);
            if patrols != usize::from(core.scrub().is_some_and(Scrub::is_patrolling)) {
                return Err(format!("core {index}: {patrols} patrol reads are under way"));
            }
            if core.cells().is_some_and(|own| own.cells.has_alarm()) {
                return Err(format!("core {index}: an alarm has gone off that nobody has answered"));
            }
        }
        self.context.self_check(self.context.commands.requests.of_the_host().count())?;
        self.check_watch()
    }

    fn check_watch(&self) -> Result<(), String> {
        let Some(watch) = &self.context.watch else { return Ok(()) };
        watch.detector.self_check()?;
        watch.lists.self_check()?;
        let of_all = |kind| self.cores.indices().map(|core| self.reads_of(kind, core)).sum::<usize>();
        // A die may have been given up while it was being read.
        let (probes, lists) = (of_all(OpKind::ProbeRead), of_all(OpKind::ListRead));
        if (watch.detector.reads_under_way() as usize) > probes
            || watch.lists.reads_under_way() as usize > lists
        {
            return Err(format!(
                "{probes} probe reads and {lists} reads of lists are under way, and more are waited for"
            ));
        }
        let requests = &self.context.commands.requests;
        let is_query =
            |request| requests.is_live(request) && requests.command(request).op == HostOp::LbaStatus;
        match watch.queries.requests().find(|&request| !is_query(request)) {
            Some(request) => Err(format!("request {request} is answered as a query, and is none")),
            None => Ok(()),
        }
    }

    /// Reads of one kind of core `core`, waiting or under way.
    fn reads_of(&self, kind: OpKind, core: CoreId) -> usize {
        self.context.recorded_reads().filter(|op| op.kind == kind && op.core == core).count()
    }
}
