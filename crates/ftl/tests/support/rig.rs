//! A translation layer with parity, and what surrounds it: queues of lanes, programs that fail, losses of power.

use super::kind::{Kind, UNIT};
use outlast_ftl::{Ftl, StreamCause};
use outlast_media::UnitBytes;
use outlast_units::rng::SplitMix;
use outlast_units::{Lpn, Ppn, Pu, Stream, SuperblockId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// State of a page that is known to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// Its data is that of this write.
    Written(u32),
    Lost,
}

/// A translation layer with what surrounds it, and the maps that it is compared with.
pub(crate) struct Rig {
    pub(crate) ftl: Ftl,
    pub(crate) kind: Kind,
    pub(crate) rng: SplitMix,
    pub(crate) writes: u32,
    /// State that the host would read, and state that a loss of power would leave.
    pub(crate) newest: BTreeMap<Lpn, Page>,
    pub(crate) durable: BTreeMap<Lpn, Page>,
    /// Writes of a page up to this one count no more, even if they come to flash: it has been trimmed or lost since.
    pub(crate) floor: BTreeMap<Lpn, u32>,
    /// Program units on their way to flash, lane by lane.
    pub(crate) queues: Vec<VecDeque<Pu>>,
    /// Superblocks whose data has moved, to be erased when what moved is on flash.
    pub(crate) formers: Vec<SuperblockId>,
    /// Program units that cannot be read.
    pub(crate) broken: BTreeSet<Pu>,
    pub(crate) dead: u16,
    pub(crate) failed: u32,
    pub(crate) rebuilt: u32,
}

impl Rig {
    pub(crate) fn new(kind: Kind, seed: u64) -> Option<Self> {
        let ftl = kind.ftl(seed)?;
        let lanes = ftl.layout().lanes().len();
        let (newest, durable, floor) = Default::default();
        Some(Self {
            ftl,
            kind,
            rng: SplitMix::new(seed, "test"),
            writes: 0,
            newest,
            durable,
            floor,
            queues: vec![VecDeque::new(); lanes],
            formers: Vec::new(),
            broken: BTreeSet::new(),
            dead: 0,
            failed: 0,
            rebuilt: 0,
        })
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = Stream> + use<> {
        self.ftl.streams().all()
    }

    pub(crate) fn slots(&self, pu: Pu) -> impl Iterator<Item = Ppn> + use<> {
        Ppn::each(self.ftl.layout().slots_of(pu))
    }

    pub(crate) fn queue(&mut self, pu: Pu) {
        let lane = pu.0 as usize % self.queues.len();
        self.queues[lane].push_back(pu);
    }

    pub(crate) fn queue_parity(&mut self, stream: Stream) {
        while let Some(pu) = self.ftl.take_parity(stream) {
            self.queue(pu);
        }
    }

    /// Program unit `pu` of `stream` is full.
    pub(crate) fn queue_full(&mut self, stream: Stream, pu: Pu) {
        self.queue(pu);
        self.queue_parity(stream);
    }

    pub(crate) fn pad(&mut self, stream: Stream) {
        if let Some(pu) = self.ftl.pad(stream) {
            self.queue_full(stream, pu);
        }
    }

    pub(crate) fn write(&mut self, hint: u8, lpn: Lpn) {
        if self.ftl.needs_gc() {
            self.collect(StreamCause::Gc, 1.0);
        }
        let stream = self.ftl.streams().host(u16::from(hint / 3), hint % self.ftl.streams().classes());
        if !self.ftl.can_append(stream) {
            self.flush();
        }
        if self.ftl.is_read_only() || !self.ftl.can_append(stream) {
            return;
        }
        self.writes += 1;
        let slot = self.ftl.append(stream, lpn);
        let (version, mut rng) = (self.writes, SplitMix::new(u64::from(self.writes), "bytes"));
        let mut bytes: Vec<u8> =
            (0..UNIT * self.kind.pages_per_unit / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        bytes[..4].copy_from_slice(&version.to_le_bytes());
        let unit = self.ftl.make_unit(lpn, &bytes);
        self.ftl.store(slot.ppn, unit.expect("the layer keeps bytes"));
        self.newest.insert(lpn, Page::Written(version));
        if slot.completes_pu {
            self.queue_full(stream, self.ftl.layout().pu_of(slot.ppn).0);
        }
    }

    pub(crate) fn trim(&mut self, lpn: Lpn) {
        let had = matches!(self.newest.remove(&lpn), Some(Page::Written(_)));
        assert_eq!(self.ftl.trim(lpn), had);
        self.durable.remove(&lpn);
        self.floor.insert(lpn, self.writes);
    }

    pub(crate) fn is_lost(&mut self, lpn: Option<Lpn>) {
        if let Some(lpn) = lpn {
            self.newest.insert(lpn, Page::Lost);
            self.durable.insert(lpn, Page::Lost);
            self.floor.insert(lpn, self.writes);
        }
    }

    /// Number of the write that put the bytes into `slot`; 0 if stale bytes are given up.
    pub(crate) fn version(&self, slot: Ppn) -> u32 {
        let version = |unit: &UnitBytes| {
            let mut version = [0; 4];
            unit.copy_to(0, &mut version);
            u32::from_le_bytes(version)
        };
        self.ftl.space().image(slot).map_or(0, version)
    }

    /// The oldest program operation of a lane comes to its end.
    pub(crate) fn program(&mut self, lane: usize) {
        let Some(pu) = self.queues[lane].pop_front() else { return };
        if self.ftl.space().pus().is_given_up(pu)
            || self.ftl.space().pus().is_dead_lane(pu)
            || self.rng.below(self.kind.failures) == 0
        {
            return self.fail(pu);
        }
        self.ftl.programmed(pu);
        let is_host = |ftl: &Ftl, lpn: Lpn| lpn.is_some() && !ftl.is_map_page(lpn);
        for slot in self.slots(pu).filter(|&slot| is_host(&self.ftl, self.ftl.owner(slot))) {
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

    /// The program operation of `pu` fails; its units are written again where there is room.
    pub(crate) fn fail(&mut self, pu: Pu) {
        self.failed += 1;
        let stream = self.ftl.superblock(self.ftl.layout().place(pu).superblock).stream();
        self.ftl.program_failed(pu);
        self.queue_parity(stream);
        let map = self.ftl.streams().map();
        for slot in self.slots(pu) {
            if Some(stream) == map {
                assert_eq!(self.ftl.lose(slot), None, "the controller has its table");
                continue;
            }
            let first = [stream, self.ftl.streams().gc(self.ftl.streams().class(stream))];
            let others = self.streams().filter(|&stream| Some(stream) != map);
            let mut streams = first.into_iter().chain(others);
            let to = streams.find_map(|stream| Some((stream, self.ftl.rewrite(stream, slot)?)));
            match to {
                Some((stream, to)) if to.completes_pu => {
                    self.queue_full(stream, self.ftl.layout().pu_of(to.ppn).0);
                }
                Some(_) => {}
                None => {
                    let lost = self.ftl.lose(slot);
                    self.is_lost(lost);
                }
            }
        }
        self.ftl.drop_failed();
        if self.kind.late {
            self.pad(stream);
        }
        self.queue_parity(stream);
    }

    /// Everything that is begun is filled and programmed.
    pub(crate) fn flush(&mut self) {
        loop {
            for stream in self.streams() {
                self.pad(stream);
            }
            if self.queues.iter().all(VecDeque::is_empty) {
                break;
            }
            // A program operation that fails begins another program unit.
            for lane in 0..self.queues.len() {
                while !self.queues[lane].is_empty() {
                    self.program(lane);
                }
            }
        }
        self.erase_formers();
        assert!(self.formers.is_empty(), "nothing is in the buffer, and {:?} are pinned", self.formers);
    }

    /// As much of the mapping table is flushed as finds room, if a flush is due or `called` for.
    pub(crate) fn flush_map(&mut self, called: bool) {
        if called {
            self.ftl.request_map_flush();
        }
        while let Some((stream, pu)) = self.ftl.flush_map() {
            self.queue_full(stream, pu);
        }
    }

    /// Protects what the open stripe of `stream` holds.
    pub(crate) fn cover(&mut self, stream: Stream) {
        if !self.ftl.stream(stream).takes_cover() || self.ftl.stream(stream).exposed() == 0 {
            return;
        }
        self.pad(stream);
        self.ftl.cover(stream);
        while let Some(pu) = self.ftl.take_cover() {
            self.queue(pu);
        }
        self.queue_parity(stream);
    }
}
