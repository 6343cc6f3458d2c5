//! A connection of a host: a queue behind the units of the transport.

mod units;

use std::collections::VecDeque;

use outlast_nvme::{DataTransfer, DeviceAnswer, HostQueue, NvmeStatus, QueueEvent, SubmissionEntry};

use crate::input::UnitInput;
use crate::output::UnitOutput;
use crate::pdu::{self, Digests};
use units::WrongUnit;

/// Output at which no more input is taken until some of it is sent.
const OUTPUT_LIMIT: usize = 4 << 20;
/// Types of the first SGL descriptor: data in the capsule, and data by the transport.
const IN_CAPSULE: u8 = 0x01;
const BY_TRANSPORT: u8 = 0x5A;

/// Progress of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkPhase {
    /// `ICReq` has not come yet.
    Greeting,
    /// Commands come.
    Open,
    /// The connection is of no use any more; output that is left is sent.
    Ended,
}

/// A command that waits to be begun, with the data that its capsule has brought.
#[derive(Debug)]
struct WaitingCommand {
    entry: SubmissionEntry,
    data: Vec<u8>,
    /// Set if the digest of the data is wrong.
    is_damaged: bool,
}

/// A command whose data comes in units of its own.
#[derive(Debug)]
struct DataFromHost {
    entry: SubmissionEntry,
    data: Vec<u8>,
    length: usize,
    is_damaged: bool,
}

/// The controller's side of one connection: bytes and answers in, requests to the device and bytes out.
///
/// **Input**: [`TcpConnection::space`] and [`TcpConnection::filled`]. **Events**: [`TcpConnection::poll`], until there is none. **Answers**, in any order:
/// [`TcpConnection::answer`]. **Output**: [`TcpConnection::output`] and [`TcpConnection::sent`]. After each of these there may be new events.
#[derive(Debug)]
pub struct TcpConnection {
    queue: HostQueue,
    phase: LinkPhase,
    digests: Digests,
    /// Alignment of data in units for the host, in bytes.
    alignment: usize,
    input: UnitInput,
    waiting: VecDeque<WaitingCommand>,
    /// Commands whose data has been asked for, by transfer tag.
    transfers: Vec<Option<DataFromHost>>,
    output: UnitOutput,
    allowed: u64,
    is_short: bool,
    is_shutting_down: bool,
    /// Bytes of commands that wait, and of data that was asked for.
    held: u64,
}

impl TcpConnection {
    /// The connection of a host that will connect `queue`.
    pub fn new(queue: HostQueue) -> Self {
        Self {
            queue,
            phase: LinkPhase::Greeting,
            digests: Digests::default(),
            alignment: 4,
            input: UnitInput::new(),
            waiting: VecDeque::new(),
            transfers: Vec::new(),
            output: UnitOutput::default(),
            allowed: u64::MAX,
            is_short: false,
            is_shutting_down: false,
            held: 0,
        }
    }

    /// Buffer for the next bytes. Empty while no input is wanted.
    pub fn space(&mut self) -> &mut [u8] {
        if self.wants_input() { self.input.space() } else { &mut [] }
    }

    /// Notes that the first `count` bytes of [`TcpConnection::space`] have been filled.
    pub fn filled(&mut self, count: usize) {
        self.input.filled(count);
    }

    /// True if input is wanted.
    pub fn wants_input(&self) -> bool {
        self.phase != LinkPhase::Ended && self.output.len() < OUTPUT_LIMIT
    }

    /// The next event.
    pub fn poll(&mut self) -> Option<QueueEvent<'_>> {
        // One unit after another, with all that it brings about, so that it does not matter how many have come at once.
        loop {
            self.begin_waiting();
            self.queue_ends();
            if self.queue.has_event() {
                return self.queue.poll();
            }
            if !self.wants_input() {
                return None;
            }
            match self.take_unit() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(wrong) => self.terminate(&wrong),
            }
        }
    }

    /// Takes the answer to a request.
    pub fn answer(&mut self, tag: u32, answer: DeviceAnswer) {
        self.queue.answer(tag, answer);
        self.queue_ends();
    }

    /// Notes the critical warning of the device's health log.
    pub fn report_warning(&mut self, critical_warning: u8) {
        self.queue.report_warning(critical_warning);
        self.queue_ends();
    }

    /// Number of requests in flight at the device.
    pub fn in_flight(&self) -> usize {
        self.queue.running()
    }

    /// Longest time in milliseconds for which the host may be silent, if it is limited.
    pub fn silence_limit(&self) -> Option<u64> {
        self.queue.silence_limit()
    }

    /// Output, in order.
    pub fn output(&self) -> impl Iterator<Item = &[u8]> {
        self.output.pieces()
    }

    /// Bytes of output.
    pub fn output_len(&self) -> usize {
        self.output.len()
    }

    /// Notes that the first `count` bytes of output were sent.
    pub fn sent(&mut self, count: usize) {
        self.output.sent(count);
    }

    /// Bytes held for the host: commands with their data, answers, output.
    pub fn held(&self) -> u64 {
        self.held + self.queue.held() + self.output.len() as u64
    }

    /// Limits the bytes held: commands wait until theirs fit, and at least one goes on in any case.
    pub fn allow(&mut self, bytes: u64) {
        self.allowed = bytes;
    }

    /// True if a command waits for a higher limit.
    pub fn is_short(&self) -> bool {
        self.is_short
    }

    /// Refuses further commands of I/O queues, since the server ends.
    pub fn shut_down(&mut self) {
        self.is_shutting_down = true;
    }

    /// True once the connection is of no use: output that is left is to be sent, then it is closed.
    pub fn is_ended(&self) -> bool {
        self.phase == LinkPhase::Ended
    }

    /// True if the controller of the queue is gone: the connection is to be closed at once.
    pub fn is_abandoned(&self) -> bool {
        self.queue.is_over()
    }

    /// Begins commands that wait, as far as memory is allowed.
    fn begin_waiting(&mut self) {
        self.is_short = false;
        while let Some(waiting) = self.waiting.front() {
            let transfer = self.queue.transfer(&waiting.entry);
            let cost = self.queue.cost(&waiting.entry, transfer).saturating_sub(waiting.data.len() as u64);
            // What waits takes memory, too, so it does not count as the one that goes on in any case.
            let others = self.held() - self.waiting_bytes();
            if others > 0 && self.held() + cost > self.allowed {
                self.is_short = true;
                return;
            }
            let Some(WaitingCommand { entry, data, is_damaged }) = self.waiting.pop_front() else { return };
            self.held -= data.len() as u64;
            if is_damaged {
                self.queue.refuse(&entry, NvmeStatus::TRANSIENT_TRANSPORT);
            } else if self.is_shutting_down && !self.queue.is_admin() {
                self.queue.refuse(&entry, NvmeStatus::NOT_READY);
            } else if let Err(status) = transfer.and_then(|transfer| self.begin(entry, transfer, data)) {
                self.queue.refuse(&entry, status);
            }
        }
    }

    fn waiting_bytes(&self) -> u64 {
        self.waiting.iter().map(|waiting| waiting.data.len() as u64).sum()
    }

    /// Begins a command, or asks for its data.
    fn begin(
        &mut self,
        entry: SubmissionEntry,
        transfer: DataTransfer,
        mut data: Vec<u8>,
    ) -> Result<(), NvmeStatus> {
        let (kind, length) = (entry.sgl_type(), entry.sgl_length());
        // The queue knows the commands that it has begun, not those whose data is on its way.
        let is_taken = |other: &DataFromHost| other.entry.command_id() == entry.command_id();
        if self.transfers.iter().flatten().any(is_taken) {
            return Err(NvmeStatus::ID_CONFLICT);
        }
        match transfer {
            DataTransfer::None => self.queue.begin(&entry, Vec::new()),
            // A descriptor may name more than the command moves: Linux describes a whole page with each Dataset Management.
            DataTransfer::FromHost(bytes) | DataTransfer::ToHost(bytes) if length < bytes => {
                return Err(NvmeStatus::SGL_LENGTH_INVALID);
            }
            DataTransfer::ToHost(_) if kind == BY_TRANSPORT => self.queue.begin(&entry, Vec::new()),
            DataTransfer::FromHost(bytes) if kind == BY_TRANSPORT => self.ask_for_data(entry, bytes as usize),
            DataTransfer::FromHost(bytes) if kind == IN_CAPSULE => {
                // The address is an offset into the data of the capsule.
                let offset = entry.sgl_address();
                let behind = (data.len() as u64).checked_sub(offset).ok_or(NvmeStatus::SGL_OFFSET_INVALID)?;
                if behind != u64::from(length) {
                    return Err(NvmeStatus::SGL_LENGTH_INVALID);
                }
                data.drain(..offset as usize);
                data.truncate(bytes as usize);
                self.queue.begin(&entry, data);
            }
            _ => return Err(NvmeStatus::SGL_TYPE_INVALID),
        }
        Ok(())
    }

    /// Asks for all data of a command at once: `length` bytes.
    fn ask_for_data(&mut self, entry: SubmissionEntry, length: usize) {
        let free = self.transfers.iter().position(Option::is_none);
        let tag = free.unwrap_or_else(|| {
            self.transfers.push(None);
            self.transfers.len() - 1
        });
        self.held += length as u64;
        let data = Vec::with_capacity(length);
        self.transfers[tag] = Some(DataFromHost { entry, data, length, is_damaged: false });
        let mut fields = [0; pdu::FIELD_BYTES];
        fields[..2].copy_from_slice(&entry.command_id().to_le_bytes());
        fields[2..4].copy_from_slice(&(tag as u16).to_le_bytes());
        fields[8..12].copy_from_slice(&(length as u32).to_le_bytes());
        self.send_unit(pdu::R2T, 0, fields, None);
    }

    /// Ends the connection for the unit at the front of the input.
    fn terminate(&mut self, wrong: &WrongUnit) {
        let unit = pdu::termination(wrong.error, &self.input.bytes()[..wrong.header]);
        self.output.push(&unit);
        self.end();
    }

    /// Ends the connection: what waits is not begun.
    fn end(&mut self) {
        self.phase = LinkPhase::Ended;
        self.waiting.clear();
        self.transfers.clear();
        self.held = 0;
    }
}
