//! Reclaim unit handles: what isolation costs and saves, against a simulator of superblocks in plain vectors that knows nothing of the layer's code; what
//! never lies together.
//!
//! **Tolerance.** That of `collection_oracle`: a superblock of spare space either way, what the host overwrites of a handle's data while it fills half a
//! superblock, and six standard errors of sampling. Of a single handle, which moves but a part, the error is larger by the root of its share.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_ftl::{Ftl, FtlOptions, HandlesView, ProgramCause};
use outlast_media::{ConfigError, DefectConfig, Geometry};
use outlast_settings::ftl::FtlConfig;
use outlast_settings::placement::HandleIsolation::{InitiallyIsolated, PersistentlyIsolated};
use outlast_settings::placement::{FdpConfiguration, HandleIsolation, PlacementConfig};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn};

const SUPERBLOCKS: usize = 400;
const SLOTS: usize = 128;
const UNITS: u64 = (SUPERBLOCKS * SLOTS) as u64 * 4 / 5;
const BEFORE: u64 = 12 * UNITS;
const COUNTED: u64 = 12 * UNITS;
const SAMPLING: f64 = 0.013;
const ONE_OF_SPARE: f64 = 1.25 / (SUPERBLOCKS as f64 / 5.0);

/// Tenths of the addresses, and tenths of the writes, that each of three handles has.
const KINDS: [(u64, u64); 3] = [(6, 2), (3, 3), (1, 5)];

/// Superblocks of slots, each with the page that it was written for.
struct Oracle {
    slots: Vec<Vec<u64>>,
    at: Vec<Option<(usize, usize)>>,
    valid: Vec<usize>,
    is_sealed: Vec<bool>,
    free: Vec<usize>,
    /// Open superblocks: of each handle, then of data moved.
    open: Vec<Option<usize>>,
    moved: Vec<u64>,
}

impl Oracle {
    fn new() -> Self {
        Self {
            slots: vec![Vec::new(); SUPERBLOCKS],
            at: vec![None; UNITS as usize],
            valid: vec![0; SUPERBLOCKS],
            is_sealed: vec![false; SUPERBLOCKS],
            free: (0..SUPERBLOCKS).collect(),
            open: vec![None; 2 * KINDS.len()],
            moved: vec![0; KINDS.len()],
        }
    }

    fn put(&mut self, stream: usize, page: u64) {
        let open = *self.open[stream].get_or_insert_with(|| self.free.pop().unwrap());
        if let Some((old, _)) = self.at[page as usize] {
            self.valid[old] -= 1;
        }
        self.at[page as usize] = Some((open, self.slots[open].len()));
        self.slots[open].push(page);
        self.valid[open] += 1;
        if self.slots[open].len() == SLOTS {
            self.is_sealed[open] = true;
            self.open[stream] = None;
        }
    }

    /// Writes `page` through the handle of its range; moved data goes to one stream, or, with `apart`, to one for each handle.
    fn write(&mut self, page: u64, apart: bool) {
        self.write_to(kind_of(page), page, apart);
    }

    /// The same through a handle that is given.
    fn write_to(&mut self, handle: usize, page: u64, apart: bool) {
        self.put(handle, page);
        while self.free.len() <= 1 {
            let sealed = (0..SUPERBLOCKS).filter(|&id| self.is_sealed[id]);
            let victim = sealed.min_by_key(|&id| self.valid[id]).unwrap();
            self.is_sealed[victim] = false;
            for (slot, page) in std::mem::take(&mut self.slots[victim]).into_iter().enumerate() {
                if self.at[page as usize] == Some((victim, slot)) {
                    let kind = kind_of(page);
                    self.put(KINDS.len() + if apart { kind } else { 0 }, page);
                    self.moved[kind] += 1;
                }
            }
            self.free.insert(0, victim);
        }
    }
}

/// The first page of each kind's range, and of none.
fn starts() -> [u64; 4] {
    let mut start = 0;
    let mut all = [0; 4];
    for (at, (tenths, _)) in all[1..].iter_mut().zip(KINDS) {
        start += tenths;
        *at = start * UNITS / 10;
    }
    all
}

fn kind_of(page: u64) -> usize {
    starts()[1..].iter().position(|&end| page < end).unwrap()
}

/// Writes by the shares of [`KINDS`], uniform within each range.
fn pages(seed: u64) -> impl FnMut() -> u64 {
    let mut rng = SplitMix::new(seed, "pages");
    move || {
        let mut tenth = rng.below(10);
        let mut kind = 0;
        while tenth >= KINDS[kind].1 {
            tenth -= KINDS[kind].1;
            kind += 1;
        }
        let (from, to) = (starts()[kind], starts()[kind + 1]);
        from + rng.below(to - from)
    }
}

pub(crate) fn drive(
    superblocks: u32,
    pages_per_block: u32,
    units: u64,
    handles: &[HandleIsolation],
) -> Result<Ftl, ConfigError> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: superblocks,
        pages_per_block,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let config = FtlConfig { capacity: Some(Bytes(units * 4096)), ..FtlConfig::default() };
    let placement = PlacementConfig {
        configurations: vec![FdpConfiguration { handles: handles.to_vec(), ..FdpConfiguration::default() }],
        ..PlacementConfig::default()
    };
    let placement = Some(placement).filter(|_| !handles.is_empty());
    let options = FtlOptions { placement, ..FtlOptions::default() };
    Ftl::new(&geometry, &config, &DefectConfig::default(), &[DieId(0)], units, &options)
}

fn large(handles: &[HandleIsolation]) -> Ftl {
    drive(SUPERBLOCKS as u32, SLOTS as u32 / 2, UNITS, handles).unwrap()
}

fn moved(ftl: &Ftl) -> Vec<u64> {
    HandlesView::of(ftl).counts().iter().map(|counts| counts.moved_units).collect()
}

#[test]
fn isolated_handles_cost_what_a_plain_simulator_says() {
    let mut totals = Vec::new();
    for isolation in [InitiallyIsolated, PersistentlyIsolated] {
        let (mut oracle, mut next) = (Oracle::new(), pages(1));
        let apart = isolation == PersistentlyIsolated;
        (0..UNITS).for_each(|page| oracle.write(page, apart));
        (0..BEFORE).for_each(|_| oracle.write(next(), apart));
        let before = oracle.moved.clone();
        (0..COUNTED).for_each(|_| oracle.write(next(), apart));

        let (mut ftl, mut next) = (large(&[isolation; 3]), pages(2));
        let write = |ftl: &mut Ftl, page: u64| {
            let stream = ftl.streams().host(kind_of(page) as u16, 0);
            ftl.write_untimed(stream, Lpn(page as u32)).unwrap();
        };
        (0..UNITS).for_each(|page| write(&mut ftl, page));
        (0..BEFORE).for_each(|_| write(&mut ftl, next()));
        let at_first = moved(&ftl);
        (0..COUNTED).for_each(|_| write(&mut ftl, next()));
        ftl.self_check().unwrap();

        let all: u64 = oracle.moved.iter().zip(&before).map(|(now, then)| now - then).sum();
        let mut total = 0;
        for kind in 0..KINDS.len() {
            let expected = (oracle.moved[kind] - before[kind]) as f64;
            let own = moved(&ftl)[kind] - at_first[kind];
            total += own;
            // A share s of what is moved has an error larger by 1 / sqrt(s).
            let share = expected / all as f64;
            let (tenths, written) = KINDS[kind];
            let overwritten = SLOTS as f64 / 2.0 * (written as f64 / 10.0) / (tenths * UNITS / 10) as f64;
            let most = (SAMPLING / share.sqrt() + ONE_OF_SPARE + overwritten) * all as f64 * share.max(0.1);
            let off = own as f64 - expected;
            eprintln!(
                "{isolation:?}, handle {kind}: {own} moved, {expected} of the oracle, {:+.2} %",
                100.0 * off / expected
            );
            assert!(off.abs() <= most, "{isolation:?}, handle {kind}: {own} moved, {expected} of the oracle");
        }
        let off = total as f64 / all as f64 - 1.0;
        assert!(off.abs() < SAMPLING + 2.0 * ONE_OF_SPARE, "{total} moved, {all} of the oracle");
        totals.push(total);
    }
    // What initial isolation mixes again, persistent isolation keeps apart: it moves less.
    assert!((totals[1] as f64) < 0.97 * totals[0] as f64, "{totals:?}");
}

#[test]
fn handles_add_up_to_the_drive_and_persistent_ones_never_mix() {
    let kinds = [InitiallyIsolated, PersistentlyIsolated, InitiallyIsolated];
    let (mut ftl, mut next) = (large(&kinds), pages(3));
    for page in (0..UNITS).chain((0..4 * UNITS).map(|_| next())) {
        let stream = ftl.streams().host(kind_of(page) as u16, 0);
        ftl.write_untimed(stream, Lpn(page as u32)).unwrap();
    }
    ftl.self_check().unwrap();
    let (counts, contents) = (HandlesView::of(&ftl).counts().to_vec(), HandlesView::of(&ftl).contents());
    let written = ftl.figures().written;
    let host: u64 = counts.iter().map(|counts| counts.host_units).sum();
    let moved: u64 = counts.iter().map(|counts| counts.moved_units).sum();
    assert_eq!((host, moved), (written[ProgramCause::Host], written[ProgramCause::Gc]));
    let valid: Vec<u64> = contents.iter().map(|contents| contents.valid).collect();
    assert_eq!(valid, KINDS.map(|(tenths, _)| tenths * UNITS / 10).to_vec());
    assert_eq!(contents[1].mixed, 0, "of a persistently isolated handle");
    assert!(contents[0].mixed != 0 && contents[2].mixed != 0, "{contents:?}");
}

/// Moved units for each one written of rings that are written round and round at speeds of 1, 2, 4 and 8, through the handle that `handle_of` says
/// for a ring and a draw.
fn of_rings(handles: &[HandleIsolation], handle_of: impl Fn(u64, u64) -> u16) -> f64 {
    let mut ftl = large(handles);
    let mut rng = SplitMix::new(4, "rings");
    let ring = UNITS / 4;
    let mut at = [0; 4];
    let mut before = 0;
    for turn in 0..10 * UNITS {
        if turn == 5 * UNITS {
            before = ftl.figures().written[ProgramCause::Gc];
        }
        let which = [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3][rng.below(15) as usize];
        let page = which * ring + at[which as usize];
        at[which as usize] = (at[which as usize] + 1) % ring;
        let stream = ftl.streams().host(handle_of(which, rng.below(4)), 0);
        ftl.write_untimed(stream, Lpn(page as u32)).unwrap();
    }
    (ftl.figures().written[ProgramCause::Gc] - before) as f64 / (5 * UNITS) as f64
}

#[test]
fn handles_that_follow_the_data_save_nearly_all_and_those_that_do_not_cost() {
    let aligned = of_rings(&[InitiallyIsolated; 4], |ring, _| ring as u16);
    let none = of_rings(&[], |_, _| 0);
    let misaligned = of_rings(&[InitiallyIsolated; 4], |_, draw| draw as u16);
    assert!(aligned <= 0.05, "aligned: {aligned}");
    assert!(none > 0.1, "none: {none}");
    assert!(misaligned > none, "misaligned {misaligned}, none {none}");
}

#[test]
fn one_handle_is_no_handle() {
    let figures = |handles: &[HandleIsolation]| {
        let (mut ftl, mut next) = (large(handles), pages(5));
        for page in (0..UNITS).chain((0..2 * UNITS).map(|_| next())) {
            ftl.write_untimed(ftl.streams().host(0, 0), Lpn(page as u32)).unwrap();
        }
        ftl.figures()
    };
    let none = figures(&[]);
    assert!(none.victims > 100);
    assert_eq!((figures(&[InitiallyIsolated]), figures(&[PersistentlyIsolated])), (none, none));
}

#[test]
fn a_ring_beside_random_writes_costs_what_a_plain_simulator_says() {
    for ring in [8, 12] {
        let draw = |seed| {
            let (mut rng, mut at) = (SplitMix::new(seed, "ring"), 0);
            move || {
                let in_ring = rng.below(16) < ring;
                at = (at + u64::from(in_ring)) % UNITS;
                if in_ring { at } else { rng.below(UNITS) }
            }
        };
        let (mut oracle, mut next) = (Oracle::new(), draw(1));
        (0..UNITS).for_each(|page| oracle.write_to(0, page, false));
        (0..BEFORE).for_each(|_| oracle.write_to(0, next(), false));
        let before: u64 = oracle.moved.iter().sum();
        (0..COUNTED).for_each(|_| oracle.write_to(0, next(), false));
        let expected = (oracle.moved.iter().sum::<u64>() - before) as f64;

        let (mut ftl, mut next) = (large(&[]), draw(2));
        let write = |ftl: &mut Ftl, page: u64| {
            ftl.write_untimed(ftl.streams().host(0, 0), Lpn(page as u32)).unwrap();
        };
        (0..UNITS).chain((0..BEFORE).map(|_| next())).for_each(|page| write(&mut ftl, page));
        let before = ftl.figures().written[ProgramCause::Gc];
        (0..COUNTED).for_each(|_| write(&mut ftl, next()));
        let off = (ftl.figures().written[ProgramCause::Gc] - before) as f64 / expected - 1.0;
        assert!(off.abs() < SAMPLING + 2.0 * ONE_OF_SPARE, "{ring} of 16: {:+.2} %", 100.0 * off);
    }
}
