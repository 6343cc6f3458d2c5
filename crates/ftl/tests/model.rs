//! Does the translation layer alone do what two plain maps do, whatever befalls it: what the host reads, and what is on flash?

use crate::support::modes::host_mode;
use outlast_decisions::SuperblockState;
use outlast_ftl::{Ftl, FtlOptions, MovingUnits, StreamCause};
use outlast_media::{DefectConfig, Geometry, UnitBytes};
use outlast_settings::ftl::FtlConfig;
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, LaneIndex, LocalDie, Lpn, Ppn, Pu, PuWithin, Stream, SuperblockId};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const DIES: u16 = 4;
const UNIT: usize = 512;

/// State of a page that is known to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// Its data is that of this write.
    Written(u32),
    Lost,
}

/// A translation layer with what surrounds it, and the maps that it is compared with.
struct Rig {
    ftl: Ftl,
    rng: SplitMix,
    units: u64,
    /// True if a victim waits until its data is on flash, and power may fail.
    late: bool,
    /// Writes so far.
    writes: u32,
    /// State that the host would read.
    newest: BTreeMap<Lpn, Page>,
    /// State that a loss of power would leave.
    durable: BTreeMap<Lpn, Page>,
    /// Writes of a page up to this one count no more, even if they come to flash: it has been trimmed or lost since.
    floor: BTreeMap<Lpn, u32>,
    /// Program units that are full and on their way to flash.
    pending: VecDeque<Pu>,
    /// Erasures of which one finds a block bad.
    bad_every: u64,
    dead: u16,
    cuts: u32,
    moved: u32,
}

impl Rig {
    fn new(late: bool, used: f64, tolerated: u16, host_rows: Option<u32>, seed: u64) -> Option<Self> {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: DIES,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 14,
            pages_per_block: 3,
            page_size: Bytes(UNIT as u64),
            spare_per_page: Bytes(0),
        };
        let config = FtlConfig {
            mapping_unit: Bytes(UNIT as u64),
            capacity: Some(Bytes(1)),
            streams: 2,
            tolerated_bad_blocks: tolerated,
            ..FtlConfig::default()
        };
        let dies: Vec<DieId> = (0..DIES).map(DieId).collect();
        let modes = host_mode(host_rows);
        let options =
            FtlOptions { keep_bytes: true, erases_late: late, seed, modes, ..FtlOptions::default() };
        let units = (14.0 * 24.0 * used) as u64;
        let ftl = Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, units, &options).ok()?;
        let rng = SplitMix::new(seed, "test");
        let (newest, durable, floor) = Default::default();
        Some(Self {
            ftl,
            rng,
            units,
            late,
            writes: 0,
            newest,
            durable,
            floor,
            pending: VecDeque::new(),
            bad_every: 20,
            dead: 0,
            cuts: 0,
            moved: 0,
        })
    }

    fn write(&mut self, stream: Stream, lpn: Lpn) {
        if self.ftl.needs_gc() {
            self.collect(1.0);
        }
        if self.ftl.is_read_only() || !self.ftl.can_append(stream) {
            return;
        }
        self.writes += 1;
        let slot = self.ftl.append(stream, lpn);
        let mut bytes = vec![0; UNIT];
        bytes[..4].copy_from_slice(&self.writes.to_le_bytes());
        let unit = self.ftl.make_unit(lpn, &bytes);
        self.ftl.store(slot.ppn, unit.expect("the layer keeps bytes"));
        self.newest.insert(lpn, Page::Written(self.writes));
        if slot.completes_pu {
            self.pending.push_back(self.ftl.layout().pu_of(slot.ppn).0);
        }
    }

    fn trim(&mut self, lpn: Lpn) {
        let had = matches!(self.newest.remove(&lpn), Some(Page::Written(_)));
        assert_eq!(self.ftl.trim(lpn), had);
        self.durable.remove(&lpn);
        self.floor.insert(lpn, self.writes);
    }

    fn lose(&mut self, slot: Ppn) {
        if let Some(lpn) = self.ftl.lose(slot) {
            self.newest.insert(lpn, Page::Lost);
            self.durable.insert(lpn, Page::Lost);
            self.floor.insert(lpn, self.writes);
        }
    }

    fn slots(&self, pu: Pu) -> impl Iterator<Item = Ppn> + use<> {
        Ppn::each(self.ftl.layout().slots_of(pu))
    }

    /// Ends the `count` oldest program operations.
    fn program(&mut self, count: usize) {
        for _ in 0..count.min(self.pending.len()) {
            let Some(pu) = self.pending.pop_front() else { return };
            if self.ftl.space().pus().is_given_up(pu) || self.ftl.space().pus().is_dead_lane(pu) {
                self.fail(pu);
                continue;
            }
            self.ftl.programmed(pu);
            for slot in self.slots(pu).filter(|&slot| self.ftl.owner(slot).is_some()) {
                let (lpn, version) = (self.ftl.owner(slot), self.version(slot));
                let is_old = match self.durable.get(&lpn) {
                    Some(&Page::Written(known)) => known > version,
                    _ => false,
                };
                if !is_old && self.floor.get(&lpn).is_none_or(|&floor| version > floor) {
                    self.durable.insert(lpn, Page::Written(version));
                }
            }
        }
    }

    /// Number of the write that put the bytes into `slot`; 0 if stale bytes are given up.
    fn version(&self, slot: Ppn) -> u32 {
        let version = |unit: &UnitBytes| {
            let mut version = [0; 4];
            unit.copy_to(0, &mut version);
            u32::from_le_bytes(version)
        };
        self.ftl.space().image(slot).map_or(0, version)
    }

    /// The program operation of `pu` fails; its units are written again where there is room.
    fn fail(&mut self, pu: Pu) {
        self.ftl.program_failed(pu);
        for slot in self.slots(pu) {
            let mut streams = self.ftl.streams().all();
            match streams.find_map(|stream| self.ftl.rewrite(stream, slot)) {
                Some(to) if to.completes_pu => self.pending.push_back(self.ftl.layout().pu_of(to.ppn).0),
                Some(_) => {}
                None => self.lose(slot),
            }
        }
        self.ftl.drop_failed();
    }

    /// Everything that is begun is filled and programmed.
    fn flush(&mut self) {
        loop {
            for stream in self.ftl.streams().all() {
                self.pending.extend(self.ftl.pad(stream));
            }
            if self.pending.is_empty() {
                break;
            }
            // A program operation that fails begins another program unit.
            self.program(usize::MAX);
        }
    }

    /// Relocates a victim; gives up after a share of its program units, unless that is all.
    fn collect(&mut self, share: f64) {
        let Some(victim) = self.ftl.choose_victim().or_else(|| self.ftl.choose_broken()) else { return };
        let stream = self.ftl.streams().gc(0);
        let pus = self.ftl.layout().pus_per_superblock();
        let valid = self.ftl.begin_relocation(victim, stream, StreamCause::Gc);
        assert_eq!(valid, self.ftl.superblock(victim).valid());
        for within in (0..(f64::from(pus) * share) as u32).map(PuWithin) {
            self.relocate(stream, victim, within);
        }
        if self.ftl.superblock(victim).valid() != 0 {
            self.ftl.give_up_relocation(victim, stream);
            return;
        }
        self.ftl.end_promise(stream);
        if self.late {
            self.flush();
            assert!(
                self.ftl.superblock(victim).may_be_erased(),
                "nothing is in the buffer, and {victim} is pinned"
            );
        }
        let bad = self.rng.below(self.bad_every) == 0;
        let block = self.ftl.superblock(victim).blocks().next();
        self.ftl.erased_but(victim, |at| bad && Some(at) == block);
        assert!(matches!(
            self.ftl.superblock(victim).state(),
            SuperblockState::Free | SuperblockState::Retired
        ));
    }

    fn relocate(&mut self, stream: Stream, victim: SuperblockId, within: PuWithin) {
        let pu = self.ftl.layout().pu_at(victim, within);
        let mask = self.ftl.valid_units(victim, within);
        if self.ftl.space().pus().is_dead_lane(pu) {
            let slots = self.slots(pu).enumerate().filter(|&(unit, _)| mask >> unit & 1 == 1);
            slots.for_each(|(_, slot)| self.lose(slot));
            return;
        }
        if mask == 0 {
            return;
        }
        let mut moving = MovingUnits::of(&self.ftl, pu, mask);
        while !moving.are_done() && self.ftl.can_append(stream) {
            let left = self.ftl.layout().units_per_pu() - self.ftl.stream(stream).begun_units();
            let relocated = self.ftl.relocate_units(stream, &mut moving);
            let (before, after) = (relocated.before, relocated.after);
            assert_eq!(before.stale + after.stale, 0);
            assert_eq!(before.moved == left, relocated.completed.is_some());
            assert!(before.moved != 0 && before.moved <= left && (after.moved == 0 || before.moved == left));
            self.moved += before.moved + after.moved;
            self.pending.extend(relocated.completed);
        }
    }

    /// Power fails: some program operations are under way, at most one on each lane.
    fn cut(&mut self) {
        let lanes = self.ftl.layout().lanes().len() as u32;
        let (mut started, mut queued, mut busy) = (Vec::new(), Vec::new(), vec![false; lanes as usize]);
        for pu in self.pending.drain(..) {
            let lane = &mut busy[(pu.0 % lanes) as usize];
            let first = !std::mem::replace(lane, true);
            if first && self.rng.below(2) == 0 { started.push(pu) } else { queued.push(pu) }
        }
        self.ftl.power_failed();
        let after = self.ftl.lose_buffer(&started, &queued);
        assert!(after.fill.is_empty(), "there is no parity to be filled in");
        self.newest = self.durable.clone();
        // What was never on flash and lost again is not there; the trimmed stay trimmed.
        self.newest.retain(|lpn, _| self.durable.contains_key(lpn));
        self.cuts += 1;
    }

    /// A die fails, if enough are left.
    fn fail_die(&mut self) {
        let die = LocalDie(self.dead);
        if self.dead == 1 {
            return;
        }
        self.dead += 1;
        self.ftl.give_up_die(die, None);
        let lanes: Vec<LaneIndex> = self.ftl.layout().lanes_of_die(die).to_vec();
        assert!(
            self.ftl.space().pus().is_dead_die(die)
                && self.ftl.space().pus().live_lanes().all(|lane| !lanes.contains(&lane))
        );
        let all = self.pending.len();
        self.program(all);
    }

    fn step(&mut self, step: u8, lpn: u32) {
        let lpn = Lpn(lpn % self.units as u32);
        match step {
            0..=29 => {
                let (hint, count) = ((step % 2), 1 + u64::from(step) / 3);
                for _ in 0..count {
                    let other = Lpn(self.rng.below(self.units) as u32);
                    self.write(self.ftl.streams().host(hint.into(), 0), if step < 12 { lpn } else { other });
                }
            }
            30..=33 => self.trim(lpn),
            34..=40 => self.program(usize::from(step - 33)),
            41 => self.flush(),
            42..=44 => self.collect(1.0),
            45 => self.collect(0.5),
            46 => {
                if let Some(pu) = self.pending.pop_front() {
                    self.fail(pu);
                }
            }
            47..=49 if self.late => self.cut(),
            50 => self.fail_die(),
            _ => {}
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.ftl.self_check(), Ok(()));
        for lpn in (0..self.units as u32).map(Lpn) {
            let slot = self.ftl.lookup(lpn);
            let lost = self.ftl.is_lost(lpn);
            match self.newest.get(&lpn) {
                None => {
                    prop_assert!(!slot.is_some() && !lost, "page {} has data from nowhere", lpn);
                }
                Some(Page::Lost) => {
                    prop_assert!(!slot.is_some() && lost, "page {} is lost and has data", lpn);
                }
                Some(Page::Written(version)) => {
                    prop_assert!(slot.is_some() && !lost, "page {} of write {} is gone", lpn, version);
                    prop_assert_eq!(self.ftl.owner(slot), lpn);
                    prop_assert_eq!(self.version(slot), *version, "page {}", lpn);
                }
            }
        }
        let held: u64 = (0..self.ftl.layout().superblocks())
            .map(|superblock| u64::from(self.ftl.superblock(SuperblockId(superblock)).valid()))
            .sum();
        let written = self.newest.values().filter(|&&page| page != Page::Lost).count();
        prop_assert_eq!(held, written as u64);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Writes, trims, collection, programs that end late or fail, bad blocks, a die that dies, losses of power: in any order.
    #[test]
    fn does_what_plain_maps_do(
        late: bool,
        used in 0.2f64..0.55,
        tolerated in 0u16..2,
        host_rows in prop::option::of(1u32..3),
        steps in prop::collection::vec((0u8..=50, any::<u32>()), 1..120),
        seed: u64,
    ) {
        let Some(mut rig) = Rig::new(late, used, tolerated, host_rows, seed) else { return Ok(()) };
        for (step, lpn) in steps {
            rig.step(step, lpn);
            rig.check()?;
        }
        rig.flush();
        rig.check()?;
    }
}

/// The random test above would be worth little if it hardly ever moved data, cut power or filled the drive.
#[test]
fn the_model_reaches_what_it_is_for() {
    for host_rows in [None, Some(1)] {
        reach(Rig::new(true, 0.5, 1, host_rows, 7).expect("it fits"));
    }
}

fn reach(mut rig: Rig) {
    let mut rng = SplitMix::new(3, "test");
    // Nor does a block go bad.
    rig.bad_every = u64::MAX;
    for _ in 0..2000 {
        // No die fails, so that the drive stays in use.
        rig.step(rng.below(50) as u8, rng.below(1 << 20) as u32);
    }
    rig.check().expect("the model holds");
    assert!(
        rig.moved > 1000 && rig.cuts > 50 && rig.writes > 5000,
        "{} {} {}",
        rig.moved,
        rig.cuts,
        rig.writes
    );
    assert!(rig.ftl.figures().victims > 100, "{:?}", rig.ftl.figures());
}
