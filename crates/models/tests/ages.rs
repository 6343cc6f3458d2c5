//! Do ages, replacements and their steady state agree with Diff-RAID, and with arrays that are written chunk by chunk?

use outlast_models::ages::{AgingArray, aging_rates, converges, steady_ages, steady_period};
use outlast_models::array_loss::{FailedDevice, ln_data_loss, ln_data_loss_of_array};
use outlast_models::{SectorCode, chip};
use outlast_units::rng::SplitMix;
use proptest::prelude::*;

fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance * expected.abs().max(1e-12), "{actual} not {expected}");
}

fn all_near(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (&actual, &expected) in actual.iter().zip(expected) {
        assert!((actual - expected).abs() <= tolerance, "{actual} not {expected}");
    }
}

fn rates(percent: &[f64]) -> Vec<f64> {
    aging_rates(percent, 1, 0.0).expect("an assignment")
}

/// After so many replacements from a new array.
fn settled(rates: &[f64], limit: f64, replacements: usize) -> Vec<f64> {
    let mut aging = AgingArray::new(rates, &vec![0.0; rates.len()], limit).expect("an array");
    for _ in 0..replacements {
        aging.replace();
    }
    aging.ages().to_vec()
}

#[test]
fn equation_1_and_the_papers_examples() {
    let ratio = |percent: &[f64]| rates(percent)[0] / rates(percent)[1];
    near(ratio(&[100.0, 0.0, 0.0, 0.0, 0.0]), 4.0, 1e-15);
    near(ratio(&[70.0, 10.0, 10.0, 10.0]), 2.0, 1e-15);
    near(ratio(&[20.0; 5]), 1.0, 1e-15);
    for (p, q) in [(80.0, 5.0), (60.0, 10.0), (90.0, 2.5)] {
        near(ratio(&[p, q, q, q, q]), (p * 4.0 + 100.0 - p) / (q * 4.0 + 100.0 - q), 1e-14);
    }
    // Figure 3: when the first of (70, 10, 10, 10) has 10 000 cycles, the others have 5000.
    let mut aging = AgingArray::new(&rates(&[70.0, 10.0, 10.0, 10.0]), &[0.0; 4], 10_000.0).unwrap();
    all_near(&aging.replace().ages, &[5000.0, 5000.0, 5000.0, 0.0], 1e-9);
    // Section 3.3: rates (1, 1/2, 1/2) are at (1, 1/2, 1/4) whenever a device is replaced.
    all_near(&steady_ages(&[1.0, 0.5, 0.5], 1.0).unwrap(), &[0.5, 0.25, 0.0], 1e-15);
}

#[test]
fn convergent_ages_of_80_5_5_5_5() {
    let rates = rates(&[80.0, 5.0, 5.0, 5.0, 5.0]);
    let expected = [5750.0, 4312.5, 2875.0, 1437.5, 0.0];
    let steady = steady_ages(&rates, 10_000.0).unwrap();
    all_near(&steady, &expected, 1e-9);
    all_near(&settled(&rates, 10_000.0, 300), &expected, 1e-6);
    near(steady_period(&rates, 10_000.0).unwrap(), 4250.0, 1e-12);
    // "wasting a little over 14K erasure cycles" to start in the steady state.
    near(steady.iter().sum(), 14_375.0, 1e-12);
}

/// Figure 5's assignments all converge except for RAID-5, whose devices go on wearing out together.
#[test]
fn ages_converge_unless_rates_drop_at_multiples_of_a_number() {
    for first in [100.0, 90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0] {
        let others = (100.0 - first) / 4.0;
        let rates = rates(&[first, others, others, others, others]);
        assert!(converges(&rates).unwrap());
        let steady = steady_ages(&rates, 10_000.0).unwrap();
        all_near(&settled(&rates, 10_000.0, 4000), &steady, 1.0);
    }
    let even = rates(&[20.0; 5]);
    assert!(!converges(&even).unwrap());
    assert!(settled(&even, 10_000.0, 4000).iter().all(|&age| age == 0.0 || (age - 10_000.0).abs() < 1e-6));
    // A mirror: it stays where one is half worn, as section 6 says, and never gets there by itself.
    let mirror = rates(&[50.0, 50.0]);
    assert!(!converges(&mirror).unwrap());
    all_near(&steady_ages(&mirror, 10_000.0).unwrap(), &[5000.0, 0.0], 1e-9);
    let mut half = AgingArray::new(&mirror, &[5000.0, 0.0], 10_000.0).unwrap();
    for _ in 0..9 {
        all_near(&half.replace().ages, &[5000.0, 0.0], 1e-9);
    }
}

/// With two parities on two devices of four, pairs wear out together for ever; of five devices they drift apart.
#[test]
fn two_parities_on_two_devices() {
    let four = aging_rates(&[100.0, 100.0, 0.0, 0.0], 2, 0.0).unwrap();
    all_near(&four, &[1.0, 1.0, 0.5, 0.5], 1e-15);
    assert!(!converges(&four).unwrap());
    let ages = settled(&four, 10_000.0, 4000);
    near(ages[0], ages[1], 1e-9);
    let five = aging_rates(&[100.0, 100.0, 0.0, 0.0, 0.0], 2, 0.0).unwrap();
    assert!(converges(&five).unwrap());
    all_near(&settled(&five, 10_000.0, 4000), &steady_ages(&five, 10_000.0).unwrap(), 1.0);
}

/// An array that is written chunk by chunk: parity of each stripe where the assignment says, wear of each device counted, a
/// device replaced at its limit and parity handed over. Nothing of the closed forms is used.
struct Written {
    rng: SplitMix,
    parities: usize,
    /// Cumulated share of parity by position.
    cumulated: Vec<f64>,
    /// Chunks written, by position.
    wear: Vec<u64>,
    full_stripes: f64,
}

impl Written {
    fn new(percent: &[f64], parities: usize, full_stripes: f64) -> Self {
        let cumulated = percent
            .iter()
            .scan(0.0, |sum, each| {
                *sum += each / 100.0;
                Some(*sum)
            })
            .collect();
        Self {
            rng: SplitMix::new(7, "written"),
            parities,
            cumulated,
            wear: vec![0; percent.len()],
            full_stripes,
        }
    }

    /// Writes one chunk at random, or, for a share of the chunks, a whole stripe. Returns how many chunks the host wrote.
    fn write(&mut self) -> u64 {
        let devices = self.wear.len();
        let data = devices - self.parities;
        // Whole stripes hold `data` chunks, so they are chosen so much less often.
        let odds = self.full_stripes / data as f64;
        if self.full_stripes > 0.0 && self.rng.unit() * (odds + 1.0 - self.full_stripes) < odds {
            self.wear.iter_mut().for_each(|wear| *wear += 1);
            return data as u64;
        }
        // Systematic sampling: each device holds parity of this random stripe with just its share.
        let offset = self.rng.unit();
        let holder = |j: usize| {
            let at = offset + j as f64;
            self.cumulated.iter().position(|&sum| sum > at).unwrap_or(devices - 1)
        };
        let holders: Vec<usize> = (0..self.parities).map(holder).collect();
        let mut chunk = self.rng.below(data as u64) as usize;
        for device in 0..devices {
            if holders.contains(&device) {
                self.wear[device] += 1;
            } else {
                if chunk == 0 {
                    self.wear[device] += 1;
                }
                chunk = chunk.wrapping_sub(1);
            }
        }
        1
    }
}

/// Rates over 400 000 writes. Each device's count is binomial: five standard deviations of at most √(p(1−p)/n) ≤ 0.0008.
#[test]
fn rates_agree_with_an_array_that_is_written() {
    let cases: [(&[f64], u32, f64); 6] = [
        (&[80.0, 5.0, 5.0, 5.0, 5.0], 1, 0.0),
        (&[100.0, 0.0, 0.0, 0.0], 1, 0.0),
        (&[90.0, 50.0, 20.0, 20.0, 20.0], 2, 0.0),
        (&[100.0, 100.0, 0.0, 0.0, 0.0, 0.0], 2, 0.0),
        (&[70.0, 70.0, 70.0, 30.0, 30.0, 30.0], 3, 0.0),
        (&[80.0, 5.0, 5.0, 5.0, 5.0], 1, 0.4),
    ];
    for (percent, parities, full_stripes) in cases {
        let mut array = Written::new(percent, parities as usize, full_stripes);
        let mut host = 0;
        for _ in 0..400_000 {
            host += array.write();
        }
        let rates = aging_rates(percent, parities, full_stripes).unwrap();
        let measured: Vec<f64> = array.wear.iter().map(|&wear| wear as f64 / host as f64).collect();
        all_near(&measured, &rates, 0.004);
        let data = percent.len() as f64 - f64::from(parities);
        let all = (1.0 - full_stripes) * (1.0 + f64::from(parities))
            + full_stripes * (1.0 + f64::from(parities) / data);
        near(rates.iter().sum(), all, 1e-12);
    }
}

/// Writes that wear a device out.
const LIMIT: u64 = 20_000;

/// Replacements of an array that is written: ages settle where the closed form says, with one parity and with two. A device
/// takes 20 000 writes to its limit, so its age has a relative deviation of at most √(1/20 000) = 0.7 %; five of them.
#[test]
fn replacements_agree_with_an_array_that_is_written() {
    let cases: [(&[f64], u32); 3] = [
        (&[80.0, 5.0, 5.0, 5.0, 5.0], 1),
        (&[95.0, 45.0, 20.0, 20.0, 20.0], 2),
        (&[100.0, 100.0, 0.0, 0.0, 0.0], 2),
    ];

    for (percent, parities) in cases {
        let mut array = Written::new(percent, parities as usize, 0.0);
        let mut host = 0;
        let (mut replaced, mut counted) = (0, 0);
        while replaced < 130 {
            host += array.write();
            if array.wear[0] >= LIMIT {
                array.wear.remove(0);
                array.wear.push(0);
                array.wear.sort_unstable_by(|a, b| b.cmp(a));
                replaced += 1;
                if replaced == 30 {
                    (host, counted) = (0, 0);
                }
                counted += 1;
            }
        }
        let rates = aging_rates(percent, parities, 0.0).unwrap();
        let steady = steady_ages(&rates, LIMIT as f64).unwrap();
        let ages: Vec<f64> = array.wear.iter().map(|&wear| wear as f64).collect();
        all_near(&ages, &steady, 0.035 * LIMIT as f64);
        // As many replacements however parity is placed: (m + 1) device writes for each of the host's.
        near(f64::from(counted), host as f64 * f64::from(parities + 1) / LIMIT as f64, 0.02);
    }
}

/// Rates that do not fall along the positions are no Diff-RAID, but the process has an answer: the first to wear out is replaced.
#[test]
fn rates_may_be_in_any_order() {
    let mut aging = AgingArray::new(&[0.5, 1.0, 0.25], &[0.0; 3], 100.0).unwrap();
    let first = aging.replace();
    assert_eq!((first.position, first.elapsed), (1, 100.0));
    all_near(&first.ages, &[50.0, 25.0, 0.0], 1e-12);
    let second = aging.replace();
    // 50 + 0.5·t = 100 after 100, 25 + t = 100 after 75.
    assert_eq!((second.position, second.elapsed), (1, 75.0));
    all_near(&second.ages, &[87.5, 18.75, 0.0], 1e-12);
    assert!(steady_ages(&[0.5, 1.0], 10.0).unwrap_err().to_string().contains("rate = 1"));
}

/// Figure 6: (90, 2.5, …) of D-MLC32-1 settles between 1e-7 and 1e-5 when the oldest device fails. With an exponential between
/// the chip's two points it is an order of magnitude less; with a straight line, which Figure 1 may well be, the upper
/// bound is the paper's. Figure 10: RAID-5 all but
/// certainly loses data soon beyond 10 000 cycles, while (80, 5, …) at 13 000 loses less than once in a thousand times.
#[test]
fn data_loss_of_diff_raid() {
    let (sector, chip) = (SectorCode::new(4148, 4, 4096).unwrap(), chip("d-mlc32-1").unwrap());
    let loss = |ages: &[f64]| {
        let ln: Vec<f64> =
            ages.iter().map(|&age| sector.ln_uber(chip.model.rber(age, 0.0, 0.0)).unwrap()).collect();
        ln_data_loss_of_array(&ln, 80e9 * 8.0, FailedDevice::Oldest).unwrap().exp()
    };
    let ninety = rates(&[90.0, 2.5, 2.5, 2.5, 2.5]);
    let steady = steady_ages(&ninety, 10_000.0).unwrap();
    let period = steady_period(&ninety, 10_000.0).unwrap();
    let at = |share: f64| -> Vec<f64> {
        steady.iter().zip(&ninety).map(|(age, rate)| age + share * period * rate / ninety[0]).collect()
    };
    let (least, most) = (loss(&at(0.0)), loss(&at(1.0)));
    assert!(least > 1e-8 && most < 1e-6 && most > 10.0 * least, "{least:e} to {most:e}");
    let straight = |age: f64| sector.ln_uber(6.7e-7 + (1.18e-5 - 6.7e-7) * (age - 5000.0) / 5000.0).unwrap();
    let oldest = ln_data_loss(&[straight(steady[0])], &[80e9 * 8.0]).unwrap().exp();
    assert!((oldest / 1e-5 - 1.0).abs() < 0.5, "{oldest:e}");
    assert!(loss(&[10_000.0; 5]) > 0.7 && loss(&[11_000.0; 5]) > 0.99);
    let mut beyond = steady_ages(&rates(&[80.0, 5.0, 5.0, 5.0, 5.0]), 13_000.0).unwrap();
    beyond.insert(0, 13_000.0);
    beyond.truncate(5);
    assert!(loss(&beyond) < 1e-3, "{:e}", loss(&beyond));
}

#[test]
fn arguments_outside_the_domain_are_refused() {
    let says =
        |error: outlast_models::DomainError, part: &str| assert!(error.to_string().contains(part), "{error}");
    says(aging_rates(&[80.0, 5.0, 5.0, 5.0], 1, 0.0).unwrap_err(), "sum of parity_percent = 95");
    says(aging_rates(&[120.0, -20.0], 1, 0.0).unwrap_err(), "parity_percent = 120");
    says(aging_rates(&[50.0, 50.0], 2, 0.0).unwrap_err(), "parities = 2");
    says(aging_rates(&[50.0, 50.0], 1, 1.5).unwrap_err(), "full_stripes = 1.5");
    says(steady_ages(&[1.0, 0.5], 0.0).unwrap_err(), "limit = 0");
    says(steady_ages(&[0.0, 0.0], 1.0).unwrap_err(), "first rate = 0");
    says(steady_ages(&[], 1.0).unwrap_err(), "devices = 0");
    says(AgingArray::new(&[1.0], &[2.0], 1.0).unwrap_err(), "age = 2");
    says(AgingArray::new(&[0.0], &[0.0], 1.0).unwrap_err(), "sum of rates = 0");
    says(AgingArray::new(&[1.0], &[], 1.0).unwrap_err(), "ages = 0");
}

proptest! {
    /// Any falling rates: the steady state maps onto itself, and is reached if and only if the criterion says so.
    #[test]
    fn the_steady_state_is_one(
        mut steps in prop::collection::vec(0u32..4, 1..8),
        start in prop::collection::vec(0.0f64..1.0, 8),
    ) {
        steps[0] += 1;
        // Falling from 1 in quarters of the sum, with ties.
        let total: u32 = steps.iter().sum();
        let mut left = total;
        let rates: Vec<f64> = steps.iter().map(|step| {
            let rate = f64::from(left) / f64::from(total);
            left -= step;
            rate
        }).collect();
        let steady = steady_ages(&rates, 1000.0).unwrap();
        let mut aging = AgingArray::new(&rates, &steady, 1000.0).unwrap();
        for _ in 0..3 {
            let ages = aging.replace().ages;
            for (age, expected) in ages.iter().zip(&steady) {
                prop_assert!((age - expected).abs() < 1e-8, "{:?} {:?}", ages, steady);
            }
        }
        let start: Vec<f64> = start[..rates.len()].iter().map(|share| share * 1000.0).collect();
        let mut aging = AgingArray::new(&rates, &start, 1000.0).unwrap();
        for _ in 0..6000 {
            aging.replace();
        }
        let off = aging.ages().iter().zip(&steady).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if converges(&rates).unwrap() {
            prop_assert!(off < 1.0, "{:?}: {}", rates, off);
        }
    }
}
