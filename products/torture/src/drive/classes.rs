//! Classes of instants: all instants of a class leave the same content.

use super::contents::{ContentTable, DeviceContent};
use super::cut::{CutOutcome, cut_power};
use super::model::CrashModel;
use super::replay::RecordingReplay;
use crate::error::TortureError;
use crate::history::CommandHistory;
use crate::id::StateId;
use crate::pieces::WritePieces;
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

/// A search for the states that a simulated device leaves.
#[derive(Clone, Debug)]
pub struct CrashSearch {
    /// The device, and what else happens to it.
    pub model: CrashModel,
    /// Time in which power may fail.
    pub window: Range<Nanos>,
    /// Limit of instants examined. If there are more, so many are drawn at random, uniformly in time.
    pub limit: Option<u64>,
    /// Seed of the draws.
    pub seed: u64,
}

impl CrashSearch {
    /// A search of all instants in the window of `history`, to its last nanosecond.
    pub fn new(history: &CommandHistory, model: CrashModel) -> Self {
        let (first, last) = history.window();
        let (start, end) = (history.time_of(first), history.time_of(last));
        Self { model, window: start..end.max(Nanos(start.0 + 1)), limit: None, seed: 0 }
    }
}

/// Result of a [`CrashSearch`].
#[derive(Clone, Debug, Default)]
pub struct CrashClasses {
    /// A state for each class, in order of the first instant of each.
    pub classes: Vec<CrashState>,
    /// Instants in the window: stretches of time within which nothing happens.
    pub instants: u64,
    /// Number of instants examined.
    pub examined: u64,
    /// If not all were examined: the times drawn, in order, with the index of the class of each; `None` where the model has no state. Spans of
    /// classes then cover only the instants that were drawn.
    pub draws: Vec<(Nanos, Option<usize>)>,
}

/// Finds the classes of the device in the image `folder`, whose history is `history`. `None` where `progress` stopped it.
///
/// # Errors
/// The image cannot be read, or the model does not fit the device.
pub fn find_classes(
    folder: &Path,
    history: &CommandHistory,
    request: &CrashSearch,
    progress: OnProgress<'_>,
) -> Result<Option<CrashClasses>, TortureError> {
    let scenario = DeviceImage::scenario(folder)?;
    let model = request.model.clone().checked(&scenario)?;
    let mut result = CrashClasses::default();
    let mut draws = Vec::new();
    // The number of instants is known only after a replay: the first one counts them, the second examines.
    if let Some(limit) = request.limit {
        let Some(mut replay) = RecordingReplay::new(folder, &model, progress)? else { return Ok(None) };
        let mut instants = 0;
        replay.visit_spans(&request.window, |_, _| {
            instants += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        if instants > limit {
            draws = draw_instants(request, limit);
        }
    }
    let Some(mut replay) = RecordingReplay::new(folder, &model, progress)? else { return Ok(None) };
    let mut classes = ClassTable::new(history, replay.device(), &model);
    let (mut next, mut is_stopped) = (0, false);
    replay.visit_spans(&request.window, |device, span| {
        result.instants += 1;
        let count = draws[next..].partition_point(|&at| at < span.end);
        if count > 0 || draws.is_empty() {
            let class = classes.add(device, &span)?;
            result.examined += 1;
            result.draws.extend(draws[next..next + count].iter().map(|&at| (at, class)));
            next += count;
        }
        is_stopped = result.instants % BETWEEN_REPORTS == 1
            && progress(&progress_of(request, &span)) == RunControl::Stop;
        Ok(if is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    result.classes = classes.states;
    Ok((!is_stopped).then_some(result))
}

/// Finds the state that `model` leaves of the image in `folder` if its power fails at `at`. `None` where `progress` stopped it, or where the model has
/// no state: an array that starts without force.
///
/// # Errors
/// The same as those of [`find_classes`].
pub fn find_state(
    folder: &Path,
    history: &CommandHistory,
    model: &CrashModel,
    at: Nanos,
    progress: OnProgress<'_>,
) -> Result<Option<CrashState>, TortureError> {
    let window = at..Nanos(at.0.saturating_add(1));
    let request = CrashSearch { model: model.clone(), window, limit: None, seed: 0 };
    Ok(find_classes(folder, history, &request, progress)?
        .and_then(|result| result.classes.into_iter().next()))
}

/// Draws times uniformly from the window, sorted.
fn draw_instants(request: &CrashSearch, limit: u64) -> Vec<Nanos> {
    let mut draw = SplitMix::new(request.seed, "torture instants");
    let Range { start, end } = request.window;
    let mut times: Vec<Nanos> =
        (0..limit.max(1)).map(|_| start + Nanos(draw.below((end - start).0))).collect();
    times.sort_unstable();
    times
}

fn progress_of(request: &CrashSearch, span: &Range<Nanos>) -> RunProgress {
    let Range { start, end } = request.window;
    let fraction = (span.end - start).0 as f64 / (end - start).0 as f64;
    RunProgress { phase: RunPhase::Run, fraction: Some(fraction), requests: 0, simulated: span.end }
}

/// Identity of a class: the hash of its content, `None` if the device does not start; and the event of the last client mark.
type ClassKey = (Option<u128>, Option<usize>);

#[derive(Debug)]
struct ClassTable<'a> {
    history: &'a CommandHistory,
    model: &'a CrashModel,
    contents: ContentTable<'a>,
    states: Vec<CrashState>,
    by_key: BTreeMap<ClassKey, usize>,
}

impl<'a> ClassTable<'a> {
    fn new(history: &'a CommandHistory, device: &ServedDevice, model: &'a CrashModel) -> Self {
        let contents = ContentTable::new(history, device);
        Self { history, model, contents, states: Vec::new(), by_key: BTreeMap::new() }
    }

    /// Examines a cut within `span`; index of its class, or `None` if the model has no state there.
    fn add(&mut self, device: &ServedDevice, span: &Range<Nanos>) -> Result<Option<usize>, TortureError> {
        let (content, refused) = match cut_power(device, span.start, self.model)? {
            CutOutcome::Running(mut fork) => (Some(self.contents.read_device(&mut fork)?), None),
            CutOutcome::Refused(why) => (None, Some(why)),
            CutOutcome::NoState => return Ok(None),
        };
        let cut = self.history.cut_at(span.start);
        let key =
            (content.as_ref().map(|content| content.key), self.history.mark_at(cut).map(|mark| mark.event));
        let new = self.states.len();
        let class = *self.by_key.entry(key).or_insert(new);
        if class == new {
            let state = self.state_of(span.start, cut, content.as_ref(), refused)?;
            self.states.push(state);
        }
        let spans = &mut self.states[class].spans;
        match spans.last_mut() {
            Some(last) if last.1 == span.start => last.1 = span.end,
            _ => spans.push((span.start, span.end)),
        }
        Ok(Some(class))
    }

    fn state_of(
        &self,
        at: Nanos,
        cut: usize,
        content: Option<&DeviceContent>,
        refused: Option<String>,
    ) -> Result<CrashState, TortureError> {
        let id = StateId::Simulated { model: self.model.to_string(), at };
        let (lost, spans) = (WritePieces::default(), Vec::new());
        let without_content =
            CrashState { id, cut, at, lost, odd: Vec::new(), bad: Vec::new(), spans, refused };
        let Some(content) = content else { return Ok(without_content) };
        let differences = self.contents.differences(content, cut)?;
        Ok(CrashState {
            lost: differences.lost,
            odd: differences.odd,
            bad: differences.bad,
            ..without_content
        })
    }
}
