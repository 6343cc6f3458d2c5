//! The bytes themselves, so that a test can check content.

use std::sync::Arc;

/// The bytes of a mapping unit with its tag: the logical page that it was written for, which a real drive keeps in the spare area and
/// which is checked on every read. The tag of parity is the code's sum of the tags that it covers.
///
/// Bytes are shared by reference: a unit that moves to another slot is not copied, and neither are the units of a drive that is cloned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit(Arc<[u8]>);

impl Unit {
    /// Bytes of a tag.
    pub const TAG: usize = 4;

    /// The unit of `bytes`, written for `tag`.
    pub fn new(tag: u32, bytes: &[u8]) -> Self {
        Self(bytes.iter().copied().chain(tag.to_le_bytes()).collect())
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.0[..self.0.len() - Self::TAG]
    }

    /// The tag.
    #[inline]
    pub fn tag(&self) -> u32 {
        self.0.last_chunk().map_or(0, |&tag| u32::from_le_bytes(tag))
    }

    /// The unit whose bytes and tag are one run.
    ///
    /// # Panics
    /// If the run is too short for a tag.
    pub fn from_with_tag(unit: &[u8]) -> Self {
        assert!(unit.len() >= Self::TAG, "{} bytes have no room for a tag", unit.len());
        Self(unit.into())
    }

    /// Bytes and tag as one run, as an erasure code takes them.
    #[inline]
    pub fn with_tag(&self) -> &[u8] {
        &self.0
    }

    /// As [`Unit::with_tag`], of a unit just made.
    ///
    /// # Panics
    /// If it is shared already.
    pub fn with_tag_mut(&mut self) -> &mut [u8] {
        Arc::get_mut(&mut self.0).expect("a unit that is shared does not change")
    }
}

/// The content of mapping units by physical slot.
///
/// Two ways to keep them, chosen when made:
/// - *stale units are given up* ([`Contents::discard`], [`Contents::relocate`]): only live data takes memory. For drives without
///   stripes.
/// - *an image of the flash*: a slot keeps its bytes, stale or not, until it is erased, because rebuilding a page of a stripe
///   takes the real bytes of all others.
///
/// Memory grows with what is kept; the flash as such takes 8 bytes for every 256 slots up to the last one written. A clone shares all
/// units with the original.
#[derive(Debug, Default)]
pub struct Contents {
    /// Slots in runs of [`RUN`]; a run that holds nothing takes no memory.
    runs: Vec<Option<Box<Run>>>,
    held: usize,
    keep_stale: bool,
    /// Bytes of a unit.
    unit_bytes: usize,
    /// Units that nobody holds any more, to be written again: at most [`SPARES`].
    spares: Vec<Unit>,
}

/// Neighbouring slots.
#[derive(Clone, Debug)]
struct Run {
    held: usize,
    units: [Option<Unit>; RUN],
}

const RUN: usize = 256;
/// A superblock or so: what an erasure gives up, later writes take.
const SPARES: usize = 1024;

impl Clone for Contents {
    fn clone(&self) -> Self {
        // Spare units are to be written, so that they have one owner.
        Self { runs: self.runs.clone(), spares: Vec::new(), ..*self }
    }
}

impl Contents {
    /// Nothing written yet, for units of `unit_bytes` bytes; `keep_stale`: an image of the flash.
    pub fn new(unit_bytes: usize, keep_stale: bool) -> Self {
        Self { runs: Vec::new(), held: 0, keep_stale, unit_bytes, spares: Vec::new() }
    }

    /// Whether stale units keep their bytes until erased.
    pub fn keeps_stale(&self) -> bool {
        self.keep_stale
    }

    /// A unit written for `tag`. `fill` gets its bytes, which hold anything, and overwrites all of them.
    pub fn make(&mut self, tag: u32, fill: impl FnOnce(&mut [u8])) -> Unit {
        let mut unit = self.blank();
        let (bytes, of_tag) = unit.with_tag_mut().split_at_mut(self.unit_bytes);
        of_tag.copy_from_slice(&tag.to_le_bytes());
        fill(bytes);
        unit
    }

    /// A unit whose bytes and tag hold anything, to be written with [`Unit::with_tag_mut`].
    pub fn blank(&mut self) -> Unit {
        let length = self.unit_bytes + Unit::TAG;
        self.spares.pop().unwrap_or_else(|| Unit(std::iter::repeat_n(0, length).collect()))
    }

    /// Stores `unit` in slot `slot`.
    ///
    /// # Panics
    /// If the slot is occupied: it was neither erased nor given up; or if the unit is not as long as the others.
    pub fn write(&mut self, slot: u32, unit: Unit) {
        assert!(unit.bytes().len() == self.unit_bytes, "slot {slot} takes {} bytes", self.unit_bytes);
        let (run, place) = place_of(slot);
        if run >= self.runs.len() {
            self.runs.resize_with(run + 1, || None);
        }
        let run =
            self.runs[run].get_or_insert_with(|| Box::new(Run { held: 0, units: [const { None }; RUN] }));
        let before = run.units[place].replace(unit);
        assert!(before.is_none(), "slot {slot} written twice");
        run.held += 1;
        self.held += 1;
    }

    /// Stores parity in slot `slot`, bytes and tag being sums of those of the units covered. It is read with [`Contents::raw`].
    ///
    /// # Panics
    /// As [`Contents::write`]; or if stale units are not kept, since parity over units that vanish rebuilds nothing.
    pub fn write_parity(&mut self, slot: u32, unit: Unit) {
        assert!(self.keep_stale, "parity in slot {slot} of a drive that gives up stale units");
        self.write(slot, unit);
    }

    /// The unit of slot `slot`, which must belong to logical page `owner`.
    ///
    /// # Panics
    /// If the slot is empty or holds another page's data: the mapping is broken.
    pub fn read(&self, slot: u32, owner: u32) -> &Unit {
        let Some(unit) = self.raw(slot) else {
            panic!("slot {slot} read for page {owner} is empty");
        };
        assert!(unit.tag() == owner, "slot {slot} holds page {}, not page {owner}", unit.tag());
        unit
    }

    /// The unit of slot `slot`, whosever it is; `None` if nothing was written there since it was erased, which adds nothing to a
    /// code's sum.
    #[inline]
    pub fn raw(&self, slot: u32) -> Option<&Unit> {
        let (run, place) = place_of(slot);
        self.runs.get(run)?.as_ref()?.units[place].as_ref()
    }

    /// Moves a unit from one slot to another. The source keeps it, too, if stale ones are kept.
    ///
    /// # Panics
    /// As [`Contents::read`] and [`Contents::write`].
    pub fn relocate(&mut self, from: u32, to: u32, owner: u32) {
        assert!(self.raw(from).is_some(), "slot {from} relocated for page {owner} is empty");
        let unit = self.read(from, owner).clone();
        if !self.keep_stale {
            self.take(from);
        }
        self.write(to, unit);
    }

    /// The data of slot `slot` are stale: they are given up, unless stale ones are kept.
    ///
    /// # Panics
    /// If the slot is empty.
    pub fn discard(&mut self, slot: u32) {
        if self.keep_stale {
            assert!(self.raw(slot).is_some(), "slot {slot} given up twice");
        } else {
            let unit = self.take(slot).unwrap_or_else(|| panic!("slot {slot} given up twice"));
            self.give_up(unit);
        }
    }

    /// Empties the `count` slots from `first` on.
    ///
    /// # Panics
    /// If stale units are given up at once and one of the slots holds data: erasing it would lose a live unit.
    pub fn erase(&mut self, first: u32, count: u32) {
        for slot in first..first.saturating_add(count) {
            if let Some(unit) = self.take(slot) {
                assert!(self.keep_stale, "slot {slot} erased with live data");
                self.give_up(unit);
            }
        }
    }

    /// Number of units kept: the live ones or, if stale ones are kept, all that were written since they were erased.
    pub fn len(&self) -> usize {
        self.held
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Empties a slot.
    #[inline]
    fn take(&mut self, slot: u32) -> Option<Unit> {
        let (index, place) = place_of(slot);
        let run = self.runs.get_mut(index)?.as_mut()?;
        let unit = run.units[place].take()?;
        run.held -= 1;
        self.held -= 1;
        if run.held == 0 {
            self.runs[index] = None;
        }
        Some(unit)
    }

    /// A unit has left its slot: it becomes a spare one if no other slot, and nobody else, holds it.
    #[inline]
    fn give_up(&mut self, mut unit: Unit) {
        if self.spares.len() < SPARES && Arc::get_mut(&mut unit.0).is_some() {
            self.spares.push(unit);
        }
    }
}

/// The run of a slot, and its place there.
#[inline]
fn place_of(slot: u32) -> (usize, usize) {
    (slot as usize / RUN, slot as usize % RUN)
}
