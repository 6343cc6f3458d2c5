//! Further failures of dies that a drive bears. This takes the whole drive: the units of one core may go to all others.

use crate::ssd::Ssd;
use outlast_controller::Prospects;
use outlast_device::{Notice, NoticeKind};
use outlast_settings::drive::RepairScheme;
use outlast_units::{CoreId, DieId, LocalDie, Nanos};

impl Ssd {
    /// True if the drive goes on after what has failed, and would after one failure more.
    pub(crate) fn prospects(&self) -> Prospects {
        if self.context.config.repair.is_none() {
            return Prospects::More;
        }
        if self.cores.iter().any(|core| core.ftl().is_read_only()) {
            return Prospects::Beyond;
        }
        if self.bears_one_more() { Prospects::More } else { Prospects::Last }
    }

    /// True if every core has room for its data after one die more has failed, whichever it is.
    fn bears_one_more(&self) -> bool {
        let shares = self
            .context
            .config
            .repair
            .as_ref()
            .is_some_and(|repair| repair.scheme == RepairScheme::Cooperative);
        let bears = |index: CoreId| {
            let ftl = self.cores[index].ftl();
            // All dies of a core are alike: the first that works will do.
            let die = ftl.layout().local_dies().find(|&local| !ftl.space().pus().is_dead_die(local));
            let alone = ftl.space().could_hold(ftl.space().logical_units(), die);
            alone || (shares && self.redirected_once_more(index, die).is_some())
        };
        self.cores.indices().all(bears)
    }

    /// How many dies may still fail, all on one flash core if the worst comes, before the drive has too little room for its data and takes no
    /// more writes. Says nothing of the data on them: what no parity gives is lost. Takes a copy of the drive apart.
    pub fn dies_it_can_lose(&self, now: Nanos) -> u32 {
        let mut copy = self.clone();
        let mut lost = 0;
        let core = CoreId(0);
        while copy.cores.iter().all(|core| !core.ftl().is_read_only()) && copy.bears_one_more() {
            let own = copy.cores[core].dies().indices();
            let works = |local: &LocalDie| !copy.cores[core].ftl().space().pus().is_dead_die(*local);
            let mut working = own.filter(works);
            let (Some(local), Some(_)) = (working.next(), working.next()) else { break };
            copy.give_up(now, core, local, None);
            let die = copy.cores[core].dies()[local];
            copy.adjust_space(now, die);
            lost += 1;
        }
        lost
    }

    /// Tells the host if die `die`, which has failed, was the last one that may, or one too many.
    pub(crate) fn note_prospects(&mut self, now: Nanos, die: DieId) {
        let kind = match self.prospects() {
            Prospects::More => return,
            Prospects::Last => NoticeKind::LastRepair { die: die.0 },
            Prospects::Beyond => NoticeKind::BeyondRepair { die: die.0 },
        };
        self.notices.push_back(Notice { at: now, kind });
    }
}
