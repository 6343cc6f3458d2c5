//! Power fails: of a copy of the machine.

use super::what::{Start, What};
use crate::error::TortureError;
use outlast_device::{Command, Op, Tag};
use outlast_media::{FaultKind, FaultSpec};
use outlast_serve::{DeviceInput, PowerChange, RefusedInput, ServedDevice};
use outlast_units::{Lba, Nanos};

/// A machine after its power has failed and come back.
#[derive(Debug)]
pub(super) enum After {
    /// It takes commands.
    Up(Box<ServedDevice>),
    /// It does not start, and says why.
    Refused(String),
    /// Nothing has come of it that another model does not have.
    Nothing,
}

/// What comes of a copy of `machine` if its power fails at `at` and `what` happens to it.
pub(super) fn power_fails(machine: &ServedDevice, at: Nanos, what: &What) -> Result<After, TortureError> {
    let copy = || {
        let mut fork = machine.fork();
        // What is recorded was mounted from flash with all that belongs to it; here only what it holds counts.
        fork.mount_at_once();
        fork
    };
    let mut fork = Box::new(copy());
    let cut = DeviceInput::Power(PowerChange::Cut { force: false });
    let started = match what {
        What::Drive | What::Liar(_) => fork.apply(at, &cut),
        What::Fault(fault) => {
            strike(&mut fork, at, fault)?;
            fork.apply(at, &cut)
        }
        What::Without { member, start: Start::AsItIs } => fork.lose_power_and_member(*member, at, false),
        What::Without { member, start: Start::Forced } => {
            if fork.lose_power_and_member(*member, at, false).is_ok() {
                return Ok(After::Nothing);
            }
            *fork = copy();
            fork.lose_power_and_member(*member, at, true)
        }
        What::Without { member, start: Start::Synced } => {
            fork.apply(at, &cut).and_then(|()| sync_and_lose(&mut fork, *member))
        }
    };
    match started {
        Ok(()) => {
            wait_for_replay(&mut fork);
            Ok(After::Up(fork))
        }
        Err(refused @ RefusedInput::Service(_)) if !fork.is_up() => Ok(After::Refused(refused.to_string())),
        Err(refused) => Err(TortureError::state(&format!("{what}@{}", at.0), &refused)),
    }
}

/// Something breaks, or what is being programmed will be torn.
fn strike(fork: &mut ServedDevice, at: Nanos, fault: &FaultSpec) -> Result<(), TortureError> {
    let bad =
        |why: String| TortureError::Setting { name: "faults", value: fault.kind.to_string(), limit: why };
    if fault.kind == FaultKind::Power {
        let tear = fork.scenario().tear("faults", fault).map_err(|error| bad(error.to_string()))?;
        return fork.apply(at, &DeviceInput::Tear(tear)).map_err(|refused| bad(refused.to_string()));
    }
    fork.apply(at, &DeviceInput::Fault(fault)).map_err(|refused| bad(refused.to_string()))
}

/// The array makes its redundancy fit, then the member goes.
fn sync_and_lose(fork: &mut ServedDevice, member: u16) -> Result<(), RefusedInput> {
    wait_for_replay(fork);
    while fork.is_in_doubt()
        && let Some(at) = fork.next_deadline()
    {
        come_to(fork, at);
    }
    let mut gone = FaultSpec::new(Nanos::ZERO, FaultKind::Device);
    gone.device = Some(member);
    fork.apply(fork.now(), &DeviceInput::Fault(&gone))
}

/// An array carries out its records before it serves anybody.
fn wait_for_replay(fork: &mut ServedDevice) {
    come_to(fork, fork.now());
    if fork.members() > 0 && fork.is_up() {
        let command = Command::new(Op::Read, Lba(0), 1);
        let read = DeviceInput::Command { tag: Tag(0), command, data: &[] };
        if fork.apply(fork.now(), &read).is_ok() {
            while fork.in_flight() > 0
                && let Some(at) = fork.next_deadline()
            {
                come_to(fork, at);
            }
        }
    }
}

/// Time passes, and nobody waits for what completes.
pub(super) fn come_to(machine: &mut ServedDevice, now: Nanos) {
    let mut completions = Vec::new();
    machine.advance(now, &mut completions);
    for done in completions {
        drop(machine.take_data(done.tag));
        drop(machine.take_lba_status(done.tag));
        drop(machine.take_failed(done.tag));
    }
}
