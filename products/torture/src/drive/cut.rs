//! Loss of power of a copy of the simulated device.

use super::model::{ArrayStart, CrashModel};
use crate::error::TortureError;
use outlast_device::{Command, Op, Tag};
use outlast_media::{FaultKind, FaultSpec};
use outlast_serve::{DeviceInput, PowerChange, RefusedInput, ServedDevice};
use outlast_units::{Lba, Nanos};

/// Result of a power cycle.
#[derive(Debug)]
pub(super) enum CutOutcome {
    /// The device takes commands.
    Running(Box<ServedDevice>),
    /// The device does not start, with its reason.
    Refused(String),
    /// The model has no state here: another model has the same one.
    NoState,
}

/// Cuts the power of a copy of `device` at `at`, as `model` says, and lets it start again.
pub(super) fn cut_power(
    device: &ServedDevice,
    at: Nanos,
    model: &CrashModel,
) -> Result<CutOutcome, TortureError> {
    let copy = || {
        let mut fork = device.fork();
        // Only the content after the mount counts, not its duration: the mount is taken without its reads.
        fork.mount_at_once();
        fork
    };
    let mut fork = Box::new(copy());
    let cut = DeviceInput::Power(PowerChange::Cut { force: false });
    let started = match model {
        CrashModel::Drive | CrashModel::Liar(_) => fork.apply(at, &cut),
        CrashModel::Fault(fault) => {
            inject_fault(&mut fork, at, fault)?;
            fork.apply(at, &cut)
        }
        CrashModel::WithoutMember { member, start: ArrayStart::AsItIs } => {
            fork.lose_power_and_member(*member, at, false)
        }
        CrashModel::WithoutMember { member, start: ArrayStart::Forced } => {
            // A start that is not refused is the state of `AsItIs`.
            if fork.lose_power_and_member(*member, at, false).is_ok() {
                return Ok(CutOutcome::NoState);
            }
            *fork = copy();
            fork.lose_power_and_member(*member, at, true)
        }
        CrashModel::WithoutMember { member, start: ArrayStart::Synced } => {
            fork.apply(at, &cut).and_then(|()| resync_then_fail_member(&mut fork, *member))
        }
    };
    match started {
        Ok(()) => {
            finish_log_replay(&mut fork);
            Ok(CutOutcome::Running(fork))
        }
        Err(refused @ RefusedInput::Service(_)) if !fork.is_up() => {
            Ok(CutOutcome::Refused(refused.to_string()))
        }
        Err(refused) => Err(TortureError::state(&format!("{model}@{}", at.0), &refused)),
    }
}

/// Injects `fault`; a fault of power sets how units are torn that are being programmed at the cut.
fn inject_fault(fork: &mut ServedDevice, at: Nanos, fault: &FaultSpec) -> Result<(), TortureError> {
    let bad =
        |why: String| TortureError::Setting { name: "faults", value: fault.kind.to_string(), limit: why };
    if fault.kind == FaultKind::Power {
        let tear = fork.scenario().tear("faults", fault).map_err(|error| bad(error.to_string()))?;
        return fork.apply(at, &DeviceInput::Tear(tear)).map_err(|refused| bad(refused.to_string()));
    }
    fork.apply(at, &DeviceInput::Fault(fault)).map_err(|refused| bad(refused.to_string()))
}

/// Resynchronises the array, then fails the member.
fn resync_then_fail_member(fork: &mut ServedDevice, member: u16) -> Result<(), RefusedInput> {
    finish_log_replay(fork);
    while fork.is_in_doubt()
        && let Some(at) = fork.next_deadline()
    {
        advance_to(fork, at);
    }
    let mut loss = FaultSpec::new(Nanos::ZERO, FaultKind::Device);
    loss.device = Some(member);
    fork.apply(fork.now(), &DeviceInput::Fault(&loss))
}

/// Lets an array finish the replay of its log, which it does before it serves the first command: a read of sector 0 waits for it.
fn finish_log_replay(fork: &mut ServedDevice) {
    advance_to(fork, fork.now());
    if fork.members() > 0 && fork.is_up() {
        let command = Command::new(Op::Read, Lba(0), 1);
        let read = DeviceInput::Command { tag: Tag(0), command, data: &[] };
        if fork.apply(fork.now(), &read).is_ok() {
            while fork.in_flight() > 0
                && let Some(at) = fork.next_deadline()
            {
                advance_to(fork, at);
            }
        }
    }
}

/// Advances `device` to `now`, and drops the results of completed commands.
pub(super) fn advance_to(device: &mut ServedDevice, now: Nanos) {
    let mut completions = Vec::new();
    device.advance(now, &mut completions);
    for done in completions {
        drop(device.take_data(done.tag));
        drop(device.take_lba_status(done.tag));
        drop(device.take_failed(done.tag));
    }
}
