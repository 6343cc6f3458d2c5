//! The generator of one phase: draws operation, size, address and time, each from a random stream of its own.

use super::address::{AddressLaw, PlaceLaw, RequestSize};
use super::alias_table::AliasTable;
use super::arrival::{ArrivalClock, ArrivalPlan};
use super::permutation::PlacePermutation;
use crate::WorkloadRequest;
use outlast_device::{Command, Op, PlacementId};
use outlast_units::{Lba, Nanos, SECTOR_BYTES, rng::SplitMix};

/// The sizes of one kind of request.
#[derive(Clone, Debug)]
pub(crate) enum SizePlan {
    /// One size for all.
    One(RequestSize),
    /// Drawn by weight.
    Mix(AliasTable, Box<[RequestSize]>),
}

/// Limits that end a phase; `u64::MAX` for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhaseLimit {
    pub(crate) requests: u64,
    /// Sectors read, written and trimmed; the request that reaches them is the last.
    pub(crate) sectors: u64,
    /// Nanoseconds from the start of the phase; a request that would arrive then or later is left out.
    pub(crate) duration: u64,
}

/// A checked phase: no combination of these values panics or leaves the device.
#[derive(Clone, Debug)]
pub(crate) struct PhasePlan {
    /// First sector of the region.
    pub(crate) start: u64,
    /// Alignment in sectors.
    pub(crate) align: u64,
    pub(crate) address: AddressLaw,
    /// 2^63 times the share of reads, and of reads and trims together.
    pub(crate) read: u64,
    pub(crate) trim: u64,
    /// Sizes of reads, writes and trims, indexed by [`Op`].
    pub(crate) sizes: [SizePlan; 3],
    pub(crate) arrival: ArrivalPlan,
    /// Writes from one flush to the next; 0 for no flushes.
    pub(crate) flush_every: u64,
    /// 2^63 times the share of writes with forced unit access.
    pub(crate) fua: u64,
    /// Stream hint of writes to the hottest zone, and of the others.
    pub(crate) hot: PlacementId,
    pub(crate) cold: PlacementId,
    pub(crate) limit: PhaseLimit,
    /// Seed of the phase's random streams.
    pub(crate) seed: u64,
}

/// Generates the requests of a [`PhasePlan`].
#[derive(Clone, Debug)]
pub(crate) struct PhaseGenerator {
    address: AddressLaw,
    address_rng: SplitMix,
    commands: CommandGenerator,
}

/// The generator without its addresses, apart so that its loop is compiled once for each law of addresses.
#[derive(Clone, Debug)]
struct CommandGenerator {
    plan: PhasePlan,
    arrivals: ArrivalClock,
    op_rng: SplitMix,
    size_rng: SplitMix,
    fua_rng: SplitMix,
    /// Requests and sectors given so far.
    requests: u64,
    sectors: u64,
    /// Writes since the last flush.
    writes: u64,
    /// The last arrival, and the start and end of the phase, in nanoseconds; the end is `u64::MAX` without a duration.
    at: u64,
    begin: u64,
    end: u64,
    done: bool,
    /// True if the plan [is plain](PhasePlan::is_plain).
    is_plain: bool,
    /// The operation of all commands, where there is only one.
    only_op: Option<Op>,
}

impl PhasePlan {
    /// True if commands differ in operation, size and address alone, and only their number ends the phase: a closed loop without flushes or forced unit access.
    fn is_plain(&self) -> bool {
        self.arrival == ArrivalPlan::Closed
            && self.flush_every == 0
            && self.fua == 0
            && self.limit.sectors == u64::MAX
    }

    /// The operation of all commands, where there is only one.
    fn only_op(&self) -> Option<Op> {
        match (self.read, self.trim) {
            (ALL.., _) => Some(Op::Read),
            (0, 0) => Some(Op::Write),
            _ => None,
        }
    }
}

/// The share of all, as a threshold of 63 random bits.
const ALL: u64 = 1 << 63;

impl PhaseGenerator {
    /// A generator whose time starts at `start`.
    pub(crate) fn new(plan: PhasePlan, start: Nanos) -> Self {
        let seed = plan.seed;
        Self {
            address: plan.address.clone(),
            address_rng: SplitMix::new(seed, "address"),
            commands: CommandGenerator {
                arrivals: ArrivalClock::new(plan.arrival, SplitMix::new(seed, "arrival"), start),
                op_rng: SplitMix::new(seed, "op"),
                size_rng: SplitMix::new(seed, "size"),
                fua_rng: SplitMix::new(seed, "fua"),
                requests: 0,
                sectors: 0,
                writes: 0,
                at: start.0,
                begin: start.0,
                end: start.0.saturating_add(plan.limit.duration),
                done: false,
                is_plain: plan.is_plain(),
                only_op: plan.only_op(),
                plan,
            },
        }
    }

    /// Appends up to `max` requests; fewer only at the end.
    pub(crate) fn fill(&mut self, out: &mut Vec<WorkloadRequest>, max: usize) -> usize {
        let (commands, rng) = (&mut self.commands, &mut self.address_rng);
        match &mut self.address {
            AddressLaw::Sequential(law) => commands.fill(law, rng, out, max),
            AddressLaw::Uniform(law) => commands.fill(law, rng, out, max),
            AddressLaw::Zipf(law, scramble) => {
                commands.fill(&mut (&*law, &*scramble as &Option<PlacePermutation>), rng, out, max)
            }
            AddressLaw::Zones(law) => commands.fill(law, rng, out, max),
        }
    }

    /// The start of the next phase: after this one's duration, or with its last arrival if it has none.
    pub(crate) fn end(&self) -> Nanos {
        Nanos(if self.commands.end == u64::MAX { self.commands.at } else { self.commands.end })
    }

    /// Fraction done of the limit that is nearest to being reached.
    pub(crate) fn progress(&self) -> Option<f64> {
        let commands = &self.commands;
        if commands.done {
            return Some(1.0);
        }
        let limit = commands.plan.limit;
        let elapsed =
            if commands.plan.arrival == ArrivalPlan::Closed { 0 } else { commands.at - commands.begin };
        [(commands.requests, limit.requests), (commands.sectors, limit.sectors), (elapsed, limit.duration)]
            .into_iter()
            .filter(|&(_, all)| all != u64::MAX)
            .map(|(part, all)| if all == 0 { 1.0 } else { (part as f64 / all as f64).min(1.0) })
            .reduce(f64::max)
    }
}

impl CommandGenerator {
    #[inline]
    fn fill(
        &mut self,
        law: &mut impl PlaceLaw,
        rng: &mut SplitMix,
        out: &mut Vec<WorkloadRequest>,
        max: usize,
    ) -> usize {
        let most = usize::try_from(self.plan.limit.requests - self.requests).unwrap_or(usize::MAX).min(max);
        // A caller may ask for "all" of a short source: at most 65,536 are reserved ahead.
        out.reserve(most.min(1 << 16));
        let before = out.len();
        let closed = self.plan.arrival == ArrivalPlan::Closed;
        if self.is_plain && !self.done {
            let plain = |_| WorkloadRequest { at: Nanos::ZERO, command: self.next_command::<true>(law, rng) };
            out.extend((0..most).map(plain));
        }
        while !self.done && out.len() - before < most {
            let at = self.arrivals.next();
            if !closed {
                if at.0 >= self.end {
                    self.done = true;
                    break;
                }
                self.at = at.0;
            }
            let command = self.next_command::<false>(law, rng);
            out.push(WorkloadRequest { at, command });
        }
        let count = out.len() - before;
        self.requests += count as u64;
        self.done |= self.requests == self.plan.limit.requests;
        count
    }

    /// The next command; with `PLAIN` where the phase [is plain](PhasePlan::is_plain).
    #[inline]
    fn next_command<const PLAIN: bool>(&mut self, law: &mut impl PlaceLaw, rng: &mut SplitMix) -> Command {
        let plan = &self.plan;
        if !PLAIN && plan.flush_every != 0 && self.writes == plan.flush_every {
            self.writes = 0;
            return Command::FLUSH;
        }
        // Nothing is drawn where there is no choice: nothing else draws from that stream.
        let op = self.only_op.unwrap_or_else(|| {
            // 63 random bits: shares are thresholds of 0 to 2^63, of which the last one always holds.
            match self.op_rng.next_u64() >> 1 {
                variate if variate < plan.read => Op::Read,
                variate if variate < plan.trim => Op::Trim,
                _ => Op::Write,
            }
        });
        let size = match &plan.sizes[op as usize] {
            SizePlan::One(size) => size,
            SizePlan::Mix(alias, sizes) => &sizes[alias.draw(&mut self.size_rng)],
        };
        // Each kind of draw has its own stream: a changed share of reads, say, leaves the addresses as they are.
        let (place, hot) = law.draw(rng, size, op);
        let write = op == Op::Write;
        let fua = !PLAIN && write && plan.fua != 0 && self.fua_rng.next_u64() >> 1 < plan.fua;
        if !PLAIN {
            self.writes += u64::from(write);
            // The request that reaches the limit is the last, and is not cut.
            self.sectors = self.sectors.saturating_add(u64::from(size.sectors));
            self.done |= self.sectors >= plan.limit.sectors;
        }
        let placement = match (write, hot) {
            (false, _) => PlacementId(0),
            (true, true) => plan.hot,
            (true, false) => plan.cold,
        };
        Command { placement, fua, ..Command::new(op, Lba(plan.start + place * plan.align), size.sectors) }
    }
}

// `PhasePlan::sizes` is indexed by operation; addresses are drawn in sectors of this size.
const _: () = assert!(Op::Read as usize == 0 && Op::Write as usize == 1 && Op::Trim as usize == 2);
const _: () = assert!(SECTOR_BYTES == 512);
