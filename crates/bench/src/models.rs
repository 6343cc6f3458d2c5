//! The cost of one uncorrectable page error rate: no engine around it.

use outlast_models::{PageCode, PageStripe};
use outlast_units::rng::{SplitMix, mix};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

/// Millions of UPER evaluations per second of processor time, goal 5: over the wear of mSAPL's chip (RBER 1.5e-7 to 1.5e-4), and over
/// all rates from 1e-12 to 1e-2, saturated ones included; n, k and pages of mSAPL's figures and of HRM's codewords.
pub(crate) fn measure(quick: bool) -> String {
    let evaluations: usize = if quick { 20_000 } else { 5_000_000 };
    let mut speeds = Vec::new();
    let mut hash = 0;
    for (name, bits, strength, pages, parities, decades) in [
        ("wear m=0", 8192, 8, 8, 0, [-6.83, -3.83]),
        ("wear m=1", 8192, 8, 8, 1, [-6.83, -3.83]),
        ("wear m=2", 8192, 8, 8, 2, [-6.83, -3.83]),
        ("all m=2", 8192, 8, 8, 2, [-12.0, -2.0]),
        ("75-bit m=1", 4096, 75, 16, 1, [-5.0, -1.8]),
    ] {
        let code = PageCode::new(bits, strength, 1).expect("within its limits");
        let stripe = PageStripe::new(code, pages, parities).expect("within its limits");
        let mut rng = SplitMix::new(1, "bench.models");
        // Rates are drawn beforehand.
        let rates: Vec<f64> =
            (0..1 << 12).map(|_| 10f64.powf(decades[0] + (decades[1] - decades[0]) * rng.unit())).collect();
        let start = cpu_s();
        for turn in 0..evaluations {
            hash = mix(hash ^ black_box(stripe.uper(rates[turn & 0xfff])).unwrap_or(0.0).to_bits());
        }
        speeds.push(format!("{name} {:.1}", evaluations as f64 / (cpu_s() - start) / 1e6));
    }
    format!("models: million UPER per CPU-second: {}, hash {hash:016x}", speeds.join(", "))
}

/// Processor time of this thread, in seconds: others may be at work on the machine.
pub(crate) fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_benchmark_runs_and_computes_the_same_each_time() {
        let hash = |line: String| line.split("hash ").nth(1).map(str::to_owned);
        assert_eq!(hash(super::measure(true)), hash(super::measure(true)));
    }
}
