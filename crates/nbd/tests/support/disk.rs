//! A device in memory for what the crate asks: bytes, and what is known of each sector.

use outlast_nbd::{
    ErrorCode, MetaContext, NbdCommand, NbdConnection, NbdRequest, ReadPart, ReplyFailure, RequestId,
    StatusExtent, allocation, health,
};
use outlast_units::Bytes;

/// Bytes of a sector.
pub(crate) const SECTOR: u64 = 512;
const MAPPED: u8 = 1;
const LOST: u8 = 2;
const VOLATILE: u8 = 4;

/// The device.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    /// What it stores.
    pub(crate) bytes: Vec<u8>,
    sectors: Vec<u8>,
}

/// What it answers.
#[derive(Clone, Debug)]
pub(crate) enum DiskAnswer {
    Done,
    Data(Vec<u8>),
    Runs(Vec<Run>),
    Extents(Vec<(MetaContext, Vec<StatusExtent>)>),
    Fail(ReplyFailure<'static>),
}

/// A part of a read.
#[derive(Clone, Debug)]
pub(crate) enum Run {
    Data(Vec<u8>),
    Zero(u32),
    Failed(u32),
}

impl Disk {
    pub(crate) fn new(size: u64) -> Self {
        Self { bytes: vec![0; size as usize], sectors: vec![0; (size / SECTOR) as usize] }
    }

    /// Loses the sectors of a range: reading them fails until they are written.
    pub(crate) fn lose(&mut self, offset: u64, length: u64) {
        self.sectors(offset, length).iter_mut().for_each(|sector| *sector |= LOST);
    }

    /// Whether the byte's sector is lost.
    pub(crate) fn is_lost(&self, at: u64) -> bool {
        self.sectors[(at / SECTOR) as usize] & LOST != 0
    }

    fn sectors(&mut self, offset: u64, length: u64) -> &mut [u8] {
        &mut self.sectors[(offset / SECTOR) as usize..][..(length / SECTOR) as usize]
    }

    /// Does what is asked.
    pub(crate) fn answer(&mut self, request: &NbdRequest<'_>) -> DiskAnswer {
        let (offset, length) = (request.offset, request.length.0);
        let range = offset as usize..(offset + length) as usize;
        match request.command {
            NbdCommand::Read => return self.read(offset, length),
            NbdCommand::Write { data, fua } => {
                self.bytes[range].copy_from_slice(data);
                self.sectors(offset, length).fill(MAPPED | if fua { 0 } else { VOLATILE });
            }
            NbdCommand::Trim { .. } => {
                self.bytes[range].fill(0);
                self.sectors(offset, length).fill(0);
            }
            NbdCommand::WriteZeroes { may_punch: false, fast: true, .. } => {
                return DiskAnswer::Fail(ErrorCode::NotSup.into());
            }
            NbdCommand::WriteZeroes { may_punch, .. } => {
                self.bytes[range].fill(0);
                self.sectors(offset, length).fill(if may_punch { 0 } else { MAPPED });
            }
            NbdCommand::Flush => self.sectors.iter_mut().for_each(|sector| *sector &= !VOLATILE),
            NbdCommand::Cache => {}
            NbdCommand::Status { contexts, .. } => {
                let about = |context| (context, self.extents(context, offset, length));
                return DiskAnswer::Extents(contexts.iter().map(about).collect());
            }
        }
        DiskAnswer::Done
    }

    fn read(&self, offset: u64, length: u64) -> DiskAnswer {
        let sectors = &self.sectors[(offset / SECTOR) as usize..][..(length / SECTOR) as usize];
        if sectors.iter().all(|sector| sector & (LOST | MAPPED) == MAPPED) {
            return DiskAnswer::Data(self.bytes[offset as usize..][..length as usize].to_vec());
        }
        let mut at = offset as usize;
        let runs = sectors.chunk_by(|a, b| (a ^ b) & (LOST | MAPPED) == 0).map(|run| {
            let length = run.len() * SECTOR as usize;
            let run = match run[0] & (LOST | MAPPED) {
                MAPPED => Run::Data(self.bytes[at..][..length].to_vec()),
                0 => Run::Zero(length as u32),
                _ => Run::Failed(length as u32),
            };
            at += length;
            run
        });
        DiskAnswer::Runs(runs.collect())
    }

    /// What is known from `offset` on, of one context.
    pub(crate) fn extents(&self, context: MetaContext, offset: u64, length: u64) -> Vec<StatusExtent> {
        let flags = |sector: u8| match context {
            MetaContext::Allocation if sector & (MAPPED | LOST) == 0 => allocation::HOLE | allocation::ZERO,
            MetaContext::Allocation => 0,
            MetaContext::Health => {
                let lost = if sector & LOST != 0 { health::LOST } else { 0 };
                lost | if sector & VOLATILE != 0 { health::VOLATILE } else { 0 }
            }
        };
        let sectors = &self.sectors[(offset / SECTOR) as usize..][..(length / SECTOR) as usize];
        let runs = sectors.chunk_by(|&a, &b| flags(a) == flags(b));
        runs.map(|run| StatusExtent { length: Bytes(run.len() as u64 * SECTOR), flags: flags(run[0]) })
            .collect()
    }
}

impl DiskAnswer {
    /// Hands the answer back.
    pub(crate) fn give(self, connection: &mut NbdConnection, id: RequestId) {
        match self {
            Self::Done => connection.done(id),
            Self::Data(data) => connection.read(id, data),
            Self::Runs(runs) => {
                let parts: Vec<ReadPart<'_>> = runs.iter().map(Run::part).collect();
                connection.read_parts(id, &parts);
            }
            Self::Extents(answers) => {
                let answers: Vec<_> =
                    answers.iter().map(|(context, extents)| (*context, &extents[..])).collect();
                connection.extents(id, &answers);
            }
            Self::Fail(failure) => connection.fail(id, failure),
        }
    }
}

impl Run {
    fn part(&self) -> ReadPart<'_> {
        match self {
            Self::Data(data) => ReadPart::Data(data),
            Self::Zero(length) => ReadPart::Zero(*length),
            Self::Failed(length) => ReadPart::Failed(*length, ErrorCode::Io),
        }
    }
}
