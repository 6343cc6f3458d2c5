//! Instants that leave the same, together.

use super::cut::{After, power_fails};
use super::look::{Looks, Seen};
use super::replay::Replay;
use super::what::What;
use crate::error::TortureError;
use crate::history::History;
use crate::id::StateId;
use crate::pieces::Pieces;
use crate::state::CrashState;
use outlast_engine::{OnProgress, RunControl, RunPhase, RunProgress};
use outlast_serve::{DeviceImage, ServedDevice};
use outlast_units::Nanos;
use outlast_units::rng::SplitMix;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// Instants between two reports of progress.
const BETWEEN_REPORTS: u64 = 64;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which machine, and what happens to it.
    pub what: What,
    /// When power may fail: within this time.
    pub window: Range<Nanos>,
    /// How many instants are looked at, at most. Where there are more, so many are drawn at random, uniformly in time.
    pub limit: Option<u64>,
    /// What is drawn by.
    pub seed: u64,
}

impl Request {
    /// All instants in the window of `history`, to its last nanosecond.
    pub fn new(history: &History, what: What) -> Self {
        let (first, last) = history.window();
        let (start, end) = (history.time_of(first), history.time_of(last));
        Self { what, window: start..end.max(Nanos(start.0 + 1)), limit: None, seed: 0 }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The classes, in order of the first time of each.
    pub classes: Vec<CrashState>,
    /// Stretches of time in the window between which something happens.
    pub instants: u64,
    /// How many of them were looked at.
    pub looked_at: u64,
    /// Where not all were: the times that were drawn, in order, and the class of each; nothing where there is no state. Only so much of the
    /// window is in the spans of classes.
    pub draws: Vec<(Nanos, Option<usize>)>,
}

/// The classes that `request` asks for of the image in `folder`, whose history is `history`. `None` where `progress` stopped it.
///
/// # Errors
/// The image cannot be read, or the machine cannot do what is asked for.
pub fn classes(
    folder: &Path,
    history: &History,
    request: &Request,
    progress: OnProgress<'_>,
) -> Result<Option<Found>, TortureError> {
    let scenario = DeviceImage::scenario(folder)?;
    let what = request.what.clone().checked(&scenario)?;
    let mut found = Found::default();
    let mut draws = Vec::new();
    if let Some(limit) = request.limit {
        let Some(mut replay) = Replay::new(folder, &what, progress)? else { return Ok(None) };
        let mut instants = 0;
        replay.walk(&request.window, |_, _| {
            instants += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        if instants > limit {
            draws = drawn(request, limit);
        }
    }
    let Some(mut replay) = Replay::new(folder, &what, progress)? else { return Ok(None) };
    let mut classes = Classes::new(history, replay.machine(), &what);
    let (mut next, mut is_stopped) = (0, false);
    replay.walk(&request.window, |machine, span| {
        found.instants += 1;
        let count = draws[next..].partition_point(|&at| at < span.end);
        if count > 0 || draws.is_empty() {
            let class = classes.add(machine, &span)?;
            found.looked_at += 1;
            found.draws.extend(draws[next..next + count].iter().map(|&at| (at, class)));
            next += count;
        }
        is_stopped =
            found.instants % BETWEEN_REPORTS == 1 && progress(&report(request, &span)) == RunControl::Stop;
        Ok(if is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    found.classes = classes.found;
    Ok((!is_stopped).then_some(found))
}

/// What `what` leaves of the image in `folder` if its power fails at `at`. `None` where `progress` stopped it, or where there is no such state: an array
/// that starts without force.
///
/// # Errors
/// As [`classes`].
pub fn state(
    folder: &Path,
    history: &History,
    what: &What,
    at: Nanos,
    progress: OnProgress<'_>,
) -> Result<Option<CrashState>, TortureError> {
    let window = at..Nanos(at.0.saturating_add(1));
    let request = Request { what: what.clone(), window, limit: None, seed: 0 };
    Ok(classes(folder, history, &request, progress)?.and_then(|found| found.classes.into_iter().next()))
}

fn drawn(request: &Request, limit: u64) -> Vec<Nanos> {
    let mut draw = SplitMix::new(request.seed, "torture instants");
    let Range { start, end } = request.window;
    let mut times: Vec<Nanos> =
        (0..limit.max(1)).map(|_| start + Nanos(draw.below((end - start).0))).collect();
    times.sort_unstable();
    times
}

fn report(request: &Request, span: &Range<Nanos>) -> RunProgress {
    let Range { start, end } = request.window;
    let fraction = (span.end - start).0 as f64 / (end - start).0 as f64;
    RunProgress { phase: RunPhase::Run, fraction: Some(fraction), requests: 0, simulated: span.end }
}

/// By what classes are told apart: what they hold, or that they hold nothing; and the last mark, by its event.
type Key = (Option<u128>, Option<usize>);

#[derive(Debug)]
struct Classes<'a> {
    history: &'a History,
    what: &'a What,
    looks: Looks<'a>,
    found: Vec<CrashState>,
    by_key: BTreeMap<Key, usize>,
}

impl<'a> Classes<'a> {
    fn new(history: &'a History, machine: &ServedDevice, what: &'a What) -> Self {
        let looks = Looks::new(history, machine);
        Self { history, what, looks, found: Vec::new(), by_key: BTreeMap::new() }
    }

    /// Looks at what a cut within `span` leaves; which class that is, if there is a state.
    fn add(&mut self, machine: &ServedDevice, span: &Range<Nanos>) -> Result<Option<usize>, TortureError> {
        let (seen, refused) = match power_fails(machine, span.start, self.what)? {
            After::Up(mut fork) => (Some(self.looks.look(&mut fork)?), None),
            After::Refused(why) => (None, Some(why)),
            After::Nothing => return Ok(None),
        };
        let cut = self.history.cut_at(span.start);
        let key = (seen.as_ref().map(|seen| seen.key), self.history.mark_at(cut).map(|mark| mark.event));
        let new = self.found.len();
        let class = *self.by_key.entry(key).or_insert(new);
        if class == new {
            let state = self.state(span.start, cut, seen.as_ref(), refused)?;
            self.found.push(state);
        }
        let spans = &mut self.found[class].spans;
        match spans.last_mut() {
            Some(last) if last.1 == span.start => last.1 = span.end,
            _ => spans.push((span.start, span.end)),
        }
        Ok(Some(class))
    }

    fn state(
        &self,
        at: Nanos,
        cut: usize,
        seen: Option<&Seen>,
        refused: Option<String>,
    ) -> Result<CrashState, TortureError> {
        let id = StateId::Machine { what: self.what.to_string(), at };
        let (lost, spans) = (Pieces::default(), Vec::new());
        let bare = CrashState { id, cut, at, lost, odd: Vec::new(), bad: Vec::new(), spans, refused };
        let Some(seen) = seen else { return Ok(bare) };
        let differences = self.looks.differences(seen, cut)?;
        Ok(CrashState { lost: differences.lost, odd: differences.odd, bad: differences.bad, ..bare })
    }
}
