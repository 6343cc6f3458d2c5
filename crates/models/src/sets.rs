//! Loss of data when many nodes are down at once: how probable it is that one of the sets of nodes which hold the pieces of something has lost
//! more of them than its code survives (Cidon et al., "Copysets", USENIX ATC 2013).

use crate::DomainError;
use crate::array_loss::ln_any_failure;
use crate::error::{not_negative, within};

/// Nodes of which some are down, with sets of them that hold data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodesDown {
    /// Nodes.
    pub nodes: u32,
    /// Nodes that are down at once, any set of them equally likely.
    pub down: u32,
    /// Nodes of a set: copies, or data and parity.
    pub size: u32,
    /// Nodes that a set may lose: copies less one, or parities.
    pub survives: u32,
}

impl NodesDown {
    /// Probability that one set has lost data: `Σ_{i > survives} C(down, i)·C(nodes − down, size − i) / C(nodes, size)`.
    ///
    /// # Errors
    /// More than a million nodes, a set larger than the nodes or 4096, more nodes down than there are, a set that survives its own loss.
    pub fn set_is_lost(&self) -> Result<f64, DomainError> {
        self.check()?;
        Ok(self.down_in_set(self.nodes, self.down)[self.survives as usize + 1..].iter().sum::<f64>().min(1.0))
    }

    /// ln of the probability that any of `sets` has lost data, drawn independently of each other (they may overlap): `1 − (1 − p)^sets`.
    ///
    /// # Errors
    /// As [`NodesDown::set_is_lost`]; a negative number of sets.
    pub fn ln_any_is_lost(&self, sets: f64) -> Result<f64, DomainError> {
        ln_any_failure(not_negative("sets", sets)?, self.set_is_lost()?)
    }

    /// Probability that any of `sets` has lost data, of which no two share a node: one permutation of the nodes, cut into sets.
    ///
    /// # Errors
    /// As [`NodesDown::set_is_lost`]; more sets than the nodes make.
    pub fn any_disjoint_is_lost(&self, sets: u32) -> Result<f64, DomainError> {
        self.check()?;
        within("sets", sets.into(), "at most nodes / size, since they share no node", |sets| {
            sets * f64::from(self.size) <= f64::from(self.nodes)
        })?;
        // By number of nodes that are down among those not looked at yet: nothing is lost so far.
        let mut unharmed = vec![0.0; self.down as usize + 1];
        unharmed[self.down as usize] = 1.0;
        let mut lost = 0.0;
        for set in 0..sets {
            let left = self.nodes - set * self.size;
            let mut next = vec![0.0; unharmed.len()];
            for (down, &here) in unharmed.iter().enumerate().filter(|&(_, &here)| here > 0.0) {
                for (in_set, share) in self.down_in_set(left, down as u32).into_iter().enumerate() {
                    if in_set > self.survives as usize {
                        lost += here * share;
                    } else if share > 0.0 {
                        next[down - in_set] += here * share;
                    }
                }
            }
            unharmed = next;
        }
        Ok(lost.min(1.0))
    }

    /// Probabilities that 0, 1, … `size` nodes of a set are among the `down` of `nodes`: hypergeometric.
    fn down_in_set(&self, nodes: u32, down: u32) -> Vec<f64> {
        // Node by node of the set; each is down with the share of those that are left.
        let mut shares = vec![0.0; self.size as usize + 1];
        shares[0] = 1.0;
        for node in 0..self.size {
            let left = f64::from(nodes - node);
            for found in (0..=node.min(down)).rev() {
                let here = shares[found as usize];
                let still_down = f64::from(down - found);
                let still_up = (left - still_down).max(0.0);
                shares[found as usize + 1] += here * still_down / left;
                shares[found as usize] = here * still_up / left;
            }
        }
        shares
    }

    fn check(&self) -> Result<(), DomainError> {
        within("nodes", self.nodes.into(), "1 to 1000000", |nodes| (1.0..=1e6).contains(&nodes))?;
        within("size", self.size.into(), "1 to 4096, and at most the nodes", |size| {
            (1.0..=4096.0).contains(&size) && self.size <= self.nodes
        })?;
        within("down", self.down.into(), "at most the nodes", |_| self.down <= self.nodes)?;
        within("survives", self.survives.into(), "less than size", |_| self.survives < self.size)?;
        Ok(())
    }
}
