//! Lines of a recovery go on: they read what they lack, wait for each other, and rebuild their targets.

use super::{Line, Recovery, RecoveryStep};
use outlast_units::Pu;

impl Recovery {
    /// Goes on along every line on which program unit `pu` lies, and along those that waited for them.
    pub(super) fn review_lines_of(&mut self, pu: Pu, steps: &mut Vec<RecoveryStep>) {
        let mut changed = vec![pu];
        while let Some(pu) = changed.pop() {
            for line in 0..self.lines.len() {
                let is_of_read = self.lines[line].targets.contains(&self.op.pu);
                if !is_of_read && self.lines[line].pus.contains(&pu) && !self.waits(line) {
                    self.review(line, &mut changed, steps);
                }
            }
        }
    }

    /// True if a member of line `line` is being read, or may yet be rebuilt along its other line.
    fn waits(&self, line: usize) -> bool {
        let axis = self.lines[line].axis;
        self.lines[line].pus.iter().any(|&pu| {
            let may_be_rebuilt = || {
                let along = |other: &Line| {
                    other.axis != axis && !other.has_ended && other.targets.contains(&pu) && pu != self.op.pu
                };
                self.missing(pu) != 0 && self.lines.iter().any(along)
            };
            self.member(pu).is_some_and(|member| member.is_under_way) || may_be_rebuilt()
        })
    }

    /// Reads what line `line` lacks, or rebuilds its targets as far as it can: then they have `changed`.
    fn review(&mut self, line: usize, changed: &mut Vec<Pu>, steps: &mut Vec<RecoveryStep>) {
        if self.read_more(line, steps) {
            return;
        }
        let had_ended = std::mem::replace(&mut self.lines[line].has_ended, true);
        for target in self.lines[line].targets.clone() {
            if self.rebuild(line, target, steps) || !had_ended {
                changed.push(target);
            }
        }
    }

    /// Rebuilds of program unit `pu` what line `line` gives; false if that is nothing.
    fn rebuild(&mut self, line: usize, pu: Pu, steps: &mut Vec<RecoveryStep>) -> bool {
        let (good, axis) = (self.good_of(line, pu), self.lines[line].axis);
        if good == 0 {
            return false;
        }
        if let Ok(index) = self.members.binary_search_by_key(&pu, |member| member.pu) {
            self.members[index].missing &= !good;
        }
        steps.push(RecoveryStep::Rebuilt { pu, axis, mask: good });
        true
    }

    /// Goes on along all lines but `of_read`, whatever they wait for. Returns whether anything came of it.
    pub(super) fn review_all(&mut self, of_read: usize, steps: &mut Vec<RecoveryStep>) -> bool {
        let before = steps.len();
        for line in (0..self.lines.len()).filter(|&line| line != of_read) {
            let mut changed = Vec::new();
            if !self.lines[line].targets.contains(&self.op.pu) {
                self.review(line, &mut changed, steps);
            }
            for pu in changed {
                self.review_lines_of(pu, steps);
            }
        }
        steps.len() != before
    }

    /// Rebuilds all that any line gives, of whatever is missing on it but the read itself; false if that is nothing.
    pub(super) fn rebuild_all(&mut self, steps: &mut Vec<RecoveryStep>) -> bool {
        let before = steps.len();
        for line in 0..self.lines.len() {
            for pu in self.lines[line].pus.clone() {
                if pu != self.op.pu {
                    self.rebuild(line, pu, steps);
                }
            }
        }
        steps.len() != before
    }
}
