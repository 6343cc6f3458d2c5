//! Waiting in front of one server.

use crate::DomainError;
use crate::error::{not_negative, positive, within};

/// Utilisation of a server: `λ·E[S]`, with arrivals per second and the mean service time in seconds.
///
/// # Errors
/// A rate or time that is negative or not finite.
pub fn utilisation(arrivals_per_s: f64, service_s_mean: f64) -> Result<f64, DomainError> {
    Ok(not_negative("arrivals_per_s", arrivals_per_s)? * not_negative("service_s_mean", service_s_mean)?)
}

/// Mean wait in seconds, service not included, of an M/G/1 queue: Poisson arrivals, any service time, one server, in order
/// of arrival.
///
/// Pollaczek and Khinchine: `E[W] = λ·E[S²] / (2·(1 − λ·E[S]))`, with `E[S²] = Var[S] + E[S]²` (Kleinrock, "Queueing Systems",
/// volume 1, 1975, section 5.6).
///
/// # Errors
/// A negative argument, or a utilisation of 1 or more: the queue grows without bound.
pub fn mg1_mean_wait(
    arrivals_per_s: f64,
    service_s_mean: f64,
    service_s2_variance: f64,
) -> Result<f64, DomainError> {
    let utilisation = utilisation(arrivals_per_s, service_s_mean)?;
    within("utilisation", utilisation, "below 1", |utilisation| utilisation < 1.0)?;
    let variance = not_negative("service_s2_variance", service_s2_variance)?;
    let second_moment = service_s_mean.mul_add(service_s_mean, variance);
    Ok(arrivals_per_s * second_moment / (2.0 * (1.0 - utilisation)))
}

/// Mean wait in seconds, service not included, of an M/D/1 queue: as [`mg1_mean_wait`] with a constant service time, so that
/// `E[W] = ρ·S / (2·(1 − ρ))` with ρ = λ·S.
///
/// # Errors
/// As [`mg1_mean_wait`].
pub fn md1_mean_wait(arrivals_per_s: f64, service_s: f64) -> Result<f64, DomainError> {
    mg1_mean_wait(arrivals_per_s, service_s, 0.0)
}

/// Mean wait in seconds of an M/M/1 queue: exponential service, `E[W] = ρ·S / (1 − ρ)`.
///
/// # Errors
/// As [`mg1_mean_wait`].
pub fn mm1_mean_wait(arrivals_per_s: f64, service_s_mean: f64) -> Result<f64, DomainError> {
    mg1_mean_wait(arrivals_per_s, service_s_mean, service_s_mean * service_s_mean)
}

/// Requests in the system by Little's law, `L = λ·T`, with the mean time in the system (wait and service) in seconds.
///
/// # Errors
/// A negative argument.
pub fn little_in_system(completions_per_s: f64, time_in_system_s_mean: f64) -> Result<f64, DomainError> {
    Ok(not_negative("completions_per_s", completions_per_s)?
        * not_negative("time_in_system_s_mean", time_in_system_s_mean)?)
}

/// Most requests per second that a closed loop of `queue_depth` can see when each takes at least `latency_s` and the drive
/// serves at most `capacity_per_s`: `min(N / R, C)` (Denning and Buzen, "The Operational Analysis of Queueing Network
/// Models", ACM Computing Surveys 10(3), 1978).
///
/// # Errors
/// An argument that is not above zero.
pub fn closed_loop_bound(queue_depth: f64, latency_s: f64, capacity_per_s: f64) -> Result<f64, DomainError> {
    let by_depth = positive("queue_depth", queue_depth)? / positive("latency_s", latency_s)?;
    Ok(by_depth.min(positive("capacity_per_s", capacity_per_s)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_load_waits_half_a_service_time() {
        assert!((md1_mean_wait(5_000.0, 100e-6).unwrap() - 50e-6).abs() < 1e-15);
        assert!((mm1_mean_wait(5_000.0, 100e-6).unwrap() - 100e-6).abs() < 1e-15);
        assert_eq!(md1_mean_wait(0.0, 100e-6), Ok(0.0));
    }

    #[test]
    fn a_mixture_of_two_service_times() {
        // 70 % of 66 us and 30 % of 750 us, by hand: mean 271.2 us, second moment 0.7·66² + 0.3·750² = 171 799.2 us².
        let (mean, second) = (271.2e-6, 171_799.2e-12);
        let wait = mg1_mean_wait(2_000.0, mean, second - mean * mean).unwrap();
        assert!((wait - 2_000.0 * second / (2.0 * (1.0 - 0.5424))).abs() < 1e-12, "{wait}");
    }

    /// Lindley's recursion with 2 million arrivals: the M/D/1 mean wait at 70 % within 3 %. The relative standard error of
    /// the mean with the queue's correlation time (about 1 / (1 − ρ)² services) is about 0.3 %; ten of them.
    #[test]
    fn waiting_agrees_with_a_simulated_queue() {
        let (mut state, mut wait, mut sum) = (7u64, 0.0f64, 0.0);
        let (rate, service, arrivals) = (0.7, 1.0, 2_000_000);
        for _ in 0..arrivals {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            sum += wait;
            wait = (wait + service + uniform.ln() / rate).max(0.0);
        }
        let expected = md1_mean_wait(rate, service).unwrap();
        let measured = sum / f64::from(arrivals);
        assert!((measured / expected - 1.0).abs() < 0.03, "{measured} against {expected}");
    }

    #[test]
    fn overload_is_refused() {
        let error = md1_mean_wait(10_000.0, 100e-6).unwrap_err();
        assert!(error.to_string().contains("utilisation = 1"), "{error}");
        assert!(mg1_mean_wait(-1.0, 1.0, 0.0).is_err());
        assert!(mg1_mean_wait(0.1, 1.0, -1.0).is_err());
        assert!(closed_loop_bound(0.0, 1.0, 1.0).is_err());
        assert_eq!(closed_loop_bound(32.0, 1e-3, 1e4), Ok(1e4));
        assert_eq!(closed_loop_bound(8.0, 1e-3, 1e4), Ok(8_000.0));
        assert_eq!(little_in_system(1000.0, 0.01), Ok(10.0));
    }
}
