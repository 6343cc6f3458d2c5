//! Parity shares: percentages of the members, turned into whole chunks of a period.

use outlast_media::ConfigError;

/// Most members of one array: sets of members are bits of one word.
pub const MEMBERS_MAX: usize = 64;

/// Shares are exact to a thousandth of a percent, so that a period has at most 100 000 stripes.
const STEPS_PER_PERCENT: f64 = 1000.0;
const STEPS: u64 = 100_000;

/// How many stripes of a period have a parity chunk on each member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Stripes after which the placement repeats.
    pub period: u32,
    /// For each member, the stripes of a period in which it holds parity; they sum to `period` × parities.
    pub counts: Vec<u32>,
}

impl Shares {
    /// The same share for each of `members`.
    pub fn even(members: usize, parities: usize) -> Self {
        let divisor = gcd(members as u64, parities as u64) as usize;
        Self { period: (members / divisor) as u32, counts: vec![(parities / divisor) as u32; members] }
    }

    /// `percent` of all parity chunks for each member, with `parities` chunks in each stripe.
    ///
    /// # Errors
    /// Where a share is not a number from 0 to 100 / `parities` (a member holds at most one chunk of a stripe), is finer
    /// than 0.001, or where they do not sum to 100. The error names `field`.
    pub fn from_percent(field: &str, percent: &[f64], parities: usize) -> Result<Self, ConfigError> {
        let most = 100.0 / parities as f64;
        let mut steps = Vec::with_capacity(percent.len());
        for (index, &share) in percent.iter().enumerate() {
            let name = format!("{field}[{index}]");
            if !(0.0..=100.0).contains(&share) {
                return Err(ConfigError::new(&name, share, "must be between 0 and 100"));
            }
            let scaled = share * STEPS_PER_PERCENT;
            let whole = scaled.round();
            if (scaled - whole).abs() > 1e-6 {
                return Err(ConfigError::new(&name, share, "must be a multiple of 0.001"));
            }
            if whole as u64 * parities as u64 > STEPS {
                let limit = format!(
                    "must be at most {most}: each stripe has {parities} parity chunks, on as many different members"
                );
                return Err(ConfigError::new(&name, share, limit));
            }
            steps.push(whole as u64);
        }
        let sum: u64 = steps.iter().sum();
        if sum != STEPS {
            let limit = format!("must sum to 100, not {}", sum as f64 / STEPS_PER_PERCENT);
            return Err(ConfigError::new(field, format!("{percent:?}"), limit));
        }
        let chunks: Vec<u64> = steps.iter().map(|&step| step * parities as u64).collect();
        let divisor = chunks.iter().fold(STEPS, |divisor, &count| gcd(divisor, count));
        let counts = chunks.iter().map(|&count| (count / divisor) as u32).collect();
        Ok(Self { period: (STEPS / divisor) as u32, counts })
    }

    /// Parity chunks of each stripe.
    pub fn parities(&self) -> usize {
        let chunks: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        (chunks / u64::from(self.period)) as usize
    }

    /// The same shares, given out by rank: the member at `order[0]` gets the largest, and so on.
    #[must_use]
    pub fn ranked(&self, order: &[u8]) -> Self {
        let mut sorted = self.counts.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let mut counts = vec![0; sorted.len()];
        for (&member, count) in order.iter().zip(sorted) {
            counts[usize::from(member)] = count;
        }
        Self { period: self.period, counts }
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_become_the_shortest_period() {
        let shares = Shares::from_percent("p", &[80.0, 5.0, 5.0, 5.0, 5.0], 1).unwrap();
        assert_eq!((shares.period, &shares.counts[..]), (20, &[16, 1, 1, 1, 1][..]));
        let shares = Shares::from_percent("p", &[90.0, 2.5, 2.5, 2.5, 2.5], 1).unwrap();
        assert_eq!((shares.period, &shares.counts[..]), (40, &[36, 1, 1, 1, 1][..]));
        let shares = Shares::from_percent("p", &[50.0, 20.0, 10.0, 10.0, 10.0], 2).unwrap();
        assert_eq!((shares.period, &shares.counts[..]), (5, &[5, 2, 1, 1, 1][..]));
        assert_eq!(shares.parities(), 2);
        assert_eq!(Shares::even(5, 1), Shares { period: 5, counts: vec![1; 5] });
        assert_eq!(Shares::even(6, 2), Shares { period: 3, counts: vec![1; 6] });
    }

    #[test]
    fn what_cannot_be_a_placement_is_refused_with_name_value_and_limit() {
        let refuse = |percent: &[f64], parities| {
            Shares::from_percent("array.parity_percent", percent, parities).unwrap_err().to_string()
        };
        assert_eq!(
            refuse(&[50.0, 20.0, 20.0], 1),
            "array.parity_percent = [50.0, 20.0, 20.0]: must sum to 100, not 90"
        );
        assert_eq!(
            refuse(&[80.0, 10.0, 10.0, 0.0], 2),
            "array.parity_percent[0] = 80: must be at most 50: each stripe has 2 parity chunks, on as many different members"
        );
        assert!(refuse(&[-5.0, 105.0], 1).contains("[0] = -5: must be between 0 and 100"));
        assert!(refuse(&[f64::NAN, 100.0], 1).contains("must be between 0 and 100"));
        assert!(refuse(&[33.333_33, 66.666_67], 1).contains("multiple of 0.001"));
    }
}
