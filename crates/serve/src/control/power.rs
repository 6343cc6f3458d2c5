//! The power, as it is asked for from outside.

use outlast_media::{FaultSpec, Tear};
use outlast_units::Nanos;
use serde_json::{Value, json};

use super::Action;
use crate::input::{Input, Power};
use crate::machine::Refused;
use crate::service::Service;
use crate::session::Front;

/// What a loss of power is to leave of what is being programmed.
pub(super) fn tear(service: &mut Service, action: Action, fault: &FaultSpec) -> Result<(), String> {
    let now = service.now;
    let machine = &service.main().machine;
    let tear = machine.scenario().tear("power", fault).map_err(|error| error.to_string())?;
    if tear == Tear::Nothing {
        return Ok(());
    }
    if matches!(action, Action::On) {
        return Err("shorn and torn belong to cut and off".to_owned());
    }
    if machine.is_off() {
        return Err(Refused::Off.to_string());
    }
    service.main().apply(now, &Input::Tear(tear)).map_err(|refused| refused.to_string())
}

/// The power goes or comes, and with it the clients.
pub(super) fn switch(
    service: &mut Service,
    front: &mut Front,
    action: Action,
    span: Option<Nanos>,
    force: bool,
) -> Result<Value, String> {
    let now = service.now;
    let (power, back) = match (action, span) {
        (Action::On, Some(_)) => return Err("for belongs to cut and off".to_owned()),
        (Action::On, None) => (Power::On { force }, None),
        (Action::Cut, None) => (Power::Cut { force }, None),
        (Action::Off, None) => (Power::Off, None),
        (Action::Cut | Action::Off, Some(span)) => (Power::Off, Some(Nanos(now.0.saturating_add(span.0)))),
    };
    let done = service.power(now, power).map_err(|refused| refused.to_string());
    if !matches!(action, Action::On) {
        // As when a cable is pulled: nobody is told anything.
        front.close_all(0);
    }
    if done.is_ok() {
        service.power_on = back.map(|at| (at, force));
    }
    done.map(|()| json!({ "now_ns": now.0 }))
}
