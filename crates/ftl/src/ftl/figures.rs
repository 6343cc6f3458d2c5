//! What the translation layer counts, and the check of its invariants.

use super::{Cause, Ftl, State, Stream};
use crate::causes::{PagesRead, UnitsWritten};
use crate::config::VictimPolicy;
use crate::policy::NO_CANDIDATE;
use crate::table::{FlatMap, Mapping};
use outlast_media::Blocks;
use outlast_units::{Ppn, SuperblockId};

impl Ftl {
    /// Units written so far, by cause.
    pub fn written(&self) -> UnitsWritten {
        self.written
    }

    /// Pages programmed so far.
    pub fn pages_programmed(&self) -> u64 {
        self.pus_programmed * u64::from(self.layout.pages_per_pu())
    }

    /// Program operations so far that used several planes at once. A program unit takes all planes of its lane, one operation for
    /// each of its rows.
    pub fn multi_plane_programs(&self) -> u64 {
        let operations = self.pus_programmed * u64::from(self.layout.rows_per_pu());
        if self.layout.planes_per_lane() > 1 { operations } else { 0 }
    }

    /// Pages read so far by relocation in [untimed](Ftl::write_untimed) writes.
    pub fn untimed_reads(&self) -> PagesRead {
        self.untimed_reads
    }

    /// Superblocks relocated so far, and the valid units they held.
    pub fn victims(&self) -> (u64, u64) {
        (self.victims, self.victim_units)
    }

    /// Superblocks sealed so far: what [`Ftl::seal_of`] of a superblock sealed from now on will be at least.
    pub fn seals(&self) -> u64 {
        self.seals
    }

    /// Which of all seals that of a superblock was; `None` unless it is sealed. Another number than before means that the superblock
    /// was erased and filled in between.
    pub fn seal_of(&self, superblock: SuperblockId) -> Option<u64> {
        let index = superblock.index();
        (self.state[index] == State::Sealed).then(|| self.sealed_order[index])
    }

    /// Data units that can be written before anything more must be erased: in free superblocks and in those that streams have open.
    pub fn unwritten_units(&self) -> u64 {
        let free = self.free.len() as u64 * u64::from(self.data_units(self.gc_stream(0)));
        free + (0..self.streams()).map(|stream| u64::from(self.room(Stream(stream)))).sum::<u64>()
    }

    /// The physical blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Page rows of a block, numbered as by [`Blocks::index`], that have been programmed since it was erased: the first ones.
    pub fn programmed_rows(&self, block: u32) -> u32 {
        let at = self.blocks.address(block);
        // A spare block has not been programmed, and one that is bad was erased last.
        let Some(superblock) = self.superblock_of_block(block) else { return 0 };
        let lanes = self.layout.lanes_of_die(at.die);
        let own = lanes.iter().find(|&&lane| {
            let lane = self.layout.lanes()[lane as usize];
            (lane.first_plane..lane.first_plane + lane.planes).contains(&at.plane)
        });
        let column = |lane: u32| superblock.index() * self.layout.lanes().len() + lane as usize;
        own.map_or(0, |&lane| self.order.programmed(column(lane)) * self.layout.rows_per_pu())
    }

    /// Spare blocks left.
    pub fn spare_blocks_left(&self) -> u64 {
        self.table.spares_left()
    }

    /// Whether the live bytes are kept.
    pub fn keeps_bytes(&self) -> bool {
        self.contents.is_some()
    }

    /// P/E cycles of the least-worn block of the superblocks in use; spare blocks, which nothing has used, do not count.
    pub fn least_cycles(&self) -> u32 {
        let in_use = (0..self.layout.superblocks())
            .map(SuperblockId)
            .filter(|&superblock| self.state(superblock) != State::Retired);
        let blocks = in_use.flat_map(|superblock| self.good_blocks(superblock));
        blocks.map(|block| self.blocks.cycles(block)).min().unwrap_or(0)
    }

    /// The least-worn and the most-worn superblock's P/E cycles, each the mean of its blocks.
    pub fn cycle_range(&self) -> (u32, u32) {
        let live = || {
            self.cycles
                .iter()
                .zip(&self.state)
                .filter(|&(_, &state)| state != State::Retired)
                .map(|(&c, _)| c)
        };
        (live().min().unwrap_or(0), live().max().unwrap_or(0))
    }

    /// The victim policy in force.
    pub fn victim_policy(&self) -> VictimPolicy {
        self.config.gc.policy
    }

    /// What [`Ftl::heap_bytes`] will be when all tables are built.
    pub fn heap_bytes_when_built(&self, geometry: &outlast_media::Geometry) -> u64 {
        let layout = &self.layout;
        let superblocks = u64::from(layout.superblocks());
        let blocks = u64::from(layout.dies())
            * u64::from(layout.planes_per_die())
            * u64::from(geometry.blocks_per_plane);
        let entry = size_of::<u32>() as u64;
        let pus = superblocks * u64::from(layout.pus_per_superblock());
        FlatMap::bytes_when_built(u64::from(layout.logical_units()), layout.slots())
            + superblocks * Self::SUPERBLOCK_BYTES as u64
            + pus.div_ceil(64) * size_of::<u64>() as u64
            + blocks * (entry + 1)
            + superblocks * layout.lanes().len() as u64 * entry
            + superblocks * u64::from(layout.dies()) * u64::from(layout.planes_per_die()) * entry
    }

    /// Bytes of the tables that have an entry for each superblock.
    const SUPERBLOCK_BYTES: usize = size_of::<u32>() * 4
        + size_of::<u64>() * 2
        + size_of::<State>()
        + size_of::<Cause>()
        + size_of::<Stream>()
        + size_of::<u8>()
        + size_of::<usize>();

    /// Resident bytes of all tables. [`Ftl::new`] allocates them once; they grow only when the core takes over units of another.
    pub fn heap_bytes(&self) -> usize {
        self.map.bytes()
            + self.valid.len() * Self::SUPERBLOCK_BYTES
            + self.pu_programmed.bytes()
            + size_of_val(self.blocks.all_cycles()) / 4 * 5
            + self.order.bytes()
            + self.table.heap_bytes()
    }

    /// Units written but still in the buffer: in program units begun, or full and not yet reported as programmed.
    pub fn buffered_units(&self) -> u64 {
        self.written.total() - (self.pus_programmed + self.pus_failed) * u64::from(self.layout.units_per_pu())
    }

    /// Checks every invariant, in time proportional to the device.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn self_check(&self) -> Result<(), String> {
        self.map.check()?;
        let units = self.layout.units_per_superblock();
        let in_superblock = |index: u32| {
            let first = self.layout.first_slot(SuperblockId(index));
            let strides = (first..first + units).step_by(64);
            strides.map(|at| self.map.valid_in(Ppn(at), (first + units - at).min(64)).count_ones()).sum()
        };
        let valid: Vec<u32> = (0..self.valid.len() as u32).map(in_superblock).collect();
        for (index, (&counted, &kept)) in valid.iter().zip(&self.valid).enumerate() {
            let state = self.state[index];
            if kept & !NO_CANDIDATE != counted {
                return Err(format!(
                    "superblock {index} has {counted} valid units, its count says {}",
                    kept & !NO_CANDIDATE
                ));
            }
            if (kept & NO_CANDIDATE == 0) != (state == State::Sealed) {
                return Err(format!("superblock {index} is {state:?} but its candidate flag disagrees"));
            }
            if counted > units || (matches!(state, State::Free | State::Retired) && counted != 0) {
                return Err(format!("superblock {index} is {state:?} with {counted} valid units"));
            }
        }
        let free = self.state.iter().filter(|&&state| state == State::Free).count();
        if free != self.free.len() {
            return Err(format!("{free} superblocks are free, the list holds {}", self.free.len()));
        }
        if self.read_only.worn_out != self.lacks_superblocks() {
            return Err(format!("worn out: {}, which superblocks and room deny", self.read_only.worn_out));
        }
        self.check_programs()?;
        if let Some(contents) = &self.contents {
            let live: u32 = valid.iter().sum();
            if !contents.keeps_stale() && contents.len() != live as usize {
                return Err(format!("{} units have bytes, {live} are valid", contents.len()));
            }
        }
        self.check_origins()?;
        self.check_parity()
    }
    /// Checks what superblocks, program units and the order of programming say of what is on flash.
    fn check_programs(&self) -> Result<(), String> {
        let (pus, lanes) = (self.layout.pus_per_superblock(), self.layout.lanes().len() as u32);
        for superblock in (0..self.layout.superblocks()).map(SuperblockId) {
            let (state, left) = (self.state[superblock.index()], self.unprogrammed[superblock.index()]);
            if (state == State::Open) != (left != 0) {
                return Err(format!(
                    "superblock {superblock} is {state:?} with {left} program units to come"
                ));
            }
            let first = superblock.0 * pus;
            if state == State::Open && self.pu_programmed.count(first, pus) + left > pus {
                return Err(format!("superblock {superblock}: more than all is programmed or to come"));
            }
            for lane in 0..lanes {
                let rows = self.order.programmed(superblock.index() * lanes as usize + lane as usize);
                let of_lane = (first + lane..first + pus).step_by(lanes as usize);
                let programmed =
                    of_lane.filter(|&pu| self.pu_programmed.get(pu)).map(|pu| (pu - first) / lanes);
                let written = matches!(state, State::Open | State::Sealed | State::Collecting);
                if written && programmed.max().is_some_and(|row| row >= rows) {
                    return Err(format!(
                        "superblock {superblock}: lane {lane} is programmed beyond row {rows}"
                    ));
                }
                if state == State::Free
                    && rows != 0
                    && !self.dead_lanes.contains(lane)
                    && !self.is_missing(superblock, lane)
                {
                    return Err(format!(
                        "superblock {superblock} is free, lane {lane} programmed to row {rows}"
                    ));
                }
            }
        }
        Ok(())
    }
}
