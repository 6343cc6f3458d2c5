//! Units that can be read at all: what the ladder would come to if nothing failed but what is broken for good.

use super::lines::Lines;
use super::recovery::{Recovery, RecoveryStep};
use crate::op::{InternalTask, Op, OpKind};
use outlast_units::{CoreId, Lpn, Pu};

/// True if the flash, or some line, gives unit `unit` of program unit `pu`.
pub fn can_be_read(lines: &impl Lines, pu: Pu, unit: u32) -> bool {
    let mask = 1 << unit;
    if lines.broken_units(pu, mask) == 0 {
        return true;
    }
    let op = Op::new(OpKind::PatrolRead, InternalTask::Gc, CoreId(0), pu);
    let mut recovery = Recovery::new(Op { mask, units: 1, failing: mask, ..op }, vec![Lpn::NONE]);
    while recovery.ask_next(lines) {
        let mut steps = Vec::new();
        while recovery.go_on(&mut steps) {
            for step in std::mem::take(&mut steps) {
                if let RecoveryStep::Read(pu) = step {
                    recovery.member_ended(lines, pu, lines.broken_units(pu, mask), &mut steps);
                }
            }
        }
        if recovery.good() != 0 {
            return true;
        }
    }
    false
}
