//! Which request a job makes next: direction, offset and length, decided in fio's order by fio's rules (`io_u.c` of fio 3.33), so that
//! the same `randseed` gives the same requests.

use super::job::{LawSpec, Shape};
use super::law::{Normal, Pareto, Zipf, Zones};
use super::map::Map;
use super::rand::{Random, Seeds, Stream};

/// A direction: read, write, trim, as fio orders them.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;

/// How blocks are drawn.
#[derive(Clone, Debug)]
pub(super) enum Law {
    Uniform,
    Zipf(Zipf),
    Pareto(Pareto),
    Normal(Normal),
    Zoned([Zones; 3]),
}

impl Law {
    /// The law of a job over its region.
    fn of(spec: LawSpec, shape: &Shape, seeds: &Seeds) -> Self {
        let places = shape.length.div_ceil(shape.sizes[0].least.min(shape.sizes[1].least)).max(1);
        match spec {
            LawSpec::Uniform => Self::Uniform,
            LawSpec::Zipf { theta, centre } => Self::Zipf(Zipf::new(places, theta, centre, seeds)),
            LawSpec::Pareto { h, centre } => Self::Pareto(Pareto::new(places, h, centre, seeds)),
            LawSpec::Normal { percent, centre } => {
                Self::Normal(Normal::new(places, percent, centre, seeds.of(Stream::Block)))
            }
            LawSpec::Zoned(zones, bytes) => Self::Zoned(zones.map(|zones| Zones::new(&zones, bytes))),
        }
    }
}

/// A request except for its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// First byte on the device.
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// The generator of one job.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    shape: Shape,
    seeds: Seeds,
    block: Random,
    sizes: [Random; 3],
    mix: Random,
    zone: Random,
    sequence: [Random; 3],
    law: Law,
    map: Option<Map>,
    /// End and start of the last request of each direction, in bytes of the device.
    last_end: [u64; 3],
    last_start: [Option<u64>; 3],
    /// Requests until one is drawn anew, with a number after the colon of `rw`.
    until_draw: u64,
    /// Whether the drawn block must not be marked.
    unmarked: bool,
}

impl Offsets {
    pub(super) fn new(shape: Shape, seeds: Seeds) -> Self {
        let law = Law::of(shape.law.clone(), &shape, &seeds);
        let map = shape.has_map().then(|| Map::new((shape.length / shape.smallest()).max(1)));
        let unseeded = || Random::new(0, false);
        let mut offsets = Self {
            law,
            map,
            block: unseeded(),
            sizes: [unseeded(), unseeded(), unseeded()],
            mix: unseeded(),
            zone: unseeded(),
            sequence: [unseeded(), unseeded(), unseeded()],
            last_end: [shape.start; 3],
            last_start: [None; 3],
            until_draw: 1,
            unmarked: false,
            shape,
            seeds,
        };
        offsets.seed();
        offsets
    }

    /// Seeds every stream, as at the start.
    pub(super) fn seed(&mut self) {
        let wide = self.shape.wide();
        let seeds = &self.seeds;
        self.block = Random::new(seeds.of(Stream::Block), wide);
        for (slot, stream) in
            self.sizes.iter_mut().zip([Stream::ReadSize, Stream::WriteSize, Stream::TrimSize])
        {
            *slot = Random::new(seeds.of(stream), wide);
        }
        self.mix = Random::new(seeds.of(Stream::Mix), false);
        self.zone = Random::new(seeds.of(Stream::Zone), false);
        for slot in &mut self.sequence {
            *slot = Random::new(seeds.of(Stream::Sequence), false);
        }
    }

    /// Forgets what was touched: the next pass begins.
    pub(super) fn reset(&mut self) {
        self.last_end = [self.shape.start; 3];
        self.last_start = [None; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }

    /// Draws the direction of a mixed job.
    pub(super) fn direction(&mut self) -> usize {
        if self.mix.percent() <= self.shape.read_percent { READ } else { WRITE }
    }

    /// The next request in direction `ddir`; `None` where the region has no more.
    pub(super) fn next(&mut self, ddir: usize) -> Option<Extent> {
        self.until_draw -= 1;
        let fresh = self.until_draw == 0;
        if fresh {
            self.until_draw = self.shape.every;
        }
        self.unmarked = false;
        let (relative, random) = self.place(ddir, fresh)?;
        if relative >= self.shape.length {
            return None;
        }
        let offset = self.shape.start + relative;
        let mut bytes = self.length(ddir, offset, random)?;
        // A last block may reach beyond the region, never beyond the device.
        if offset + bytes > self.shape.device {
            return None;
        }
        if let Some(map) = &mut self.map {
            let unit = self.shape.sizes[ddir].least;
            if !self.unmarked {
                let taken = map.take(relative / unit, bytes.div_ceil(unit));
                bytes = bytes.min(taken * unit);
            }
        }
        self.last_start[ddir] = Some(offset);
        self.last_end[ddir] = offset + bytes;
        Some(Extent { offset, bytes })
    }

    /// Start of the next request from the start of the region, and whether it was drawn.
    fn place(&mut self, ddir: usize, fresh: bool) -> Option<(u64, bool)> {
        if fresh && self.shape.random {
            let share = self.shape.random_percent[ddir];
            if share == 100 || self.sequence[ddir].percent() <= share {
                return self.drawn(ddir).map(|at| (at, true));
            }
            self.unmarked = true;
            return match self.sequential(ddir) {
                Some(at) => Some((at, false)),
                None => self.drawn(ddir).map(|at| (at, false)),
            };
        }
        if fresh {
            return self.sequential(ddir).map(|at| (at, false));
        }
        self.unmarked = true;
        if self.shape.identical {
            return Some((self.last_start[ddir].map_or(0, |start| start - self.shape.start), false));
        }
        match self.sequential(ddir) {
            Some(at) => Some((at, false)),
            None => self.drawn(ddir).map(|at| (at, false)),
        }
    }

    fn sequential(&mut self, ddir: usize) -> Option<u64> {
        let shape = &self.shape;
        let end = shape.start + shape.length;
        if self.last_end[ddir] >= end && shape.time_based {
            self.last_end[ddir] = shape.start;
        }
        if self.last_end[ddir] >= shape.device {
            return None;
        }
        if self.last_end[ddir] == shape.start && shape.start != 0 && shape.skip < 0 {
            self.last_end[ddir] = shape.device.min(shape.length);
        }
        // Where the last end was set to the length, the difference wraps below the start, as fio's does: the holes then begin at the end.
        let mut at = self.last_end[ddir].wrapping_sub(shape.start);
        if at != 0 && shape.skip != 0 {
            at = at.wrapping_add_signed(shape.skip);
            if at >= shape.device {
                at = if shape.skip > 0 {
                    shape.start
                } else {
                    shape.device.min(shape.length).wrapping_add_signed(shape.skip)
                };
            }
        }
        Some(at)
    }

    /// A drawn place; in a job that goes by time the map begins anew when it is full.
    fn drawn(&mut self, ddir: usize) -> Option<u64> {
        let block = self.draw(ddir).or_else(|| {
            if !self.shape.time_based {
                return None;
            }
            self.reset();
            self.draw(ddir)
        })?;
        block.checked_mul(self.shape.align[ddir])
    }

    /// Blocks from which one is drawn.
    fn blocks(&self, ddir: usize) -> u64 {
        let (shape, least) = (&self.shape, self.shape.sizes[ddir].least);
        let align = shape.align[ddir];
        let spare = least.saturating_sub(align);
        shape.length.saturating_sub(spare) / align
    }

    fn draw(&mut self, ddir: usize) -> Option<u64> {
        let last = self.blocks(ddir);
        match &mut self.law {
            Law::Zipf(law) => return Some(law.draw()),
            Law::Pareto(law) => return Some(law.draw()),
            Law::Normal(law) => return Some(law.draw()),
            Law::Uniform | Law::Zoned(_) => {}
        }
        if last == 0 {
            return None;
        }
        if let Law::Zoned(zones) = &self.law {
            let percent = self.zone.percent();
            let (first, blocks) = zones[ddir].of(percent, last, self.shape.align[ddir])?;
            return Some(first + self.uniform(blocks)?);
        }
        self.uniform(last)
    }

    #[inline]
    fn uniform(&mut self, blocks: u64) -> Option<u64> {
        let block = self.block.below(blocks);
        self.map.as_ref().map_or(Some(block), |map| map.free_from(block))
    }

    fn length(&mut self, ddir: usize, offset: u64, random: bool) -> Option<u64> {
        let shape = &self.shape;
        // Sizes may go with sequential and random in the place of reads and writes.
        let by = match (shape.by_sequence, random) {
            (false, _) => ddir,
            (true, true) => WRITE,
            (true, false) => READ,
        };
        let sizes = &shape.sizes[by];
        let (least, most) = (sizes.least, sizes.most);
        if least == most {
            return Some(least);
        }
        let room = shape.start + shape.length - offset;
        if least > room {
            return None;
        }
        let random = &mut self.sizes[by];
        loop {
            let drawn = random.next();
            let mut bytes = 0;
            if sizes.split.is_empty() {
                bytes = least + (most as f64 * (drawn as f64 / random.span())) as u64;
            } else {
                let (mut sum, hundredth) = (0, random.most() / 100);
                for &(size, percent) in &sizes.split {
                    if percent == 0 {
                        continue;
                    }
                    bytes = size;
                    sum += u64::from(percent);
                    if drawn / sum <= hundredth && bytes <= room {
                        break;
                    }
                }
            }
            bytes = (bytes - bytes % least).min(most);
            if bytes <= room {
                return Some(bytes);
            }
        }
    }
}
