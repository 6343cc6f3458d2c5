//! All that is served: the machine, its forks, and the clock that they share.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use outlast_device::Completion;
use outlast_units::{Bytes, Nanos};
use serde_json::Value;

use crate::clock::{Clock, monotonic};
use crate::control::{self, Outcome};
use crate::heap::Heap;
use crate::image::Image;
use crate::input::{Input, Power};
use crate::lateness::Lateness;
use crate::machine::{Machine, Refused};
use crate::protocol::{Abilities, BlockOp, BlockRequest, ExportFacts, ExportSizes, Offer, OfferError};
use crate::served::{Answers, Served};
use crate::session::{Backend, Front, Origin, Target};
use crate::work::Work;

/// What is served.
pub(crate) struct Service {
    /// The machine, which targets and the log call number 0, and its forks.
    pub(crate) machines: Vec<Served>,
    /// What is offered to a client that connects now.
    offer: Arc<Offer>,
    pub(crate) clock: Clock,
    /// The time of the turn.
    pub(crate) now: Nanos,
    pub(crate) answers: Answers,
    pub(crate) lateness: Lateness,
    /// Whether completions have been late for so long that somebody should know.
    is_overloaded: bool,
    /// When the power comes back, with force or without.
    pub(crate) power_on: Option<(Nanos, bool)>,
    completions: Vec<Completion>,
    heap: Heap,
}

impl Service {
    pub(crate) fn new(
        name: String,
        machine: Machine,
        image: Option<Box<Image>>,
        clock: Clock,
    ) -> Result<Self, OfferError> {
        let machines = vec![Served::new(name, machine, image)];
        let offer = offered(&machines)?;
        let now = machines[0].machine.now();
        Ok(Self {
            machines,
            offer,
            clock,
            now,
            answers: Vec::new(),
            lateness: Lateness::new(),
            is_overloaded: false,
            power_on: None,
            completions: Vec::new(),
            heap: Heap::new(),
        })
    }

    /// The machine whose inputs are recorded.
    pub(crate) fn main(&mut self) -> &mut Served {
        &mut self.machines[0]
    }

    /// Does all that is due now.
    fn do_due(&mut self) {
        if let Some((at, force)) = self.power_on
            && at <= self.now
        {
            self.power_on = None;
            // An array that does not start says so in its state, and may be started with force.
            let _ = self.power(at, Power::On { force });
        }
        let (clock, lateness, overloaded) = (&self.clock, &mut self.lateness, &mut self.is_overloaded);
        // Looked at once for all that is done in this turn, when something is.
        let mut wall = None;
        for served in &mut self.machines {
            served.advance(self.now, &mut self.completions, &mut self.answers, |at| {
                if let Some(due) = clock.wall_of(at) {
                    let wall = *wall.get_or_insert_with(monotonic);
                    let late = wall.saturating_sub(due);
                    *overloaded |= lateness.note(Nanos(late.as_nanos() as u64), wall);
                }
            });
        }
    }

    /// When something happens next by itself.
    fn next_at(&self) -> Option<Nanos> {
        let machines = self.machines.iter().filter_map(|served| served.machine.next_deadline());
        machines.chain(self.power_on.map(|(at, _)| at)).min()
    }

    /// Time leaps by `span`, and all that is due meanwhile is done.
    pub(crate) fn skip(&mut self, span: Nanos) {
        let end = Nanos(self.now.0.saturating_add(span.0)).min(self.main().machine.latest());
        self.clock.leap(end);
        self.now = self.clock.now();
        self.do_due();
    }

    /// The power of the machine goes or comes; what it is offered as goes with it.
    ///
    /// # Errors
    /// It cannot.
    pub(crate) fn power(&mut self, now: Nanos, power: Power) -> Result<(), Refused> {
        let done = self.main().apply(now, &Input::Power(power));
        self.renew_offer();
        done
    }

    /// A copy of the machine as it is now becomes an export of its own, if whoever has the clients can `accept` it.
    ///
    /// # Errors
    /// Why the name cannot be one.
    pub(crate) fn fork(
        &mut self,
        name: &str,
        cut: bool,
        accept: impl FnOnce(&Arc<Offer>) -> Result<(), OfferError>,
    ) -> Result<(), String> {
        let now = self.now;
        let fork = self.main().fork(name.to_owned(), now, cut).map_err(|refused| refused.to_string())?;
        self.machines.push(fork);
        match offered(&self.machines).and_then(|offer| accept(&offer).map(|()| offer)) {
            Ok(offer) => self.offer = offer,
            Err(error) => {
                self.machines.pop();
                return Err(error.to_string());
            }
        }
        Ok(())
    }

    /// What there is to be opened may have changed.
    fn renew_offer(&mut self) {
        if let Ok(offer) = offered(&self.machines) {
            self.offer = offer;
        }
    }

    /// All that can be opened while it has power: machines, then the members of the first.
    pub(crate) fn targets(&self) -> impl Iterator<Item = Target> + use<> {
        targets(&self.machines)
    }

    /// What an export is called.
    pub(crate) fn name_of(&self, target: Target) -> String {
        name_of(&self.machines, target)
    }
}

impl Backend for Service {
    fn offer(&self) -> &Arc<Offer> {
        &self.offer
    }

    fn open(&mut self, export: &str) -> Option<Target> {
        let target = self.targets().find(|&target| self.name_of(target) == export)?;
        self.machines[target.machine as usize].machine.is_up().then_some(target)
    }

    fn request(&mut self, target: Target, from: Origin, request: &BlockRequest<'_>) {
        if let BlockOp::Write { data, .. } = request.op {
            self.heap.keep(data.len());
        }
        let served = &mut self.machines[target.machine as usize];
        match target.member {
            None => served.request(self.now, from, request, &mut self.answers),
            Some(member) => served.ask_member(self.now, from, member, request, &mut self.answers),
        }
    }
}

/// Machines, then the members of the first: who opens none by name gets the first.
fn targets(machines: &[Served]) -> impl Iterator<Item = Target> + use<> {
    let members =
        (0..machines[0].machine.members()).map(|member| Target { machine: 0, member: Some(member) });
    (0..machines.len() as u32).map(Target::machine).chain(members)
}

fn name_of(machines: &[Served], target: Target) -> String {
    match target.member {
        None => machines[target.machine as usize].name.clone(),
        Some(member) => format!("member-{member}"),
    }
}

impl Work for Service {
    fn turn(&mut self) {
        self.now = self.clock.now();
        self.do_due();
    }

    fn settle(&mut self) {
        self.do_due();
    }

    fn leap(&mut self) {
        while self.answers.is_empty() && self.is_to_leap() {
            let Some(next) = self.next_at() else { return };
            self.clock.leap(next);
            self.now = next.max(self.now);
            self.do_due();
        }
    }

    fn is_to_leap(&self) -> bool {
        self.clock.leaps() && (self.power_on.is_some() || self.is_busy())
    }

    fn next(&self) -> Option<Duration> {
        self.next_at().and_then(|next| self.clock.wall_of(next))
    }

    fn is_busy(&self) -> bool {
        self.machines.iter().any(Served::is_busy)
    }

    fn answers(&mut self) -> &mut Answers {
        &mut self.answers
    }

    fn commit(&mut self, tells: bool) -> io::Result<()> {
        let now = self.now;
        self.main().commit(now, tells)
    }

    fn hear(&mut self, request: Value, is_own: bool, front: &mut Front) -> Outcome {
        control::answer(request, is_own, self, front)
    }

    fn tend(&mut self) -> Option<String> {
        if let Err(error) = self.main().tend() {
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

    fn hurry(&mut self) {
        self.clock.pause(false);
    }

    fn end(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        self.main().shut_down(now)
    }
}

/// The exports of machines that have power.
fn offered(machines: &[Served]) -> Result<Arc<Offer>, OfferError> {
    let up = targets(machines).filter(|target| machines[target.machine as usize].machine.is_up());
    let exports = up.map(|target| export(machines, target)).collect();
    Offer::new(exports).map(Arc::new)
}

fn export(machines: &[Served], target: Target) -> ExportFacts {
    let machine = &machines[target.machine as usize].machine;
    let identity = machine.identify();
    let reading = Abilities::PREFETCH | Abilities::STATUS;
    let writing = Abilities::WRITE | Abilities::TRIM | Abilities::ZEROES;
    let (description, size, abilities) = match target.member {
        None => (identity.model, identity.capacity, reading | writing),
        Some(member) => (format!("member {member}, as it is"), machine.member_capacity(), reading),
    };
    ExportFacts {
        name: name_of(machines, target),
        description,
        size,
        sizes: ExportSizes {
            preferred: Bytes(identity.optimal_io.0.next_power_of_two()),
            ..ExportSizes::default()
        },
        abilities,
    }
}
