//! A mount from flash: what it finds, what it reads, how long that takes.
//!
//! With `device.mount`, the translation layer records what was programmed (`ftl/src/mount/`). `mount::rebuild` sees only these records, and must find the same
//! mapping as the tables after every loss of power and at every self-check. The reads of a mount are simulated on an instance of [`Flash`] of their own; until
//! they have ended, commands wait at the door (`host/door.rs`; decision 0044).

use crate::assemble::{flash_of, mount_options};
use crate::ssd::Ssd;
use outlast_controller::{DiePlace, place_of_pu};
use outlast_flash::{BlockRow, CoreDemand, DieEvent, DieQueue, DieStep, Flash, FlashOp, FlashSource};
use outlast_ftl::MountReads;
use outlast_units::{BlockId, CoreId, DieId, ModeId, Nanos, Ppn, Pu, Row};

/// Mounts from flash over a drive's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct Mounts {
    /// How many there were.
    pub mounts: u64,
    /// Pages read, over all of them.
    pub pages: u64,
    /// Time that they took, over all of them.
    pub time: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// The reads of a mount: steps, each of which needs what the one before has found.
#[derive(Default)]
struct Steps {
    /// The newest checkpoint and the journal since.
    journal: u64,
    checkpoint: u64,
    /// Reads that tell which superblocks are erased, open or full.
    headers: u64,
    /// Lists of owners, and program units whose spare areas are read.
    lists: u64,
    spare_areas: Vec<(CoreId, Pu)>,
    /// Pages to which the buffer was written when power failed.
    dump: u64,
    /// Of a mapping table that does not fit in memory: pages of its directory, and places of its own pages that have to be brought up to date.
    directory: u64,
    map_pages: Vec<(CoreId, Ppn)>,
}

impl Ssd {
    /// Mounts from flash over the drive's life; without `device.mount` there are none.
    pub fn mounts(&self) -> Mounts {
        self.mounts
    }

    /// When the drive, which mounts, will take commands; `None` while it takes them.
    pub fn ready_at(&self) -> Option<Nanos> {
        Some(self.host.opens_at()).filter(|&at| at != Nanos::MAX)
    }

    /// Checkpoints of the mapping made over the drive's life, and the pages that were written for them.
    pub fn checkpoints(&self) -> (u64, u64) {
        let page = self.context.config.geometry.page_size.0;
        let of = |(made, pages): (u64, u64)| (made, made * pages);
        let all = self.ftls().map(|ftl| of(ftl.checkpoints(page)));
        all.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
    }

    /// From now on the drive is ready as soon as its power is back: it takes its own tables' word for what flash would tell it, and nothing sees whether
    /// that is so. What it holds is the same. For copies that are only looked at.
    pub fn mount_at_once(&mut self) {
        self.context.config.mount = None;
    }

    /// Power is back, and the tables say what the drive would find: finds it on flash alone, and closes the door until all that has been
    /// read. `parity` are program units that are read so that the parity of open stripes is known again; `dumped`: capacitors had the
    /// buffer written to flash.
    ///
    /// # Panics
    /// If flash says something else than the tables.
    pub(crate) fn mount_from_flash(&mut self, now: Nanos, parity: &[(CoreId, Pu)], dumped: bool) {
        let Some(mount) = &self.context.config.mount else { return };
        let options = mount_options(mount, &self.context.config);
        let page = self.context.config.geometry.page_size.0;
        let mut steps = Steps { spare_areas: parity.to_vec(), ..Steps::default() };
        for (index, core) in self.cores.iter_indexed() {
            if let Err(error) = core.ftl().check_mount(dumped) {
                panic!("the mount of core {index} from flash: {error}");
            }
            let reads = core.ftl().mount_reads(options, page, dumped);
            let MountReads { journal, checkpoint, headers, lists, spare_areas, dump, directory, map_pages } =
                reads;
            steps.journal += journal;
            steps.checkpoint += checkpoint;
            steps.headers += headers;
            steps.lists += lists;
            steps.dump += dump;
            steps.directory += directory;
            steps.map_pages.extend(map_pages.into_iter().map(|slot| (index, slot)));
            steps.spare_areas.extend(spare_areas.into_iter().map(|pu| (index, pu)));
        }
        let (took, pages) = self.time_of(&steps);
        self.mounts.mounts += 1;
        self.mounts.pages += pages;
        self.mounts.time += took;
        self.mounts.longest = self.mounts.longest.max(took);
        self.host.close(now + took);
        self.context.call_housekeeping(now + took);
    }

    /// Dies that have not been given up.
    fn dies_that_work(&self) -> impl Iterator<Item = DieId> {
        let works = |place: &DiePlace| !self.cores[place.core].ftl().space().pus().is_dead_die(place.local);
        self.context.places.iter_indexed().filter(move |&(_, place)| works(place)).map(|(die, _)| die)
    }

    /// How long `steps` take one after another on dies and channels that do nothing else, and how many pages they read.
    fn time_of(&self, steps: &Steps) -> (Nanos, u64) {
        let layout = self.cores[CoreId(0)].ftl().layout();
        let flash = flash_of(&self.context.config, &self.context.places, layout)
            .expect("the drive was built with it");
        let mut reading = Reading { ssd: self, flash, now: Nanos::ZERO, pages: 0, turn: 0 };
        for pages in [steps.journal, steps.checkpoint, steps.headers] {
            reading.anywhere(pages);
            reading.wait();
        }
        for &(core, pu) in &steps.spare_areas {
            reading.program_unit(core, pu);
        }
        reading.anywhere(steps.lists);
        reading.wait();
        reading.anywhere(steps.dump);
        reading.wait();
        reading.anywhere(steps.directory);
        reading.wait();
        for &(core, slot) in &steps.map_pages {
            reading.unit(core, slot);
        }
        reading.wait();
        (reading.now, reading.pages)
    }
}

/// Reads of a mount under way, on a flash of their own.
struct Reading<'a> {
    ssd: &'a Ssd,
    flash: Flash<()>,
    now: Nanos,
    pages: u64,
    /// Counts pages that may lie anywhere: they go round the dies, and through the rows of a block.
    turn: u64,
}

impl Reading<'_> {
    /// `pages` pages that are spread over the dies.
    fn anywhere(&mut self, pages: u64) {
        let unit = self.ssd.cores[CoreId(0)].ftl().layout().program_unit();
        let mask = u64::MAX >> (64 - unit.units_per_page);
        let dies: Vec<DieId> = self.ssd.dies_that_work().collect();
        if dies.is_empty() {
            return;
        }
        let rows = u64::from(self.ssd.context.config.geometry.pages_per_block / unit.rows);
        for _ in 0..pages.div_ceil(u64::from(unit.pages_per_unit)) {
            let (round, die) = (self.turn / dies.len() as u64, self.turn % dies.len() as u64);
            let row = Row((round % rows) as u32 * unit.rows);
            self.read(dies[die as usize], BlockRow { block: BlockId(0), row, mode: ModeId::FIRST }, mask);
            self.turn += 1;
        }
    }

    /// All pages of a program unit.
    fn program_unit(&mut self, core: CoreId, pu: Pu) {
        let ftl = self.ssd.cores[core].ftl();
        let (die, place) = place_of_pu(ftl, pu);
        self.read(die, place, u64::MAX >> (64 - ftl.layout().units_per_pu()));
    }

    /// The unit in slot `slot`.
    fn unit(&mut self, core: CoreId, slot: Ppn) {
        let ftl = self.ssd.cores[core].ftl();
        let (pu, unit) = ftl.layout().pu_of(slot);
        let (die, place) = place_of_pu(ftl, pu);
        self.read(die, place, 1 << unit);
    }

    fn read(&mut self, die: DieId, place: BlockRow, mask: u64) {
        let unit = self.ssd.cores[CoreId(0)].ftl().layout().program_unit();
        self.pages += unit.sensed(mask).0;
        self.flash.enqueue(self.now, die, DieQueue::Reads, FlashOp::read(place, mask, ()));
    }

    /// Lets time pass until all has been read.
    fn wait(&mut self) {
        for die in self.ssd.context.places.indices() {
            self.wake(die);
        }
        while self.flash.next_event() != Nanos::MAX {
            self.now = self.flash.next_event();
            let FlashSource::Die(die) = self.flash.next_source() else {
                unreachable!("only dies have something to do")
            };
            if let DieEvent::Ended(_) | DieEvent::Continues(DieStep::PlaneFree) =
                self.flash.handle_event(self.now, die)
            {
                self.wake(die);
            }
        }
    }

    /// Has `die` begin all reads that it may.
    fn wake(&mut self, die: DieId) {
        while let DieStep::SensingBeside(_) = self.flash.wake(self.now, die, |_| CoreDemand::default()) {}
    }
}
