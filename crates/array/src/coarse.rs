//! Device lifetimes without commands: counts writes and erasures of each member from where data and parity lie, and jumps from one
//! replacement to the next, as the simulator of the Diff-RAID paper (section 4.1) does write by write.

use crate::ids::column_number;
use crate::placement::{ParityPlacement, ShiftPlan};
use outlast_media::ConfigError;
use outlast_settings::array::{MEMBERS_MAX, Shares, ShiftWay};
use outlast_units::Bytes;
use serde::Serialize;

/// A model of a device's bit errors.
pub trait BitErrors {
    /// Natural logarithm of the probability that a bit cannot be read, after `cycles` P/E cycles.
    fn ln_uber(&self, cycles: f64) -> f64;
}

impl<F: Fn(f64) -> f64> BitErrors for F {
    fn ln_uber(&self, cycles: f64) -> f64 {
        self(cycles)
    }
}

/// How often each chunk is written by itself and each stripe as a whole, folded over the period of a placement. Only proportions
/// count.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteMap {
    /// Writes of single chunks, by stripe of the period and data role; empty: all the same.
    chunks: Vec<f64>,
    /// Writes of whole stripes, by stripe of the period; empty: all the same.
    stripes: Vec<f64>,
    /// Share of the data that is written in whole stripes.
    full_share: f64,
}

impl WriteMap {
    /// Random writes of single chunks, evenly over the array; of the data, `full_share` (0 to 1) comes as whole stripes instead.
    pub fn uniform(full_share: f64) -> Self {
        Self { chunks: Vec::new(), stripes: Vec::new(), full_share: full_share.clamp(0.0, 1.0) }
    }

    /// Counted writes of a workload: `chunks[i]` writes of the array's i-th chunk by itself and `stripes[i]` of its i-th stripe as a whole, on an
    /// array with `data` data chunks in each stripe and a placement of `period` stripes.
    pub fn counted(chunks: &[u64], stripes: &[u64], data: usize, period: u32) -> Self {
        let period = period as usize;
        // Folded: counts of all periods add up.
        let mut map = Self { chunks: vec![0.0; period * data], stripes: vec![0.0; period], full_share: 0.0 };
        for (chunk, &count) in chunks.iter().enumerate() {
            map.chunks[chunk % (period * data)] += count as f64;
        }
        for (stripe, &count) in stripes.iter().enumerate() {
            map.stripes[stripe % period] += count as f64;
        }
        let small: f64 = map.chunks.iter().sum();
        let full: f64 = map.stripes.iter().sum::<f64>() * data as f64;
        if small + full > 0.0 {
            // Both in chunks of data.
            map.full_share = full / (small + full);
        }
        map
    }
}

/// Settings of a [`CoarseArray`] array.
#[derive(Clone, Debug, PartialEq)]
pub struct CoarseConfig {
    /// Percentages of the parity, the first for the oldest member; see `array.parity_percent`.
    pub percent: Vec<f64>,
    /// Parity chunks of each stripe.
    pub parities: usize,
    /// Capacity of each member.
    pub capacity: Bytes,
    /// Cycles at which a member is replaced; may lie beyond its rating.
    pub limit: f64,
    /// Cycles of a member for each of its capacities written: its write amplification. The paper: 1.
    pub amplification: f64,
    /// The host's writes, by place and size.
    pub writes: WriteMap,
    /// How parity shifts. The lazy way is counted as if all of it happened at once.
    pub shift: ShiftWay,
    /// Count the writes of rebuilding and of moving parity, which the paper's figures leave out.
    pub count_moves: bool,
}

/// A replacement of a member.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoarseReplacement {
    /// Its column.
    pub member: usize,
    /// Data that the host had written, in capacities of one member.
    pub host_capacities: f64,
    /// Ages just before, by column, in cycles.
    pub ages: Vec<f64>,
    /// Share of all parity chunks that moved, in percent.
    pub parity_moved_percent: f64,
}

/// State of the array at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoarseSample {
    /// Data that the host had written, in capacities of one member.
    pub host_capacities: f64,
    /// Members replaced so far.
    pub replacements: u64,
    /// Age of the oldest member less that of the youngest, in cycles.
    pub age_differential: f64,
    /// Probability that rebuilding loses data when the oldest members fail, as many as there are parities.
    pub loss_oldest: f64,
    /// The same when any members fail, all sets being equally likely.
    pub loss_any: f64,
}

/// An array reduced to ages of members and rates of ageing.
#[derive(Clone, Debug)]
pub struct CoarseArray {
    config: CoarseConfig,
    shares: Shares,
    first: ParityPlacement,
    placement: ParityPlacement,
    ages: Vec<f64>,
    /// Cycles of each member per capacity of host data.
    rates: Vec<f64>,
    host_capacities: f64,
    replacements: u64,
}

impl CoarseArray {
    /// An array of new members.
    ///
    /// # Errors
    /// The first setting that cannot work, named as in the `[array]` section where it is there.
    pub fn new(config: CoarseConfig) -> Result<Self, ConfigError> {
        let members = config.percent.len();
        if config.parities == 0 || members <= config.parities || members > MEMBERS_MAX {
            let limit = format!("must be between {} and 64", config.parities + 1);
            return Err(ConfigError::new("array.members", members, limit));
        }
        if config.capacity.0 == 0 {
            return Err(ConfigError::new("device.capacity", config.capacity, "must be above 0"));
        }
        for (name, value) in
            [("array.replacement.limit", config.limit), ("amplification", config.amplification)]
        {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ConfigError::new(name, value, "must be above 0 and finite"));
            }
        }
        let shares = Shares::from_percent("array.parity_percent", &config.percent, config.parities)?;
        let placement = ParityPlacement::from_shares(&shares);
        let folded = |len: usize, per_stripe: usize| len == 0 || len == shares.period as usize * per_stripe;
        if !folded(config.writes.chunks.len(), placement.data()) || !folded(config.writes.stripes.len(), 1) {
            let limit = format!("must be folded over the placement's period, {} stripes", shares.period);
            return Err(ConfigError::new("writes", config.writes.stripes.len(), limit));
        }
        let mut coarse = Self {
            first: placement.clone(),
            placement,
            shares,
            ages: vec![0.0; members],
            rates: Vec::new(),
            host_capacities: 0.0,
            replacements: 0,
            config,
        };
        coarse.rates = coarse.compute_rates();
        Ok(coarse)
    }

    /// The array with members that have spent `ages` cycles already, to begin in the steady state.
    #[must_use]
    pub fn pre_worn(mut self, ages: &[f64]) -> Self {
        for (age, &worn) in self.ages.iter_mut().zip(ages) {
            *age = worn;
        }
        self
    }

    /// Cycles spent, by column.
    pub fn ages(&self) -> &[f64] {
        &self.ages
    }

    /// Cycles of each member per capacity of one member that the host writes.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// Members replaced so far.
    pub fn replacements(&self) -> u64 {
        self.replacements
    }

    /// Data that the host has written, in capacities of one member.
    pub fn host_capacities(&self) -> f64 {
        self.host_capacities
    }

    /// Cycles of each member per capacity of host data, from the placement and the map of writes.
    fn compute_rates(&self) -> Vec<f64> {
        let (data, period) = (self.placement.data(), self.placement.period() as usize);
        let writes = &self.config.writes;
        let (mut small, mut full) = (vec![0.0; self.ages.len()], vec![0.0; self.ages.len()]);
        let (mut all_small, mut all_full) = (0.0, 0.0);
        for phase in 0..period {
            let columns = self.placement.columns_at(phase);
            let mut parity = 0.0;
            for role in 0..data {
                let weight = writes.chunks.get(phase * data + role).copied().unwrap_or(1.0);
                small[usize::from(columns[role])] += weight;
                // Each write of a chunk writes every parity of its stripe once more.
                parity += weight;
            }
            all_small += parity;
            let weight = writes.stripes.get(phase).copied().unwrap_or(1.0);
            all_full += weight * data as f64;
            for &column in columns {
                full[usize::from(column)] += weight;
            }
            for &column in &columns[data..] {
                small[usize::from(column)] += parity;
            }
        }
        // Weights become shares of all writes; a kind without weight contributes nothing.
        let part = |share: f64, all: f64| if all > 0.0 { share / all } else { 0.0 };
        let (small_part, full_part) =
            (part(1.0 - writes.full_share, all_small), part(writes.full_share, all_full));
        let rate = |(&small, &full): (&f64, &f64)| {
            (small * small_part + full * full_part) * self.config.amplification
        };
        small.iter().zip(&full).map(rate).collect()
    }

    /// Data, in capacities of one member, that the host can write until the next member reaches its limit; and which.
    pub fn until_replacement(&self) -> (f64, usize) {
        let mut next = (f64::INFINITY, 0);
        for (member, (&age, &rate)) in self.ages.iter().zip(&self.rates).enumerate() {
            let left = ((self.config.limit - age) / rate).max(0.0);
            // Members that reach their limit together except for rounding go by column.
            if left < next.0 * (1.0 - 1e-12) {
                next = (left, member);
            }
        }
        next
    }

    /// Lets the host write `host_capacities` capacities of one member.
    pub fn write(&mut self, host_capacities: f64) {
        for (age, rate) in self.ages.iter_mut().zip(&self.rates) {
            *age += rate * host_capacities;
        }
        self.host_capacities += host_capacities;
    }

    /// Lets the host write until a member reaches its limit, and replaces it by one that has spent `new_age` cycles.
    pub fn replace_next(&mut self, new_age: f64) -> CoarseReplacement {
        let (left, member) = self.until_replacement();
        self.write(left);
        self.replace(member, new_age)
    }

    /// Replaces member `member` now; parity shifts to the oldest that remain.
    pub fn replace(&mut self, member: usize, new_age: f64) -> CoarseReplacement {
        let ages = self.ages.clone();
        self.ages[member] = new_age;
        let mut order: Vec<u8> = (0..self.ages.len()).map(column_number).collect();
        // Oldest first; the new member has its new age already.
        order.sort_by(|&a, &b| self.ages[usize::from(b)].total_cmp(&self.ages[usize::from(a)]));
        let plan = match self.config.shift {
            ShiftWay::Naive => {
                let target = crate::placement::by_rank(&self.first, &self.shares.counts, &order);
                ShiftPlan::between(&self.placement, target)
            }
            ShiftWay::Minimal | ShiftWay::Lazy => {
                ShiftPlan::minimal(&self.placement, &self.shares.ranked(&order).counts)
            }
        };
        let period = self.placement.period();
        let chunks = f64::from(period) * self.config.parities as f64;
        if self.config.count_moves {
            self.count_moves(member, &plan.target);
        }
        let parity_moved_percent = f64::from(plan.parity_moves) * 100.0 / chunks;
        self.placement = plan.target;
        self.rates = self.compute_rates();
        self.replacements += 1;
        CoarseReplacement { member, host_capacities: self.host_capacities, ages, parity_moved_percent }
    }

    /// Adds the wear of moves: one cycle for the new member, and for every other one the chunks that move onto it.
    fn count_moves(&mut self, new: usize, target: &ParityPlacement) {
        let period = self.placement.period();
        for column in 0..self.ages.len() {
            let moved =
                |&phase: &usize| self.placement.roles_at(phase)[column] != target.roles_at(phase)[column];
            let count = (0..period as usize).filter(moved).count();
            let share = if column == new { 1.0 } else { count as f64 / f64::from(period) };
            self.ages[column] += share * self.config.amplification;
        }
    }

    /// The probability that some bit of the members that remain cannot be read when those in `failed` (as bits) are gone, and with
    /// them all redundancy: 1 − Π (1 − UBER)^bits.
    pub fn loss(&self, failed: u64, errors: &impl BitErrors) -> f64 {
        let ln_uber: Vec<f64> = self.ages.iter().map(|&age| errors.ln_uber(age)).collect();
        loss_without(&ln_uber, failed, self.config.capacity.0 as f64 * 8.0)
    }

    /// State of the array now.
    pub fn sample(&self, errors: &impl BitErrors) -> CoarseSample {
        let ln_uber: Vec<f64> = self.ages.iter().map(|&age| errors.ln_uber(age)).collect();
        let bits = self.config.capacity.0 as f64 * 8.0;
        let loss = loss_probabilities(&ln_uber, &self.ages, bits, self.config.parities);
        let oldest = self.ages.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let youngest = self.ages.iter().copied().fold(f64::INFINITY, f64::min);
        CoarseSample {
            host_capacities: self.host_capacities,
            replacements: self.replacements,
            age_differential: oldest - youngest,
            loss_oldest: loss.oldest,
            loss_any: loss.any,
        }
    }

    /// Runs over `replacements` replacements with `samples` samples before each, the last of them just before it.
    pub fn run(
        &mut self,
        replacements: u32,
        samples: u32,
        errors: &impl BitErrors,
        mut each: impl FnMut(CoarseSample),
    ) -> Vec<CoarseReplacement> {
        (0..replacements)
            .map(|_| {
                let (left, member) = self.until_replacement();
                for _ in 0..samples {
                    self.write(left / f64::from(samples));
                    each(self.sample(errors));
                }
                if samples == 0 {
                    self.write(left);
                }
                self.replace(member, 0.0)
            })
            .collect()
    }
}

/// Probabilities that rebuilding loses data once failures have used up all redundancy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossProbability {
    /// When the oldest members fail.
    pub oldest: f64,
    /// When any members fail, all sets being equally likely.
    pub any: f64,
}

/// The probabilities of [`CoarseSample`] for members with these error rates (ln of the probability that a bit cannot be read) and ages, of
/// which each has `bits` to be read, when `failures` of them fail at once, as many as redundancy makes good.
pub fn loss_probabilities(ln_uber: &[f64], ages: &[f64], bits: f64, failures: usize) -> LossProbability {
    over_failures(ages, failures, |failed| loss_without(ln_uber, failed, bits))
}

/// The same as [`loss_probabilities`] for mirrors: `groups` are the sets of members (as bits) that hold the same chunks, each set an equal
/// part of `bits` of data. A bit is lost when no copy is left that can be read.
pub fn loss_of_copies(
    ln_uber: &[f64],
    ages: &[f64],
    bits: f64,
    groups: &[u64],
    failures: usize,
) -> LossProbability {
    let own_bits = bits / groups.len().max(1) as f64;
    over_failures(ages, failures, |failed| {
        let kept = groups.iter().map(|&group| {
            let ln_lost: f64 =
                crate::roles::roles(group & !failed).map(|member| ln_uber[member].min(0.0)).sum();
            // Logarithm of the probability that all bits of the group survive; `ln_1p` keeps precision for tiny rates.
            own_bits * (-ln_lost.exp()).ln_1p()
        });
        -kept.sum::<f64>().exp_m1()
    })
}

fn over_failures(ages: &[f64], failures: usize, loss: impl Fn(u64) -> f64) -> LossProbability {
    // `sort_by` is stable: of equal ages the lower column counts as older.
    let mut order: Vec<usize> = (0..ages.len()).collect();
    order.sort_by(|&a, &b| ages[b].total_cmp(&ages[a]));
    let oldest = order.iter().take(failures).fold(0, |set, &member| set | 1 << member);
    let (mut sum, mut sets) = (0.0, 0u32);
    for_each_set(ages.len(), failures, &mut |set| {
        sum += loss(set);
        sets += 1;
    });
    LossProbability { oldest: loss(oldest), any: sum / f64::from(sets.max(1)) }
}

/// 1 − Π (1 − UBER)^bits over the members that are not in `failed`, as bits.
fn loss_without(ln_uber: &[f64], failed: u64, bits: f64) -> f64 {
    let survivors = ln_uber.iter().enumerate().filter(|(member, _)| failed >> member & 1 == 0);
    // Sums of logarithms, `ln_1p` and `exp_m1`: tiny error rates would vanish beside 1.
    let ln_kept: f64 = survivors.map(|(_, &ln)| bits * (-ln.min(0.0).exp()).ln_1p()).sum();
    -ln_kept.exp_m1()
}

/// All sets of `count` of `members` members, as bits, in rising order.
fn for_each_set(members: usize, count: usize, act: &mut impl FnMut(u64)) {
    if count == 0 {
        act(0);
        return;
    }
    let mut set = crate::roles::first_roles(count);
    while set >> members == 0 {
        act(set);
        // The next number with as many ones (Gosper).
        let lowest = set & set.wrapping_neg();
        let ripple = set + lowest;
        set = ripple | (((set ^ ripple) >> 2) / lowest);
    }
}

/// The ages at which members converge at the moment of replacement, oldest remaining first, the new one (0) last: section 3.3 of the
/// Diff-RAID paper. `percent` are the shares by rank under random writes, `limit` is the age of replacement.
///
/// With rates t relative to the first's, each member spends the same span B in each rank; B = limit / Σ t, and the member that comes to
/// rank r has spent B · (t of all ranks after r).
pub fn convergent_ages(percent: &[f64], parities: usize, limit: f64) -> Vec<f64> {
    let members = percent.len() as f64;
    let data = members - parities as f64;
    // Of every `data` chunks written, a member gets one for each stripe it has data in, and `data` where it has parity.
    let mut rates: Vec<f64> = percent
        .iter()
        .map(|share| {
            let parity = share / 100.0 * parities as f64;
            parity * data + (1.0 - parity)
        })
        .collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = rates.iter().sum();
    (1..=rates.len()).map(|rank| limit * rates[rank..].iter().sum::<f64>() / all).collect()
}

#[cfg(test)]
mod tests;
