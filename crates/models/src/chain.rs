//! Markov chains that end in data loss: when it comes in the mean, and how probable it is by a given time.
//!
//! Both are computed without subtraction, so that a probability of 1e-17, or of 1e-200, has nearly as many digits as one of a half.

use crate::DomainError;
use crate::error::{not_negative, within};
use crate::mttdl::mean_time_to_loss;

/// Most states of a chain whose probability of loss is asked for: squaring costs the third power of it.
const STATES_MAX: f64 = 600.0;
/// Most steps of the fastest state within the time asked for, as a power of two.
const DOUBLINGS_MAX: f64 = 90.0;
/// Terms of the series beyond one for each state; the series has a ratio of at most one half then.
const TERMS_BEYOND: usize = 40;

/// A chain of states 0, 1, …, of which some lead to loss, with constant rates per unit of time. It begins in state 0.
#[derive(Clone, Debug, PartialEq)]
pub struct LossChain {
    rates: Vec<Vec<f64>>,
    loss: Vec<f64>,
}

/// Course of a chain within a length of time, from each state.
struct ChainPassage {
    /// Probability of being in state j at the end, having begun in i.
    stay: Vec<Vec<f64>>,
    /// Probability of loss by the end, having begun in i.
    lost: Vec<f64>,
}

impl LossChain {
    /// A chain with `rates[i][j]` from state i to j (the diagonal is ignored) and `loss[i]` from state i to loss.
    ///
    /// # Errors
    /// No state, a matrix that is not square, a rate that is negative or not finite.
    pub fn new(rates: Vec<Vec<f64>>, loss: Vec<f64>) -> Result<Self, DomainError> {
        let states = loss.len();
        within("states", states as f64, "at least 1, with a rate from each to each", |count| {
            count >= 1.0 && rates.len() == states && rates.iter().all(|row| row.len() == states)
        })?;
        for &rate in rates.iter().flatten().chain(&loss) {
            not_negative("rate", rate)?;
        }
        Ok(Self { rates, loss })
    }

    /// Mean time to loss, by elimination of states (see [`mean_time_to_loss`]).
    ///
    /// # Errors
    /// Loss that is not certain to come.
    pub fn mean_time_to_loss(&self) -> Result<f64, DomainError> {
        mean_time_to_loss(self.rates.clone(), self.loss.clone())
    }

    /// Probabilities of loss by `step`, 2·`step`, … `count`·`step`, in the chain's unit of time.
    ///
    /// Uniformisation (Jensen 1953) over a time so short that the fastest state is left about once, then squaring, whose sums have
    /// positive terms only (Xue and Ye, "Computing exponentials of essentially non-negative matrices entrywise to high relative accuracy",
    /// Mathematics of Computation 82, 2013). After each squaring every row is scaled to the sum 1, so that the rounding errors of states
    /// which are rarely left do not double with it.
    ///
    /// # Errors
    /// More than 600 states, a time that is negative or not finite, more than 2^90 departures of the fastest state in it.
    pub fn loss_by(&self, step: f64, count: usize) -> Result<Vec<f64>, DomainError> {
        let passage = self.passage(step)?;
        let mut alive = vec![0.0; self.loss.len()];
        alive[0] = 1.0;
        let mut lost = 0.0;
        let mut by_step = Vec::with_capacity(count);
        for _ in 0..count {
            lost += alive.iter().zip(&passage.lost).map(|(here, lost)| here * lost).sum::<f64>();
            alive = (0..alive.len())
                .map(|to| alive.iter().zip(&passage.stay).map(|(here, row)| here * row[to]).sum())
                .collect();
            by_step.push(f64::min(lost, 1.0));
        }
        Ok(by_step)
    }

    fn passage(&self, time: f64) -> Result<ChainPassage, DomainError> {
        not_negative("time", time)?;
        let states = self.loss.len();
        within("states", states as f64, "at most 600", |count| count <= STATES_MAX)?;
        let leaving: Vec<f64> = (0..states)
            .map(|state| {
                let others = self.rates[state].iter().enumerate().filter(|&(to, _)| to != state);
                self.loss[state] + others.map(|(_, rate)| rate).sum::<f64>()
            })
            .collect();
        // Twice the fastest, so that staying, 1 − leaving / pace, keeps all its digits.
        let pace = 2.0 * leaving.iter().copied().fold(0.0, f64::max);
        let doublings =
            within("departures within the time, as a power of 2", log2_up(pace * time), "at most 90", |k| {
                k <= DOUBLINGS_MAX
            })?;
        let mut passage = self.series(&leaving, pace, time / doublings.exp2());
        for _ in 0..doublings as u32 {
            passage = passage.squared();
        }
        Ok(passage)
    }

    /// The passage of a time in which about one step of `pace` happens: `e^−x Σ xⁿ/n! Uⁿ` with `x = pace·time` and `U` the chain of steps.
    fn series(&self, leaving: &[f64], pace: f64, time: f64) -> ChainPassage {
        let states = self.loss.len();
        let identity = |state| (0..states).map(|to| f64::from(u8::from(to == state))).collect::<Vec<f64>>();
        let mut power = ChainPassage { stay: (0..states).map(identity).collect(), lost: vec![0.0; states] };
        if pace == 0.0 || time == 0.0 {
            return power;
        }
        let x = pace * time;
        let mut weight = (-x).exp();
        let mut sum = power.scaled(weight);
        // Few states lead to many: only what is not zero is multiplied.
        let steps: Vec<Vec<(usize, f64)>> = (0..states)
            .map(|state| {
                let to_others = (0..states).filter(|&to| to != state && self.rates[state][to] > 0.0);
                let mut steps: Vec<_> = to_others.map(|to| (to, self.rates[state][to] / pace)).collect();
                steps.push((state, 1.0 - leaving[state] / pace));
                steps
            })
            .collect();
        for term in 1..=states + TERMS_BEYOND {
            power = power.after(&steps, &self.loss, pace);
            weight *= x / term as f64;
            sum.add(&power, weight);
        }
        sum.normalised()
    }
}

impl ChainPassage {
    /// One step of the chain before this.
    fn after(&self, steps: &[Vec<(usize, f64)>], loss: &[f64], pace: f64) -> Self {
        let states = loss.len();
        let mut next = Self { stay: vec![vec![0.0; states]; states], lost: vec![0.0; states] };
        for (state, steps) in steps.iter().enumerate() {
            next.lost[state] = loss[state] / pace;
            for &(to, share) in steps {
                next.lost[state] += share * self.lost[to];
                for (sum, part) in next.stay[state].iter_mut().zip(&self.stay[to]) {
                    *sum += share * part;
                }
            }
        }
        next
    }

    fn scaled(&self, weight: f64) -> Self {
        let scale = |row: &Vec<f64>| row.iter().map(|part| part * weight).collect::<Vec<f64>>();
        Self { stay: self.stay.iter().map(scale).collect(), lost: scale(&self.lost) }
    }

    fn add(&mut self, other: &Self, weight: f64) {
        for (row, part) in self.stay.iter_mut().zip(&other.stay) {
            row.iter_mut().zip(part).for_each(|(sum, part)| *sum += weight * part);
        }
        self.lost.iter_mut().zip(&other.lost).for_each(|(sum, part)| *sum += weight * part);
    }

    /// The passage of twice the time.
    fn squared(&self) -> Self {
        let states = self.lost.len();
        let mut next = Self { stay: vec![vec![0.0; states]; states], lost: self.lost.clone() };
        for from in 0..states {
            for (through, &share) in self.stay[from].iter().enumerate().filter(|&(_, &share)| share > 0.0) {
                next.lost[from] += share * self.lost[through];
                for (sum, part) in next.stay[from].iter_mut().zip(&self.stay[through]) {
                    *sum += share * part;
                }
            }
        }
        next.normalised()
    }

    fn normalised(mut self) -> Self {
        for (row, lost) in self.stay.iter_mut().zip(&mut self.lost) {
            let total = row.iter().sum::<f64>() + *lost;
            for part in row.iter_mut() {
                *part /= total;
            }
            *lost /= total;
        }
        self
    }
}

/// Doublings of a time with `steps` / 2^k steps of at most one; 0 for none.
fn log2_up(steps: f64) -> f64 {
    if steps <= 1.0 { 0.0 } else { steps.log2().ceil() }
}
