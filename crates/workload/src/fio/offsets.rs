//! Draws direction, offset and length of a job's next request in fio's order and by its rules (`io_u.c` of fio 3.33), so that
//! the same `randseed` gives the same requests.

mod lengths;

use super::job_options::{AccessPlan, BlockSource};
use super::law::BlockLaw;
use super::rand::{JobSeeds, RandomStream, TauswortheRng};
use super::random_map::RandomMap;
use super::shift_register::ShiftRegister;

/// Number of a direction, in fio's order. An index called `ddir`, as in fio, is one of these.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;

/// Offset and length of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteRange {
    /// First byte, counted from the start of the device.
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// The generator of a job's requests.
#[derive(Clone, Debug)]
pub(super) struct OffsetGenerator {
    access: AccessPlan,
    seeds: JobSeeds,
    block: TauswortheRng,
    sizes: [TauswortheRng; 3],
    mix: TauswortheRng,
    zone: TauswortheRng,
    sequence: [TauswortheRng; 3],
    law: BlockLaw,
    map: Option<RandomMap>,
    register: Option<ShiftRegister>,
    /// End and start of the last request of each direction, in bytes from the start of the device.
    last_end: [u64; 3],
    last_start: [Option<u64>; 3],
    /// Requests until the next one is drawn, if `rw` has a number behind its colon.
    until_draw: u64,
    /// True if the current request is not to be marked in the random map.
    unmarked: bool,
}

impl OffsetGenerator {
    pub(super) fn new(access: AccessPlan, seeds: JobSeeds) -> Self {
        let law = BlockLaw::new(access.law.clone(), &access, &seeds);
        let map = access.has_map().then(|| RandomMap::new((access.length / access.smallest()).max(1)));
        let register = (access.source == Some(BlockSource::Lfsr) && access.random)
            .then(|| ShiftRegister::new(access.length / access.smallest(), seeds.of(RandomStream::Block)));
        let unseeded = || TauswortheRng::new(0, false);
        let mut offsets = Self {
            law,
            map,
            register,
            block: unseeded(),
            sizes: [unseeded(), unseeded(), unseeded()],
            mix: unseeded(),
            zone: unseeded(),
            sequence: [unseeded(), unseeded(), unseeded()],
            last_end: [access.start; 3],
            last_start: [None; 3],
            until_draw: 1,
            unmarked: false,
            access,
            seeds,
        };
        offsets.seed();
        offsets
    }

    /// Seeds every stream as at the start of the job.
    pub(super) fn seed(&mut self) {
        let wide = self.access.wide();
        let seeds = &self.seeds;
        self.block = TauswortheRng::new(seeds.of(RandomStream::Block), wide);
        for (slot, stream) in self.sizes.iter_mut().zip([
            RandomStream::ReadSize,
            RandomStream::WriteSize,
            RandomStream::TrimSize,
        ]) {
            *slot = TauswortheRng::new(seeds.of(stream), wide);
        }
        self.mix = TauswortheRng::new(seeds.of(RandomStream::Mix), false);
        self.zone = TauswortheRng::new(seeds.of(RandomStream::Zone), false);
        for slot in &mut self.sequence {
            *slot = TauswortheRng::new(seeds.of(RandomStream::Sequence), false);
        }
    }

    /// Clears the random map and the sequential positions before the next pass.
    pub(super) fn begin_pass(&mut self) {
        self.last_end = [self.access.start; 3];
        self.last_start = [None; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(register) = &mut self.register {
            register.begin_pass();
        }
    }

    /// Draws the direction of a mixed job by its share of reads.
    pub(super) fn draw_direction(&mut self) -> usize {
        if self.mix.percent() <= self.access.read_percent { READ } else { WRITE }
    }

    /// The next request in direction `ddir`; `None` if the region has no more.
    #[inline]
    pub(super) fn next(&mut self, ddir: usize) -> Option<ByteRange> {
        let drawn = self.draw(ddir)?;
        // A last block may reach beyond the region, never beyond the device.
        if drawn.offset + drawn.bytes > self.access.device {
            return None;
        }
        let range = ByteRange { bytes: self.mark(ddir, drawn.offset, drawn.bytes), ..drawn };
        self.was_placed(ddir, range);
        Some(range)
    }

    /// The next request in direction `ddir`, before it is marked in the random map; `None` if the region has no more.
    #[inline]
    pub(super) fn draw(&mut self, ddir: usize) -> Option<ByteRange> {
        self.until_draw -= 1;
        let fresh = self.until_draw == 0;
        if fresh {
            self.until_draw = self.access.every;
        }
        self.unmarked = false;
        let (relative, random) = self.choose_offset(ddir, fresh)?;
        if relative >= self.access.length {
            return None;
        }
        let offset = self.access.start + relative;
        let bytes = self.draw_length(ddir, offset, random)?;
        Some(ByteRange { offset, bytes })
    }

    /// Marks `bytes` from the drawn `offset` on in the random map. Returns how many of them nobody had marked, up to the first that somebody had.
    #[inline]
    pub(super) fn mark(&mut self, ddir: usize, offset: u64, bytes: u64) -> u64 {
        let Some(map) = self.map.as_mut().filter(|_| !self.unmarked) else { return bytes };
        let unit = self.access.sizes[ddir].least;
        bytes.min(unit * map.take((offset - self.access.start) / unit, bytes.div_ceil(unit)))
    }

    /// A sequential direction goes on where `to` says for the end of its last request.
    pub(super) fn go_on_at(&mut self, ddir: usize, to: impl FnOnce(u64) -> u64) {
        self.last_end[ddir] = to(self.last_end[ddir]);
    }

    /// The last request of direction `ddir` went to `range` instead.
    pub(super) fn was_placed(&mut self, ddir: usize, range: ByteRange) {
        // The range that was trimmed and written last comes again: as in fio, its write is still to come.
        if self.access.trims_first && ddir == TRIM && self.last_start[TRIM] == Some(range.offset) {
            self.last_start[WRITE] = None;
        }
        self.last_start[ddir] = Some(range.offset);
        self.last_end[ddir] = range.offset + range.bytes;
    }

    /// Offset of the next request from the start of the region, and true if it was drawn.
    fn choose_offset(&mut self, ddir: usize, fresh: bool) -> Option<(u64, bool)> {
        if self.writes_trimmed(ddir) {
            self.unmarked = true;
            return Some((self.last_start[TRIM]? - self.access.start, true));
        }
        if fresh && self.access.random {
            let share = self.access.random_percent[ddir];
            // fio draws nothing if the share is 100 %, which keeps the stream of sequences as it is.
            if share == 100 || self.sequence[ddir].percent() <= share {
                return self.random_offset(ddir).map(|at| (at, true));
            }
            self.unmarked = true;
            return match self.sequential(ddir) {
                Some(at) => Some((at, false)),
                None => self.random_offset(ddir).map(|at| (at, false)),
            };
        }
        if fresh {
            return self.sequential(ddir).map(|at| (at, false));
        }
        self.unmarked = true;
        if self.access.identical {
            return Some((self.last_start[ddir].map_or(0, |start| start - self.access.start), false));
        }
        match self.sequential(ddir) {
            Some(at) => Some((at, false)),
            None => self.random_offset(ddir).map(|at| (at, false)),
        }
    }

    /// The direction of the next request of a job that trims each range and then writes it.
    pub(super) fn trim_or_write(&self) -> usize {
        if self.last_start[WRITE] == self.last_start[TRIM] { TRIM } else { WRITE }
    }

    /// True if a request in direction `ddir` writes what was trimmed last. One behind the other follow by themselves.
    fn writes_trimmed(&self, ddir: usize) -> bool {
        self.access.trims_first && self.access.random && ddir == WRITE
    }

    /// The offset behind the last request of a direction; `None` at the end of the device.
    fn sequential(&mut self, ddir: usize) -> Option<u64> {
        let access = &self.access;
        let end = access.start + access.length;
        if self.last_end[ddir] >= end && access.time_based {
            self.last_end[ddir] = access.start;
        }
        if self.last_end[ddir] >= access.device {
            return None;
        }
        if self.last_end[ddir] == access.start && access.start != 0 && access.skip < 0 {
            self.last_end[ddir] = access.device.min(access.length);
        }
        // Where the last end was set to the length, the difference wraps below the start, as fio's does: the holes then begin at the end.
        let mut at = self.last_end[ddir].wrapping_sub(access.start);
        if at != 0 && access.skip != 0 {
            at = at.wrapping_add_signed(access.skip);
            if at >= access.device {
                at = if access.skip > 0 {
                    access.start
                } else {
                    access.device.min(access.length).wrapping_add_signed(access.skip)
                };
            }
        }
        Some(at)
    }

    /// A random offset. When the map is full, it is cleared in a job that ends by time, and otherwise there is none.
    fn random_offset(&mut self, ddir: usize) -> Option<u64> {
        let block = self.draw_block(ddir).or_else(|| {
            if !self.access.time_based {
                return None;
            }
            self.begin_pass();
            self.draw_block(ddir)
        })?;
        block.checked_mul(self.access.align[ddir])
    }

    /// Number of blocks from which one is drawn.
    fn blocks(&self, ddir: usize) -> u64 {
        let (access, least) = (&self.access, self.access.sizes[ddir].least);
        let align = access.align[ddir];
        // On a grid finer than the request the last places have no room for a whole one.
        let spare = least.saturating_sub(align);
        access.length.saturating_sub(spare) / align
    }

    /// A random block by the law of the job.
    fn draw_block(&mut self, ddir: usize) -> Option<u64> {
        let last = self.blocks(ddir);
        match &mut self.law {
            BlockLaw::Zipf(law) => return Some(law.draw()),
            BlockLaw::Pareto(law) => return Some(law.draw()),
            BlockLaw::Normal(law) => return Some(law.draw()),
            BlockLaw::Uniform | BlockLaw::Zoned(_) => {}
        }
        if last == 0 {
            return None;
        }
        if let BlockLaw::Zoned(zones) = &self.law {
            let percent = self.zone.percent();
            let (first, blocks) = zones[ddir].blocks_of(percent, last, self.access.align[ddir])?;
            return Some(first + self.uniform(blocks)?);
        }
        self.uniform(last)
    }

    /// A block of 0..`blocks`, or the next that the map has not marked; `None` if all are marked.
    #[inline]
    fn uniform(&mut self, blocks: u64) -> Option<u64> {
        if let Some(register) = &mut self.register {
            return register.draw();
        }
        let block = self.block.below(blocks);
        self.map.as_ref().map_or(Some(block), |map| map.free_from(block))
    }
}
