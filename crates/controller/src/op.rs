//! Purposes of flash operations.

use crate::commands::HostRequestId;
use outlast_ftl::ReadCause;
use outlast_units::slab::NIL;
use outlast_units::{CoreId, DieId, Lpn, ModeId, Pu};

pub use outlast_flash::InternalTask;

/// What a flash operation does and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum OpKind {
    /// Read for the host.
    HostRead,
    /// Read of the old data of a partly written unit.
    RmwRead,
    /// Read of a victim's valid units; the relocation's index in the core.
    RelocationRead,
    /// Program of host data.
    HostProgram,
    /// Program of relocated data.
    RelocationProgram,
    /// Erasure of a victim's block(s) on one lane.
    Erase,
    /// Read of a member of a stripe, to rebuild another.
    StripeRead,
    /// Read that only looks how many bits are wrong.
    PatrolRead,
    /// Read of the first page of a block, to see whether its die has failed.
    ProbeRead,
    /// Read of what lists the owners of a failed die's units.
    ListRead,
    /// Read of a unit that another core is to hold.
    MoveRead,
    /// Read of a page of the mapping table, for units of the host that wait for it.
    MapRead,
}

/// How far down the recovery ladder a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum Rung {
    /// ECC, then re-reads.
    Rereads,
    /// The stripe could not give the data either: the re-reads that were left out before.
    LastRereads,
}

/// The part of a host command that falls on one mapping unit.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct UnitWork {
    /// The command.
    pub request: HostRequestId,
    /// Unit, as its flash core numbers it.
    pub lpn: Lpn,
    /// First sector within the unit, and how many.
    pub first: u16,
    /// Number of sectors.
    pub sectors: u16,
    /// What it has gone through, where that is kept and has been set apart.
    pub story: u32,
}

impl UnitWork {
    /// `sectors` sectors of unit `lpn` from `first` on, for `request`.
    #[inline]
    pub fn new(request: HostRequestId, lpn: Lpn, first: u16, sectors: u16) -> Self {
        Self { request, lpn, first, sectors, story: NIL }
    }
}

/// What an operation in the flash room is for.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct Purpose {
    /// Program unit (number over the core).
    pub pu: Pu,
    /// Of a program: its flush epoch, or its victim's. Of a read with a `record`: where it stands. Of a host read without: the request.
    pub cookie: u32,
    /// Purpose.
    pub kind: OpKind,
    /// Internal task that it belongs to, of operations of the drive itself.
    pub task: InternalTask,
    /// True if the drive keeps a record of it: reads that carry more than a request, and those that a sensing has failed.
    pub has_record: bool,
}

impl Purpose {
    /// The program of `pu`, for flush epoch or victim `epoch`.
    #[inline]
    pub fn program(kind: OpKind, task: InternalTask, pu: Pu, epoch: u32) -> Self {
        debug_assert!(matches!(kind, OpKind::HostProgram | OpKind::RelocationProgram), "{kind:?}");
        Self { pu, cookie: epoch, kind, task, has_record: false }
    }

    /// The host's request that an operation reads for, which has no record.
    #[inline]
    pub fn request(self) -> HostRequestId {
        debug_assert!(self.kind == OpKind::HostRead && !self.has_record, "{self:?} is for no request");
        HostRequestId(self.cookie)
    }

    /// A read for `task` of valid units of victim's program unit `pu`.
    #[inline]
    pub(crate) fn relocation_read(task: InternalTask, pu: Pu) -> Self {
        Self { pu, cookie: 0, kind: OpKind::RelocationRead, task, has_record: false }
    }
}

/// What the drive knows of a flash operation. Reads that carry more than a tag holds have it as a record while they are in the flash
/// room; of all other operations it is made when they end.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct Op {
    /// Purpose.
    pub kind: OpKind,
    /// Internal task that it belongs to, of operations of the drive itself.
    pub task: InternalTask,
    /// Flash core that it belongs to.
    pub core: CoreId,
    /// Units that carry data: of a program, how many host or relocated units; of a read, how many are wanted.
    pub units: u16,
    /// Program unit (number over the core).
    pub pu: Pu,
    /// Bit mask of units read.
    pub mask: u64,
    /// Of these, the ones that the last sensing did not get; before it, all.
    pub failing: u64,
    /// Step of the sensing: 0 is the plain read, every re-read is one further.
    pub step: u16,
    /// Re-reads made.
    pub(crate) rereads: u16,
    /// True if what the last sensing gave has been through the decoder.
    pub(crate) decoded: bool,
    /// How far down the ladder a read has come.
    pub(crate) rung: Rung,
    /// The recovery that a stripe read belongs to.
    pub recovery: u32,
    /// Flush epoch of a host program.
    pub epoch: u32,
    /// Of a read of lists: the failed die whose units they name.
    pub lists_of: Option<DieId>,
    /// Part of a command that it is for.
    pub work: UnitWork,
}

impl Op {
    /// An operation of no command's unit, carrying nothing yet.
    pub fn new(kind: OpKind, task: InternalTask, core: CoreId, pu: Pu) -> Self {
        let work = UnitWork::new(HostRequestId::NONE, Lpn::NONE, 0, 0);
        Self {
            kind,
            task,
            core,
            units: 0,
            pu,
            mask: 0,
            failing: 0,
            step: 0,
            rereads: 0,
            decoded: false,
            rung: Rung::Rereads,
            recovery: NIL,
            epoch: 0,
            lists_of: None,
            work,
        }
    }

    /// What `tag` says of an operation of `core` without a record, whose `units` carry data.
    #[inline]
    pub(crate) fn of_tag(tag: Purpose, core: CoreId, units: u32, mask: u64) -> Self {
        let mut op = Self { units: units as u16, mask, ..Self::new(tag.kind, tag.task, core, tag.pu) };
        if tag.kind == OpKind::HostRead {
            op.work.request = tag.request();
        } else {
            op.epoch = tag.cookie;
        }
        op
    }

    /// The tag of an operation without a record.
    #[inline]
    pub fn tag(&self) -> Purpose {
        let cookie = if self.kind == OpKind::HostRead { self.work.request.0 } else { self.epoch };
        Purpose { pu: self.pu, cookie, kind: self.kind, task: self.task, has_record: false }
    }

    /// True if its tag says it all, as long as no sensing fails.
    #[inline]
    pub(crate) fn fits_a_tag(&self) -> bool {
        match self.kind {
            OpKind::HostRead | OpKind::RelocationRead => {
                self.failing == 0 && self.recovery == NIL && self.work.story == NIL
            }
            kind => !kind.is_read(),
        }
    }

    /// Units that it has to sense: what the last sensing did not get, or all.
    #[inline]
    pub fn wanted(&self) -> u64 {
        if self.failing == 0 { self.mask } else { self.failing }
    }

    /// Why its pages are read.
    pub fn cause(&self) -> ReadCause {
        if self.rereads != 0 { ReadCause::Reread } else { self.kind.cause(self.task) }
    }
}

impl OpKind {
    /// True if data comes from the die.
    #[inline]
    pub fn is_read(self) -> bool {
        !matches!(self, Self::HostProgram | Self::RelocationProgram | Self::Erase)
    }

    /// Why a read of this kind, not one again, is made of a superblock in `mode`.
    #[inline]
    pub fn cause_in(self, task: InternalTask, mode: ModeId) -> ReadCause {
        match self.cause(task) {
            ReadCause::Gc if mode != ModeId::FIRST => ReadCause::Fold,
            cause => cause,
        }
    }

    /// Why a read of this kind, not one again, is made of a superblock in the first mode.
    #[inline]
    pub fn cause(self, task: InternalTask) -> ReadCause {
        match (self, task) {
            (Self::HostRead, _) => ReadCause::Host,
            (Self::RmwRead, _) => ReadCause::Rmw,
            (Self::StripeRead, _) => ReadCause::Stripe,
            (Self::PatrolRead, _) => ReadCause::Patrol,
            (Self::MoveRead, _) => ReadCause::Migration,
            (Self::ProbeRead, _) => ReadCause::Probe,
            (Self::ListRead, _) => ReadCause::Lists,
            (Self::MapRead, _) => ReadCause::Map,
            (_, InternalTask::Gc) => ReadCause::Gc,
            (_, InternalTask::WearLeveling) => ReadCause::WearLeveling,
            (_, InternalTask::Scrub) => ReadCause::Scrub,
        }
    }
}
