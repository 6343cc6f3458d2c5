//! Is the mean time to data loss of mirrors that of simulated ones?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_models::mirrors::MirroredArray;
use outlast_models::mttdl::ParityArray;
use outlast_units::rng::SplitMix;

const PAIRS: MirroredArray =
    MirroredArray { devices: 8, copies: 2, step: 2, failure_rate: 1e-6, repair_rate: 0.1, read_failure: 0.0 };

fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual / expected - 1.0).abs() <= tolerance, "{actual:e} not {expected:e}");
}

/// One pair: `(3λ + μ) / (2λ(λ + μh))` from its two equations by hand.
#[test]
fn one_pair_in_closed_form() {
    for (l, m, h) in [(1e-6, 0.1, 0.0), (1e-3, 0.5, 0.2), (0.3, 0.1, 1.0), (1e-9, 1.0, 1e-8)] {
        let pair = MirroredArray { devices: 2, failure_rate: l, repair_rate: m, read_failure: h, ..PAIRS };
        near(pair.mean_time_to_data_loss().unwrap(), (3.0 * l + m) / (2.0 * l * (l + m * h)), 1e-13);
    }
}

/// All devices copies of each other: an array that survives all but one failure.
#[test]
fn one_set_is_an_array_with_as_many_parities() {
    for (devices, h) in [(2, 0.3), (3, 0.0), (4, 0.01), (7, 0.5)] {
        let mirrors = MirroredArray { devices, copies: devices, step: devices, read_failure: h, ..PAIRS };
        let array = ParityArray {
            devices,
            parities: devices - 1,
            failure_rate: PAIRS.failure_rate,
            repair_rate: PAIRS.repair_rate,
            parallel_repair: true,
            latent_rate: 0.0,
            scrub_rate: 0.0,
            read_failure: h,
        };
        near(mirrors.mean_time_to_data_loss().unwrap(), array.mean_time_to_data_loss().unwrap(), 1e-12);
    }
}

/// Fast repairs: as many pairs as there are lose data as many times as often as one, and a ring of pairs, in which two neighbours of each
/// device are fatal, twice as often again.
#[test]
fn pairs_lose_data_at_the_sum_of_their_rates() {
    let one = MirroredArray { devices: 2, ..PAIRS }.mean_time_to_data_loss().unwrap();
    for devices in [4u32, 8, 24, 64, 512] {
        let pairs = MirroredArray { devices, ..PAIRS }.mean_time_to_data_loss().unwrap();
        // The next term is of the order of devices · λ / μ.
        near(pairs, one / f64::from(devices / 2), 4e-5 * f64::from(devices));
    }
    let ring = MirroredArray { devices: 8, step: 1, ..PAIRS }.mean_time_to_data_loss().unwrap();
    near(ring, one / 8.0, 4e-4);
    assert_eq!(
        (MirroredArray::near_step(8, 2), MirroredArray::near_step(5, 2), MirroredArray::near_step(6, 4)),
        (2, 1, 2)
    );
}

/// Devices with clocks of their own, event by event, which know their sets of copies. Mean over 4 000 lives of a nearly exponential
/// distribution: relative standard error 1.6 %; four of them, and what is not exact for sets other than pairs, λ/μ = 5 %.
#[test]
fn mean_time_to_loss_agrees_with_simulated_mirrors() {
    for (devices, copies, step, inexact) in
        [(6, 2, 2, 0.0), (8, 2, 2, 0.0), (5, 2, 1, 0.05), (6, 3, 3, 0.05), (6, 4, 2, 0.05), (4, 3, 1, 0.05)]
    {
        let mirrors =
            MirroredArray { devices, copies, step, failure_rate: 0.04, repair_rate: 0.8, read_failure: 0.05 };
        let expected = mirrors.mean_time_to_data_loss().unwrap();
        near(simulated(&mirrors, 4_000), expected, 4.0 * 0.016 + inexact);
    }
}

fn simulated(mirrors: &MirroredArray, lives: u32) -> f64 {
    let n = mirrors.devices as usize;
    let sets: Vec<Vec<usize>> = (0..n)
        .step_by(mirrors.step as usize)
        .map(|first| (first..first + mirrors.copies as usize).map(|device| device % n).collect())
        .collect();
    let mut rng = SplitMix::new(7, "mirrors");
    let mut total = 0.0;
    for _ in 0..lives {
        let mut failed = vec![false; n];
        loop {
            let down = failed.iter().filter(|&&failed| failed).count() as f64;
            let rate = (n as f64 - down) * mirrors.failure_rate + down * mirrors.repair_rate;
            total += -(1.0 - rng.unit()).ln() / rate;
            // Whose clock it is: each device has one.
            let mut left = rng.unit() * rate;
            let own = |failed: bool| if failed { mirrors.repair_rate } else { mirrors.failure_rate };
            let device = (0..n)
                .find(|&device| {
                    left -= own(failed[device]);
                    left < 0.0
                })
                .unwrap_or(n - 1);
            if failed[device] {
                // Does it stand or fall with one other?
                let only = |set: &&Vec<usize>| {
                    set.contains(&device) && set.iter().filter(|&&other| !failed[other]).count() == 1
                };
                if sets.iter().any(|set| only(&set)) && rng.unit() < mirrors.read_failure {
                    break;
                }
                failed[device] = false;
            } else {
                failed[device] = true;
                if sets.iter().any(|set| set.iter().all(|&device| failed[device])) {
                    break;
                }
            }
        }
    }
    total / f64::from(lives)
}

#[test]
fn arguments_outside_the_domain_are_refused() {
    let says = |mirrors: MirroredArray, part: &str| {
        let error = mirrors.mean_time_to_data_loss().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    says(MirroredArray { copies: 1, ..PAIRS }, "copies = 1");
    says(MirroredArray { devices: 1, ..PAIRS }, "devices = 1");
    says(MirroredArray { step: 3, ..PAIRS }, "step = 3");
    says(MirroredArray { devices: 20, copies: 10, step: 1, ..PAIRS }, "copies = 10");
    says(MirroredArray { failure_rate: 0.0, ..PAIRS }, "failure_rate = 0");
    says(MirroredArray { read_failure: 2.0, ..PAIRS }, "read_failure = 2");
}
