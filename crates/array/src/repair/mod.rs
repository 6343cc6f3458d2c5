//! Recovery of what a member has lost while it goes on (Reparo, section 4.2): what members told, what waits, what is under way.

mod donor;
mod identify;
mod recover;

pub(crate) use donor::Donor;

use crate::array::Array;
use crate::config::RepairWay;
use crate::error::{EventKind, RepairStep};
use crate::pass::PassKind;
use crate::ranges::RangeSet;
use outlast_device::{Device, Notice, NoticeKind};
use outlast_units::{ByteRate, Bytes, Nanos};
use recover::{Item, Span};
use serde::Serialize;
use std::collections::VecDeque;

/// One recovery from the failure of a die in a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberRepair {
    /// The member's column.
    pub member: usize,
    /// The die that failed; dies that failed before the end may be recovered with it.
    pub die: u16,
    /// How.
    pub way: RepairWay,
    /// When the member told of it.
    pub noticed_at: Nanos,
    /// When recovery began; absent while it waits.
    pub started_at: Option<Nanos>,
    /// When it ended.
    pub finished_at: Option<Nanos>,
    /// Whether it ended early, because the member left or is replaced instead.
    pub abandoned: bool,
    /// Questions about failed sectors that the member answered.
    pub queries: u64,
    /// Time of these questions, from each one's beginning to its end: Reparo's Identifier. Overlapping ones count each.
    pub identify: Nanos,
    /// The rest of the time from `started_at` to `finished_at`; zero until then.
    pub recover: Nanos,
    /// Sectors that the member told it has lost.
    pub failed_sectors: u64,
    /// Sectors that it can read and wants written again.
    pub fake_sectors: u64,
    /// Read from the other members.
    pub bytes_read_from_peers: Bytes,
    /// Read from the member itself, or from the one that it replaces.
    pub bytes_read_from_member: Bytes,
    /// Written to the member, or to the one in its place.
    pub bytes_written: Bytes,
    /// Sectors of the array's data that nothing could bring back.
    pub lost_sectors: u64,
    /// Times that it was taken up again after a loss of power.
    pub resumed: u32,
}

/// A recovery under way.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    /// Its place among the records.
    pub(crate) id: u32,
    pub(crate) column: usize,
    pub(crate) way: RepairWay,
    /// What it may use of the link.
    rate: Option<ByteRate>,
    /// The next range to ask for.
    next: u32,
    /// Ranges asked for and not yet recovered, and when each was asked for that has no answer.
    spans: VecDeque<Span>,
    asked: Vec<(u32, Nanos)>,
    /// Rows to be recovered.
    items: VecDeque<Item>,
    ops: u32,
    last: Option<(Nanos, Bytes)>,
    /// Until when the host's processor works on the last run begun.
    busy_until: Nanos,
    /// Sectors of the member not yet recovered; kept for order of exposure only.
    missing: RangeSet,
    /// Sectors of the member written while it was asked; kept without redundancy only.
    pub(crate) written: RangeSet,
    ranges_done: u32,
    flushing: bool,
}

/// All recoveries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    records: Vec<MemberRepair>,
    /// Records that have not begun, and whether that was told.
    waiting: Vec<(u32, bool)>,
    pub(crate) active: Vec<Repair>,
}

impl Repairs {
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.active.is_empty() && self.waiting.is_empty()
    }

    /// Whether rows of members are being written back.
    pub(crate) fn in_place(&self) -> bool {
        self.active.iter().any(|repair| repair.way == RepairWay::Die)
    }

    /// What rebuilding may use of the links, where a failed die is its cause.
    pub(crate) fn rebuild_rate(&self) -> Option<ByteRate> {
        let rebuilds = self.active.iter().filter(|repair| repair.way != RepairWay::Die);
        rebuilds.filter_map(|repair| repair.rate).min()
    }

    fn position(&self, id: u32) -> Option<usize> {
        self.active.iter().position(|repair| repair.id == id)
    }

    fn on(&self, column: usize) -> Option<&Repair> {
        self.active.iter().find(|repair| repair.column == column)
    }

    fn record(&mut self, id: u32) -> &mut MemberRepair {
        &mut self.records[id as usize]
    }
}

impl<D: Device> Array<D> {
    /// Every recovery from a failed die, finished or not, in the order in which members told of them.
    pub fn repairs(&self) -> &[MemberRepair] {
        &self.repairs.records
    }

    /// A member has told something; it may have more to tell.
    #[cold]
    pub(crate) fn told(&mut self, now: Nanos, index: usize, notice: Notice) {
        let mut next = Some(notice);
        while let Some(notice) = next {
            self.hear(now, index, notice);
            next = self.device_mut(index).and_then(Device::take_notice);
        }
        self.background.pump = true;
    }

    fn hear(&mut self, now: Nanos, index: usize, notice: Notice) {
        let (die, step) = match notice.kind {
            NoticeKind::DieFailed { die } => (die, RepairStep::DieFailed),
            NoticeKind::DieFailing { die } => (die, RepairStep::DieFailing),
            NoticeKind::LastRepair { die } => (die, RepairStep::LastRepair),
            NoticeKind::BeyondRepair { die } => (die, RepairStep::BeyondRepair),
        };
        let column = index % self.columns.len();
        self.event(now, EventKind::Repair { member: column, die, step });
        if step == RepairStep::DieFailing {
            return;
        }
        if index >= self.columns.len() {
            // It is being replaced already: what it told before no longer holds.
            self.ask_donor_again(column);
            return;
        }
        let redundant = self.layout.roles > self.layout.data;
        let beyond = step == RepairStep::BeyondRepair && redundant;
        let member = &mut self.columns[column];
        let (known, replaced) = (member.dies.contains(&die), member.beyond_repair);
        (member.excused, member.read_errors) = (true, 0);
        if !known {
            member.dies.push(die);
        }
        if known && !beyond || replaced {
            return;
        }
        let way = match () {
            // All that can be done is to find out what is lost.
            () if !redundant => RepairWay::Die,
            () if beyond => RepairWay::Assist,
            () => self.config.repair.way,
        };
        if beyond {
            self.columns[column].beyond_repair = true;
            self.abandon_repairs(now, column);
        } else if way != RepairWay::Die && self.waits_for_replacement(column) {
            return;
        }
        let id = self.repairs.records.len() as u32;
        self.repairs.records.push(MemberRepair {
            member: column,
            die,
            way,
            noticed_at: notice.at,
            started_at: None,
            finished_at: None,
            abandoned: false,
            queries: 0,
            identify: Nanos::ZERO,
            recover: Nanos::ZERO,
            failed_sectors: 0,
            fake_sectors: 0,
            bytes_read_from_peers: Bytes(0),
            bytes_read_from_member: Bytes(0),
            bytes_written: Bytes(0),
            lost_sectors: 0,
            resumed: 0,
        });
        self.repairs.waiting.push((id, false));
    }

    fn waits_for_replacement(&self, column: usize) -> bool {
        let mut waiting = self.repairs.waiting.iter().map(|&(id, _)| &self.repairs.records[id as usize]);
        waiting.any(|record| record.member == column && record.way != RepairWay::Die)
    }

    /// Begins what can begin, and goes on with what is under way.
    pub(crate) fn pump_repairs(&mut self, now: Nanos) {
        if self.repairs.is_idle() {
            return;
        }
        for (id, was_told) in std::mem::take(&mut self.repairs.waiting) {
            if self.may_begin(id) {
                self.begin_repair(now, id);
                continue;
            }
            let MemberRepair { member, die, way, .. } = self.repairs.records[id as usize];
            if !was_told && way != RepairWay::Die {
                self.event(now, EventKind::Repair { member, die, step: RepairStep::Waits });
            }
            self.repairs.waiting.push((id, was_told || way != RepairWay::Die));
        }
        let active: Vec<u32> = self.repairs.active.iter().map(|repair| repair.id).collect();
        for id in active {
            self.pump_repair(now, id);
        }
    }

    fn may_begin(&self, id: u32) -> bool {
        let MemberRepair { member, way, .. } = self.repairs.records[id as usize];
        let column = &self.columns[member];
        let whole = column.device.is_some() && column.is_in_sync() && self.repairs.on(member).is_none();
        whole
            && match way {
                RepairWay::Die => true,
                RepairWay::Assist => !self.spares.is_empty(),
                RepairWay::Rebuild => !self.is_missing_too_many(Some(member)),
            }
    }

    fn begin_repair(&mut self, now: Nanos, id: u32) {
        let MemberRepair { member: column, die, way, .. } = self.repairs.records[id as usize];
        self.repairs.record(id).started_at = Some(now);
        self.event(now, EventKind::Repair { member: column, die, step: RepairStep::Started });
        let link = |device: Option<&D>| device.and_then(|device| device.identify().link);
        let mut rate = self.config.repair.rate_of(link(self.columns[column].device.as_ref()));
        match way {
            RepairWay::Die => self.hold_passes(),
            RepairWay::Assist => {
                let other = self.config.repair.rate_of(link(self.spares.front()));
                rate = rate.min(other);
                self.begin_assist(now, column);
            }
            RepairWay::Rebuild => self.fail_column(now, column),
        }
        self.repairs.active.push(Repair {
            id,
            column,
            way,
            rate,
            next: 0,
            spans: VecDeque::new(),
            asked: Vec::new(),
            items: VecDeque::new(),
            ops: 0,
            last: None,
            busy_until: Nanos::ZERO,
            missing: RangeSet::default(),
            written: RangeSet::default(),
            ranges_done: 0,
            flushing: false,
        });
    }

    /// Passes that look at whole groups wait while rows are written back: they would compute whole chunks of the member anew, and
    /// after a loss of power from parity that is in doubt.
    fn hold_passes(&mut self) {
        let held = |kind| matches!(kind, PassKind::Resync | PassKind::Scrub | PassKind::Shift);
        if self.background.pass.as_ref().is_some_and(|pass| held(pass.kind)) {
            self.background.pass = None;
        }
    }

    /// A recovery has come to its end.
    fn finish_repair(&mut self, now: Nanos, id: u32) {
        let Some(at) = self.repairs.position(id) else { return };
        let column = self.repairs.active.remove(at).column;
        let record = self.repairs.record(id);
        record.finished_at = Some(now);
        let all = now - record.started_at.unwrap_or(now);
        record.recover = all.saturating_sub(record.identify);
        let die = record.die;
        self.event(now, EventKind::Repair { member: column, die, step: RepairStep::Done });
        let records = &self.repairs.records;
        let more = self.repairs.waiting.iter().any(|&(id, _)| records[id as usize].member == column);
        self.columns[column].excused = more;
        self.background.pump = true;
    }

    /// A member is complete again: recoveries that filled it are done, and the one that it was filled from leaves.
    pub(crate) fn member_complete(&mut self, now: Nanos, column: usize) {
        self.drop_donor(now, column);
        if let Some(id) = self.repairs.on(column).map(|repair| repair.id) {
            self.finish_repair(now, id);
        }
    }

    /// The member of a column leaves, or is replaced instead: recoveries of it end, but for those that it leaves for.
    pub(crate) fn abandon_repairs(&mut self, now: Nanos, column: usize) {
        let waiting = self.repairs.waiting.iter().map(|&(id, _)| id);
        let ids: Vec<u32> = waiting.chain(self.repairs.active.iter().map(|repair| repair.id)).collect();
        for id in ids {
            let record = self.repairs.record(id);
            if record.member != column || record.way == RepairWay::Rebuild && record.started_at.is_some() {
                continue;
            }
            (record.finished_at, record.abandoned) = (Some(now), true);
            let die = record.die;
            self.repairs.waiting.retain(|&(other, _)| other != id);
            self.repairs.active.retain(|repair| repair.id != id);
            self.event(now, EventKind::Repair { member: column, die, step: RepairStep::Abandoned });
            self.background.pump = true;
        }
    }

    /// Power was lost: members are asked again from the first range on. What has been recovered they no longer tell.
    pub(crate) fn repairs_after_power_cut(&mut self) {
        for repair in &mut self.repairs.active {
            self.repairs.records[repair.id as usize].resumed += 1;
            (repair.next, repair.ops, repair.last, repair.ranges_done) = (0, 0, None, 0);
            repair.flushing = false;
            repair.spans.clear();
            repair.asked.clear();
            repair.items.clear();
            (repair.missing, repair.written) = (RangeSet::default(), RangeSet::default());
        }
        for column in 0..self.donors.len() {
            self.ask_donor_again(column);
        }
    }
}
