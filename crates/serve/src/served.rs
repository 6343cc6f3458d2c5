//! A machine in service, with what its clients ask of it.

use std::io;
use std::mem::take;

use outlast_device::{Command, Completion, Op, Outcome, Tag};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

use crate::image::Image;
use crate::input::{Input, Power};
use crate::machine::{Machine, Refused};
use crate::operations::Operations;
use crate::pending::{Jobs, Pending, Places, Work};
use crate::protocol::{Answer, BlockOp, BlockRequest, FailureKind, RequestFailure};
use crate::recorder::Recorder;
use crate::session::Origin;
use crate::zeroing::Zeroing;

/// Bytes that are looked at for one answer: a client asks on from where an answer ends, and the loop has other clients.
pub(crate) const LOOKED_AT: u64 = 256 << 20;

/// Answers that are ready, in the order in which they became so.
pub(crate) type Answers = Vec<(Origin, Answer)>;

/// A machine, its name, and its commands under way.
pub(crate) struct Served {
    /// The export.
    pub(crate) name: String,
    pub(crate) machine: Machine,
    /// Keeps all that changes the machine, if anything does.
    image: Option<Box<Image>>,
    pub(crate) operations: Operations,
    /// Whether something was recorded since the last commitment.
    has_news: bool,
    /// Whether a flush, or a write with forced unit access, is among the answers that have not left.
    is_durable: bool,
    pending: Places<Pending>,
    jobs: Jobs,
    /// Bytes of a unit: what is trimmed at least.
    unit: u64,
}

impl Served {
    pub(crate) fn new(name: String, machine: Machine, image: Option<Box<Image>>) -> Self {
        let unit = machine.identify().optimal_io.0;
        // What was under way in the past that is looked at goes on for nobody.
        let pending = Places::without(machine.tags().map(|tag| tag.0));
        Self {
            name,
            machine,
            image,
            operations: Operations::new(),
            has_news: false,
            is_durable: false,
            pending,
            jobs: Jobs::default(),
            unit,
        }
    }

    /// A copy that goes its own way. What is under way goes on in it, too, for nobody; with `cut` its power is cut at once, and is back.
    ///
    /// # Errors
    /// The machine has no power.
    pub(crate) fn fork(&self, name: String, now: Nanos, cut: bool) -> Result<Self, Refused> {
        if !self.machine.is_up() {
            return Err(Refused::Off);
        }
        let mut fork = Self::new(name, self.machine.fork(), None);
        fork.pending.clone_from(&self.pending);
        fork.jobs.clone_from(&self.jobs);
        fork.pending.iter_mut().for_each(|pending| pending.from = Origin::NOBODY);
        if cut {
            fork.apply(now, &Input::Power(Power::Cut { force: true }))?;
        }
        Ok(fork)
    }

    /// Whether clients wait for something.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.pending.len() > 0
    }

    /// Something happens to the machine: recorded, then done. A refusal is recorded, too, and repeats itself.
    ///
    /// # Errors
    /// Why it cannot happen.
    pub(crate) fn apply(&mut self, now: Nanos, input: &Input<'_>) -> Result<(), Refused> {
        if let Some(image) = &mut self.image {
            image.record(now, input);
            self.has_news = true;
        }
        self.machine.apply(now, input)
    }

    /// The server ends, as a host that shuts down: what is under way is done, and a machine that is kept has all that it was given.
    pub(crate) fn shut_down(&mut self, now: Nanos) -> io::Result<()> {
        match self.image.take() {
            Some(image) => image.shut_down(&mut self.machine, now),
            None => self.machine.check_contents(),
        }
    }

    /// What was recorded is put where a sudden end of this process does not lose it, and the time with it where something that `tells`
    /// of it is about to leave.
    pub(crate) fn commit(&mut self, now: Nanos, tells: bool) -> io::Result<()> {
        self.machine.check_contents()?;
        let Some(image) = &mut self.image else { return Ok(()) };
        if take(&mut self.has_news) {
            image.commit()?;
        }
        if tells { image.acknowledge(now, take(&mut self.is_durable)) } else { Ok(()) }
    }

    /// Between two turns: what is kept stays within bounds.
    ///
    /// # Errors
    /// It could not be made smaller; nothing is lost.
    #[inline]
    pub(crate) fn tend(&mut self) -> io::Result<()> {
        self.image.as_mut().map_or(Ok(()), |image| image.tend(&self.machine))
    }

    /// A client asks.
    pub(crate) fn request(
        &mut self,
        now: Nanos,
        from: Origin,
        request: &BlockRequest<'_>,
        answers: &mut Answers,
    ) {
        let (offset, length) = (request.offset, request.length.0);
        let command = |op, fua| Command {
            fua,
            ..Command::new(op, Lba(offset / SECTOR_BYTES), (length / SECTOR_BYTES) as u32)
        };
        match request.op {
            BlockOp::Read => self.submit(now, from, Work::Read, command(Op::Read, false), &[], answers),
            BlockOp::Write { data, fua } => {
                self.submit(now, from, Work::Other, command(Op::Write, fua), data, answers);
            }
            BlockOp::Flush => self.submit(now, from, Work::Other, command(Op::Flush, false), &[], answers),
            BlockOp::Trim { fua } => {
                self.begin(now, from, Zeroing::trim(offset, length, self.unit, fua), answers);
            }
            BlockOp::WriteZeroes { fua, may_punch, fast } => {
                let zeroing = Zeroing::zero(offset, length, self.unit, may_punch, fua);
                if fast && zeroing.has_writes() {
                    answers.push((from, Answer::Failed(FailureKind::SlowZeroes.into())));
                } else {
                    self.begin(now, from, zeroing, answers);
                }
            }
            BlockOp::Prefetch => answers.push((from, Answer::Done)),
            BlockOp::Status => {
                let sectors = length.min(LOOKED_AT) / SECTOR_BYTES;
                let known = self.machine.extents(Lba(offset / SECTOR_BYTES), sectors);
                answers.push((from, Answer::Extents(known)));
            }
        }
    }

    /// Hands a command to the machine.
    fn submit(
        &mut self,
        now: Nanos,
        from: Origin,
        work: Work,
        command: Command,
        data: &[u8],
        answers: &mut Answers,
    ) {
        let tag = self.note(now, from, work, command);
        self.give(now, tag, &Input::Command { tag, command, data }, answers);
    }

    /// The name of a command that is about to be given to the machine.
    pub(crate) fn note(&mut self, now: Nanos, from: Origin, work: Work, command: Command) -> Tag {
        Tag(self.pending.put(Pending { from, work, command, since: now }))
    }

    /// Gives the machine what `tag` names.
    pub(crate) fn give(&mut self, now: Nanos, tag: Tag, input: &Input<'_>, answers: &mut Answers) {
        if self.apply(now, input).is_err()
            && let Some(pending) = self.pending.take(tag.0)
        {
            // The power went off since the client came; its connection is about to be closed.
            self.drop_job(pending.work);
            answers.push((pending.from, Answer::Failed(FailureKind::Unavailable.into())));
        }
    }

    /// Begins a trim or zeroes.
    fn begin(&mut self, now: Nanos, from: Origin, mut zeroing: Zeroing, answers: &mut Answers) {
        let Some((command, data)) = zeroing.next() else {
            answers.push((from, Answer::Done));
            return;
        };
        let work = if zeroing.is_empty() { Work::Other } else { Work::Piece(self.jobs.put(zeroing)) };
        self.submit(now, from, work, command, data, answers);
    }

    /// Does what is due at `now`; `done` is told of each command that has ended.
    pub(crate) fn advance(
        &mut self,
        now: Nanos,
        completions: &mut Vec<Completion>,
        answers: &mut Answers,
        mut done: impl FnMut(Nanos),
    ) {
        if self.machine.next_deadline().is_none_or(|next| next > now) {
            return;
        }
        self.machine.advance(now, completions);
        for completion in completions.drain(..) {
            done(completion.at);
            self.end(now, completion, answers);
        }
    }

    /// A command has ended.
    fn end(&mut self, now: Nanos, completion: Completion, answers: &mut Answers) {
        let Some(pending) = self.pending.take(completion.tag.0) else {
            self.machine.forget(completion.tag);
            return;
        };
        let Pending { from, work, command, since } = pending;
        let (outcome, bytes) = (completion.outcome, u64::from(command.sectors) * SECTOR_BYTES);
        if work != Work::Member {
            self.operations.note(command.op, bytes, completion.at.saturating_sub(since), outcome);
        }
        self.is_durable |= command.fua || command.op == Op::Flush;
        let answer = match outcome {
            Outcome::Ok => self.good(now, completion, pending, answers),
            // Power has failed: nobody is there to be told.
            Outcome::Aborted => {
                self.drop_job(work);
                None
            }
            Outcome::MediumError => {
                let failed = self.machine.take_failed(completion.tag).unwrap_or_default();
                let at = failed.first().map(|run| run.lba.0 * SECTOR_BYTES);
                Some(Answer::Failed(RequestFailure {
                    kind: FailureKind::Unreadable,
                    at,
                    text: "data is lost",
                }))
            }
            Outcome::ReadOnly => Some(Answer::Failed(RequestFailure {
                kind: FailureKind::ReadOnly,
                at: None,
                text: "too few good blocks or members are left: no writes are taken there",
            })),
            Outcome::OutOfRange => Some(Answer::Failed(FailureKind::OutOfRange.into())),
        };
        if let Some(answer) = answer {
            self.drop_job(work);
            answers.push((from, answer));
        }
    }

    /// A request is answered: what is left of it is not done.
    fn drop_job(&mut self, work: Work) {
        if let Work::Piece(job) = work {
            self.jobs.take(job);
        }
    }

    /// The answer to what went well, if nothing is left to be done for it.
    fn good(
        &mut self,
        now: Nanos,
        completion: Completion,
        pending: Pending,
        answers: &mut Answers,
    ) -> Option<Answer> {
        match pending.work {
            Work::Read | Work::Member => {
                let data = self.machine.take_data(completion.tag);
                Some(Answer::Data(data.expect("a machine in service keeps bytes")))
            }
            Work::Other => Some(Answer::Done),
            Work::Piece(job) => {
                let next = self.jobs.get_mut(job).and_then(Zeroing::next);
                let Some((command, data)) = next else { return Some(Answer::Done) };
                self.submit(now, pending.from, pending.work, command, data, answers);
                None
            }
        }
    }
}
