//! Is it steady? For preconditioning (write amplification by round) and for the measurement itself.

/// Whether `values` stay within `range` of their mean and their least-squares line moves by no more than `excursion` of it
/// over all of them.
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
    let moved = (covariance / variance * (n - 1.0)).abs();
    high - low <= range * mean.abs() && moved <= excursion * mean.abs()
}

/// Drive writes ahead for which the spare space must stay where it is.
const AHEAD: f64 = 10.0;

/// One round of overwriting.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct OverwriteRound {
    /// Overwritten until its end, in drive writes.
    pub(crate) drive_writes: f64,
    pub(crate) amplification: f64,
    /// Spare space that superblocks written first took up, as a share of all spare space per drive write.
    pub(crate) drift: f64,
    /// Superblocks that were written first and are not erased yet, as a share of all.
    pub(crate) first_written: f64,
    /// Whether erasures gained space.
    pub(crate) reclaimed: bool,
    /// Drive writes that overwriting was expected to take in all.
    pub(crate) expected_drive_writes: f64,
}

/// Of all that was overwritten, the last share that is looked at: cold data that was first collected all at once is collected in a body
/// again some time later, and the longer that takes the longer the write amplification swings. Never less than the rounds asked for.
const SHARE: f64 = 1.0 / 3.0;

/// How far single rounds may lie from their mean (root mean square), as a share of it. Where victims are taken in order, what is cold is
/// collected in a body, lap after lap: the mean of some laps is flat, and still it moves as the body dissolves. What a swing does to the
/// mean goes with its square, so a fifth is at most 4 %.
const SWING: f64 = 0.2;

/// The last rounds, those that are compared: a multiple of `parts`; `None` while there are too few.
pub(crate) fn compared(rounds: &[OverwriteRound], parts: usize) -> Option<&[OverwriteRound]> {
    let span = ((rounds.len() as f64 * SHARE).ceil() as usize).max(parts);
    let first = rounds.len().checked_sub(span.next_multiple_of(parts))?;
    Some(&rounds[first..])
}

/// The mean write amplification of `rounds`.
pub(crate) fn mean_amplification(rounds: &[OverwriteRound]) -> f64 {
    rounds.iter().map(|round| round.amplification).sum::<f64>() / rounds.len().max(1) as f64
}

/// Whether a drive is steady, given the rounds that are [compared]: the spare space stays where it is, the write amplification does not
/// swing, and joined to `parts` longer rounds it stays within `tolerance`. See `docs/decisions/0027`.
pub(crate) fn has_settled(rounds: &[OverwriteRound], parts: usize, tolerance: f64) -> bool {
    let joined = rounds.len().div_ceil(parts).max(1);
    let values: Vec<f64> = rounds.chunks(joined).map(mean_amplification).collect();
    spare_space_stays(rounds, tolerance)
        && swing(rounds) <= SWING.max(tolerance)
        && is_steady(&values, tolerance, tolerance / 2.0)
}

/// Root mean square of the distances of single rounds from their mean, as a share of it.
fn swing(rounds: &[OverwriteRound]) -> f64 {
    let mean = mean_amplification(rounds);
    let square = rounds.iter().map(|round| (round.amplification - mean).powi(2)).sum::<f64>();
    (square / rounds.len().max(1) as f64).sqrt() / mean
}

/// Whether the spare space stays where it is: each round gained space by erasing, and what was written first takes up no more of it.
fn spare_space_stays(rounds: &[OverwriteRound], tolerance: f64) -> bool {
    rounds.iter().all(|round| round.reclaimed) && drift(rounds) * AHEAD <= tolerance
}

/// The mean drift of `rounds`.
fn drift(rounds: &[OverwriteRound]) -> f64 {
    rounds.iter().map(|round| round.drift).sum::<f64>() / rounds.len().max(1) as f64
}

/// Drive writes that overwriting will probably still take after `rounds`, of which `parts` are compared.
///
/// What has a trend is extended: superblocks that were written first vanish at the rate of the last rounds, or when the spare space that they
/// take up at its present rate is about all of it. After that the write amplification must lie within `tolerance` for as long as is looked at.
pub(crate) fn expected_drive_writes_left(rounds: &[OverwriteRound], parts: usize, tolerance: f64) -> f64 {
    let Some(last) = rounds.last() else { return 0.0 };
    let at = last.drive_writes;
    let round = at / rounds.len() as f64;
    let recent = &rounds[rounds.len().saturating_sub(parts)..];
    let least = parts as f64 * round;
    if !spare_space_stays(recent, tolerance) {
        let vanishing = (recent[0].first_written - last.first_written) / (recent.len() as f64 * round);
        let vanish = if vanishing > 0.0 { last.first_written / vanishing } else { f64::INFINITY };
        // They are collected when about all of the spare space has gone to them, which takes half as long again.
        let held = rounds.iter().map(|round| round.drift).sum::<f64>() * round;
        let drift = drift(recent);
        let fill = if drift > 0.0 && held < 1.0 { 1.5 * (1.0 - held) / drift } else { at };
        // Before that, only what was hot vanishes, and soon.
        let then = at
            + if held < 0.5 && drift > 0.0 && last.first_written > 0.5 {
                fill
            } else {
                vanish.min(fill).min(at)
            };
        return (then + least).max(then / (1.0 - SHARE)) - at;
    }
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
    // The verdict becomes another one when one of the parts that are compared is another one.
    let part = (SHARE * at / parts as f64).max(round);
    (least - flat).max((SHARE * at - flat) / (1.0 - SHARE)).max(part)
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
    fn a_flat_write_amplification_is_not_enough() {
        assert!(has_settled(&rounds(0.0, true), 5, 0.03));
        // The rate of 95/5 at 45 % spare space: a tenth of it for each drive write.
        assert!(!has_settled(&rounds(0.1, true), 5, 0.03));
        // 0.3 % of it in a drive write are 3 % in ten.
        assert!(has_settled(&rounds(0.0029, true), 5, 0.03) && !has_settled(&rounds(0.0031, true), 5, 0.03));
        // Writes that live on free space.
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
