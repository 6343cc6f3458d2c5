//! Locks on rows of groups: a write of parity must have the rows that it covers to itself.

use crate::ids::{GroupIndex, GroupOpId, LockId};
use crate::layout::RowRange;
use outlast_units::slab::{NIL, Slab};
use outlast_units::to_length;

/// Lists of locks, chosen by a hash of the group: far more than the operations that are usually under way.
const BUCKETS: usize = 1 << 12;

/// A lock, held or waiting, in the list of its bucket; oldest first.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct LockNode {
    group: GroupIndex,
    rows: RowRange,
    shared: bool,
    /// Earlier locks that conflict with this one; it is held at 0.
    blockers: u32,
    op: GroupOpId,
    next: u32,
}

impl LockNode {
    fn conflicts(&self, group: GroupIndex, rows: RowRange, shared: bool) -> bool {
        self.group == group && self.rows.overlaps(rows) && !(self.shared && shared)
    }
}

/// First come, first served: a lock waits for every earlier one that it overlaps, held or waiting, unless both are shared.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub(crate) struct RowLocks {
    heads: Vec<u32>,
    nodes: Slab<LockNode>,
}

impl RowLocks {
    /// Checks that each restored lock is once in the list of its group, and waits for exactly the earlier ones that conflict with it.
    fn check_restored(&self) -> Result<(), String> {
        let mut seen = vec![false; self.nodes.slots().len()];
        self.nodes.free().iter().for_each(|&index| seen[index as usize] = true);
        if self.heads.len() != BUCKETS {
            return Err(format!("locks are in {} lists, not {BUCKETS}", self.heads.len()));
        }
        for (bucket, &head) in self.heads.iter().enumerate() {
            let (mut at, mut before): (u32, Vec<&LockNode>) = (head, Vec::new());
            while at != NIL {
                // A lock that has been seen before closes a circle.
                let is_new = seen.get_mut(at as usize).is_some_and(|seen| !std::mem::replace(seen, true));
                let node = self.nodes.slots().get(at as usize).filter(|_| is_new);
                let Some(node) = node.filter(|node| Self::bucket(node.group) == bucket) else {
                    return Err(format!("lock {at} is in a list that it does not belong to"));
                };
                let waits = |other: &&&LockNode| other.conflicts(node.group, node.rows, node.shared);
                if before.iter().filter(waits).count() != node.blockers as usize {
                    return Err(format!("lock {at} waits for others than are in its way"));
                }
                before.push(node);
                at = node.next;
            }
        }
        if seen.contains(&false) { Err("a lock is in no list".to_owned()) } else { Ok(()) }
    }

    /// Operation, group and rows of lock `lock`, and true if it is held.
    pub(crate) fn state_of(&self, lock: LockId) -> Option<(GroupOpId, GroupIndex, RowRange, bool)> {
        let node = self.nodes.get(lock.0)?;
        Some((node.op, node.group, node.rows, node.blockers == 0))
    }

    pub(crate) fn new() -> Self {
        Self { heads: vec![NIL; BUCKETS], nodes: Slab::default() }
    }

    /// Fibonacci hashing: neighbours, and groups at equal distances, are far apart.
    #[inline]
    fn bucket(group: GroupIndex) -> usize {
        to_length(group.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - BUCKETS.trailing_zeros()))
    }

    /// Asks for a lock for operation `op`; returns its number and whether it is held already.
    pub(crate) fn acquire(
        &mut self,
        group: GroupIndex,
        rows: RowRange,
        shared: bool,
        op: GroupOpId,
    ) -> (LockId, bool) {
        let bucket = Self::bucket(group);
        let mut blockers = 0;
        // The walk finds conflicts and the end of the list in one go; lists are short.
        let (mut at, mut last) = (self.heads[bucket], NIL);
        while at != NIL {
            let node = &self.nodes[at];
            blockers += u32::from(node.conflicts(group, rows, shared));
            (last, at) = (at, node.next);
        }
        let index = self.nodes.insert(LockNode { group, rows, shared, blockers, op, next: NIL });
        if last == NIL {
            self.heads[bucket] = index;
        } else {
            self.nodes[last].next = index;
        }
        (LockId(index), blockers == 0)
    }

    /// Releases a held lock; `woken` gets the operations whose locks are now held.
    pub(crate) fn release(&mut self, LockId(lock): LockId, mut woken: impl FnMut(GroupOpId)) {
        let LockNode { group, rows, shared, blockers, next, .. } = self.nodes[lock];
        assert!(blockers == 0, "only held locks are released");
        let bucket = Self::bucket(group);
        if self.heads[bucket] == lock {
            self.heads[bucket] = next;
        } else {
            let mut before = self.heads[bucket];
            while self.nodes[before].next != lock {
                before = self.nodes[before].next;
            }
            self.nodes[before].next = next;
        }
        self.nodes.remove(lock);
        // Only younger locks, which follow in the list, can have waited for this one.
        let mut at = next;
        while at != NIL {
            let node = &mut self.nodes[at];
            at = node.next;
            if node.conflicts(group, rows, shared) {
                node.blockers -= 1;
                if node.blockers == 0 {
                    woken(node.op);
                }
            }
        }
    }

    /// Locks held or waited for.
    pub(crate) fn len(&self) -> usize {
        self.nodes.used()
    }

    pub(crate) fn clear(&mut self) {
        self.heads.fill(NIL);
        self.nodes.clear();
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.heads.capacity() * 4 + self.nodes.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;

    /// Against a plain list: whatever is held never conflicts, and everything is held in the end.
    #[test]
    fn held_locks_never_conflict_and_none_is_forgotten() {
        let mut rng = SplitMix::new(3, "locks");
        let mut locks = RowLocks::new();
        let mut wanted: Vec<(GroupIndex, RowRange, bool, LockId)> = Vec::new();
        let mut held: Vec<GroupOpId> = Vec::new();
        let mut granted = 0;
        for step in 0..20_000u32 {
            if step < 15_000 && (held.is_empty() || rng.below(2) == 0) {
                let first = rng.below(8) as u32;
                let rows = RowRange::new(first, first + 1 + rng.below(8) as u32);
                let (group, shared) = (GroupIndex(rng.below(3) * 4096), rng.below(3) == 0);
                let (lock, now) = locks.acquire(group, rows, shared, GroupOpId(wanted.len() as u32));
                if now {
                    held.push(GroupOpId(wanted.len() as u32));
                    granted += 1;
                }
                wanted.push((group, rows, shared, lock));
            } else if !held.is_empty() {
                let op = held.swap_remove(rng.below(held.len() as u64) as usize);
                locks.release(wanted[op.index()].3, |op| {
                    held.push(op);
                    granted += 1;
                });
            }
            for (i, &a) in held.iter().enumerate() {
                for &b in &held[i + 1..] {
                    let (group, rows, shared, _) = wanted[a.index()];
                    let (other, other_rows, other_shared, _) = wanted[b.index()];
                    let apart = group != other || !rows.overlaps(other_rows) || (shared && other_shared);
                    assert!(apart, "locks {a} and {b} are held together");
                }
            }
        }
        while let Some(op) = held.pop() {
            locks.release(wanted[op.index()].3, |op| {
                held.push(op);
                granted += 1;
            });
        }
        assert_eq!((granted, locks.len()), (wanted.len(), 0));
    }
}
