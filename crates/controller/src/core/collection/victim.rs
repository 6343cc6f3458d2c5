//! The life of a victim: a superblock whose valid units an internal task moves, and which is then erased.
//!
//! ```text
//! Moving ──────────────► Erasing ──► gone        the buffer is protected, or all of it is on flash
//!    │ └► AwaitsFlash ──────┘                    else; meanwhile the task's next victim may begin, as it may
//!    │                                           beside an erasure where victims overlap
//!    └──► given up: not all of it found room
//! ```

use outlast_decisions::SuperblockState;
use outlast_ftl::Ftl;
use outlast_settings::ftl::GcReads;
use outlast_units::{IndexVec, LaneIndex, LocalDie, Pu, PuWithin, Stream, SuperblockId};

/// The victim that a task moves, or erases: read valid units, write them to a stream, erase.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct TaskVictim {
    pub(super) superblock: SuperblockId,
    pub(super) stream: Stream,
    pub(super) list: ReadList,
    /// Units of a program unit that are moved, one bit each.
    pub(super) units: u64,
    pub(super) reads_in_flight: u32,
    /// Lanes still to be erased, once that has begun.
    pub(super) erasing: Option<u32>,
    /// True if the stream has to open a superblock for it.
    pub(super) opens: bool,
}

/// The part of a victim that is moved.
#[derive(Clone, Debug)]
pub struct VictimPart {
    /// Its lanes; none: all.
    pub lanes: Vec<LaneIndex>,
    /// Units of each program unit there, one bit each.
    pub units: u64,
}

impl VictimPart {
    /// All of it.
    pub(crate) const ALL: Self = Self { lanes: Vec::new(), units: u64::MAX };
}

impl TaskVictim {
    /// True if all that is to be read has been read and put where it goes, and erasing has not begun.
    #[inline]
    pub(super) fn is_moved(&self) -> bool {
        self.list.dies_left == 0 && self.reads_in_flight == 0 && self.erasing.is_none()
    }
}

/// A victim whose data has all been read and written, but is not all on flash: it is erased when it is. Meanwhile the next
/// victim may begin, and its data fills the program unit that this one's has begun. Where victims overlap, one that is being erased.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Former {
    pub(super) superblock: SuperblockId,
    /// Programs with this epoch are of this victim's data (or older), and so many of them have not ended.
    pub(super) epoch: u32,
    pub(super) programs: u32,
    /// The program unit that its last data has begun, until it is programmed.
    pub(super) begun: Option<Pu>,
    /// Lanes still to be erased, once that has begun.
    pub(super) erasing: Option<u32>,
}

impl Former {
    /// True if its data is on flash, and erasing has not begun.
    pub(super) fn is_on_flash(&self) -> bool {
        self.programs == 0 && self.begun.is_none() && self.erasing.is_none()
    }
}

/// How much of a program unit one read takes: a bit for each unit, from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(super) struct Span(pub(super) u64);

impl Span {
    /// With victims of `ftl` that are read as `reads` says.
    pub(super) fn of(ftl: &Ftl, reads: GcReads) -> Self {
        match reads {
            GcReads::MultiPlane => Self(u64::MAX),
            GcReads::Page => Self(u64::MAX >> (64 - ftl.layout().units_per_page())),
        }
    }

    fn width(self) -> u32 {
        self.0.count_ones()
    }

    /// The units of `piece`, a bit for each of its program unit's.
    #[inline]
    pub(super) fn at(self, piece: Piece) -> u64 {
        self.0 << piece.first()
    }
}

/// One read of a victim: units that one read operation takes, the first of which lies in program unit `pu` (counted within the superblock) at `first`.
///
/// One word, since the list of a victim is read once for every operation, and is long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub(super) struct Piece(u32);

impl Piece {
    /// A program unit has at most 64 units.
    const FIRST: u32 = 6;

    #[inline]
    fn new(pu: PuWithin, first: u32) -> Self {
        debug_assert!(
            first < 1 << Self::FIRST && pu.0 < 1 << (32 - Self::FIRST),
            "{pu} from unit {first} on"
        );
        Self(pu.0 << Self::FIRST | first)
    }

    /// The program unit.
    #[inline]
    pub(super) fn pu(self) -> PuWithin {
        PuWithin(self.0 >> Self::FIRST)
    }

    /// The first of its units.
    #[inline]
    pub(super) fn first(self) -> u32 {
        self.0 & ((1 << Self::FIRST) - 1)
    }
}

/// Units of a victim that are still to be read, die by die. Reused from one victim to the next.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
#[persist(check)]
pub(super) struct ReadList {
    /// Units that held valid data when the victim was chosen: a stretch of equal length for each die.
    pieces: Vec<Piece>,
    /// Next entry of `pieces`, and the end, for each die; equal when the die has nothing more to read.
    cursors: IndexVec<LocalDie, (u32, u32)>,
    /// Dies that have something more to read.
    pub(super) dies_left: u32,
}

impl ReadList {
    /// True if each die's cursor lies within the list, and `dies_left` counts those that have not reached their end.
    fn check_restored(&self) -> Result<(), String> {
        let is_within = |&&(next, end): &&(u32, u32)| next <= end && end as usize <= self.pieces.len();
        let left = self.cursors.iter().filter(|(next, end)| next != end).count() as u32;
        if self.cursors.iter().filter(is_within).count() == self.cursors.len() && left == self.dies_left {
            return Ok(());
        }
        Err(format!("{} dies read a victim by a list of {} pieces", self.dies_left, self.pieces.len()))
    }

    /// Lists what `part` of `superblock` holds in pieces of `span`.
    pub(super) fn fill(&mut self, ftl: &Ftl, superblock: SuperblockId, part: &VictimPart, span: Span) {
        let layout = ftl.layout();
        assert!(
            layout.pus_per_superblock() < 1 << (32 - Piece::FIRST),
            "a superblock of too many program units"
        );
        let pieces = layout.units_per_pu().div_ceil(span.width()) * layout.pus_per_superblock();
        let stretch = pieces / u32::from(layout.dies());
        self.pieces.clear();
        self.pieces.resize(pieces as usize, Piece::default());
        self.cursors.clear();
        self.cursors.extend((0..u32::from(layout.dies())).map(|die| (die * stretch, die * stretch)));
        self.dies_left = 0;
        if ftl.superblock(superblock).state() != SuperblockState::Collecting {
            return;
        }
        let mut pu = PuWithin(0);
        for _ in 0..layout.superpages() {
            for (position, lane) in layout.lanes().iter_indexed() {
                let valid = ftl.valid_units_of_any(superblock, pu) & part.units;
                if valid != 0 && (part.lanes.is_empty() || part.lanes.contains(&position)) {
                    self.list(pu, valid, lane.local_die, span);
                    debug_assert!(
                        self.cursors[lane.local_die].1 <= (u32::from(lane.local_die.0) + 1) * stretch,
                        "a die has more than its share"
                    );
                }
                pu = pu + 1;
            }
        }
        self.dies_left = self.cursors.iter().filter(|(next, end)| next != end).count() as u32;
    }

    /// Lists the pieces of program unit `pu`, of die `local`, that hold some of its units `valid`.
    #[inline]
    fn list(&mut self, pu: PuWithin, valid: u64, local: LocalDie, span: Span) {
        let (_, end) = &mut self.cursors[local];
        let (mut rest, mut first) = (valid, 0);
        while rest != 0 {
            if rest & span.0 != 0 {
                self.pieces[*end as usize] = Piece::new(pu, first);
                *end += 1;
            }
            rest = rest.checked_shr(span.width()).unwrap_or(0);
            first += span.width();
        }
    }

    /// True if die `local` has something more to read.
    #[inline]
    pub(super) fn has_more(&self, local: LocalDie) -> bool {
        let (next, end) = self.cursors[local];
        next != end
    }

    /// Pieces that die `local` has still to read.
    pub(super) fn left(&self, local: LocalDie) -> &[Piece] {
        let (next, end) = self.cursors[local];
        &self.pieces[next as usize..end as usize]
    }

    /// The program unit that die `local` reads next.
    pub(super) fn peek(&self, local: LocalDie) -> Option<PuWithin> {
        self.left(local).first().map(|piece| piece.pu())
    }

    /// Reads that die `local` has still to make, looked up once.
    #[inline]
    pub(super) fn of_die(&mut self, local: LocalDie) -> DieReads<'_> {
        DieReads { cursor: &mut self.cursors[local], pieces: &self.pieces, dies_left: &mut self.dies_left }
    }
}

/// The part of a [`ReadList`] that one die reads.
pub(super) struct DieReads<'a> {
    cursor: &'a mut (u32, u32),
    pieces: &'a [Piece],
    dies_left: &'a mut u32,
}

impl DieReads<'_> {
    /// True if there is something more.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.cursor.0 != self.cursor.1
    }

    /// The next read, of which there is one.
    #[inline]
    pub(super) fn take(&mut self) -> Piece {
        debug_assert!(self.has_more(), "a die has nothing more to read");
        let piece = self.pieces[self.cursor.0 as usize];
        self.cursor.0 += 1;
        *self.dies_left -= u32::from(!self.has_more());
        piece
    }

    /// The program unit of what comes after it.
    #[inline]
    pub(super) fn peek(&self) -> Option<PuWithin> {
        self.has_more().then(|| self.pieces[self.cursor.0 as usize].pu())
    }
}

/// Lanes that are erased at a time: all, or an eighth of them where the next victim is read meanwhile.
pub(super) fn width_of(ftl: &Ftl, overlaps: bool) -> u32 {
    let lanes = ftl.layout().lanes().len() as u32;
    if overlaps { lanes.div_ceil(8) } else { lanes }
}

/// Of the lanes of `superblock` those whose erasure begins first. Each is followed by the one that is as many lanes on as are erased at a time.
pub(super) fn erased_first(
    ftl: &Ftl,
    superblock: SuperblockId,
    overlaps: bool,
) -> impl Iterator<Item = LaneIndex> {
    let width = width_of(ftl, overlaps);
    let mut begun = vec![false; width as usize];
    let is_first = move |lane: &LaneIndex| !std::mem::replace(&mut begun[(lane.0 % width) as usize], true);
    ftl.superblock(superblock).lanes().filter(is_first)
}
