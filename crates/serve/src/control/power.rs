//! Control requests that change the power.

use outlast_media::{FaultSpec, UnitTear};
use outlast_units::Nanos;
use serde_json::{Value, json};

use super::PowerAction;
use crate::device::RefusedInput;
use crate::input::{DeviceInput, PowerChange};
use crate::service::DeviceService;
use crate::session::ClientSessions;

/// Sets the damage that the next loss of power does to data being programmed.
pub(super) fn tear(
    service: &mut DeviceService,
    action: PowerAction,
    fault: &FaultSpec,
) -> Result<(), String> {
    let now = service.now;
    let device = &service.main_device().device;
    let tear = device.scenario().tear("power", fault).map_err(|error| error.to_string())?;
    if tear == UnitTear::Nothing {
        return Ok(());
    }
    if matches!(action, PowerAction::On) {
        return Err("`shorn` and `torn` are for cut and off only".to_owned());
    }
    if device.is_off() {
        return Err(RefusedInput::Off.to_string());
    }
    service.main_device().apply(now, &DeviceInput::Tear(tear)).map_err(|refused| refused.to_string())
}

/// Switches the power, which returns at `back`; a loss closes the connections of all clients.
pub(super) fn switch(
    service: &mut DeviceService,
    clients: &mut ClientSessions,
    action: PowerAction,
    back: Option<Nanos>,
    force: bool,
) -> Result<Value, String> {
    let now = service.now;
    let (power, back) = match (action, back) {
        (PowerAction::On, Some(_)) => return Err("`for` is for cut and off only".to_owned()),
        (PowerAction::On, None) => (PowerChange::On { force }, None),
        (PowerAction::Cut, None) => (PowerChange::Cut { force }, None),
        (PowerAction::Off, None) => (PowerChange::Off, None),
        (PowerAction::Cut | PowerAction::Off, Some(back)) => (PowerChange::Off, Some(back)),
    };
    let done = service.change_power(now, power).map_err(|refused| refused.to_string());
    if !matches!(action, PowerAction::On) {
        // As when a cable is pulled: clients get no more replies.
        clients.close_sessions_of(0);
    }
    if done.is_ok() {
        service.power_returns = back.map(|at| (at, force));
    }
    done.map(|()| json!({ "now_ns": now.0 }))
}
