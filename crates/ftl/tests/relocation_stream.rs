//! Where collection writes what it moves, and what that costs: against superblocks in plain vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_ftl::{Ftl, FtlConfig, FtlOptions, GcConfig, GcRelocation, ProgramCause};
use outlast_media::{DefectConfig, Geometry};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn};

const SUPERBLOCKS: usize = 200;
const SLOTS: usize = 128;
const UNITS: u64 = (SUPERBLOCKS * SLOTS) as u64 * 4 / 5;
/// Units written before anything is counted, and counted.
const BEFORE: u64 = 40 * UNITS;
const COUNTED: u64 = 20 * UNITS;

/// Superblocks of slots, each with the page that it was written for: the host's open one, that of moved data, and those that are sealed.
struct Model {
    slots: Vec<Vec<u64>>,
    at: Vec<Option<(usize, usize)>>,
    free: Vec<usize>,
    open: [Option<usize>; 2],
    moved_to: usize,
    moved: u64,
}

impl Model {
    fn new(relocation: GcRelocation) -> Self {
        Self {
            slots: vec![Vec::new(); SUPERBLOCKS],
            at: vec![None; UNITS as usize],
            free: (0..SUPERBLOCKS).collect(),
            open: [None; 2],
            moved_to: usize::from(relocation == GcRelocation::Own),
            moved: 0,
        }
    }

    fn is_full(&self, stream: usize) -> bool {
        self.open[stream].is_none_or(|open| self.slots[open].len() == SLOTS)
    }

    fn put(&mut self, stream: usize, page: u64) {
        if self.is_full(stream) {
            self.open[stream] = self.free.pop();
        }
        let open = self.open[stream].unwrap();
        self.slots[open].push(page);
        self.at[page as usize] = Some((open, self.slots[open].len() - 1));
    }

    fn valid(&self, superblock: usize) -> Vec<u64> {
        let own = self.slots[superblock].iter().enumerate();
        own.filter(|&(slot, &page)| self.at[page as usize] == Some((superblock, slot)))
            .map(|(_, &page)| page)
            .collect()
    }

    /// Writes `page`. The host leaves one superblock free; where it finds no more, the fullest of stale data are moved until two are.
    fn write(&mut self, page: u64, counts: &mut [usize]) {
        if self.is_full(0) && self.free.len() <= 1 {
            while self.free.len() <= 1 {
                let sealed = (0..SUPERBLOCKS).filter(|&own| self.slots[own].len() == SLOTS);
                let victim = sealed.min_by_key(|&own| counts[own]).unwrap();
                for page in self.valid(victim) {
                    self.put(self.moved_to, page);
                    counts[self.at[page as usize].unwrap().0] += 1;
                    self.moved += 1;
                }
                counts[victim] = 0;
                self.slots[victim].clear();
                self.free.insert(0, victim);
            }
        }
        if let Some((old, _)) = self.at[page as usize] {
            counts[old] -= 1;
        }
        self.put(0, page);
        counts[self.at[page as usize].unwrap().0] += 1;
    }
}

/// Of writes, `hot` in ten go to a tenth of the pages.
fn pages(hot: u64, seed: u64) -> impl FnMut() -> u64 {
    let mut rng = SplitMix::new(seed, "pages");
    let tenth = UNITS / 10;
    move || {
        if rng.below(10) < hot { rng.below(tenth) } else { tenth + rng.below(UNITS - tenth) }
    }
}

fn of_the_model(relocation: GcRelocation, hot: u64) -> f64 {
    let (mut model, mut counts, mut next) = (Model::new(relocation), vec![0; SUPERBLOCKS], pages(hot, 1));
    (0..UNITS).for_each(|page| model.write(page, &mut counts));
    (0..BEFORE).for_each(|_| model.write(next(), &mut counts));
    let before = model.moved;
    (0..COUNTED).for_each(|_| model.write(next(), &mut counts));
    1.0 + (model.moved - before) as f64 / COUNTED as f64
}

fn of_the_layer(relocation: GcRelocation, hot: u64) -> f64 {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: SUPERBLOCKS as u32,
        pages_per_block: SLOTS as u32 / 2,
        page_size: Bytes::kib(4),
        spare_per_page: Bytes(0),
    };
    let gc = GcConfig { relocation, ..GcConfig::default() };
    let config = FtlConfig { capacity: Some(Bytes(UNITS * 4096)), gc, ..FtlConfig::default() };
    let options = FtlOptions::default();
    let mut ftl =
        Ftl::new(&geometry, &config, &DefectConfig::default(), &[DieId(0)], UNITS, options).unwrap();
    let (stream, mut next) = (ftl.streams().host(0, 0), pages(hot, 2));
    (0..UNITS).for_each(|page| _ = ftl.write_untimed(stream, Lpn(page as u32)).unwrap());
    (0..BEFORE).for_each(|_| _ = ftl.write_untimed(stream, Lpn(next() as u32)).unwrap());
    let moved = |ftl: &Ftl| ftl.figures().written[ProgramCause::Gc];
    let before = moved(&ftl);
    (0..COUNTED).for_each(|_| _ = ftl.write_untimed(stream, Lpn(next() as u32)).unwrap());
    ftl.self_check().unwrap();
    1.0 + (moved(&ftl) - before) as f64 / COUNTED as f64
}

/// Both streams, under uniform writes (one in ten to a tenth) and where nine in ten go to a tenth.
///
/// Tolerance: a victim's valid units, half of 128, scatter by less than sqrt(128 / 4) = 5.7; over the thousands of victims of a run the mean does by 0.1, and twice that, of which the
/// layer and the model have one each, by six standard errors is 1.4 % of what is moved.
#[test]
fn mixing_moved_data_with_the_hosts_costs_what_a_plain_model_says() {
    let found: Vec<[f64; 2]> = [GcRelocation::Own, GcRelocation::Host]
        .into_iter()
        .flat_map(|relocation| {
            [1, 9].map(|hot| [of_the_layer(relocation, hot), of_the_model(relocation, hot)])
        })
        .collect();
    for [layer, model] in &found {
        assert!(
            ((layer - 1.0) / (model - 1.0) - 1.0).abs() < 0.014,
            "{layer} of the layer, {model} of the model: {found:?}"
        );
    }
    let [own, own_hot, mixed, mixed_hot] = [found[0][0], found[1][0], found[2][0], found[3][0]];
    // Two open superblocks of 200 are half full on average, or one: a hundredth of the spare space, of which the cost is at most three times as much.
    assert!((mixed / own - 1.0).abs() < 0.03, "uniform: {mixed} mixed, {own} apart");
    // Hot data that is moved with the cold keeps superblocks from becoming all stale: more than three standard errors of a difference, by either.
    for hot in [mixed_hot / own_hot, found[3][1] / found[1][1]] {
        assert!(hot > 1.005, "cold data among hot: {found:?}");
    }
}
