//! Is the mean time to data loss that of the textbook, of exact arithmetic, and of a simulated array?

use outlast_models::mttdl::{ParityArray, mean_time_to_loss};
use outlast_units::rng::SplitMix;
use proptest::prelude::*;

const RAID5: ParityArray = ParityArray {
    devices: 8,
    parities: 1,
    failure_rate: 1e-6,
    repair_rate: 0.1,
    parallel_repair: false,
    latent_rate: 0.0,
    scrub_rate: 0.0,
    read_failure: 0.0,
};

fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual / expected - 1.0).abs() <= tolerance, "{actual:e} not {expected:e}");
}

/// One parity: `((2n−1)·λ + μ) / (n·λ·((n−1)·λ + μ·h))`, from the two equations of the chain by hand; without h that is Patterson,
/// Gibson and Katz' MTTF²/(n·(n−1)·MTTR) for fast repairs.
#[test]
fn one_parity_in_closed_form() {
    for (devices, failure_rate, repair_rate, read_failure) in [
        (8, 1e-6, 0.1, 0.0),
        (5, 1e-5, 0.02, 0.3),
        (16, 1e-9, 1.0, 1e-12),
        (3, 0.5, 0.1, 0.9),
        (4, 1e-6, 0.0, 0.0),
    ] {
        let array = ParityArray { devices, failure_rate, repair_rate, read_failure, ..RAID5 };
        let (n, l, m, h) = (f64::from(devices), failure_rate, repair_rate, read_failure);
        let expected = ((2.0 * n - 1.0) * l + m) / (n * l * ((n - 1.0) * l + m * h));
        near(array.mean_time_to_data_loss().unwrap(), expected, 1e-14);
    }
    near(RAID5.mean_time_to_data_loss().unwrap(), 0.1 / (8.0 * 7.0 * 1e-12), 2e-4);
}

/// No parity: the first failure or latent error. No repair: the sum of the mean times between failures.
#[test]
fn arrays_without_repair_or_parity_match_their_closed_forms() {
    let none = ParityArray { parities: 0, ..RAID5 };
    near(none.mean_time_to_data_loss().unwrap(), 1e6 / 8.0, 1e-14);
    near(ParityArray { latent_rate: 1e-6, ..none }.mean_time_to_data_loss().unwrap(), 1e6 / 16.0, 1e-14);
    let unrepaired = ParityArray { parities: 2, repair_rate: 0.0, ..RAID5 };
    near(unrepaired.mean_time_to_data_loss().unwrap(), 1e6 * (1.0 / 8.0 + 1.0 / 7.0 + 1.0 / 6.0), 1e-14);
}

/// Array, mean time to data loss from the generator that the type's documentation describes, solved with 200 digits:
///
/// ```python
/// from mpmath import *; mp.dps = 200                          # python3 -m pip install mpmath
/// def mttdl(n, m, l, u, par, lat, scrub, h):
///     s = 2*m+1; q = matrix(s, s)
///     def go(i, j, r): q[i, j] += r; q[i, i] -= r
///     def lose(i, r): q[i, i] -= r
///     for f in range(m+1):
///         c, rep = 2*f, u*(f if par else min(f, 1))           # all rates as mpf
///         if f == m: lose(c, (n-f)*(l+lat)+rep*h); f and go(c, c-2, rep*(1-h)); continue
///         go(c, c+2, (n-f)*l); go(c, c+1, (n-f)*lat); go(c+1, c+2, l); go(c+1, c, scrub)
///         (lose(c+1, (n-f-1)*l) if f+1 == m else go(c+1, c+3, (n-f-1)*l))
///         if f: go(c, c-2, rep); go(c+1, c-2, rep)
///     return lu_solve(-q, matrix([1]*s))[0]
/// ```
#[allow(clippy::unreadable_literal, clippy::excessive_precision, reason = "as mpmath printed them")]
const EXACT: [(ParityArray, f64); 6] = [
    (ParityArray { latent_rate: 1e-4, scrub_rate: 1e-2, ..RAID5 }, 1752486.6547753942),
    (
        ParityArray { parities: 2, latent_rate: 1e-4, scrub_rate: 1e-2, read_failure: 1e-3, ..RAID5 },
        28714957933.739459,
    ),
    (ParityArray { parities: 2, parallel_repair: true, ..RAID5 }, 59530357577380.967),
    (
        ParityArray {
            devices: 20,
            parities: 4,
            failure_rate: 1e-8,
            latent_rate: 1e-7,
            scrub_rate: 1.0,
            read_failure: 1e-9,
            ..RAID5
        },
        4.4789860468307483e+28,
    ),
    (ParityArray { parities: 1, latent_rate: 1e-5, scrub_rate: 0.0, ..RAID5 }, 157114.34188848053),
    (
        ParityArray { devices: 10, parities: 3, read_failure: 1.0, parallel_repair: true, ..RAID5 },
        27781667002781.118,
    ),
];

#[test]
fn stiff_chains_keep_their_digits() {
    for (array, expected) in EXACT {
        near(array.mean_time_to_data_loss().unwrap(), expected, 1e-13);
    }
}

/// An array of single devices with clocks of their own, followed event by event: it knows which device has failed and which has
/// a latent error. Mean over 4000 lives, of a nearly exponential distribution: relative standard error 1.6 %; five of them.
#[test]
fn mean_time_to_loss_agrees_with_a_simulated_array() {
    let array = ParityArray {
        devices: 6,
        parities: 2,
        failure_rate: 0.02,
        repair_rate: 0.2,
        parallel_repair: true,
        latent_rate: 0.01,
        scrub_rate: 0.3,
        read_failure: 0.1,
    };
    let mut rng = SplitMix::new(3, "mttdl");
    let mut exponential = |rate: f64| -(1.0 - rng.unit()).ln() / rate;
    let lives = 4000;
    let mut total = 0.0;
    for _ in 0..lives {
        let (mut failed, mut latent): ([bool; 6], Option<usize>) = ([false; 6], None);
        loop {
            let count = failed.iter().filter(|&&failed| failed).count();
            // The next event is the first of all clocks; memoryless, so they may all be drawn anew.
            let mut next = (f64::INFINITY, 0, 0);
            for (device, &down) in failed.iter().enumerate() {
                let event = |kind: i32, after: f64, next: (f64, i32, usize)| {
                    if after < next.0 { (after, kind, device) } else { next }
                };
                if down {
                    next = event(2, exponential(array.repair_rate), next);
                } else {
                    next = event(0, exponential(array.failure_rate), next);
                    if latent.is_none() {
                        next = event(1, exponential(array.latent_rate), next);
                    } else if latent == Some(device) {
                        next = event(3, exponential(array.scrub_rate), next);
                    }
                }
            }
            let (after, kind, device) = next;
            total += after;
            match kind {
                0 => {
                    latent = latent.filter(|&holder| holder != device);
                    failed[device] = true;
                    if count == 2 || (count == 1 && latent.is_some()) {
                        break;
                    }
                }
                1 if count == 2 => break,
                1 => latent = Some(device),
                2 => {
                    if count == 2 && exponential(1.0) < -(1.0 - array.read_failure).ln() {
                        break;
                    }
                    (failed[device], latent) = (false, None);
                }
                _ => latent = None,
            }
        }
    }
    near(total / f64::from(lives), array.mean_time_to_data_loss().unwrap(), 0.08);
}

#[test]
fn arguments_outside_the_domain_are_refused() {
    let says = |array: ParityArray, part: &str| {
        let error = array.mean_time_to_data_loss().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    says(ParityArray { devices: 1, ..RAID5 }, "devices = 1");
    says(ParityArray { parities: 8, ..RAID5 }, "parities = 8");
    says(ParityArray { failure_rate: 0.0, ..RAID5 }, "failure_rate = 0");
    says(ParityArray { repair_rate: f64::NAN, ..RAID5 }, "repair_rate = NaN");
    says(ParityArray { read_failure: 1.1, ..RAID5 }, "read_failure = 1.1");
    assert!(mean_time_to_loss(vec![vec![0.0, 1.0], vec![1.0, 0.0]], vec![0.0, 0.0]).is_err());
    assert!(mean_time_to_loss(vec![vec![0.0]], vec![1.0, 2.0]).is_err());
}

proptest! {
    /// More of what harms shortens life, more of what helps lengthens it.
    #[test]
    fn monotone(
        devices in 3u32..30, parities in 1u32..4, failure in 1e-9f64..1e-3, repair in 1e-3f64..10.0,
        latent in 0.0f64..1e-3, scrub in 1e-4f64..1.0, read in 0.0f64..0.9, parallel: bool,
    ) {
        let array = ParityArray {
            devices, parities: parities.min(devices - 1), failure_rate: failure, repair_rate: repair,
            parallel_repair: parallel, latent_rate: latent, scrub_rate: scrub, read_failure: read,
        };
        let base = array.mean_time_to_data_loss().unwrap();
        let of = |array: ParityArray| array.mean_time_to_data_loss().unwrap();
        prop_assert!(base.is_finite() && base > 0.0);
        let changed = of(ParityArray { failure_rate: failure * 1.1, ..array });
        prop_assert!(changed < base, "{changed} {base}");
        let changed = of(ParityArray { latent_rate: latent + 1e-4, ..array });
        prop_assert!(changed < base, "{changed} {base}");
        let changed = of(ParityArray { read_failure: read + 0.05, ..array });
        prop_assert!(changed < base, "{changed} {base}");
        let changed = of(ParityArray { scrub_rate: scrub * 1.5, ..array });
        prop_assert!(changed >= base * (1.0 - 1e-12), "{changed} {base}");
        let changed = of(ParityArray { devices: devices + 1, ..array });
        prop_assert!(changed < base, "{changed} {base}");
        if parities + 1 < devices {
            let changed = of(ParityArray { parities: array.parities + 1, ..array });
        prop_assert!(changed > base, "{changed} {base}");
        }
    }
}
