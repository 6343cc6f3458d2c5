//! Write streams: their numbers, their causes, and the classes of their data.

mod cause;
mod hosts;

pub use cause::StreamCause;

use crate::layout::SlotLayout;
use hosts::{BY_HANDLE, HostStreams};
use outlast_media::ConfigError;
use outlast_settings::ftl::{FtlConfig, GcRelocation};
use outlast_settings::placement::{PlacementConfig, UNKNOWN_IDENTIFIER};
use outlast_units::{ModeId, Stream, to_count};

/// Most streams: their numbers have eight bits, and 255 is none.
const MOST_STREAMS: usize = 255;

/// The streams of a flash core: those of the host's data, one for each class and stream hint, or one for each handle, whose class is what it is isolated
/// with; those of relocated data, one for each
/// task and class; one of the mapping table, if that is flushed; one of partial parity, if that has superblocks of its own; and, of a drive that scrubs
/// only to rebuild what a failed die held, those of that, one for each class.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct StreamTable {
    /// Stream hints of a class; [`BY_HANDLE`] where handles choose.
    #[persist(skip)]
    hints: u8,
    #[persist(skip)]
    classes: u8,
    /// Streams of the host's data, the first ones.
    #[persist(skip)]
    hosts: u8,
    /// Superblocks in a reclaim unit of a handle.
    #[persist(skip)]
    unit_superblocks: u32,
    /// Stream of each placement identifier; empty without handles.
    #[persist(skip)]
    handles: Vec<Stream>,
    /// Cause and class of each stream.
    #[persist(skip)]
    of: Vec<(StreamCause, u8)>,
    /// Mode in which each stream opens superblocks.
    #[persist(each)]
    modes: Vec<ModeId>,
    #[persist(skip)]
    tasks: Vec<StreamCause>,
    /// Tasks that have their own streams.
    #[persist(skip)]
    apart: Vec<StreamCause>,
    /// Stream of the mapping table.
    #[persist(skip)]
    map: Option<Stream>,
    #[persist(skip)]
    partial: Option<Stream>,
    /// First of the streams that scrubbing has only once a die has failed.
    #[persist(skip)]
    rebuild: Option<Stream>,
}

impl StreamTable {
    /// The streams by `config`: with `placement` those of its handles, else of `classes` classes. `map`: class of the mapping table, where that is
    /// flushed; with `placement` the one that persistently isolated handles have no part in.
    ///
    /// # Errors
    /// More streams than there may be.
    #[allow(clippy::cast_possible_truncation, reason = "at most MOST_STREAMS, as checked")]
    pub(crate) fn new(
        config: &FtlConfig,
        classes: u8,
        scrub: bool,
        rebuild: bool,
        map: Option<u8>,
        partial: bool,
        placement: Option<&PlacementConfig>,
    ) -> Result<Self, ConfigError> {
        let HostStreams { hints, classes, of_hosts, handles } = match placement {
            Some(placement) => HostStreams::of_handles(placement, map.is_some()),
            None => HostStreams::of_hints(config.streams, classes)?,
        };
        let mut tasks = vec![StreamCause::Gc];
        tasks.extend(config.levels_wear().then_some(StreamCause::WearLeveling));
        tasks.extend(scrub.then_some(StreamCause::Scrub));
        let mixes = config.gc.relocation == GcRelocation::Host;
        let apart: Vec<StreamCause> =
            tasks.iter().copied().filter(|&task| task != StreamCause::Gc || !mixes).collect();
        let more = usize::from(map.is_some())
            + usize::from(partial)
            + usize::from(rebuild && !scrub) * usize::from(classes);
        let streams = of_hosts.len() + apart.len() * usize::from(classes) + more;
        if streams > MOST_STREAMS {
            let limit = format!(
                "take {streams} write streams, with those for moved data of each persistently isolated one; at most {MOST_STREAMS}"
            );
            return Err(ConfigError::new("device.placement.configurations", of_hosts.len(), limit));
        }
        let hosts = of_hosts.len() as u8;
        let moved = apart.iter().flat_map(|&task| (0..classes).map(move |class| (task, class)));
        let mut of: Vec<(StreamCause, u8)> =
            of_hosts.into_iter().map(|class| (StreamCause::Host, class)).chain(moved).collect();
        let map = map.map(|class| {
            of.push((StreamCause::Map, class));
            Stream(of.len() as u8 - 1)
        });
        let partial = partial.then(|| {
            of.push((StreamCause::Partial, 0));
            Stream(of.len() as u8 - 1)
        });
        // Last, so that the numbers of the others do not depend on them.
        let rebuild = (rebuild && !scrub).then_some(Stream(of.len() as u8));
        of.extend((0..classes).filter(|_| rebuild.is_some()).map(|class| (StreamCause::Scrub, class)));
        let modes = vec![ModeId::FIRST; of.len()];
        let unit_superblocks = placement.map_or(1, PlacementConfig::superblocks);
        Ok(Self {
            hints,
            classes,
            hosts,
            unit_superblocks,
            handles,
            of,
            modes,
            tasks,
            apart,
            map,
            partial,
            rebuild,
        })
    }

    /// Sets the mode in which each stream opens superblocks, by its cause.
    pub(crate) fn set_modes(&mut self, mode_of: impl Fn(StreamCause) -> ModeId) {
        self.modes = self.of.iter().map(|&(cause, _)| mode_of(cause)).collect();
    }

    /// Sets the mode in which `stream` opens superblocks from now on.
    pub(crate) fn set_mode(&mut self, stream: Stream, mode: ModeId) {
        self.modes[usize::from(stream.0)] = mode;
    }

    /// The mode in which `stream` opens superblocks.
    #[inline]
    pub fn mode(&self, stream: Stream) -> ModeId {
        self.modes[usize::from(stream.0)]
    }

    /// True if data may rest in superblocks of `stream`: their mode has no fewer rows than the one into which collection moves their data. Else a superblock
    /// gains by collection even if all in it is valid, so that room is counted without it.
    pub(crate) fn keeps_data(&self, stream: Stream, layout: &SlotLayout) -> bool {
        let pus = |stream| layout.used_pus(self.mode(stream));
        pus(stream) >= pus(self.gc(self.class(stream)))
    }

    /// All streams.
    #[inline]
    pub fn all(&self) -> impl ExactSizeIterator<Item = Stream> + Clone + use<> {
        (0..self.count()).map(Stream)
    }

    /// Number of streams.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "at most 255 streams, as checked when they are made")]
    pub fn count(&self) -> u8 {
        self.of.len() as u8
    }

    /// The streams of host data: the first ones.
    #[inline]
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = Stream> + use<> {
        (0..self.hosts).map(Stream)
    }

    /// Number of classes.
    #[inline]
    pub fn classes(&self) -> u8 {
        self.classes
    }

    /// Number of tasks that relocate.
    pub(crate) fn tasks(&self) -> u32 {
        to_count(self.tasks.len())
    }

    /// The stream of host data of class `class` with stream hint `hint`; where there are handles, that of placement identifier `hint`.
    #[inline]
    pub fn host(&self, hint: u16, class: u8) -> Stream {
        if self.hints == 1 { Stream(class) } else { self.host_of_several(hint, class) }
    }

    // By itself, so that it costs a drive of one stream no more than the comparison.
    #[inline(never)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "below the number of hints, of which there are at most 255"
    )]
    fn host_of_several(&self, hint: u16, class: u8) -> Stream {
        if self.hints == BY_HANDLE {
            // A write with an identifier that the namespace does not have goes through its first handle, which its other bits may name.
            let known = hint & !UNKNOWN_IDENTIFIER;
            return self.handles.get(usize::from(known)).copied().unwrap_or(self.handles[0]);
        }
        Stream(class * self.hints + (hint % u16::from(self.hints)) as u8)
    }

    /// The first stream of host data of class `class`; where only pages of the mapping table are of it, any.
    pub(crate) fn host_of_class(&self, class: u8) -> Stream {
        self.hosts().find(|&stream| self.class(stream) == class).unwrap_or_default()
    }

    /// True if streams of the host's data are handles.
    #[inline]
    pub fn has_handles(&self) -> bool {
        self.hints == BY_HANDLE
    }

    /// Superblocks in a reclaim unit of a handle.
    pub fn unit_superblocks(&self) -> u32 {
        self.unit_superblocks
    }

    /// Placement identifiers that the namespace has; 0 without handles.
    #[inline]
    pub fn identifiers(&self) -> usize {
        self.handles.len()
    }

    /// The stream of data of class `class` moved by garbage collection: collection's, or the host's.
    #[inline]
    pub fn gc(&self, class: u8) -> Stream {
        self.relocated(StreamCause::Gc, class).unwrap_or_else(|| self.host(0, class))
    }

    /// True if garbage collection moves data to the host's streams.
    #[inline]
    pub fn are_mixed(&self) -> bool {
        self.apart.len() != self.tasks.len()
    }

    /// The stream of data of class `class` moved by static wear levelling.
    ///
    /// # Panics
    /// If static wear levelling is off.
    pub fn wear_leveling(&self, class: u8) -> Stream {
        self.relocated(StreamCause::WearLeveling, class).expect("static wear levelling is on")
    }

    /// The stream of data of class `class` moved by scrubbing.
    ///
    /// # Panics
    /// If there is no scrubbing.
    pub fn scrub(&self, class: u8) -> Stream {
        let kept = self.relocated(StreamCause::Scrub, class);
        let rebuild = || self.rebuild.map(|first| Stream(first.0 + class));
        kept.or_else(rebuild).expect("scrubbing is on")
    }

    /// True if scrubbing has streams only once a die has failed ([`Ftl::begin_rebuild`](crate::Ftl::begin_rebuild)).
    pub(crate) fn scrub_on_failure(&self) -> bool {
        self.rebuild.is_some()
    }

    /// True if `stream` is one that scrubbing has only once a die has failed.
    pub(crate) fn is_for_rebuild(&self, stream: Stream) -> bool {
        self.rebuild.is_some_and(|first| stream >= first)
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "tasks are fewer than streams, of which there are at most 255"
    )]
    fn relocated(&self, task: StreamCause, class: u8) -> Option<Stream> {
        debug_assert!(class < self.classes, "class {class} of {}", self.classes);
        let task = self.apart.iter().position(|&other| other == task)?;
        Some(Stream(self.hosts + task as u8 * self.classes + class))
    }

    /// The stream of the mapping table, if that is flushed.
    pub fn map(&self) -> Option<Stream> {
        self.map
    }

    pub(crate) fn partial(&self) -> Option<Stream> {
        self.partial
    }

    /// Cause of `stream`.
    #[inline]
    pub fn cause(&self, stream: Stream) -> StreamCause {
        self.of[usize::from(stream.0)].0
    }

    /// Class of data in `stream`.
    #[inline]
    pub fn class(&self, stream: Stream) -> u8 {
        self.of[usize::from(stream.0)].1
    }
}
