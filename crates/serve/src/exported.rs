//! A device in service, with the requests of its clients.

mod at_once;
mod completions;
mod members;

use std::io;
use std::mem::take;

use outlast_device::{Command, Op, Tag};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

use crate::device::{RefusedInput, ServedDevice};
use crate::image::DeviceImage;
use crate::input::{DeviceInput, PowerChange};
use crate::pending::{CommandPurpose, IndexedPool, PendingCommand, ZeroingPool, ZoneReadPool};
use crate::protocol::{BlockOp, BlockReply, BlockRequest, DeviceNews, FailureKind};
use crate::recorder::InputRecorder;
use crate::session::RequestOrigin;
use crate::statistics::{CommandStatistics, NamespaceStatistics};
use crate::zeroing::RangeZeroing;
use crate::zone_reads::ZoneReads;

/// Longest range, in bytes, whose state one reply describes. The loop is single-threaded, so longer queries would hold up other clients; a
/// client asks again from the end of the reply.
pub(crate) const MAX_STATUS_BYTES: u64 = 256 << 20;

/// Replies that are ready, in order of completion.
pub(crate) type ReadyReplies = Vec<(RequestOrigin, BlockReply)>;

/// A device, its name, and its commands under way.
pub(crate) struct ExportedDevice {
    /// Name of the export.
    pub(crate) name: String,
    pub(crate) device: ServedDevice,
    /// Records all inputs of the device. Absent for forks, and if nothing is kept.
    image: Option<Box<DeviceImage>>,
    pub(crate) statistics: CommandStatistics,
    /// Statistics by namespace, if the device has several or one that is not the whole device.
    pub(crate) namespaces: Vec<NamespaceStatistics>,
    /// Set if something was recorded since the last commit.
    has_uncommitted: bool,
    /// Set if a flush, or a write with forced unit access, is among the replies that have not left.
    has_durable_reply: bool,
    /// Commands under way, by tag.
    pending: IndexedPool<PendingCommand>,
    zeroings: ZeroingPool,
    zone_reads: ZoneReadPool,
    /// Bytes of a zone, if the device has zones.
    zone_bytes: Option<u64>,
    /// Bytes of a mapping unit, the smallest range that is trimmed.
    unit: u64,
    /// Number of events of the device of which its clients know.
    reported_events: u64,
}

impl ExportedDevice {
    pub(crate) fn new(name: String, device: ServedDevice, image: Option<Box<DeviceImage>>) -> Self {
        let unit = device.identify().optimal_io.0;
        let zone_bytes = device.zone_list().map(|zones| zones.layout().size * SECTOR_BYTES);
        let reported_events = device.event_count();
        let namespaces = NamespaceStatistics::of(&device.scenario().namespace);
        // Commands that were under way in an opened image go on without a client; their tags are taken.
        let pending = IndexedPool::with_reserved(device.tags().map(|tag| tag.0));
        Self {
            name,
            device,
            image,
            statistics: CommandStatistics::new(),
            namespaces,
            has_uncommitted: false,
            has_durable_reply: false,
            pending,
            zeroings: ZeroingPool::default(),
            zone_reads: ZoneReadPool::default(),
            zone_bytes,
            unit,
            reported_events,
        }
    }

    /// An independent copy, not recorded. Commands under way continue in it without a client; with `cut` its power fails at `now` and returns
    /// at once.
    ///
    /// # Errors
    /// The device has no power.
    pub(crate) fn fork(&self, name: String, now: Nanos, cut: bool) -> Result<Self, RefusedInput> {
        if !self.device.is_up() {
            return Err(RefusedInput::Off);
        }
        let mut fork = Self::new(name, self.device.fork(), None);
        fork.pending.clone_from(&self.pending);
        fork.zeroings.clone_from(&self.zeroings);
        fork.zone_reads.clone_from(&self.zone_reads);
        fork.pending.iter_mut().for_each(|pending| pending.origin = RequestOrigin::NOBODY);
        if cut {
            fork.apply(now, &DeviceInput::Power(PowerChange::Cut { force: true }))?;
        }
        Ok(fork)
    }

    /// What the device, which has this number, tells unasked: its critical warning, if anything has happened to it since the last call.
    #[inline]
    pub(crate) fn take_news(&mut self, device: u32) -> Option<DeviceNews> {
        let events = self.device.event_count();
        let has_news = std::mem::replace(&mut self.reported_events, events) != events;
        let news =
            || DeviceNews { device, critical_warning: self.device.whole_health_log().critical_warning };
        has_news.then(news)
    }

    /// Number of commands of clients under way.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// Records an input, then gives it to the device. A refused input is recorded as well: a replay refuses it again.
    ///
    /// # Errors
    /// The device refuses the input.
    pub(crate) fn apply(&mut self, now: Nanos, input: &DeviceInput<'_>) -> Result<(), RefusedInput> {
        if let Some(image) = &mut self.image {
            image.record(now, input);
            self.has_uncommitted = true;
        }
        self.device.apply(now, input)
    }

    /// Shuts the device down as a host does: commands under way end, and the image is closed as clean.
    pub(crate) fn shut_down(&mut self, now: Nanos) -> io::Result<()> {
        match self.image.take() {
            Some(image) => image.shut_down(&mut self.device, now),
            None => self.device.check_contents(),
        }
    }

    /// Writes recorded inputs to the log, so that they survive the end of this process. With `has_replies` the time is written, too, since
    /// replies that are about to leave depend on it.
    pub(crate) fn commit(&mut self, now: Nanos, has_replies: bool) -> io::Result<()> {
        self.device.check_contents()?;
        let Some(image) = &mut self.image else { return Ok(()) };
        if take(&mut self.has_uncommitted) {
            image.commit()?;
        }
        if has_replies { image.acknowledge(now, take(&mut self.has_durable_reply)) } else { Ok(()) }
    }

    /// Begins a checkpoint of the image if one is due. Called between turns.
    ///
    /// # Errors
    /// The checkpoint could not be written; nothing is lost.
    #[inline]
    pub(crate) fn checkpoint_if_due(&mut self) -> io::Result<()> {
        self.image.as_mut().map_or(Ok(()), |image| image.checkpoint_if_due(&self.device))
    }

    /// Begins the request of a client.
    pub(crate) fn request(
        &mut self,
        now: Nanos,
        origin: RequestOrigin,
        request: &BlockRequest<'_>,
        replies: &mut ReadyReplies,
    ) {
        let (offset, length) = (request.offset, request.length.0);
        let command = |op, fua| Command {
            fua,
            ..Command::new(op, Lba(offset / SECTOR_BYTES), (length / SECTOR_BYTES) as u32)
        };
        match request.op {
            BlockOp::Read { limited_retry } => {
                let (mut purpose, mut read) = (CommandPurpose::Read, command(Op::Read, false));
                read.limited_retry = limited_retry;
                // NVMe refuses it before; other protocols have no zones that a read could not leave.
                let across = |zone| ZoneReads::new(offset, length, zone, limited_retry);
                if let Some(mut across) = self.zone_bytes.and_then(across) {
                    read = across.next().unwrap_or(read);
                    purpose = CommandPurpose::ReadAcross(self.zone_reads.insert(across));
                }
                self.submit(now, origin, purpose, read, &[], replies);
            }
            BlockOp::Write { data, fua, placement } => {
                let command = Command { placement, ..command(Op::Write, fua) };
                self.submit(now, origin, CommandPurpose::Single, command, data, replies);
            }
            BlockOp::Append { data, fua } => {
                self.submit(now, origin, CommandPurpose::Append, command(Op::Append, fua), data, replies);
            }
            BlockOp::ManageZone(action) => {
                let command = Command::manage_zone(action, Lba(offset / SECTOR_BYTES));
                self.submit(now, origin, CommandPurpose::Single, command, &[], replies);
            }
            BlockOp::Flush => {
                self.submit(now, origin, CommandPurpose::Single, command(Op::Flush, false), &[], replies);
            }
            BlockOp::Trim { fua } => {
                self.begin_zeroing(now, origin, RangeZeroing::trim(offset, length, self.unit, fua), replies);
            }
            BlockOp::WriteZeroes { fua, may_punch, fast } => {
                let zeroing = RangeZeroing::zero(offset, length, self.unit, may_punch, fua);
                if fast && zeroing.has_writes() {
                    replies.push((origin, BlockReply::Failed(FailureKind::SlowZeroes.into())));
                } else {
                    self.begin_zeroing(now, origin, zeroing, replies);
                }
            }
            BlockOp::LbaStatus => {
                self.submit(
                    now,
                    origin,
                    CommandPurpose::LbaStatus,
                    command(Op::LbaStatus, false),
                    &[],
                    replies,
                );
            }
            BlockOp::Prefetch
            | BlockOp::Status
            | BlockOp::Health(_)
            | BlockOp::Placement
            | BlockOp::UpdateHandle(_)
            | BlockOp::ListZones(_) => {
                let reply = self.answer_at_once(now, request);
                replies.push((origin, reply));
            }
        }
    }

    /// Gives a command of a client to the device.
    fn submit(
        &mut self,
        now: Nanos,
        origin: RequestOrigin,
        purpose: CommandPurpose,
        command: Command,
        data: &[u8],
        replies: &mut ReadyReplies,
    ) {
        let tag = self.register(now, origin, purpose, command);
        self.apply_command(now, tag, &DeviceInput::Command { tag, command, data }, replies);
    }

    /// Takes a tag for a command that the device is about to be given.
    fn register(
        &mut self,
        now: Nanos,
        origin: RequestOrigin,
        purpose: CommandPurpose,
        command: Command,
    ) -> Tag {
        Tag(self.pending.insert(PendingCommand { origin, purpose, command, submitted_at: now }))
    }

    /// Gives the device the command `tag`; its request fails if the device refuses it.
    fn apply_command(&mut self, now: Nanos, tag: Tag, input: &DeviceInput<'_>, replies: &mut ReadyReplies) {
        if self.apply(now, input).is_err()
            && let Some(pending) = self.pending.remove(tag.0)
        {
            // The power went off since the client connected; its connection is about to be closed.
            self.drop_rest(pending.purpose);
            replies.push((pending.origin, BlockReply::Failed(FailureKind::Unavailable.into())));
        }
    }

    /// Submits the first command of a trim or of zeroes.
    fn begin_zeroing(
        &mut self,
        now: Nanos,
        origin: RequestOrigin,
        mut zeroing: RangeZeroing,
        replies: &mut ReadyReplies,
    ) {
        let Some((command, data)) = zeroing.next() else {
            // A trim without a whole unit changes nothing.
            replies.push((origin, BlockReply::Done));
            return;
        };
        let purpose = if zeroing.is_empty() {
            CommandPurpose::Single
        } else {
            CommandPurpose::Zeroing(self.zeroings.insert(zeroing))
        };
        self.submit(now, origin, purpose, command, data, replies);
    }
}
