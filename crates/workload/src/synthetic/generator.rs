//! The generator of one phase: draws operation, size, address and time, each from a random stream of its own.

use super::address::{Address, Draw, Size};
use super::alias::Alias;
use super::arrival::{ArrivalPlan, Arrivals};
use super::scramble::Scramble;
use crate::Request;
use outlast_device::{Command, Op, StreamId};
use outlast_units::{Lba, Nanos, SECTOR_BYTES, rng::SplitMix};

/// The sizes of one kind of request.
#[derive(Clone, Debug)]
pub(crate) enum SizePlan {
    /// Always the same.
    One(Size),
    /// Drawn by weight.
    Mix(Alias, Box<[Size]>),
}

/// When a phase ends; `u64::MAX` where there is no such limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) requests: u64,
    pub(crate) sectors: u64,
    /// Arrivals at or after the start plus this are not given.
    pub(crate) duration: u64,
}

/// Everything about one phase, checked: no combination of these values panics or leaves the device.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// First sector of the region.
    pub(crate) start: u64,
    /// Alignment in sectors.
    pub(crate) align: u64,
    pub(crate) address: Address,
    /// 2^63 times the share of reads, and of reads and trims together.
    pub(crate) read: u64,
    pub(crate) trim: u64,
    /// Sizes of reads, writes and trims, in the order of [`Op`].
    pub(crate) sizes: [SizePlan; 3],
    pub(crate) arrival: ArrivalPlan,
    /// A flush after so many writes; 0 for none.
    pub(crate) flush_every: u64,
    /// 2^63 times the share of writes with forced unit access.
    pub(crate) fua: u64,
    /// Stream hint of writes to the hottest zone, and of the others.
    pub(crate) hot: StreamId,
    pub(crate) cold: StreamId,
    pub(crate) limit: Limit,
    /// Seed of the phase's random streams.
    pub(crate) seed: u64,
}

/// Generates the requests of a [`Plan`].
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    address: Address,
    address_rng: SplitMix,
    core: Core,
}

/// The generator without its addresses, so that the loop can be compiled once per law of addresses.
#[derive(Clone, Debug)]
struct Core {
    plan: Plan,
    arrivals: Arrivals,
    ops: SplitMix,
    size: SplitMix,
    fua: SplitMix,
    given: u64,
    sectors: u64,
    writes: u64,
    /// The last arrival, and where the phase ends.
    at: u64,
    begin: u64,
    end: u64,
    done: bool,
}

impl Generator {
    /// A generator whose time starts at `start`.
    pub(crate) fn new(plan: Plan, start: Nanos) -> Self {
        let seed = plan.seed;
        Self {
            address: plan.address.clone(),
            address_rng: SplitMix::new(seed, "address"),
            core: Core {
                arrivals: Arrivals::new(plan.arrival, SplitMix::new(seed, "arrival"), start),
                ops: SplitMix::new(seed, "op"),
                size: SplitMix::new(seed, "size"),
                fua: SplitMix::new(seed, "fua"),
                given: 0,
                sectors: 0,
                writes: 0,
                at: start.0,
                begin: start.0,
                end: start.0.saturating_add(plan.limit.duration),
                done: false,
                plan,
            },
        }
    }

    /// Appends up to `max` requests; fewer only at the end.
    pub(crate) fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> usize {
        let (core, rng) = (&mut self.core, &mut self.address_rng);
        match &mut self.address {
            Address::Sequential(law) => core.run(law, rng, out, max),
            Address::Uniform(law) => core.run(law, rng, out, max),
            Address::Zipf(law, scramble) => {
                core.run(&mut (&*law, &*scramble as &Option<Scramble>), rng, out, max)
            }
            Address::Zones(law) => core.run(law, rng, out, max),
        }
    }

    /// When the next phase begins: after this one's duration, or with its last arrival if it has none.
    pub(crate) fn end(&self) -> Nanos {
        Nanos(if self.core.end == u64::MAX { self.core.at } else { self.core.end })
    }

    /// Fraction done of the limit that is nearest to being reached.
    pub(crate) fn progress(&self) -> Option<f64> {
        let core = &self.core;
        if core.done {
            return Some(1.0);
        }
        let limit = core.plan.limit;
        let elapsed = if core.plan.arrival == ArrivalPlan::Closed { 0 } else { core.at - core.begin };
        [(core.given, limit.requests), (core.sectors, limit.sectors), (elapsed, limit.duration)]
            .into_iter()
            .filter(|&(_, all)| all != u64::MAX)
            .map(|(part, all)| if all == 0 { 1.0 } else { (part as f64 / all as f64).min(1.0) })
            .reduce(f64::max)
    }
}

impl Core {
    #[inline]
    fn run(&mut self, law: &mut impl Draw, rng: &mut SplitMix, out: &mut Vec<Request>, max: usize) -> usize {
        let room = usize::try_from(self.plan.limit.requests - self.given).unwrap_or(usize::MAX).min(max);
        // A caller may ask for "all" of a short source: never reserve more than a batch.
        out.reserve(room.min(1 << 16));
        let before = out.len();
        let closed = self.plan.arrival == ArrivalPlan::Closed;
        while !self.done && out.len() - before < room {
            let at = self.arrivals.next();
            if !closed {
                if at.0 >= self.end {
                    self.done = true;
                    break;
                }
                self.at = at.0;
            }
            let command = self.command(law, rng);
            out.push(Request { at, command });
        }
        let count = out.len() - before;
        self.given += count as u64;
        self.done |= self.given == self.plan.limit.requests;
        count
    }

    #[inline]
    fn command(&mut self, law: &mut impl Draw, rng: &mut SplitMix) -> Command {
        let plan = &self.plan;
        if plan.flush_every != 0 && self.writes == plan.flush_every {
            self.writes = 0;
            return Command::FLUSH;
        }
        let op = match self.ops.next_u64() >> 1 {
            variate if variate < plan.read => Op::Read,
            variate if variate < plan.trim => Op::Trim,
            _ => Op::Write,
        };
        let size = match &plan.sizes[op as usize] {
            SizePlan::One(size) => size,
            SizePlan::Mix(alias, sizes) => &sizes[alias.draw(&mut self.size)],
        };
        let (place, hot) = law.draw(rng, size, op);
        let write = op == Op::Write;
        let fua = write && plan.fua != 0 && self.fua.next_u64() >> 1 < plan.fua;
        self.writes += u64::from(write);
        self.sectors = self.sectors.saturating_add(u64::from(size.sectors));
        self.done |= self.sectors >= plan.limit.sectors;
        let stream = match (write, hot) {
            (false, _) => StreamId(0),
            (true, true) => plan.hot,
            (true, false) => plan.cold,
        };
        Command { stream, fua, ..Command::new(op, Lba(plan.start + place * plan.align), size.sectors) }
    }
}

const _: () = assert!(Op::Read as usize == 0 && Op::Write as usize == 1 && Op::Trim as usize == 2);
const _: () = assert!(SECTOR_BYTES == 512);
