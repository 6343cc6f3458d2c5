//! Criteria of steady state: for preconditioning (write amplification by round) and for the measurement itself.

/// True if `values` span no more than `range` times their mean, and their least-squares line moves by no more than `excursion` times the
/// mean over all of them. False for fewer than two.
///
/// The criterion of SNIA's Solid State Storage Performance Test Specification (PTS 2.0.2, section 2.1.24): there with a range of
/// 20 % and a slope excursion of 10 % over five rounds.
pub(crate) fn is_steady(values: &[f64], range: f64, excursion: f64) -> bool {
    let n = values.len() as f64;
    if values.len() < 2 {
        return false;
    }
    let mean = values.iter().sum::<f64>() / n;
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    let middle = (n - 1.0) / 2.0;
    let (covariance, variance) =
        values.iter().zip(0u32..).fold((0.0, 0.0), |(covariance, variance), (&v, i)| {
            let x = f64::from(i) - middle;
            (covariance + x * (v - mean), variance + x * x)
        });
    // Slope times length. A NaN among the values fails both comparisons.
    let moved = (covariance / variance * (n - 1.0)).abs();
    high - low <= range * mean.abs() && moved <= excursion * mean.abs()
}

/// Drive writes ahead over which the drift of the spare space must stay within the tolerance.
const AHEAD: f64 = 10.0;

/// One round of overwriting.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct OverwriteRound {
    /// Drive writes of overwriting up to its end.
    pub(crate) drive_writes: f64,
    /// Write amplification of this round alone.
    pub(crate) amplification: f64,
    /// Spare space that superblocks written first took up, as a share of all spare space, per drive write.
    pub(crate) drift: f64,
    /// Superblocks written first and not erased yet, as a share of all.
    pub(crate) first_written: f64,
    /// True if erasures gained space.
    pub(crate) reclaimed: bool,
    /// Estimate, at its end, of the drive writes that overwriting takes in all.
    pub(crate) expected_drive_writes: f64,
}

/// Last share of all overwriting that is compared, though never less than the rounds set. Cold data that was first collected in a body is
/// collected in a body again later; the longer that takes, the longer the write amplification swings, so the span grows with it.
const SHARE: f64 = 1.0 / 3.0;

/// Largest root mean square distance of single rounds from their mean, as a share of the mean. Where victims are taken in order, cold data
/// is collected in a body, lap after lap: the mean over laps is flat, but still moves as the body dissolves. The effect of a swing on the
/// mean grows with its square, so a fifth is at most 4 %.
const SWING: f64 = 0.2;

/// The last rounds, which are compared: a multiple of `parts`; `None` while there are too few.
pub(crate) fn compared(rounds: &[OverwriteRound], parts: usize) -> Option<&[OverwriteRound]> {
    let span = ((rounds.len() as f64 * SHARE).ceil() as usize).max(parts);
    let first = rounds.len().checked_sub(span.next_multiple_of(parts))?;
    Some(&rounds[first..])
}

/// Mean write amplification of `rounds`; 0 without any.
pub(crate) fn mean_amplification(rounds: &[OverwriteRound]) -> f64 {
    rounds.iter().map(|round| round.amplification).sum::<f64>() / rounds.len().max(1) as f64
}

/// True if a drive is steady, given the rounds that are [compared]: the spare space stays where it is, the write amplification does not
/// swing, and over `parts` equal spans it stays within `tolerance`. See `docs/decisions/0027`.
pub(crate) fn has_settled(rounds: &[OverwriteRound], parts: usize, tolerance: f64) -> bool {
    let joined = rounds.len().div_ceil(parts).max(1);
    let values: Vec<f64> = rounds.chunks(joined).map(mean_amplification).collect();
    spare_space_stays(rounds, tolerance)
        && swing(rounds) <= SWING.max(tolerance)
        && is_steady(&values, tolerance, tolerance / 2.0)
}

/// Root mean square of the distances of single rounds from their mean, as a share of the mean.
fn swing(rounds: &[OverwriteRound]) -> f64 {
    let mean = mean_amplification(rounds);
    let square = rounds.iter().map(|round| (round.amplification - mean).powi(2)).sum::<f64>();
    (square / rounds.len().max(1) as f64).sqrt() / mean
}

/// True if the spare space stays where it is: each round gained space by erasing, and superblocks written first take up no more of it.
fn spare_space_stays(rounds: &[OverwriteRound], tolerance: f64) -> bool {
    rounds.iter().all(|round| round.reclaimed) && drift(rounds) * AHEAD <= tolerance
}

/// Mean drift of `rounds`, per drive write.
fn drift(rounds: &[OverwriteRound]) -> f64 {
    rounds.iter().map(|round| round.drift).sum::<f64>() / rounds.len().max(1) as f64
}

/// Time until the drift has taken up the spare space, over the time that it would take at its present rate. Rule of thumb without a source;
/// it affects the progress shown and the estimates in the result, not the verdict.
const DRIFT_SLOWDOWN: f64 = 1.5;

/// The drift has only begun if less than this share of the spare space is taken up, and more than this share of the superblocks was written
/// first. Rule of thumb, as above.
const EARLY: f64 = 0.5;

/// Estimates the drive writes that overwriting still takes after `rounds`, of which `parts` are compared.
///
/// Trends are extended: superblocks written first vanish at the rate of the last rounds, or once their drift, at its present rate, has taken
/// up about all of the spare space. After that the write amplification must lie within `tolerance` over the rounds that are compared.
pub(crate) fn expected_drive_writes_left(rounds: &[OverwriteRound], parts: usize, tolerance: f64) -> f64 {
    let Some(last) = rounds.last() else { return 0.0 };
    let written = last.drive_writes;
    let round = written / rounds.len() as f64;
    let recent = &rounds[rounds.len().saturating_sub(parts)..];
    let least_compared = parts as f64 * round;
    if !spare_space_stays(recent, tolerance) {
        let settled = written + until_first_written_vanish(rounds, recent);
        // The compared rounds must begin after that: either their least number, or the share SHARE of all that will have been written.
        return (settled + least_compared).max(settled / (1.0 - SHARE)) - written;
    }
    // Drive writes, counted from the end, during which the write amplification has already been flat.
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    let flat = rounds
        .iter()
        .rev()
        .take_while(|round| {
            (low, high) = (low.min(round.amplification), high.max(round.amplification));
            high - low <= tolerance * high
        })
        .count() as f64
        * round;
    // The verdict can change only when one of the compared parts consists of other rounds.
    let part = (SHARE * written / parts as f64).max(round);
    // Solves flat + x = SHARE · (written + x), the moment at which all that is compared is flat.
    let until_flat = (SHARE * written - flat) / (1.0 - SHARE);
    (least_compared - flat).max(until_flat).max(part)
}

/// Estimates the drive writes until the superblocks written first are collected, from the trend of the `recent` of `rounds`.
fn until_first_written_vanish(rounds: &[OverwriteRound], recent: &[OverwriteRound]) -> f64 {
    let Some(last) = rounds.last() else { return 0.0 };
    let written = last.drive_writes;
    let round = written / rounds.len() as f64;
    // Divided by all recent rounds although the difference spans one less: rather too late than too early.
    let vanishing = (recent[0].first_written - last.first_written) / (recent.len() as f64 * round);
    let until_vanished = if vanishing > 0.0 { last.first_written / vanishing } else { f64::INFINITY };
    // They are collected when their stale units make up about all of the spare space.
    let spare_taken = rounds.iter().map(|round| round.drift).sum::<f64>() * round;
    let drift = drift(recent);
    // Without a trend: as long again as it has taken so far.
    let until_taken =
        if drift > 0.0 && spare_taken < 1.0 { DRIFT_SLOWDOWN * (1.0 - spare_taken) / drift } else { written };
    if spare_taken < EARLY && drift > 0.0 && last.first_written > EARLY {
        // Early on only hot superblocks vanish, and fast: their rate says nothing about the cold ones.
        until_taken
    } else {
        until_vanished.min(until_taken).min(written)
    }
}

#[cfg(test)]
mod tests {
    use super::{OverwriteRound, compared, has_settled, is_steady};

    fn rounds(drift: f64, reclaimed: bool) -> Vec<OverwriteRound> {
        let round = |i: u32| OverwriteRound {
            drive_writes: f64::from(i) * 0.1,
            amplification: 1.05,
            drift,
            first_written: 0.5,
            reclaimed,
            expected_drive_writes: 1.0,
        };
        (1..=5).map(round).collect()
    }

    #[test]
    fn flat_write_amplification_is_not_steady_while_spare_space_drifts() {
        assert!(has_settled(&rounds(0.0, true), 5, 0.03));
        // The drift of a 95/5 workload at 45 % spare space: a tenth of the spare space for each drive write.
        assert!(!has_settled(&rounds(0.1, true), 5, 0.03));
        // 0.3 % of the spare space in a drive write are 3 % in ten.
        assert!(has_settled(&rounds(0.0029, true), 5, 0.03) && !has_settled(&rounds(0.0031, true), 5, 0.03));
        // Writes that use up free space.
        assert!(!has_settled(&rounds(0.0, false), 5, 0.03));
    }

    #[test]
    fn a_swing_within_a_lap_is_not_steady() {
        // Each of the five that are compared holds one lap of four rounds, and so all are alike.
        let laps = |swing: f64| -> Vec<OverwriteRound> {
            let all = rounds(0.0, true).into_iter().cycle().take(60).zip(0..);
            let value = |i: u32| if i % 4 < 2 { 3.0 + 3.0 * swing } else { 3.0 - 3.0 * swing };
            all.map(|(round, i)| OverwriteRound { amplification: value(i), ..round }).collect()
        };
        let settled = |swing| compared(&laps(swing), 5).is_some_and(|last| has_settled(last, 5, 0.03));
        assert_eq!(compared(&laps(0.1), 5).map(<[OverwriteRound]>::len), Some(20));
        assert!(settled(0.19) && !settled(0.21));
    }

    #[test]
    fn range_and_slope_both_count() {
        assert!(is_steady(&[1.0, 1.01, 0.99, 1.0, 1.0], 0.2, 0.1));
        // Within range, but climbing: 0.16 over the five.
        assert!(!is_steady(&[0.92, 0.96, 1.0, 1.04, 1.08], 0.2, 0.1));
        // No slope, but too wide.
        assert!(!is_steady(&[1.0, 1.2, 0.9, 1.2, 1.0], 0.2, 0.1));
        assert!(!is_steady(&[1.0], 0.2, 0.1));
        assert!(!is_steady(&[f64::NAN, 1.0], 0.2, 0.1));
    }
}
