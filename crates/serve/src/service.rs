//! The devices that a server serves: the main device, its forks, and the clock that they share.

mod forks;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use outlast_device::Completion;
use outlast_units::Nanos;
use serde_json::Value;

use crate::clock::{ServiceClock, monotonic};
use crate::control::{self, ControlReply};
use crate::device::{RefusedInput, ServedDevice};
use crate::exported::{ExportedDevice, ReadyReplies};
use crate::exports::{export_name, offer_of, targets};
use crate::heap::HeapReserve;
use crate::image::DeviceImage;
use crate::input::{DeviceInput, PowerChange};
use crate::lateness::ReplyLateness;
use crate::loop_service::LoopService;
use crate::protocol::{BlockOp, BlockRequest, DeviceNews, ExportOffer, OfferError};
use crate::session::{ClientSessions, ExportTarget, RequestOrigin, SessionBackend};

/// Under a virtual clock, one part in so many of the commands under way is answered together, for each answer takes system calls and wakes a client. It is
/// also how much of a client's queue depth its answers may lack.
const LEAP_SHARE: usize = 4;

/// Devices, their clock, and their replies.
pub(crate) struct DeviceService {
    /// The main device, whose inputs are recorded, at index 0; then its forks.
    pub(crate) devices: Vec<ExportedDevice>,
    /// Exports that are offered to a client that connects now.
    offer: Arc<ExportOffer>,
    pub(crate) clock: ServiceClock,
    /// Simulated time of the current turn.
    pub(crate) now: Nanos,
    /// Time at which the server ends by itself, and the later one beyond which the devices do nothing.
    end_of_service: Nanos,
    standstill: Nanos,
    pub(crate) replies: ReadyReplies,
    pub(crate) lateness: ReplyLateness,
    /// Set once replies have been late for so long that the user is to be warned.
    is_overloaded: bool,
    /// Time at which a power cut of limited length ends, and its `force` flag.
    pub(crate) power_returns: Option<(Nanos, bool)>,
    completions: Vec<Completion>,
    heap: HeapReserve,
}

impl DeviceService {
    pub(crate) fn new(
        name: String,
        device: ServedDevice,
        image: Option<Box<DeviceImage>>,
        clock: ServiceClock,
    ) -> Result<Self, OfferError> {
        let devices = vec![ExportedDevice::new(name, device, image)];
        let offer = offer_of(&devices)?;
        let device = &devices[0].device;
        let (now, end_of_service, standstill) = (device.now(), device.end_of_service(), device.standstill());
        Ok(Self {
            devices,
            offer,
            clock,
            now,
            end_of_service,
            standstill,
            replies: Vec::new(),
            lateness: ReplyLateness::new(),
            is_overloaded: false,
            power_returns: None,
            completions: Vec::new(),
            heap: HeapReserve::new(),
        })
    }

    /// The device whose inputs are recorded.
    pub(crate) fn main_device(&mut self) -> &mut ExportedDevice {
        &mut self.devices[0]
    }

    /// Advances all devices to the time of the turn, power that returns included.
    fn advance_devices(&mut self) {
        if let Some((at, force)) = self.power_returns
            && at <= self.now
        {
            self.power_returns = None;
            // An array that does not start shows so in its state, and can be started with force.
            let _ = self.change_power(at, PowerChange::On { force });
        }
        let (clock, lateness, overloaded) = (&self.clock, &mut self.lateness, &mut self.is_overloaded);
        // The system's clock is read once for all completions of a turn, and only if there is one.
        let mut wall = None;
        for exported in &mut self.devices {
            exported.advance(self.now, &mut self.completions, &mut self.replies, |at| {
                if let Some(due) = clock.wall_of(at) {
                    let wall = *wall.get_or_insert_with(monotonic);
                    let late = wall.saturating_sub(due);
                    *overloaded |= lateness.record(Nanos(late.as_nanos() as u64), wall);
                }
            });
        }
    }

    /// Simulated time of the next event; `None` if nothing happens by itself.
    fn next_event(&self) -> Option<Nanos> {
        let devices = self.devices.iter().filter_map(|exported| exported.device.next_deadline());
        devices.chain(self.power_returns.map(|(at, _)| at)).min()
    }

    /// Number of commands of clients under way.
    #[inline]
    fn in_flight(&self) -> usize {
        self.devices.iter().map(ExportedDevice::in_flight).sum()
    }

    /// Moves a virtual clock to the next event, at `next`; where there is one device alone, on to its next completion.
    fn leap_to_event(&mut self, next: Nanos) {
        let Self { devices, completions, replies, .. } = self;
        match &mut devices[..] {
            [exported] if self.power_returns.is_none() => {
                let reached = exported.advance_to_completion(completions, replies);
                self.clock.leap(reached);
                self.now = reached.max(self.now);
            }
            _ => {
                self.clock.leap(next);
                self.now = next.max(self.now);
                self.advance_devices();
            }
        }
    }

    /// The time `span` from now.
    ///
    /// # Errors
    /// The device is not simulated for so long.
    pub(crate) fn time_after(&self, span: Nanos) -> Result<Nanos, String> {
        let (end, latest) = (Nanos(self.now.0.saturating_add(span.0)), self.devices[0].device.latest());
        if end > latest {
            return Err(format!("it is {} already; this machine is simulated until {latest}", self.now));
        }
        Ok(end)
    }

    /// Moves time forward to `end`, with everything that is due meanwhile.
    pub(crate) fn leap_to(&mut self, end: Nanos) {
        self.clock.leap(end);
        self.now = self.clock.now();
        self.advance_devices();
    }

    /// Changes the power of the main device; exports appear and disappear with it.
    ///
    /// # Errors
    /// The device refuses the change.
    pub(crate) fn change_power(&mut self, now: Nanos, power: PowerChange) -> Result<(), RefusedInput> {
        let outcome = self.main_device().apply(now, &DeviceInput::Power(power));
        self.refresh_offer();
        outcome
    }

    /// All exports while their devices have power: devices, then the members of the main device.
    pub(crate) fn targets(&self) -> impl Iterator<Item = ExportTarget> + use<> {
        targets(&self.devices)
    }

    /// Name of an export.
    pub(crate) fn export_name(&self, target: ExportTarget) -> String {
        export_name(&self.devices, target)
    }
}

impl SessionBackend for DeviceService {
    fn offer(&self) -> &Arc<ExportOffer> {
        &self.offer
    }

    fn open(&mut self, export: &str) -> Option<ExportTarget> {
        let target = self.targets().find(|&target| self.export_name(target) == export)?;
        self.devices[target.device as usize].device.is_up().then_some(target)
    }

    fn request(&mut self, target: ExportTarget, origin: RequestOrigin, request: &BlockRequest<'_>) {
        if let BlockOp::Write { data, .. } | BlockOp::Append { data, .. } = request.op {
            self.heap.reserve(data.len());
        }
        let exported = &mut self.devices[target.device as usize];
        match target.member {
            None => exported.request(self.now, origin, request, &mut self.replies),
            Some(member) => exported.request_member(self.now, origin, member, request, &mut self.replies),
        }
    }
}

impl LoopService for DeviceService {
    fn begin_turn(&mut self) {
        self.now = self.clock.now();
        self.advance_devices();
    }

    fn do_due(&mut self) {
        self.advance_devices();
    }

    fn leap(&mut self) {
        if !self.replies.is_empty() {
            return;
        }
        // Stops soon: clients may send more before time moves on.
        let enough = (self.in_flight() / LEAP_SHARE).max(1);
        while self.replies.len() < enough && self.needs_leap() {
            let Some(next) = self.next_event() else { return };
            self.leap_to_event(next);
        }
    }

    fn needs_leap(&self) -> bool {
        // Nothing would come of it at a standstill.
        let can_move = self.clock.leaps() && self.now < self.standstill;
        can_move && (self.power_returns.is_some() || self.is_busy())
    }

    fn next_deadline(&self) -> Option<Duration> {
        let end = self.end_of_service;
        self.clock.wall_of(self.next_event().map_or(end, |next| next.min(end)))
    }

    fn is_busy(&self) -> bool {
        self.in_flight() != 0
    }

    fn replies(&mut self) -> &mut ReadyReplies {
        &mut self.replies
    }

    fn take_news(&mut self, news: &mut Vec<DeviceNews>) {
        let devices = (0..).zip(&mut self.devices);
        news.extend(devices.filter_map(|(number, exported)| exported.take_news(number)));
    }

    fn commit(&mut self, has_replies: bool) -> io::Result<()> {
        let now = self.now;
        self.main_device().commit(now, has_replies)
    }

    fn carry_out(&mut self, request: Value, is_internal: bool, clients: &mut ClientSessions) -> ControlReply {
        control::handle_request(request, is_internal, self, clients)
    }

    fn maintain(&mut self) -> Option<String> {
        if let Err(error) = self.main_device().checkpoint_if_due() {
            return Some(format!(
                "no checkpoint could be made, and the log of the image goes on growing: {error}"
            ));
        }
        std::mem::take(&mut self.is_overloaded).then(|| {
            format!(
                "the server cannot keep up: replies have been more than a second late for ten seconds (now at {}); \
                 a --speed below 1 gives it more time",
                self.now
            )
        })
    }

    fn end_reason(&self) -> Option<String> {
        let is_over = self.now >= self.end_of_service;
        is_over.then(|| {
            let latest = self.devices[0].device.latest();
            RefusedInput::BeyondHorizon { now: self.now, latest }.to_string()
        })
    }

    fn resume_time(&mut self) {
        self.clock.pause(false);
    }

    fn shut_down(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.main_device().shut_down(now)
    }
}
