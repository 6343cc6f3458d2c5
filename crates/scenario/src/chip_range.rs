//! Warnings about wear, age and reads beyond the range in which the error rates of a chip are known.

use super::Scenario;
use outlast_units::Nanos;

impl Scenario {
    /// A sentence for each setting outside the range in which the source of the chip measured its error rates, or itself used them: there
    /// the simulation extrapolates by the form of the model.
    pub fn beyond_range(&self) -> Vec<String> {
        let Some(reliability) = &self.device.reliability else { return Vec::new() };
        let (Some(chip), Some(range)) = (&reliability.chip, reliability.range()) else { return Vec::new() };
        let chip = chip.name();
        let initial = &reliability.initial;
        let days = |time: Nanos| time.as_secs_f64() / 86_400.0 * reliability.time_factor().unwrap_or(1.0);
        let leaps = self.run.ageing.iter().fold(0u64, |sum, leap| sum.saturating_add(leap.by.0));
        // The oldest data and the most worn member decide: the range must hold for all.
        let oldest = initial.age.oldest();
        let members = self.array.iter().flat_map(|array| &array.member).filter_map(|member| member.pe_cycles);
        let worn = members.max().map_or(initial.pe_cycles, |most| most.max(initial.pe_cycles));
        let limits = [
            ("initial.pe_cycles", f64::from(worn), range.cycles, "P/E cycles"),
            ("initial.age", days(oldest), range.days, "days"),
            ("initial.block_reads", f64::from(initial.block_reads), range.reads, "reads"),
        ];
        let reliability_field = |(name, value, range, unit): (&str, f64, Option<[f64; 2]>, &str)| {
            sentence(&format!("device.reliability.{name}"), value, range, unit, chip)
        };
        let mut sentences: Vec<String> = limits.into_iter().filter_map(reliability_field).collect();
        if leaps > 0 {
            let value = days(Nanos(oldest.0.saturating_add(leaps)));
            sentences.extend(sentence(
                "run.ageing (with device.reliability.initial.age)",
                value,
                range.days,
                "days",
                chip,
            ));
        }
        if let Some(temperature) = reliability.temperature {
            sentences.extend(sentence(
                "device.reliability.temperature",
                temperature,
                range.temperature,
                "°C",
                chip,
            ));
            if !reliability.rber_model().is_ok_and(|model| model.has_retention()) {
                sentences.push(format!(
                    "device.reliability.temperature = {temperature}: has no effect, because the error rates of {chip} know no retention."
                ));
            }
        }
        sentences
    }
}

fn sentence(field: &str, value: f64, range: Option<[f64; 2]>, unit: &str, chip: &str) -> Option<String> {
    let [low, high] = range?;
    // A value converted from other units may miss the end of the range by rounding.
    let slack = 1e-9 * high.abs().max(low.abs());
    if (low - slack..=high + slack).contains(&value) {
        return None;
    }
    Some(format!(
        "{field} = {}: beyond the {} to {} {unit} for which the error rates of {chip} are known.",
        short(value),
        short(low),
        short(high)
    ))
}

/// The value with at most two decimals, without trailing zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
